"""How well the verifier judges sentences of Wikipedia against the pages that they cite (WiCE, Kamoi et al. 2023).

    python -m benchmarks.verifiers.wice DATA [--count N] [--fit]

DATA is the folder of shared data with `wice/`. It prints AUC, and balanced accuracy, recall and precision of the mark,
for supported against partially or not supported claims. Folds are by pages, so no model and no threshold was fitted to
the pages that are judged. Two rows learn nothing: the share of a claim's words in the closest sentence, and accepting
all. `--fit` fits the model to all claims, to `--count` passages a corpus with lies made by rules, and to the sentences
written by hand that teach every verifier, and writes `tasks/verification/evidence.txt.gz`."""

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold

from benchmarks.frame import command
from benchmarks.verifiers.cases import made
from benchmarks.verifiers.corpora import passages
from tasks.engine.hashing import stable_hash
from tasks.engine.trees import Trees
from tasks.verification.evidence import SHIPPED
from tasks.verification.learning import TREES, fit_forest, restated
from tasks.verification.verifier import SUPPORTED_AT, shipped

FOLDS, SEEDS = 10, 3
ONE_SENTENCE = 8  # of the measures, the share of words in the closest sentence
PARAGRAPH = 5  # sentences of a page that are one passage
GOAL = 0.75  # AUC
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """N sentences as the forest reads them."""

    measures: NDArray[np.float32]  # [N, G]
    true: NDArray[np.bool_]  # [N]
    refused: NDArray[np.bool_]  # [N] by rules, whatever the forest says

    @classmethod
    def of(cls, cases: Iterable[tuple[str, Sequence[str], bool]]) -> "Rows":
        """Return the rows of (sentence, passages, true); sentences without a word in their passages are left out."""
        rows = []
        for sentence, given, true in cases:
            texts = [given[index] for index in shipped().likeliest(sentence, given)]
            if (judged := shipped().judged(sentence, texts)) is not None:
                lacks = shipped().lacks(sentence, texts, judged.evidence)
                objection = shipped().objection(sentence, texts, judged.evidence)
                refused = lacks or (judged.alone.max() < 1 and objection is not None)
                rows.append((judged.row, true, refused))
        return cls(*(np.array(column) for column in zip(*rows, strict=True)))

    def weights(self) -> Floats:
        """Return weights under which true and false sentences weigh the same, one each in total."""
        return np.where(self.true, 1 / self.true.sum(), 1 / (~self.true).sum()) * len(self.true)


def main(data: str, count: int = 90, fit: bool = False) -> int:
    """Print the table; status 1 where the AUC misses its goal."""
    claims = read_claims(Path(data) / "wice" / "claim-dev.jsonl.gz")
    teach = [text for text in passages(Path(data)) if text.teaches]
    others = [
        Rows.of((case.sentence, case.passages, case.true) for case in made(teach, count)),
        Rows.of((example.sentence, [example.passage], example.true) for example in restated()),
    ]
    ours = Rows.of((claim["claim"], passages_of(claim), claim["label"] == "supported") for claim in claims)
    pages = np.array([stable_hash(*claim["evidence"][:20]) for claim in claims])
    judged = np.mean([by_folds(ours, pages, others, seed) for seed in range(SEEDS)], axis=0)
    rows = {
        "learned, by folds of pages": judged,
        "words in one sentence": ours.measures[:, ONE_SENTENCE],
        "accept all": np.ones(len(judged)),
    }
    print(f"{len(judged)} claims, {ours.true.sum()} supported")
    print(f"{'':28}{'AUC':>7}{'balanced':>10}{'recall':>8}{'precision':>11}")
    for name, score in rows.items():
        accepted = score >= SUPPORTED_AT
        if score is judged:
            accepted &= ~ours.refused
        recall, precision = accepted[ours.true].mean(), ours.true[accepted].mean()
        balanced = (recall + 1 - accepted[~ours.true].mean()) / 2
        print(f"{name:28}{roc_auc_score(ours.true, score):7.3f}{balanced:10.3f}{recall:8.2f}{precision:11.2f}")
    if fit:
        packed = gzip.compress(fitted([ours, *others]).text.encode(), mtime=0)
        Path(str(files("tasks.verification") / SHIPPED)).write_bytes(packed)
    return int(roc_auc_score(ours.true, judged) < GOAL)


def read_claims(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of WiCE."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def passages_of(claim: dict[str, Any]) -> list[str]:
    """Return the page of a claim in passages of a few sentences, without the marks of its metadata and headings."""
    lines = [
        line.split(": ", 1)[-1] if line.startswith("(meta data)") else line.lstrip("# ") for line in claim["evidence"]
    ]
    return ["\n".join(lines[start : start + PARAGRAPH]) for start in range(0, len(lines), PARAGRAPH)]


def by_folds(claims: Rows, pages: NDArray[np.uint64], others: Sequence[Rows], seed: int) -> Floats:
    """Return [N], of each claim the probability by a forest that saw no claim of its page."""
    scores = np.zeros(len(claims.true))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(claims.measures, claims.true, pages):
        forest = fitted([Rows(claims.measures[train], claims.true[train], claims.refused[train]), *others])
        scores[test] = forest.predict(claims.measures[test])
    return scores


def fitted(parts: Sequence[Rows]) -> Trees:
    """Return the forest of some rows; each part weighs the same."""
    rows, true = (np.concatenate(column) for column in zip(*((p.measures, p.true) for p in parts), strict=True))
    weights = np.concatenate([part.weights() / len(part.true) for part in parts]) * len(true)
    return fit_forest(rows, true, weights, TREES, seed=0)


if __name__ == "__main__":
    command(main, __doc__)
