"""Many seeded random choices at once, which depend on numbers and never on the order in which things come.

A draw is a 64-bit number computed from a stable hash and a number alone, so two runs, two processes and two versions
of a library agree on it. To sample, keep what draws lowest.
"""

import numpy as np
from numpy.typing import NDArray


def draws(base: int | NDArray[np.uint64], numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return one draw for each number under a base, at the speed of numpy; distinct numbers draw distinctly.

    The finaliser of SplitMix64 (Steele, Lea and Flood 2014) mixes a Weyl sequence that starts at `base`.

    Args:
        base: a `stable_hash`, or an array of them, one for each number.
        numbers: integers of any shape.
    """
    mixed = np.asarray(base, dtype=np.uint64) + np.asarray(numbers).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result
