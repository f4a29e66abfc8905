"""The benchmark of orchestration: what counts as work, what as the rest, and that it runs."""

import sys

import pytest

from benchmarks.orchestration import by_worker, main, show_build


def test_work_is_from_the_loaded_function_to_the_record():
    one = [["articles", 4.0, 5.0, 7.0], ["features", 7.25, 7.25, 7.75]]
    other = [["features", 3.0, 3.5, 4.5]]
    assert by_worker([one, other]) == {
        "tasks": 3,
        "work": 3.5,
        "stages": {"articles": 2.0, "features": 1.5},
        "start": 7.0,
        "loading": 1.5,
    }


def test_the_share_is_that_of_what_a_task_costs(capsys: pytest.CaptureFixture[str]):
    made = {
        "tasks": 10,
        "work": 6.0,
        "stages": {"articles": 6.0},
        "once": {"flow": 1.0, "server": 1.0},
        "by task": {"flow": 0.5, "server": 1.0, "workers": 0.5},
        "requests": {"POST /logs": 2},
        "rows": {"log": 4},
    }
    assert show_build(made, articles=3) == pytest.approx(2 / 8)
    *_, share, enough = capsys.readouterr().out.splitlines()
    assert share == "beside the work: 25.0% by task, 40.0% with what a run costs once; goal 5%: missed"
    assert enough == "a task's share is below 5% from 19 articles a shard on, here 3"  # .6 s a task becomes 3.8


@pytest.mark.slow
@pytest.mark.integration
def test_a_small_build_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["orchestration", "--shards", "2", "--articles", "1", "--workers", "1"])
    assert main() == 1  # shards this small are not worth their tasks
    lines = capsys.readouterr().out
    for name in ("paragraphs", "features", "vocabulary", "task_run", "POST /api/logs/"):
        assert name in lines
