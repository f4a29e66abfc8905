"""The recipe of scores holds what judges are, and not where they lie."""

import json
from pathlib import Path

from flows.config import BuildConfig
from flows.dag import dag_of
from tests.flows.recording import keys, walked


def scoring_keys(nli: Path, root: Path) -> set[str]:
    config = BuildConfig.model_validate(
        {"source": {"miniweb": {"topics": 20}}, "scoring": {"nli": {"folder": str(nli)}}}
    )
    _, jobs = walked(config, lambda session: dag_of(session).baseline_scores, root)
    return keys([job for job in jobs if job.stage == "scores"])


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
