"""How many lies verifiers let through, by kind, and how many true sentences they accept.

    python -m benchmarks.verifiers DATA [--count N] [--left-out] [--nli FOLDER] [--chat-url URL --model NAME] [--teach]

DATA is the folder of shared data. Sentences of articles that taught nothing, unchanged, restated and turned into lies
by rules, are held against their passage and others of their article; sentences by hand, true and false, against theirs.
What is shown is the share that each verifier accepts: of true sentences high, of lies low. Its peers are a verifier
that accepts or refuses everything, and the rule by values. `--left-out` learns anew without each family of lies and
says how many of these then pass; sentences written by hand, which have all kinds, teach as ever. `--teach` learns the
shipped verifier anew from the articles that teach, and writes its file."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.frame import command
from benchmarks.verifiers.cases import Case, by_hand, made, topics_of
from benchmarks.verifiers.corpora import miniweb, passages
from benchmarks.verifiers.peers import (
    Judge,
    accept_all,
    chat,
    entailment,
    refuse_all,
    said,
    supported,
    values_of_all,
    values_of_one,
)
from tasks.verification.learning import Teaching, fit, teaching
from tasks.verification.verifier import SUPPORTED_AT, Verifier, shipped

FAMILIES = {
    "names": ("name", "name, near", "subject", "role", "voice"),
    "numbers": ("number", "number, near", "date", "unit", "exchanged"),
    "splices": ("splice", "splice, near", "joined"),
    "negation": ("negated", "affirmed"),
    "antonyms": ("antonym",),
    "bounds": ("bound dropped", "bound added", "bound turned"),
    "order": ("order",),
    "frames, times, ranks": ("frame dropped", "time", "rank", "points"),
    "other words": ("word", "words", "invented"),
}
# What is wanted of lies that nothing was tuned on: at most so many in a hundred pass; of true ones at least so many.
GOALS = {
    "name": 5,
    "name, near": 5,
    "number": 5,
    "number, near": 5,
    "date": 5,
    "splice": 10,
    "splice, near": 10,
    "joined": 10,
    "negated": 10,
    "affirmed": 10,
    "antonym": 10,
    "frame dropped": 10,
    "time": 10,
    "rank": 10,
    "points": 10,
    "unchanged": 98,
    "restated": 85,
}
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
Found = Mapping[str, NDArray[np.float64]]
_SIDES = (True, False)
# Only totals of the other sentences by hand are shown.
_BY_KIND = ("by hand, seen", "by hand, unseen", "by hand, framed, seen", "by hand, framed, unseen", "by hand, read")
_BINS = np.linspace(0, 1, 6)


def main(
    data: str,
    count: int = 250,
    left_out: bool = False,
    nli: str | None = None,
    chat_url: str | None = None,
    model: str = "",
    teach: bool = False,
) -> int:
    """Print the tables; status 1 where a goal is missed."""
    texts = passages(Path(data))
    taught = teaching(list(topics_of(text for text in texts if text.teaches).values())) if teach or left_out else None
    if teach and taught is not None:
        fit(taught).save(Path(str(files("tasks.verification") / "shipped.npz")))
        shipped.cache_clear()
    cases = [*made([*(text for text in texts if not text.teaches), *miniweb()], count), *by_hand(texts)]
    verifier = shipped()
    judges: dict[str, Judge] = {
        "all": accept_all,
        "none": refuse_all,
        "values": values_of_all,
        "values in one": values_of_one,
        "said": said(verifier),
        "said or combined": supported(verifier),
    }
    with TemporaryDirectory() as scratch:
        if nli:
            judges["entailment"] = entailment(nli)
        if chat_url:
            judges["chat"] = chat(chat_url, model, scratch)
        result = {name: judge(cases) for name, judge in judges.items()}
    columns = Columns.of(cases)
    _tables(columns, result, SUPPORTED_AT)
    _curve(columns, result["said"])
    _calibration(columns, result["said"])
    _speed(verifier, cases)
    if left_out and taught is not None:
        _left_out(taught, cases)
    return _missed(columns, result["said"] >= SUPPORTED_AT)


@dataclass(frozen=True)
class Columns:
    """The cases, column by column; `hand` of those written by hand."""

    corpus: NDArray[np.str_]
    kind: NDArray[np.str_]
    true: NDArray[np.bool_]
    hand: NDArray[np.bool_]

    @classmethod
    def of(cls, cases: Sequence[Case]) -> "Columns":
        """Return the columns of some cases."""
        corpus = np.array([case.corpus for case in cases])
        hand = np.char.startswith(corpus, "by hand")
        return cls(corpus, np.array([case.kind for case in cases]), np.array([case.true for case in cases]), hand)


def _tables(cases: Columns, found: Found, said_at: float) -> None:
    """Print the share that each verifier accepts, by kind, and by corpus."""
    accepted = {name: p >= (said_at if name == "said" else 0.5) for name, p in found.items()}
    print(f"\nshare accepted, %\n{'':40}{'n':>6}" + "".join(f"{name:>18}" for name in found))

    def row(name: str, rows: NDArray[np.bool_]) -> None:
        if rows.any():
            shares = "".join(f"{100 * each[rows].mean():18.1f}" for each in accepted.values())
            print(f"{name:40}{rows.sum():6}{shares}")

    for true, side in ((True, "true"), (False, "lie")):
        for kind in sorted(set(cases.kind[(cases.true == true) & ~cases.hand])):
            row(f"{side}: {kind}", (cases.kind == kind) & (cases.true == true) & ~cases.hand)
    for part in _BY_KIND:
        for kind in sorted(set(cases.kind[cases.hand])):
            row(f"{part}: {kind}", (cases.kind == kind) & (cases.corpus == part))
    for corpus in sorted(set(cases.corpus)):
        for true, side in ((True, "true"), (False, "lies")):
            row(f"all {side}: {corpus}", (cases.corpus == corpus) & (cases.true == true))


def _curve(cases: Columns, found: NDArray[np.float64]) -> None:
    """Print what is accepted at other thresholds."""
    print("\nthreshold       " + "".join(f"{limit:8.1f}" for limit in THRESHOLDS))
    for name, part in (("made", ~cases.hand), ("by hand", cases.corpus == "by hand, unseen")):
        for true, side in ((True, "true"), (False, "lies")):
            rows = found[part & (cases.true == true)]
            print(f"{name + ', ' + side:16}" + "".join(f"{100 * (rows >= limit).mean():8.1f}" for limit in THRESHOLDS))


def _calibration(cases: Columns, found: NDArray[np.float64]) -> None:
    """Print how many of the sentences of like probability are true, truth and lies weighing the same."""
    print("\nprobability    true, %, where half of all sentences are (made | by hand)")
    for low, high in pairwise(_BINS):
        inside = (found >= low) & ((found < high) | (high == 1))
        shares = []
        for part in (~cases.hand, cases.hand):
            right, wrong = (
                (inside & part & (cases.true == t)).sum() / (part & (cases.true == t)).sum() for t in _SIDES
            )
            shares.append(100 * right / (right + wrong) if right + wrong else float("nan"))
        print(f"{low:.1f} to {high:.1f}   {shares[0]:8.1f} {shares[1]:8.1f}")


def _speed(verifier: Verifier, cases: Sequence[Case]) -> None:
    pairs = [(case.sentence, case.passages[0]) for case in cases[:3000]]
    started = time.process_time()
    verifier.probabilities(pairs)
    print(f"\n{len(pairs) / (time.process_time() - started):,.0f} pairs a second of processor time")
    started = time.process_time()
    for case in cases[:1000]:
        verifier.finding(case.sentence, case.passages)
    print(f"{len(cases[:1000]) / (time.process_time() - started):,.0f} sentences a second, each with its passages")


def _left_out(taught: Teaching, cases: Sequence[Case]) -> None:
    """Print how many lies of each family pass where the family was not taught."""
    print("\nlies of a family that was not taught, % accepted (unchanged sentences)")
    for family, kinds in FAMILIES.items():
        verifier = fit(taught, without=kinds)
        for kind in (*kinds, "unchanged"):
            own = [case for case in cases if case.kind == kind and not case.corpus.startswith("by hand")]
            if own:
                share = 100 * (said(verifier)(own) >= SUPPORTED_AT).mean()
                print(f"{family:16}{kind:18}{len(own):6}{share:8.1f}", flush=True)


def _missed(cases: Columns, accepted: NDArray[np.bool_]) -> int:
    """Print the goals, and return 1 where one is missed."""
    missed = 0
    print()
    for kind, goal in GOALS.items():
        true = kind in {"unchanged", "restated"}
        part = cases.corpus == "by hand, unseen" if kind == "restated" else ~cases.hand
        share = 100 * accepted[part & (cases.kind == kind) & (cases.true == true)].mean()
        met = share >= goal if true else share <= goal
        missed |= not met
        print(f"{kind:16}{share:6.1f} of {'at least' if true else 'at most'} {goal}: {'met' if met else 'missed'}")
    return int(missed)


if __name__ == "__main__":
    command(main, __doc__)
