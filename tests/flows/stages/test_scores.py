"""The recipe of scores holds what judges are, and not where they lie."""

import json
from pathlib import Path
from typing import Any

from flows import dag
from flows.config import BuildConfig
from tasks.engine.job import Job
from tasks.verification.parser import parser_notes
from tests.flows.recording import keys, walked


def scoring_keys(nli: Path, root: Path) -> set[str]:
    config = BuildConfig.model_validate(
        {"source": {"miniweb": {"topics": 20}}, "scoring": {"nli": {"folder": str(nli)}}}
    )
    _, jobs = walked(config, dag.baseline_scores, root)
    return keys([job for job in jobs if job.stage == "scores"])


def test_answers_that_cost_something_outlive_an_interruption_and_progress_is_told(tmp_path: Path) -> None:
    def job(scoring: dict[str, Any]) -> Job:
        config = BuildConfig.model_validate({"source": {"miniweb": {"topics": 20}}, "scoring": scoring})
        _, jobs = walked(config, dag.baseline_scores, tmp_path / "root")
        return next(job for job in jobs if job.stage == "scores")

    plain, judged = job({}), job({"judge": {"url": "http://h/v1", "model": "m"}})
    assert (plain.scratch, plain.context["progress"], plain.recipe.notes) == (None, None, parser_notes())
    assert judged.scratch == "scratch"
    assert judged.context["progress"].name == "baseline_scores"


def test_scores_are_made_again_where_the_model_of_a_judge_is_another(tmp_path: Path) -> None:
    config = {"architectures": ["BertForSequenceClassification"], "id2label": {0: "entailment", 1: "contradiction"}}
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "tokenizer.json").write_text("{}")
    first = scoring_keys(here, tmp_path / "root")
    assert first
    assert scoring_keys(there, tmp_path / "root") == first
    (there / "model.safetensors").write_bytes(b"others")
    assert first.isdisjoint(scoring_keys(there, tmp_path / "root"))
