"""How well the verifier judges sentences of Wikipedia against the pages that they cite (WiCE, Kamoi et al. 2023).

    python -m benchmarks.verifiers.wice DATA [--count N] [--fit]

DATA is the folder of shared data with `wice/`. It prints AUC, and balanced accuracy, recall and precision of the mark,
for supported against partially or not supported claims. Folds are by pages, so no model and no threshold was fitted to
the pages that are judged. Two rows learn nothing: the share of a claim's words in the closest sentence, and accepting
all. The second table holds the sub-claims, none of which its page supports fully, against the same supported claims.
Below it, how well the words that the evidence lacks agree with the tokens that people marked as unsupported. `--fit`
fits the model to all claims, to `--count` passages a corpus with lies made by rules, and to the sentences
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
from tasks.verification.words import read

FOLDS, SEEDS = 10, 3
ONE_SENTENCE = 8  # of the measures, the share of words in the closest sentence
PARAGRAPH = 5  # sentences of a page that are one passage
GOAL = 0.75  # AUC
HELD = 0.5  # from which the evidence has a word
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """N sentences as the forest reads them."""

    measures: NDArray[np.float32]  # [N, G]
    true: NDArray[np.bool_]  # [N]
    refused: NDArray[np.bool_]  # [N] by rules, whatever the forest says
    places: NDArray[np.int64]  # [N] of each among the cases given: one without a word in its passages has no row

    @classmethod
    def of(cls, cases: Iterable[tuple[str, Sequence[str], bool]]) -> "Rows":
        """Return the rows of (sentence, passages, true)."""
        rows = []
        for place, (sentence, given, true) in enumerate(cases):
            texts = [given[index] for index in shipped().likeliest(sentence, given)]
            if (judged := shipped().judged(sentence, texts)) is not None:
                lacks, copied = shipped().lacks(sentence, texts, judged.evidence), judged.alone.max() == 1
                # The objection needs a parse, which takes most of the time.
                refused = lacks or (not copied and shipped().objection(sentence, texts, judged.evidence) is not None)
                rows.append((judged.row, true, refused, place))
        return cls(*(np.array(column) for column in zip(*rows, strict=True)))

    def columns(self, taken: NDArray[Any] | slice = slice(None)) -> list[NDArray[Any]]:
        """Return the fields of some rows, in order."""
        return [self.measures[taken], self.true[taken], self.refused[taken], self.places[taken]]

    def weights(self) -> Floats:
        """Return weights under which true and false sentences weigh the same, one each in total."""
        return np.where(self.true, 1 / self.true.sum(), 1 / (~self.true).sum()) * len(self.true)


def main(data: str, count: int = 90, fit: bool = False) -> int:
    """Print the tables; status 1 where the AUC of claims misses its goal."""
    folder = Path(data) / "wice"
    claims = read_claims(folder / "claim-dev.jsonl.gz")
    parts = [part for name in ("train", "dev") for part in read_claims(folder / f"non-supported-{name}.jsonl.gz")]
    teach = [text for text in passages(Path(data)) if text.teaches]
    others = [
        Rows.of((case.sentence, case.passages, case.true) for case in made(teach, count)),
        Rows.of((example.sentence, [example.passage], example.true) for example in restated()),
    ]
    ours, lacking = (
        Rows.of((claim["claim"], passages_of(claim), claim["label"] == "supported") for claim in each)
        for each in (claims, parts)
    )
    pages = [pages_of(each)[rows.places] for each, rows in ((claims, ours), (parts, lacking))]
    scores = np.mean([by_folds(ours, lacking, pages, others, seed) for seed in range(SEEDS)], axis=0)
    learned = scores[: len(ours.true)]
    print(f"{len(learned)} claims, {ours.true.sum()} supported")
    show(ours, learned)
    both = Rows(*(np.concatenate(pair) for pair in zip(ours.columns(ours.true), lacking.columns(), strict=True)))
    print(f"\n{len(lacking.true)} sub-claims, and the {ours.true.sum()} supported claims")
    show(both, np.concatenate([learned[ours.true], scores[len(ours.true) :]]))
    precision, recall = agreement(parts)
    f1 = 2 * precision * recall / (precision + recall)
    print(f"words that the evidence lacks, for marked ones: {precision=:.2f}, {recall=:.2f}, {f1=:.2f}")
    if fit:
        packed = gzip.compress(fitted([ours, *others]).text.encode(), mtime=0)
        Path(str(files("tasks.verification") / SHIPPED)).write_bytes(packed)
    return int(roc_auc_score(ours.true, learned) < GOAL)


def show(rows: Rows, learned: Floats) -> None:
    """Print a table: the learned scores, and two that learn nothing."""
    print(f"{'':28}{'AUC':>7}{'balanced':>10}{'recall':>8}{'precision':>11}")
    scores = {
        "learned, by folds of pages": learned,
        "words in one sentence": rows.measures[:, ONE_SENTENCE],
        "accept all": np.ones(len(learned)),
    }
    for name, score in scores.items():
        accepted = score >= SUPPORTED_AT
        if score is learned:
            accepted &= ~rows.refused
        recall, precision = accepted[rows.true].mean(), rows.true[accepted].mean()
        balanced = (recall + 1 - accepted[~rows.true].mean()) / 2
        print(f"{name:28}{roc_auc_score(rows.true, score):7.3f}{balanced:10.3f}{recall:8.2f}{precision:11.2f}")


def agreement(parts: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return precision and recall of the content words that the evidence of sub-claims lacks, for those in tokens that
    people marked as unsupported."""
    lacks, marked = [], []
    for part in parts:
        given = passages_of(part)
        texts = [given[index] for index in shipped().likeliest(part["claim"], given)]
        judged = shipped().judged(part["claim"], texts)
        claim = read(part["claim"])
        unsupported = marked_words(part["claim_tokens"], part["non_supported_spans"])
        words = [claim.words[place].text.casefold() for place in claim.content]
        marked += [word in unsupported for word in words]
        lacks += [True] * len(words) if judged is None else (judged.evidence.held.max(axis=0) < HELD).tolist()
    both = np.array(lacks) & np.array(marked)
    return float(both.sum() / np.sum(lacks)), float(both.sum() / np.sum(marked))


def marked_words(tokens: Sequence[str], spans: Sequence[bool]) -> frozenset[str]:
    """Return the words in lower case of the tokens that people marked; of a word that also occurs unmarked, neither."""
    marked, other = (
        {word.casefold() for token, span in zip(tokens, spans, strict=True) if span is side for word in token.split()}
        for side in (True, False)
    )
    return frozenset(marked - other)


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


def pages_of(claims: Sequence[dict[str, Any]]) -> NDArray[np.uint64]:
    """Return [N] a number that names the page of each claim."""
    return np.array([stable_hash(*claim["evidence"][:20]) for claim in claims])


def by_folds(
    claims: Rows, parts: Rows, pages: Sequence[NDArray[np.uint64]], others: Sequence[Rows], seed: int
) -> Floats:
    """Return [N + M], of each claim and sub-claim the probability by a forest that saw no claim of its page. `pages`:
    of the claims, and of the sub-claims."""
    scores = [np.zeros(len(each.true)) for each in (claims, parts)]
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for number, (train, test) in enumerate(folds.split(claims.measures, claims.true, pages[0])):
        forest = fitted([Rows(*claims.columns(train)), *others])
        scores[0][test] = forest.predict(claims.measures[test])
        known, here = np.isin(pages[1], pages[0]), np.isin(pages[1], pages[0][test])
        asked = here | (~known & (pages[1] % FOLDS == number))
        scores[1][asked] = forest.predict(parts.measures[asked])
    return np.concatenate(scores)


def fitted(parts: Sequence[Rows]) -> Trees:
    """Return the forest of some rows; each part weighs the same."""
    rows, true = (np.concatenate(column) for column in zip(*((p.measures, p.true) for p in parts), strict=True))
    weights = np.concatenate([part.weights() / len(part.true) for part in parts]) * len(true)
    return fit_forest(rows, true, weights, TREES, seed=0)


if __name__ == "__main__":
    command(main, __doc__)
