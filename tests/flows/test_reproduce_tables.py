"""The wiring of the tables: which models are trained, what a build shares with them, and a run at toy size."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from flows import dag
from flows.config import BuildConfig
from flows.reproduce_tables import chosen, tables
from flows.running.session import Session
from storage.recipes import recipe_key
from tasks.engine.recipe import DirectoryResult
from tests.flows.recording import keys, walked
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[2]
TOY = [
    "--source.miniweb.topics=40",
    "--source.miniweb.oversized-bytes=11000000",
    "--shards.articles=2",
    "--shards.hosts=2",
    "--vocabulary.pieces=800",
    "--ranker.hidden=16",
    "--ranker.steps=20",
    "--ranker.validation-interval=10",
    "--summarizer.max-paragraph-tokens=32",
    "--summarizer.max-target-tokens=40",
    "--training.validation-interval=2",
    "--training.decoded-articles=1",
    "--training.processes=1",
    "--training.batch-tokens=1500",
    "--decoding.max-length=16",
    "--decoding.min-length=4",
    "--decoding.beam=2",
    "--tables.steps=2",
    "--tables.source-scale=0.125",
]


def report(session: Session) -> DirectoryResult:
    return dag.report(session)


def config(**given: object) -> BuildConfig:
    return BuildConfig.model_validate({"shards": {"articles": 2}, **given})


def test_the_settings_of_the_tables_change_no_key_of_a_build(tmp_path: Path) -> None:
    _, plain = walked(config(), report, tmp_path)
    _, other = walked(config(tables={"steps": 1, "size": "paper", "systems": ["ht"]}), report, tmp_path)
    assert keys(plain) == keys(other)


def test_another_checkpoint_leaves_out_what_its_predictor_does_not_know(tmp_path: Path) -> None:
    session, _ = walked(config(decoding={"checkpoint": 1}, tables={"tables": ["002-2"]}), chosen, tmp_path)
    run, reasons = session.once(chosen)
    assert run == ["pht", "pht-strcov", "pht-extprob"]
    assert reasons == {"pht-attalign": "its attention predictor was trained only for the best checkpoint"}


def test_a_system_that_wants_more_paragraphs_than_are_kept_is_left_out(tmp_path: Path) -> None:
    few = {"ranking": {"keep": 30}, "tables": {"tables": ["000-2"], "size": "paper", "source_scale": 1.0}}
    run, reasons = walked(config(**few), chosen, tmp_path)[0].once(chosen)
    assert reasons["ht-3000"] == reasons["t-dmca"] == "it reads 40 paragraphs and ranking.keep is 30"
    assert {"ht", "ft-1200"} <= set(run)


def test_a_build_trains_a_summarizer_by_the_recipe_of_its_paper() -> None:
    def trained(preset: str, **training: object) -> tuple[object, ...]:
        made = config(preset="paper", summarizer={"preset": preset}, training=training)
        return made.training.warmup, made.training.learning_rate_factor, made.training.clip_norm, made.summarizer

    assert trained("ht")[:3] == (8000, 3.0, None)
    assert trained("pht")[:3] == (16_000, 1.0, None)
    assert trained("vht", warmup=9)[:3] == (9, 1.0, None)  # what is given goes before
    *rates, summarizer = trained("graphsum")
    assert rates == [8000, 2.0, 2.0]
    assert (summarizer.max_paragraphs, summarizer.max_paragraph_tokens) == (30, 150)  # type: ignore[attr-defined]


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
        assert job.recipe.fields(0) == build.decoding.recipe()
        assert set(job.digests) == {"examples", "graphs", "directory"}
    assert len(decoding) == 2


def test_the_tables_share_corpus_ranker_and_baselines_with_a_build(tmp_path: Path) -> None:
    _, build = walked(config(), report, tmp_path)
    _, made = walked(config(), tables, tmp_path)
    others = keys(build) - keys(made)
    assert {name.split("-00")[0].split(".")[0] for name in others} == {
        "models/summarizer",
        "slot-examples",  # of the build alone: systems of the tables spell values
        "predictions",
        "scores",
        "reports",
    }


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
        "models/pht",
        "efficiency/pht",
        "predictions-pht-00000",
        "predictions-pht-00001",
        "scores-pht-00000",
        "scores-pht-00001",
        "tables",
    }


def test_systems_that_see_sentences_read_examples_of_their_own(tmp_path: Path) -> None:
    _, few = walked(config(tables={"tables": ["004-1"], "systems": ["bart"]}), tables, tmp_path)
    session, jobs = walked(config(tables={"tables": ["004-1"], "systems": ["bart", "hie-bart"]}), tables, tmp_path)
    added = [job for job in jobs if f"{job.name}.{job.key}" not in keys(few)]
    assert {job.stage for job in added} == {"examples", "models/hie-bart", "predictions", "scores", "tables"}
    assert {"examples", "sentence-examples"} <= session.run.stages.keys()
    marked = [job for job in added if job.stage == "examples"]
    assert [job.recipe.arguments.get("form") for job in marked] == ["sentences", "sentences"]
    read = {job.stage: job.digests["shards"] for job in jobs if job.stage in ("models/bart", "models/hie-bart")}
    assert read["models/bart"] != read["models/hie-bart"]

    own = config(summarizer={"preset": "hie-bart-small", "graph": "none"})
    alone, _ = walked(own, report, tmp_path)
    assert "examples" not in alone.run.stages
    both, _ = walked(own.model_copy(update={"tables": config(tables={"systems": ["ht"]}).tables}), tables, tmp_path)
    assert "sentence-examples" not in both.run.stages  # whatever the build's own summarizer is


def test_a_build_trains_the_predictor_that_its_search_asks_for(tmp_path: Path) -> None:
    pht = {"preset": "pht-small", "graph": "none"}
    plain = keys(walked(config(summarizer=pht), report, tmp_path)[1])
    _, jobs = walked(config(summarizer=pht, decoding={"alignment": "predicted"}), report, tmp_path)
    added = {job.stage for job in jobs if f"{job.name}.{job.key}" not in plain}
    assert added == {"models/attention-summarizer", "predictions", "scores", "reports"}
    for job in jobs:
        if job.stage == "predictions" and "directory" in job.digests:
            assert set(job.digests) == {"examples", "directory", "predictor"}
    _, jobs = walked(config(decoding={"alignment": "ranked"}), report, tmp_path)
    assert not [job for job in jobs if job.stage == "models/attention-summarizer"]
    decoding = [job for job in jobs if job.stage == "predictions" and "directory" in job.digests]
    assert all(set(job.digests) == {"examples", "graphs", "directory", "ranked"} for job in decoding)


def test_attention_that_cannot_be_predicted_is_refused_before_work_starts() -> None:
    for decoding in ({"alignment": "predicted"}, {"compressed_paragraphs": 3}):
        with pytest.raises(ValidationError, match="not for one of 'hierarchical'"):
            config(summarizer={"preset": "ht-small"}, decoding=decoding)


def test_ways_to_decode_share_the_model_its_predictor_and_equal_work(tmp_path: Path) -> None:
    # At an eighth, s = 5 and 10 are one paragraph each, 15 and 20 two, 25 three, of four.
    chosen = {"tables": ["002-2", "002-6"], "size": "small", "source_scale": 0.125}
    session, jobs = walked(config(tables=chosen), tables, tmp_path)
    models = [job.stage for job in jobs if job.stage.startswith("models/")]
    assert models == ["models/ranker", "models/pht", "models/attention-pht"]
    ways = ["pht", "pht-strcov", "pht-extprob", "pht-attalign", *(f"pht-attalign-{s}" for s in (5, 10, 15, 20, 25))]
    assert {f"{stage}-{way}" for stage in ("predictions", "scores") for way in ways} <= session.run.stages.keys()
    shared = {
        job.recipe.arguments["system"] for job in jobs if job.recipe.function == "tasks.tables.plan:rename_system"
    }
    assert shared == {"pht-attalign-10", "pht-attalign-20"}
    read = {job.recipe.arguments["system"]: set(job.digests) for job in jobs if "directory" in job.digests}
    assert read["pht"] == read["pht-strcov"] == {"examples", "directory"}
    assert read["pht-extprob"] == {"examples", "directory", "ranked"}
    assert read["pht-attalign"] == read["pht-attalign-25"] == {"examples", "directory", "predictor"}


@pytest.mark.slow
def test_tables_of_a_toy_corpus(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "",
    }

    def run(*systems: str) -> tuple[str, set[str]]:
        """Run some systems, or all; return what is printed, and the stages that were computed."""
        call = [sys.executable, "-m", "flows", "tables", "--root", str(tmp_path / "data"), *TOY]
        done = subprocess.run(
            [*call, *(f"--tables.systems={name}" for name in systems)],
            check=False,
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        log = done.stdout + done.stderr
        assert done.returncode == 0, log[-6000:]
        return done.stdout, {line.split(" - ")[1].split(":")[0] for line in log.splitlines() if ": computing" in line}

    first, _ = run("ft-600-unranked", "ht", "ht-3000")
    place = next(line for line in first.splitlines() if line.startswith("report: "))
    page = Path(place.removeprefix("report: "))
    assert page.name == "tables.html"
    assert (page.parent / "artifacts" / "table-000-2.md").is_file()
    scores = json.loads(page.parent.with_suffix(".json").read_text())["metrics"]["f1"]
    assert {"lead", "ft-600-unranked", "ht", "ht-3000"} <= scores.keys()
    assert "not among the systems asked for" in " ".join(first.split())
    everything, computed = run()
    assert computed >= {
        "models/pht",
        "models/attention-pht",
        "efficiency/pht",
        "predictions-pht",
        "scores-pht",
        "tables",
    }
    assert computed.isdisjoint({"articles", "ranked", "models/ranker", "models/ft-600-unranked", "models/ht"})
    said = " ".join(everything.split())
    assert said.count("Not run: ") == said.count("(needs weights: ") > 0
