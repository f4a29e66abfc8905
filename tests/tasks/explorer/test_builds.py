"""The builds of a root, their scores and the chart of these."""

from pathlib import Path

from storage.builds import manifest_path
from storage.store import Store
from tasks.explorer import builds
from tasks.explorer.builds import BuildRow, ChartLine, chart_of, list_builds
from tests.tasks.explorer.small_corpus import scored_builds, small_corpus

FIRST, SECOND, THIRD = "20260101-000000-abc", "20260201-000000-b", "20260202-000000-c"


def test_builds_are_listed_with_what_changed_and_their_scores(tmp_path: Path) -> None:
    root = small_corpus(tmp_path)
    scored_builds(root, {SECOND: {"lead": 40.0, "ours": 60.0}, THIRD: {"ours": 70.0, "reference": 99.0}})
    listed = list_builds(Store(root))
    assert (listed.latest, listed.older, listed.damaged) == (THIRD, 0, [])
    third, second, first = listed.rows
    assert (third.name, third.created, third.articles, third.metric) == (
        THIRD,
        "2026-02-02T00:00:00+00:00",
        3,
        "values F1",
    )
    assert third.scores == {"ours": 70.0}  # a system that reads the target is no competitor
    assert third.changed == [("training.steps", "10", "20")]
    assert (second.changed, second.scores) == (
        [("seed", "–", "1"), ("training.steps", "–", "10")],
        {"ours": 60.0, "lead": 40.0},
    )
    assert (first.changed, first.metric, first.scores) == ([], "", {})


def test_a_damaged_manifest_is_named_and_the_oldest_are_counted(tmp_path: Path, monkeypatch) -> None:
    root = small_corpus(tmp_path)
    scored_builds(root, {SECOND: {"ours": 60.0}, THIRD: {"ours": 70.0}})
    Store(root).write_bytes(manifest_path(SECOND), b"damaged")
    listed = list_builds(Store(root))
    assert ([row.name for row in listed.rows], listed.damaged) == ([THIRD, FIRST], [SECOND])
    monkeypatch.setattr(builds, "_MOST_BUILDS", 1)
    listed = list_builds(Store(root))
    assert ([row.name for row in listed.rows], listed.older) == ([THIRD], 2)


def row(name: str, metric: str, **scores: float) -> BuildRow:
    return BuildRow(name, "", (), 3, metric, scores)


def test_a_chart_has_the_builds_of_the_newest_metric_and_the_systems_of_the_newest_first() -> None:
    newest = row("c", "values F1", ours=70.0, lead=40.0)
    chart = chart_of(
        [newest, row("b", "ROUGE-1", ours=30.0), row("a", "values F1", gone=50.0, lead=45.0), row("0", "")]
    )
    assert chart is not None
    assert (chart.metric, chart.builds, chart.low, chart.high) == ("values F1", ["a", "c"], 40.0, 70.0)
    assert chart.lines == [
        ChartLine("ours", [(1, 70.0)]),
        ChartLine("lead", [(0, 45.0), (1, 40.0)]),
        ChartLine("gone", [(0, 50.0)]),
    ]
    assert chart_of([newest]) is None
    assert chart_of([row("a", ""), row("b", "")]) is None
