"""The stable hash behind every id, shard, split and seeded choice (never Python's own `hash`), and draws from it."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_SEPARATOR = "\x1f"


def stable_hash(*parts: str | int) -> int:
    """Return a 64-bit hash of the parts, the same on every machine and Python; order matters."""
    key = _SEPARATOR.join(map(str, parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(key, digest_size=8).digest(), "big")


def article_id(source: str, title: str) -> str:
    """Return the id of an article of a source: 16 hex digits."""
    return f"{stable_hash('article', source, title):016x}"


def unit_interval(*parts: str | int) -> float:
    """Return a number in [0, 1) that depends only on the parts."""
    return (stable_hash(*parts) >> 11) / (1 << 53)


def shard_of(key: str, shards: int) -> int:
    """Return the shard of a key, 0 to `shards` - 1. Raises ValueError: fewer than one shard."""
    if shards < 1:
        raise ValueError(f"a dataset needs at least 1 shard, got {shards}")
    return stable_hash("shard", key) % shards


T = TypeVar("T")
_MASK = (1 << 64) - 1


class Dice:
    """A SplitMix64 generator seeded by a stable hash: cheap to make, and the same in every version of Python."""

    def __init__(self, *key: str | int) -> None:
        self._state = stable_hash(*key)

    def below(self, stop: int) -> int:
        """Return an integer from 0 to stop - 1."""
        self._state = state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((state ^ (state >> 31)) * stop) >> 64

    def between(self, low: int, high: int, step: int = 1) -> int:
        """Return one of low, low + step, ... up to high, both ends included."""
        return low + step * self.below((high - low) // step + 1)

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.below(1 << 64) < probability * (1 << 64)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options (all of them if there are fewer), in random order."""
        pool = list(options)
        for index in range(min(count, len(pool))):
            other = index + self.below(len(pool) - index)
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:count]


def draws(base: int | NDArray[np.uint64], numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return one draw for each number under a base, vectorised: SplitMix64 (Steele, Lea and Flood 2014)."""
    mixed = np.asarray(base, dtype=np.uint64) + np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result
