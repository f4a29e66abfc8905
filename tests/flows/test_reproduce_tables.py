"""The wiring of the tables: which models are trained, what a build shares with them, and a run at toy size."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.config import BuildConfig
from flows.evaluate import report
from flows.reproduce_tables import tables
from storage.recipes import recipe_key
from tests.flows.recording import keys, walked

PROJECT = Path(__file__).parents[2]
TOY = [
    "--source.miniweb.topics=40", "--source.miniweb.slow-seconds=0.05", "--source.miniweb.oversized-bytes=11000000",
    "--shards.articles=2", "--shards.hosts=2", "--vocabulary.pieces=800", "--ranker.embedding=16",
    "--ranker.hidden=16", "--ranker.steps=20", "--ranker.validate-every=10", "--summarizer.max-paragraph-tokens=32",
    "--summarizer.max-target-tokens=40", "--training.validation-interval=2", "--training.decoded-articles=1",
    "--training.batch-tokens=1500", "--decoding.max-length=16", "--decoding.min-length=4", "--decoding.beam=2",
    "--report.significance.resamples=100", "--tables.steps=2", "--tables.source-scale=0.125",
]  # fmt: skip


def config(**given: object) -> BuildConfig:
    return BuildConfig.model_validate({"shards": {"articles": 2}, **given})


def test_the_settings_of_the_tables_change_no_key_of_a_build(tmp_path: Path) -> None:
    _, plain = walked(config(), report, tmp_path)
    _, other = walked(config(tables={"steps": 1, "size": "paper", "systems": ["ht"]}), report, tmp_path)
    assert keys(plain) == keys(other)


def test_the_builds_summarizer_and_summaries_have_the_recipes_they_had(tmp_path: Path) -> None:
    """Spelled out, so that a change of the wiring that would train a finished build's model again is seen."""
    build = config(summarizer={"graph": "similarity"})
    _, jobs = walked(build, report, tmp_path)
    job = next(job for job in jobs if job.stage == "models/summarizer")
    recipe = {**build.summarizer.recipe(), "training": build.training.recipe(), "seed": build.seed}
    assert job.key == recipe_key("models/summarizer", 1, recipe, 0, job.digests)
    assert set(job.digests) == {"shards", "vocabulary"}
    decoding = [job for job in jobs if job.stage == "predictions" and "directory" in job.digests]
    for job in decoding:
        assert job.recipe() == build.decoding.recipe()
        assert set(job.digests) == {"examples", "graphs", "directory"}
    assert len(decoding) == 2


def test_the_tables_share_corpus_ranker_and_baselines_with_a_build(tmp_path: Path) -> None:
    _, build = walked(config(), report, tmp_path)
    _, made = walked(config(), tables, tmp_path)
    others = keys(build) - keys(made)
    assert {name.split("-00")[0].split(".")[0] for name in others} == {
        "models/summarizer", "predictions", "scores", "reports",
    }  # fmt: skip


def test_each_system_is_trained_once_and_equal_ones_together(tmp_path: Path) -> None:
    chosen = {"systems": ["ht", "ht-3000", "t-dmca", "t-dmca-3", "lead"], "size": "small"}
    session, jobs = walked(config(tables=chosen), tables, tmp_path)
    models = [job.stage for job in jobs if job.stage.startswith("models/")]
    assert models == ["models/ranker", "models/t-dmca", "models/ht"]
    assert {"scores-ht", "scores-ht-3000", "scores-t-dmca", "scores-t-dmca-3"} <= session.run.stages.keys()
    paper, _ = walked(config(tables={**chosen, "size": "paper"}), tables, tmp_path)
    assert {"models/t-dmca", "models/t-dmca-3", "models/ht"} <= paper.run.directories.keys()


def test_one_more_system_trains_that_system_alone(tmp_path: Path) -> None:
    _, few = walked(config(tables={"systems": ["ht"]}), tables, tmp_path)
    _, more = walked(config(tables={"systems": ["ht", "pht"]}), tables, tmp_path)
    added = keys(more) - keys(few)
    stages = {name.split(".")[0] for name in added}
    assert stages == {
        "models/pht", "efficiency/pht", "predictions-00000", "predictions-00001", "scores-00000", "scores-00001",
        "tables",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_tables_of_a_toy_corpus(tmp_path: Path) -> None:
    environment = {
        **os.environ, "PREFECT_HOME": str(tmp_path / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "", "OMP_NUM_THREADS": "1",
    }  # fmt: skip

    def run(systems: str) -> tuple[str, set[str]]:
        """Return what is printed, and the stages that were computed."""
        call = [sys.executable, "-m", "flows.reproduce_tables", "--root", str(tmp_path / "data"), *TOY]
        done = subprocess.run(
            [*call, f"--tables.systems={systems}"], check=False, cwd=PROJECT, env=environment, capture_output=True,
            text=True, timeout=400,
        )  # fmt: skip
        log = done.stdout + done.stderr
        assert done.returncode == 0, log[-6000:]
        return done.stdout, {line.split(" - ")[1].split(":")[0] for line in log.splitlines() if ": computing" in line}

    first, _ = run("ft-600-unranked,ht,ht-3000")
    place = next(line for line in first.splitlines() if line.startswith("report: "))
    page = Path(place.removeprefix("report: "))
    assert page.name == "tables.html"
    assert (page.parent / "artifacts" / "table-000-2.md").is_file()
    scores = json.loads(page.parent.with_suffix(".json").read_text())["metrics"]["f1"]
    assert {"lead", "ft-600-unranked", "ht", "ht-3000"} <= scores.keys()
    assert "not among the systems asked for" in " ".join(first.split())
    _, computed = run("ft-600-unranked,ht,ht-3000,pht")
    assert computed == {"models/pht", "efficiency/pht", "predictions", "scores", "tables"}
