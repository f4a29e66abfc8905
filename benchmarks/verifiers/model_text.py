"""How well the mark tells true sentences of a language model from its errors.

    python -m benchmarks.verifiers.model_text DATA [--fit]

`models.txt` has sentences that SmolLM2-135M-Instruct and Gemma 3 270M wrote of real passages of DATA, labelled by
reading. Folds are by passages. A sentence is in a model's "own words" if the passage lacks 30 % of its runs of four
words or more. The check of text by models is compared with that of text by people, and with two rules that learn
nothing. `--fit` fits the measures to all sentences, and writes their weights."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold

from benchmarks.frame import command
from benchmarks.verifiers.cases import by_hand
from benchmarks.verifiers.corpora import passages
from tasks.engine.hashing import stable_hash
from tasks.text.ngrams import split_words
from tasks.verification.evidence import shipped_forest
from tasks.verification.model_text import LEAST_BY_FOREST, model_text_measures
from tasks.verification.verifier import SUPPORTED_AT, shipped
from tasks.verification.words import read

FOLDS, SEEDS = 5, 4
PRECISION = 0.8  # of the measures alone, by folds
_RUN, OWN = 4, 0.3  # words of a run; share of new ones
Floats = NDArray[np.float64]


def main(data: str, fit: bool = False) -> int:
    """Print the table; status 1 if the measures tell less than the share of words does."""
    verifier = shipped()
    rows, forest, true, refused, own, groups = [], [], [], [], [], []
    for case in (case for case in by_hand(passages(Path(data))) if case.corpus == "by hand, models"):
        texts = list(case.passages)
        judged = verifier.judged(case.sentence, texts)
        if judged is None:
            continue
        rows.append(model_text_measures(read(case.sentence), [read(text) for text in texts], judged.evidence))
        forest.append(float(shipped_forest().predict(judged.row[None])[0]))
        true.append(case.true)
        objected = verifier.objection(case.sentence, texts, judged.evidence) is not None
        refused.append(objected or verifier.lacks(case.sentence, texts, judged.evidence))
        own.append(new_runs(case.sentence, texts[0]) >= OWN)
        groups.append(stable_hash(texts[0]))
    table, labels = np.array(rows), np.array(true)
    learned = np.mean([_by_folds(table, labels, np.array(groups), seed) for seed in range(SEEDS)], axis=0)
    threshold = _threshold(np.where(refused, 0, learned), labels)
    learned[np.array(refused) | (np.array(forest) < LEAST_BY_FOREST)] = 0
    scores: Mapping[str, tuple[Floats, float]] = {
        "for text of models, by folds": (learned, threshold),
        "for text of people": (np.where(refused, 0, forest), SUPPORTED_AT),
        "pairs of words": (table[:, 0], 0.5),
        "accept all": (np.ones(len(labels)), 0.5),
    }
    for part, taken in {"all": np.ones(len(labels), bool), "in its own words": np.array(own)}.items():
        print(f"{part}: {taken.sum()} sentences, {labels[taken].sum()} true")
        print(f"{'':32}{'AUC':>6}{'precision':>11}{'recall':>8}")
        for name, (score, at) in scores.items():
            marked = score[taken] >= at
            precision, recall = labels[taken][marked].mean(), marked[labels[taken]].mean()
            print(f"  {name:30}{roc_auc_score(labels[taken], score[taken]):6.3f}{precision:11.2f}{recall:8.2f}")
    if fit:
        _write(table, labels, threshold)
    return int(roc_auc_score(labels, learned) < roc_auc_score(labels, table[:, 0]))


def _by_folds(table: Floats, true: NDArray[np.bool_], groups: NDArray[np.uint64], seed: int) -> Floats:
    """Return [N], of each sentence the probability by weights that saw no sentence of its passage."""
    scores = np.zeros(len(true))
    for train, test in StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(table, true, groups):
        weights, intercept = _fitted(table[train], true[train])
        scores[test] = 1 / (1 + np.exp(-(table[test] @ weights + intercept)))
    return scores


def _fitted(table: Floats, true: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Return weights of the measures as they are, and an intercept."""
    mean, spread = table.mean(axis=0), table.std(axis=0)
    model = LogisticRegression(C=0.3).fit((table - mean) / spread, true)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ mean)


def _threshold(scores: Floats, true: NDArray[np.bool_]) -> float:
    """Return the lowest probability from which the mark has its precision."""
    order = np.argsort(-scores)
    precise = np.cumsum(true[order]) / np.arange(1, len(order) + 1) >= PRECISION
    return float(scores[order][np.flatnonzero(precise)[-1]])


def _write(table: Floats, true: NDArray[np.bool_], threshold: float) -> None:
    """Write the weights, with an intercept that puts the threshold where that of all sentences is."""
    weights, intercept = _fitted(table, true)
    shift = np.log(SUPPORTED_AT / (1 - SUPPORTED_AT)) - np.log(threshold / (1 - threshold))
    lines = [
        "# Written by `python -m benchmarks.verifiers.model_text --fit`; the measures are those of `model_text.py`.",
        f"weights = [{', '.join(f'{weight:.4f}' for weight in weights)}]",
        f"intercept = {intercept + shift:.4f}",
    ]
    Path(str(files("tasks.verification") / "model_text.toml")).write_text("\n".join(lines) + "\n", encoding="utf-8")


def new_runs(sentence: str, passage: str) -> float:
    """Return the share of a sentence's runs of four words that a passage has not."""
    own, other = (
        {tuple(words[n : n + _RUN]) for n in range(len(words) - _RUN + 1)}
        for words in map(split_words, (sentence, passage))
    )
    return 1 - len(own & other) / max(1, len(own))


if __name__ == "__main__":
    command(main, __doc__)
