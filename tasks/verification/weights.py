"""How much a word tells: the rarer among the passages of a corpus, the more; kept without the words themselves."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tasks.engine.hashing import stable_hash
from tasks.verification.words import WordKind, read

_BUCKETS = 1 << 15  # two words in one bucket count as one
_LEAST, _STEPS = 0.1, 255


class WordWeights:
    """The weight of a word, 0.1 (in every passage) to 1 (in none).

    Args:
        table: [32768] uint8, the weight times 255 of the words of each bucket of the stable hash.
    """

    def __init__(self, table: NDArray[np.uint8]) -> None:
        self.table = table

    def __call__(self, word: str) -> float:
        """Return the weight of a word in lower case."""
        return float(self.table[_bucket(word)]) / _STEPS

    @classmethod
    def of(cls, passages: Iterable[str]) -> "WordWeights":
        """Count in how many passages words stand in small letters: names, which mostly do not, tell most."""
        counts = np.zeros(_BUCKETS)
        total = 1
        for passage in passages:
            total += 1
            held = {_bucket(word.text) for word in read(passage).words if word.kind is WordKind.WORD}
            counts[list(held)] += 1
        weights = 1 - np.log1p(counts) / np.log(total + 1)
        return cls(np.round(_STEPS * weights.clip(_LEAST, 1)).astype(np.uint8))


@lru_cache(maxsize=65_536)
def _bucket(word: str) -> int:
    return stable_hash("word", word) % _BUCKETS
