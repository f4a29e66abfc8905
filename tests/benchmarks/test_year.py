"""A year of weekly retraining with faults: its plan, what is checked of it, and twelve weeks of it."""

from pathlib import Path
from random import Random

import pytest

from benchmarks.year.__main__ import Week, main, plan, problems
from benchmarks.year.faults import FAULTS
from storage.registry import Version


def week(number: int, *, promoted: bool = False, parent: int | None = 1, size: int = 48, tested: bool = True) -> Week:
    verdict = {"promoted": promoted, "findings": [{}] if tested else []}
    version = Version(number + 1, "", f"2026-W{number + 1:02d}", "", parent, {}, "", {}, {}, verdict)
    return Week(number, "", version, "", (size, 48, 0), 1.0)


def test_each_fault_comes_once_before_one_comes_twice_and_the_middle_is_the_upgrade() -> None:
    faults = plan(52, Random(1))
    assert len(faults) == 52
    assert faults[:2] == ["", ""]
    assert faults[26] == "upgrade"
    assert all(not fault for number, fault in enumerate(faults) if number % 3 == 0)
    drawn = [fault for fault in faults if fault not in ("", "upgrade")]
    assert sorted(drawn[:10]) == sorted(FAULTS)
    assert sorted(drawn[10:20]) == sorted(FAULTS)
    assert plan(52, Random(1)) == faults
    assert plan(52, Random(2)) != faults


def test_a_wrong_parent_and_a_promotion_without_a_test_are_named() -> None:
    first = week(0, promoted=True, parent=None, tested=False)  # there is nothing to test it against
    assert problems([first, week(1), week(2, promoted=True), week(3, parent=3)], 0.0) == []
    assert problems([first, week(1, promoted=True, tested=False)], 0.0) == ["2026-W02 was promoted without a test"]
    assert problems([first, week(1, parent=None)], 0.0) == ["2026-W02 started from version None, expected 1"]


def test_a_root_that_grows_more_than_its_topics_is_named() -> None:
    weeks = [week(0, promoted=True, parent=None, tested=False), *(week(number) for number in range(1, 12))]
    assert problems(weeks, 0.0) == []
    # 48 topics at first: with 48 bytes a topic has one, and 1.5 are allowed.
    assert problems([*weeks, week(12, size=72)], 0.0) == []
    expected = "the root has 2 bytes per topic, expected at most 2"
    assert problems([*weeks, week(12, size=73)], 0.0) == [expected]


@pytest.mark.integration
@pytest.mark.slow
def test_twelve_weeks_with_faults(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = main(tmp_path / "year", weeks=12, seed=1, minutes=600)
    assert status == 0, capfd.readouterr().out[-6000:]
