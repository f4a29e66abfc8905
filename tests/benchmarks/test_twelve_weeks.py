"""What has to hold of twelve weeks of retraining."""

from benchmarks.twelve_weeks import Week, problems
from storage.registry import Version

STAGES = ("articles", "search", "frontier", "paragraphs", "features", "ranked", "ranking_scores", "graphs", "examples")


def week(number: int, *, promoted: bool, made: bool = True, computed: int = 1, size: int = 100) -> Week:
    parent = None if number == 1 else 1
    verdict = {"promoted": promoted}
    done = {stage: [computed, 2] for stage in STAGES}
    return Week(Version(number, "", f"2026-W{number:02d}", "", parent, {}, "", {}, {}, verdict, done), size, 1.0, made)


def test_weeks_found_done_leave_no_artifacts() -> None:
    weeks = [week(1, promoted=True, made=False), week(2, promoted=True, made=False), week(3, promoted=False)]
    assert problems(weeks, {"model-card": 1, "champion-challenger": 1}) == []
    assert problems(weeks, {"model-card": 3, "champion-challenger": 2}) == [
        "3 artifacts model-card, expected 1", "2 artifacts champion-challenger, expected 1",
    ]  # fmt: skip


def test_what_does_not_hold_is_named() -> None:
    weeks = [week(1, promoted=True, computed=2), week(2, promoted=True, computed=2, size=151)]
    assert problems(weeks, {"model-card": 2, "champion-challenger": 1}) == [
        *[f"2026-W02 computed every shard of {stage}" for stage in STAGES[:5]],  # the ranker is new: not the others
        "no challenger was refused",
    ]
    weeks = [*[week(number, promoted=False) for number in range(1, 6)], week(6, promoted=False, size=151)]
    assert problems(weeks, {"model-card": 6, "champion-challenger": 5}) == [
        "no challenger was promoted over a champion", "the last week needs 151 bytes, expected at most 150",
    ]  # fmt: skip
