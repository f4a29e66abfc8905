"""Hashes of n-grams of words, and MinHash of the sets of them, for many texts at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rensa import RMinHash

from tasks.text.ngrams import WordRule, split_words

# A tenth of the words changed leaves .68 of the bigrams in common, but .42 of the 5-grams of Penedo et al. 2024. Two
# texts with Jaccard similarity s have a band in common with probability 1 - (1 - s^5)^28: .99 at .68, .59 at .5.
SHINGLE_WORDS = 2
BANDS, ROWS = 28, 5
_SEED = 1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no word of an n-gram is lost


class Ngrams:
    """The hashed n-grams of several texts."""

    def __init__(self, words: Sequence[Sequence[str]], n: int) -> None:
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        flat = _word_hashes(words, int(lengths.sum()))
        count = max(0, len(flat) - n + 1)
        hashes = np.zeros(count, np.uint64)
        for offset in range(n):
            hashes = _mixed(hashes * _FACTOR + flat[offset : offset + count])
        starts = np.cumsum(lengths) - lengths
        numbers = np.maximum(lengths - n + 1, 0)
        self.ends = np.cumsum(numbers)  # int64 [texts], where the n-grams of each text end in `hashes`
        within = np.arange(self.ends[-1] if len(numbers) else 0) - np.repeat(self.ends - numbers, numbers)
        # uint64 [m], the n-grams of all texts, one text after another
        self.hashes: np.ndarray = hashes[np.repeat(starts, numbers) + within]

    def contain(self, wanted: np.ndarray) -> np.ndarray:
        """Return for each text whether one of its n-grams is among the sorted hashes `wanted`."""
        if not len(wanted):
            return np.zeros(len(self.ends), bool)
        places = np.minimum(np.searchsorted(wanted, self.hashes), len(wanted) - 1)
        found = np.concatenate([[0], np.cumsum(wanted[places] == self.hashes)])
        starts = np.concatenate([[0], self.ends[:-1]])
        return found[self.ends] > found[starts]  # type: ignore[no-any-return]


def split_all(texts: Sequence[str], rule: WordRule) -> list[list[str]]:
    """Return the words of each text."""
    return [split_words(text, rule) for text in texts]


def band_hashes(ngrams: Ngrams) -> np.ndarray:
    """Return uint64 [texts, BANDS]: two texts have the same in a column if their MinHashes agree in that band."""
    count = len(ngrams.ends)
    offsets = np.concatenate([[0], ngrams.ends]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(ngrams.hashes, offsets, BANDS * ROWS, _SEED)
    signatures = np.array(matrix.to_rows(), np.uint64).reshape(count, BANDS, ROWS)
    bands = np.broadcast_to(np.arange(1, BANDS + 1, dtype=np.uint64), (count, BANDS)).copy()
    for row in range(ROWS):
        bands = _mixed(bands * _FACTOR + signatures[:, :, row])
    return bands


def _word_hashes(words: Sequence[Sequence[str]], count: int) -> np.ndarray:
    """Return the hashes of all words, uint64 [count]: a hash that is the same on every machine."""
    hashed: Any = RMinHash.hash_token_sets(words)
    return np.fromiter((value for values in hashed for value in values), np.uint64, count)


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return the finaliser of SplitMix64 (Steele et al. 2014): every bit of a value changes half of the bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))  # type: ignore[no-any-return]


def held_out(articles: pa.Table) -> pa.ChunkedArray:
    """Return for each article whether models are judged on it: it is kept, and of the valid or test split."""
    return pc.and_(pc.is_in(articles["split"], pa.array(["valid", "test"])), pc.is_null(articles["drop_reason"]))
