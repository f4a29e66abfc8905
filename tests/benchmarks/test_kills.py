"""Kills at drawn moments: what is compared, and some kills of each command."""

import os
from pathlib import Path

import pytest

from benchmarks import kills
from benchmarks.kills import Case, differences, main


def test_what_differs_is_named() -> None:
    expected = {"a": "1", "b": "2", "c": "3"}
    assert differences(expected, dict(expected)) == []
    assert differences(expected, {"b": "2", "c": "4", "d": "5"}) == [
        "a is missing",
        "c is different",
        "d is not expected",
    ]


def test_stages_are_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    for place, name in enumerate(("pages/b", "articles/a", "models/ranker/c", "pages/a", "builds/x", "registry/y")):
        record = tmp_path / f"{name}.json"
        record.parent.mkdir(parents=True, exist_ok=True)
        record.touch()
        os.utime(record, (place, place))
    assert Case("build", (), None, tmp_path, 1.0).stages == ["articles", "models/ranker", "pages"]


@pytest.mark.integration
@pytest.mark.slow
def test_kills_of_each_command_cost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kills, "MOST", 2)
    status = main(tmp_path, count=6, seed=2, minutes=600)
    assert status == 0, capfd.readouterr().out[-6000:]
