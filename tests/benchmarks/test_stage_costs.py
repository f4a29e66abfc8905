"""The benchmark of data stages: what its sum counts, what it says of the goal, and that it runs."""

import sys

import pytest

from benchmarks.stage_costs import COUNTED, main, show


def test_the_sum_leaves_out_extraction_and_spacy(capsys: pytest.CaptureFixture[str]):
    seconds = dict.fromkeys(COUNTED, 0.008) | {"extraction": 20.0, "documents": 3.0, "graphs": 0.108}
    assert show(seconds, entities=0.1, articles=2) == pytest.approx(6 * 4.0)
    *stages, total, spacy, extraction = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in stages] == list(COUNTED)
    assert all(" 4.00 ms" in line for line in stages)
    assert "24.00 ms   goal 25: reached; 1,579,360 articles: 10.5 core-hours" in total
    assert spacy.split() == ["graphs", "entities", "by", "spaCy", "50.00", "ms"]
    assert "13 pages" in extraction


def test_a_missed_goal_is_said(capsys: pytest.CaptureFixture[str]):
    assert show({**dict.fromkeys(COUNTED, 0.0), "features": 0.1, "extraction": 0.0}, 0.0, articles=2) == 50.0
    assert "50.00 ms   goal 25: missed" in capsys.readouterr().out


@pytest.mark.slow
def test_a_small_run_measures_every_stage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["stage_costs", "--articles", "2"])
    assert main() in (0, 1)  # so few articles may miss the goal
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == [*COUNTED, "sum", "graphs", "extraction"]
    assert all(float(line[line.index("ms") - 1]) > 0 for line in lines if line[0] not in ("graphs", "extraction"))
