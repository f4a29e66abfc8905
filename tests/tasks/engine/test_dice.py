"""Draws: fixed for all time, distinct, even."""

import numpy as np

from tasks.engine.hashing import draws


def test_many_draws_are_those_of_splitmix64() -> None:
    # The reference generator seeded with 0 and stepped from a state of n gammas gives these outputs.
    assert draws(0, np.array([1, 2, 3])).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_each_number_may_have_its_own_base() -> None:
    bases = np.array([5, 2**64 - 1], dtype=np.uint64)
    together = draws(bases, np.array([9, 9]))
    assert together.tolist() == [draws(5, np.array([9]))[0], draws(2**64 - 1, np.array([9]))[0]]


def test_draws_are_distinct_and_even() -> None:
    drawn = draws(7, np.arange(100_000))
    assert len(np.unique(drawn)) == 100_000
    assert abs((drawn < np.uint64(2**62)).mean() - 0.25) < 0.01
