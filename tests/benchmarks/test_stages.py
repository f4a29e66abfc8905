"""The benchmark of data stages: what its sum counts, what it says of goal and bar, and that it measures every stage."""

from pathlib import Path

import pytest

from benchmarks.stages import BAR_BYTES, COUNTED, LEAST, StageCost, build, show


def costs(processor: float, peak: int = 10**8, documents: float = 0.0) -> dict[str, StageCost]:
    found = {name: StageCost(7, processor, peak) for name in COUNTED}
    return found | {"documents": StageCost(7, documents, 10**8)}


def test_an_article_costs_what_more_articles_add_and_extraction_stands_apart(capsys: pytest.CaptureFixture[str]):
    # Of 2 s each stage 1.992 are those of a job, and 2 more articles take the rest.
    assert show(costs(1.992), costs(2.0, documents=6.0), more=2)
    *stages, total, page = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in stages] == [*COUNTED, "documents"]
    assert all(" 4.00 ms*" in line for line in stages[:-1])
    assert total == "sum of * 20.00 ms   goal 25: reached; 1,579,360 articles: 8.8 core-hours"
    assert page == "a page's extraction 200.0 ms; bar 1.5 GB"


def test_a_missed_goal_or_bar_is_said(capsys: pytest.CaptureFixture[str]):
    assert not show(costs(0.0), costs(0.1), more=2)
    assert "sum of * 250.00 ms   goal 25: missed" in capsys.readouterr().out
    assert not show(costs(0.0), costs(0.0, BAR_BYTES + 1), more=2)
    assert capsys.readouterr().out.count(" OVER") == len(COUNTED)


@pytest.mark.slow
def test_a_small_build_measures_every_stage(tmp_path: Path):
    found = build(tmp_path / "build", LEAST)
    rows = {"frontier": 300, "pages": 300, "documents": 300, "paragraphs": 10_500, "features": 10_500, "ranked": 800}
    rows |= {"graphs": 20, "examples": 20, "models/ranker": 0, "baselines": 8, "baseline_scores": 208}
    assert {name: found[name].rows for name in rows} == rows
    assert {"vocabulary", "ranking_scores"} <= set(found)
    assert all(cost.peak_bytes > 10**8 and cost.processor > 0 for cost in found.values())
