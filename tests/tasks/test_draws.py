"""Draws: fixed for all time, distinct, even."""

import numpy as np

from tasks.draws import draw, draws


def test_a_draw_hangs_on_seed_and_names_alone() -> None:
    assert draw(1, "lead", "a") == 16776821467242822527  # another value would redraw every corpus
    assert len({draw(1, "a", "bc"), draw(1, "ab", "c"), draw(2, "a", "bc"), draw(1, "a", "bc", 0)}) == 4


def test_many_draws_are_those_of_splitmix64() -> None:
    # The reference generator seeded with 0 and stepped from a state of n gammas gives these outputs.
    assert draws(0, np.array([1, 2, 3])).tolist() == [
        0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F,
    ]  # fmt: skip


def test_draws_are_distinct_and_even() -> None:
    drawn = draws(draw(7, "a"), np.arange(100_000))
    assert len(np.unique(drawn)) == 100_000
    assert abs((drawn < np.uint64(2**62)).mean() - 0.25) < 0.01
