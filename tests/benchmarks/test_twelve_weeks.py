"""What has to hold of twelve weeks of retraining."""

import dataclasses

from benchmarks.twelve_weeks import Week, problems
from storage.registry import Version

STAGES = ("articles", "search", "frontier", "paragraphs", "features", "ranked", "ranking_scores", "graphs", "examples")


def week(number: int, *, promoted: bool, computed: int = 1, size: int = 100, values: float = 0.5) -> Week:
    parent = None if number == 1 else 1
    verdict = {"promoted": promoted}
    done = {stage: [computed, 2] for stage in STAGES}
    scores = {"values": values, "values-input": 0.9, "rougeL": 0.4}
    version = Version(number, "", f"2026-W{number:02d}", "", parent, {}, "", {}, scores, verdict, done)
    return Week(version, topics=10, new=1, bytes=size, seconds=1.0, made=True)


def rising(count: int) -> list[Week]:
    """Weeks that are all promoted, each better than the one before."""
    return [week(number, promoted=True, values=0.1 * number) for number in range(1, count + 1)]


def test_weeks_found_done_leave_no_artifacts() -> None:
    weeks = [*rising(4), week(5, promoted=False)]
    weeks = [dataclasses.replace(each, made=number >= 3) for number, each in enumerate(weeks)]
    assert problems(weeks, {"model-card": 2, "champion-challenger": 2}) == []
    assert problems(weeks, {"model-card": 5, "champion-challenger": 4}) == [
        "5 artifacts model-card, expected 2",
        "4 artifacts champion-challenger, expected 2",
    ]


def test_three_promotions_and_a_better_champion_are_expected() -> None:
    history = {"model-card": 4, "champion-challenger": 3}
    assert problems(rising(4), history) == []
    few = [*rising(3), week(4, promoted=False)]
    assert problems(few, history) == ["2 challengers were promoted over a champion, expected 3"]
    (found,) = problems([week(number, promoted=True, values=0.1) for number in range(1, 5)], history)
    assert found.startswith("the last champion differs from the first by {'values': 0.0")


def test_what_does_not_hold_is_named() -> None:
    weeks = [week(number, promoted=True, computed=2, values=0.1 * number) for number in range(1, 5)]
    history = {"model-card": 4, "champion-challenger": 3}
    # The ranker is new: not the others. Where many topics are new, every shard may be.
    assert problems(weeks, history) == [
        f"2026-W{number:02d} computed every shard of {stage}" for number in (2, 3, 4) for stage in STAGES[:5]
    ]
    assert problems([dataclasses.replace(each, new=13) for each in weeks], history) == []
    large = [*rising(5), week(6, promoted=False, size=151)]
    assert problems(large, {"model-card": 6, "champion-challenger": 5}) == [
        "the last week needs 15 bytes per topic, expected at most 15"
    ]
