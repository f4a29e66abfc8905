"""The verifier: the probability that a passage says a sentence, and the fewest passages that say it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from models.values import measurable
from tasks.verification.alignment import NOWHERE, matches, windows
from tasks.verification.words import Kind, Text, read

SAID_AT = 0.8
_LEAST = 0.05  # of a probability: nothing is sure


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
        support: said: in one passage | combined: only put together from several | unsupported: neither | unjudged: the
            verifier does not know its script.
        probability: that the passages say it, 0-1; 0 where it is not judged.
        passages: the fewest that support it, by their place in what was given; empty where none does.
    """

    support: Support
    probability: float
    passages: tuple[int, ...] = ()


class Verifier:
    """Says how likely passages say sentences; loaded from a data file, or learned from a corpus."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return [N], the probability (0-1) that the passage of each pair (sentence, passage) says the sentence.

        Sentences and passages in scripts without capitals are not judged: their probability is 0.
        """
        return np.array([self._probability(read(sentence), read(passage)) for sentence, passage in pairs], np.float64)

    def finding(self, sentence: str, passages: Sequence[str]) -> Finding:
        """Return the fewest passages that say a sentence, of as few the likeliest."""
        if not judges(sentence):
            return Finding(Support.UNJUDGED, 0.0)
        found = self.probabilities([(sentence, passage) for passage in passages])
        if not len(found):
            return Finding(Support.UNSUPPORTED, 0.0)
        best = int(found.argmax())
        if found[best] >= SAID_AT:
            return Finding(Support.SAID, float(found[best]), (best,))
        return Finding(Support.UNSUPPORTED, float(found[best]))

    def _probability(self, sentence: Text, passage: Text) -> float:
        if not sentence.content or not passage.content or not measurable(sentence.raw):
            return 0.0
        weights = [1.0 if sentence.words[place].kind is Kind.WORD else 2.0 for place in sentence.content]
        found = matches(sentence, passage)
        single, _ = windows(found, weights, passage)
        (number,) = single.sentences
        covered = sum(w * q for w, q in zip(weights, single.quality, strict=True)) / sum(weights)
        values = all(value in passage.evidence[number] for value in sentence.values)
        numbers = all(
            place != NOWHERE
            for own, place in zip(sentence.content, single.places, strict=True)
            if sentence.words[own].kind is Kind.NUMBER
        )
        return float(np.clip(covered if values and numbers else _LEAST, _LEAST, 1 - _LEAST))


def judges(text: str) -> bool:
    """Whether the verifier can judge a text: not where most letters are of a script without capitals."""
    return measurable(text)


@cache
def shipped() -> Verifier:
    """Return the verifier for piles without a corpus."""
    return Verifier()
