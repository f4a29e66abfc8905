"""The benchmark of orchestration: what counts as work, what as the rest, and that it runs."""

import sys

import pytest

from benchmarks import orchestration
from benchmarks.orchestration import main, show_build

# A task takes .1, .05 and .05 s of the three processes beside its work of .6 s; what is left is once a run.
FEW = {"tasks": 10, "stages": {"articles": 6.0}, "flow": 3.0, "workers": 1.5, "server": 1.5}
MANY = {"tasks": 40, "stages": {"articles": 20.0, "features": 4.0}, "flow": 6.0, "workers": 3.0, "server": 3.0}


def test_a_task_costs_what_more_tasks_add(capsys: pytest.CaptureFixture[str]):
    assert show_build(FEW, MANY, articles=3) == pytest.approx(8 / 32)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[3:6]] == [
        ["flow", "2.0", "s", "once", "a", "run", "100.0", "ms", "a", "task"],
        ["workers", "1.0", "s", "once", "a", "run", "50.0", "ms", "a", "task"],
        ["server", "1.0", "s", "once", "a", "run", "50.0", "ms", "a", "task"],
    ]
    assert lines[6] == "beside the work: 25.0% by task, 33.3% with what a run costs once; goal 5%: missed"
    assert lines[7] == "a task's share is below 5% from 19 articles a shard on, here 3"  # .6 s a task becomes 3.8


def test_engines_are_compared_by_their_bytes_also_after_a_kill(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ""  # the engine whose bytes differ

    def built(_: object, folder: str, articles: int, shards: int, workers: int, kind: str, kill: bool) -> dict:
        digests = {"features/part-00000": f"{articles}{kind if kind == other else ''}"}
        ended = "a shard failed" if kill and kind == "processes" else ""
        figures = {"seconds": 2.4, "processor": 3.0, "peak": 5e8, "killed": float(kill)}
        return {**figures, "digests": digests, "ended": ended}

    monkeypatch.setattr(orchestration, "apart", built)
    assert orchestration.show_engines(shards=2, articles=3, workers=2, most=4) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| threads | 6 | 2 | 3 | 500 | – | yes |",
        "| threads | 24 | 2 | 3 | 500 | – | yes |",
        "| processes | 6 | 2 | 3 | 500 | – | yes |",
        "| processes | 24 | 2 | 3 | 500 | – | yes |",
        "| processes | 24 | 2 | 3 | 500 | a shard failed | yes |",
        "| dask | 6 | 2 | 3 | 500 | – | yes |",
        "| dask | 24 | 2 | 3 | 500 | – | yes |",
        "| dask | 24 | 2 | 3 | 500 | completed | yes |",
    ]
    other = "dask"
    assert orchestration.show_engines(shards=2, articles=3, workers=2, most=4) == 1


@pytest.mark.slow
@pytest.mark.integration
def test_a_small_build_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["orchestration", "--shards", "2", "--articles", "1", "--workers", "1"])
    assert main() == 1  # shards this small are not worth their tasks
    lines = capsys.readouterr().out
    for name in ("paragraphs", "features", "vocabulary", "flow", "workers", "server"):
        assert name in lines
