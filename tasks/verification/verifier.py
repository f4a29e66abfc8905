"""The verifier: the probability that a passage says a sentence, and the fewest passages that say it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from models.values import measurable
from tasks.engine.hashing import stable_hash
from tasks.verification.alignment import matches, windows
from tasks.verification.features import NAMES, features
from tasks.verification.forest import Forest
from tasks.verification.weights import WordWeights
from tasks.verification.words import read

_UNSEEN = [NAMES.index("numbers_unseen"), NAMES.index("names_unseen")]  # one that is not there is never said
_FEATURES = stable_hash(*NAMES)  # in a file: a forest reads the features that it was taught with
_SHIPPED = "shipped.npz"
_TRIED = 12  # passages, those with most of a sentence's words, that are looked at closely
_COMBINED = 4  # of them, those that are tried in twos


class Support(StrEnum):
    """How a sentence is supported."""

    SAID = "said"
    COMBINED = "combined"
    UNSUPPORTED = "unsupported"
    UNJUDGED = "unjudged"


@dataclass(frozen=True)
class Finding:
    """What supports a sentence.

    Attributes:
        support: said: in one passage | combined: only put together from two | unsupported: neither | unjudged: the
            verifier does not know its script.
        probability: that the passages say it, 0-1; 0 where it is not judged.
        passages: the fewest that support it, by their place in what was given; empty where none does.
    """

    support: Support
    probability: float
    passages: tuple[int, ...] = ()


class Verifier:
    """Says how likely passages say sentences; loaded from a data file, or learned from a corpus (`learning.py`).

    Attributes:
        said_at: probability from which a sentence counts as said.
    """

    def __init__(self, forest: Forest, weights: WordWeights, said_at: float) -> None:
        self._forest, self._weigh, self.said_at = forest, weights, said_at

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return [N], the probability (0-1) that the passage of each pair (sentence, passage) says the sentence.

        It is 0 where either has no content words, and for sentences in scripts without capitals, which are not judged.
        """
        found = np.zeros(len(pairs))
        rows, places = [], []
        for place, (sentence, passage) in enumerate(pairs):
            own, other = read(sentence), read(passage)
            if own.content and other.content and measurable(sentence):
                rows.append(features(own, other, self._weigh))
                places.append(place)
        if rows:
            table = np.array(rows, np.float32)
            found[places] = np.where(table[:, _UNSEEN].any(axis=1), 0.0, self._forest.probabilities(table))
        return found

    def finding(self, sentence: str, passages: Sequence[str]) -> Finding:
        """Return the fewest passages that say a sentence, of as few the likeliest."""
        if not measurable(sentence):
            return Finding(Support.UNJUDGED, 0.0)
        order = self._likeliest(sentence, passages)
        if not order:
            return Finding(Support.UNSUPPORTED, 0.0)
        alone = self.probabilities([(sentence, passages[place]) for place in order])
        best = int(alone.argmax())
        if alone[best] >= self.said_at:
            return Finding(Support.SAID, float(alone[best]), (order[best],))
        pairs = list(combinations(sorted(order[:_COMBINED]), 2))
        quotes = {place: self.quote(sentence, passages[place]) for place in order[:_COMBINED]}
        together = self.probabilities([(sentence, f"{quotes[a]}\n{quotes[b]}") for a, b in pairs])
        if len(together) and together.max() >= self.said_at:
            return Finding(Support.COMBINED, float(together.max()), pairs[int(together.argmax())])
        return Finding(Support.UNSUPPORTED, float(alone[best]))

    def quote(self, sentence: str, passage: str) -> str:
        """Return the sentence of a passage that comes closest to saying a sentence; an empty string if none can."""
        own, other = read(sentence), read(passage)
        if not own.content or not other.content:
            return other.sentences[0] if other.sentences else ""
        weights = [self._weigh(own.words[place].text) for place in own.content]
        single, _ = windows(matches(own, other), weights, other)
        return other.sentences[single.sentences[0]]

    def _likeliest(self, sentence: str, passages: Sequence[str]) -> list[int]:
        """Return the passages that hold most of a sentence's words, most first."""
        own = read(sentence)
        weights = [self._weigh(own.words[place].text) for place in own.content]
        held = []
        for passage in passages:
            keys = read(passage).index
            held.append(
                sum(w for w, place in zip(weights, own.content, strict=True) if own.words[place].key in keys.keys)
            )
        order = sorted(range(len(passages)), key=lambda place: (-held[place], place))
        return [place for place in order if held[place]][:_TRIED]

    def save(self, file: Path) -> None:
        """Write the verifier as NPZ."""
        said_at, asked = np.float64(self.said_at), np.uint64(_FEATURES)
        np.savez_compressed(file, words=self._weigh.table, said_at=said_at, features=asked, **self._forest.arrays())

    @classmethod
    def load(cls, file: Path | BinaryIO) -> "Verifier":
        """Read a verifier.

        Raises:
            ValueError: it was learned from other features than this version computes.
        """
        with np.load(file, allow_pickle=False) as arrays:
            if int(arrays["features"]) != _FEATURES:
                raise ValueError(f"{file}: a verifier of other features than these; learn it again")
            return cls(Forest.of_arrays(arrays), WordWeights(arrays["words"]), float(arrays["said_at"]))


@cache
def shipped() -> Verifier:
    """Return the verifier for piles without a corpus; `benchmarks.verifiers --teach` makes its file."""
    with files("tasks.verification").joinpath(_SHIPPED).open("rb") as file:
        return Verifier.load(file)  # type: ignore[arg-type]
