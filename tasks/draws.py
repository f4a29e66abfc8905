"""Random choices that hang on one seed and the names of things, never on the order in which things come.

A draw is a 64-bit number computed from a seed and names (an article id, an epoch) alone, so two runs, two processes
and two versions of a library agree on it. To sample, keep what draws lowest.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray


def draw(seed: int, *names: str | int) -> int:
    """Return the 64-bit draw of some names under a seed."""
    text = "\x1f".join([str(seed), *map(str, names)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def draws(base: int, numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return one draw for each number under a `draw`, at the speed of numpy; distinct numbers draw distinctly.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) mixes a Weyl sequence that starts at `base`.
    """
    mixed = np.uint64(base) + np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result
