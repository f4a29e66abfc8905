"""Many seeded random choices at once, which do not depend on the order of the items.

A draw is a 64-bit number computed only from a stable hash and the item's number, so different runs, processes and
library versions agree on it. To sample, keep the items with the lowest draws.
"""

import numpy as np
from numpy.typing import NDArray


def draws(base: int | NDArray[np.uint64], numbers: NDArray[np.integer]) -> NDArray[np.uint64]:
    """Return one draw for each number under a base, vectorised; distinct numbers get distinct draws.

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
