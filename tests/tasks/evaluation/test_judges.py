"""Judges that are asked for: what is refused before work starts, and what is on without a word."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.evaluation.entailment import label_ids
from tasks.evaluation.judges import check_judges, judge_notes
from tasks.evaluation.metrics import METRICS
from tasks.evaluation.scoring import ScoringSettings
from tasks.evaluation.settings import NliSettings

NLI: dict[str, Any] = {
    "architectures": ["BertForSequenceClassification"],
    "id2label": {"0": "Contradiction", "1": "neutral", "2": "entailment"},
}


def folder(
    path: Path, config: object = NLI, weights: str = "model.safetensors", tokenizer: str = "tokenizer.json"
) -> str:
    (path / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    (path / weights).write_bytes(b"weights")
    (path / tokenizer).write_text("{}")
    return str(path)


def nli(place: str) -> ScoringSettings:
    return ScoringSettings(nli=NliSettings(folder=place))


def test_no_judge_is_asked_by_default() -> None:
    settings = ScoringSettings()
    assert all(METRICS[name].judge is None for name in settings.metrics)
    assert judge_notes(settings) == {}
    check_judges(settings)


def test_a_judge_that_is_set_brings_its_metrics() -> None:
    assert set(nli("x").metrics) - set(ScoringSettings().metrics) == {
        name for name, metric in METRICS.items() if metric.judge == "nli"
    }


def test_a_metric_without_its_judge_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"metrics names summac: expected scoring\.nli to be set"):
        ScoringSettings(metrics=("rouge1", "summac"))


def test_labels_are_found_by_name(tmp_path: Path) -> None:
    assert label_ids(folder(tmp_path), "scoring.nli.folder") == [2, 0]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({**NLI, "architectures": ["BertForMaskedLM"]}, "sequence classification, got BertForMaskedLM"),
        ({"id2label": NLI["id2label"]}, "got one that does not say what it is"),
        ({**NLI, "id2label": {"0": "LABEL_0", "1": "entailment"}}, "contradiction in its id2label, got LABEL_0, enta"),
        ({"architectures": NLI["architectures"]}, "in its id2label, got none"),
        ("[]", "expected a JSON object"),
        ("{", "expected JSON"),
    ],
)
def test_a_folder_with_another_model_is_refused(tmp_path: Path, config: object, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        judge_notes(nli(folder(tmp_path, config)))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"scoring\.nli\.folder is .*none.*: expected a local folder"):
        judge_notes(nli(str(tmp_path / "none")))
    with pytest.raises(FileNotFoundError, match=r"expected config\.json"):
        judge_notes(nli(str(tmp_path)))
    with pytest.raises(FileNotFoundError, match=r"expected model\.safetensors or .*index\.json in it"):
        judge_notes(nli(folder(tmp_path, weights="pytorch_model.bin")))
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"expected tokenizer\.json or "):
        judge_notes(nli(folder(tmp_path, tokenizer="words.txt")))


def test_the_digest_follows_what_is_read_and_not_the_path(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "ab"]
    for place in places:
        place.mkdir()
        folder(place)
    one, two = (judge_notes(nli(str(place))) for place in places)
    assert one == two
    assert nli(str(places[0])).recipe() == nli(str(places[1])).recipe()
    (places[1] / "README.md").write_text("more")
    assert judge_notes(nli(str(places[1]))) == one
    (places[1] / "model.safetensors").write_bytes(b"other weights")
    assert judge_notes(nli(str(places[1]))) != one


def test_a_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ValueError, match=r"scoring\.nli\.folder is set: expected transformers, found none; .*'wikisum\[judges\]'"
    ):
        check_judges(nli(folder(tmp_path)))
