"""Learning rates against numbers worked out by hand."""

from collections.abc import Callable

import pytest

from models.training.state import Schedule, constant, linear, noam


def test_noam_peaks_at_the_end_of_warm_up() -> None:
    rate = noam(factor=3, model_size=256, warmup=8000)
    # The released HT: 3 / 16 / sqrt(8000) = 2.0963e-3 (SYSTEMS.md: "peak 2.1e-3").
    assert rate(8000) == pytest.approx(2.09631e-3, rel=1e-5)
    assert rate(1) == pytest.approx(2.09631e-3 / 8000, rel=1e-5)
    assert rate(4000) == pytest.approx(2.09631e-3 / 2, rel=1e-5)
    assert rate(32000) == pytest.approx(2.09631e-3 / 2, rel=1e-5)


def test_linear_rises_to_its_peak_and_falls_to_nothing() -> None:
    rate = linear(peak=2e-3, warmup=10, steps=110)
    assert [rate(step) for step in (1, 5, 10)] == pytest.approx([2e-4, 1e-3, 2e-3])
    assert rate(60) == pytest.approx(2e-3 * 51 / 101)
    assert rate(110) == pytest.approx(2e-3 / 101)
    assert [rate(111), rate(500)] == [0, 0]
    short = linear(peak=1, warmup=100, steps=6)  # half of the run at most
    assert [short(step) for step in range(1, 7)] == pytest.approx([1 / 3, 2 / 3, 1, 3 / 4, 1 / 2, 1 / 4])
    assert linear(peak=1, warmup=3, steps=1)(1) == 1


def test_constant_stays() -> None:
    assert [constant(0.15)(step) for step in (1, 10_000)] == [0.15, 0.15]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: noam(factor=0, model_size=256, warmup=8000), "got 0, 256, 8000"),
        (lambda: noam(factor=3, model_size=0, warmup=8000), "got 3, 0, 8000"),
        (lambda: noam(factor=3, model_size=256, warmup=0), "got 3, 256, 0"),
        (lambda: constant(0), "got 0"),
        (lambda: constant(-1), "got -1"),
        (lambda: linear(peak=0, warmup=1, steps=10), "got 0, 1 and 10"),
        (lambda: linear(peak=1, warmup=0, steps=10), "got 1, 0 and 10"),
        (lambda: linear(peak=1, warmup=1, steps=0), "got 1, 1 and 0"),
    ],
)
def test_rates_that_are_not_positive_are_refused(make: Callable[[], Schedule], said: str) -> None:
    """A rate of 0 would train nothing for hours."""
    with pytest.raises(ValueError, match=said):
        make()


def test_the_smallest_schedules_are_allowed() -> None:
    assert noam(factor=1e-9, model_size=1, warmup=1)(1) == 1e-9
    assert linear(peak=1e-9, warmup=1, steps=1)(1) == 1e-9
