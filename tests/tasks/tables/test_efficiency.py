import json
from pathlib import Path
from typing import Any

import pytest

from models.training.batches import Batch
from models.training.trainer import Updater
from tasks.summarization.directory import load_summarizer
from tasks.summarization.training import train_summarizer
from tasks.tables.efficiency import measure_efficiency
from tests.tasks.summarization.summarizer_examples import FEW, TINY, shards, vocabulary


@pytest.mark.integration
def test_a_trained_summarizer_is_measured_on_the_validation_articles(tmp_path: Path) -> None:
    model, timed = tmp_path / "model", tmp_path / "timed"
    model.mkdir()
    timed.mkdir()
    few = FEW.model_copy(update={"steps": 1})
    train_summarizer(shards(), vocabulary(), TINY, training=few, directory=model, seed=1)
    found = measured(model, timed, articles=10)
    assert found["published"] == ["efficiency.json"]
    assert (found["articles"], found["device"]) == (2, "cpu")
    assert found["seconds"] >= 0
    assert found["parameters"] == sum(p.numel() for p in load_summarizer(model).model.parameters())
    assert found["batch"] >= 1
    assert found["way"] == (
        "float32 on the CPU, where the line through the live tensors' peak in two batches meets 0.1 GB"
    )
    said = json.loads((timed / "efficiency.json").read_text())
    assert said == {name: value for name, value in found.items() if name != "published"}
    assert measured(model, timed, articles=1)["articles"] == 1
    with pytest.raises(ValueError, match="expected precision auto, float32 or bfloat16, got 'float16'"):
        measured(model, timed, articles=1, precision="float16")


def test_a_folder_without_a_summarizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a trained summarizer"):
        measured(tmp_path, tmp_path, articles=1)


@pytest.mark.integration
@pytest.mark.parametrize("limit", [5, 30])
def test_every_summarizer_is_timed_on_as_many_tokens(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it was trained on (Ma & Zong 2022, sec. 7.1.2): one paragraph, or no more than four tokens."""
    read: list[int] = []
    losses = Updater.losses

    def counted(updater: Updater, batch: Batch) -> tuple[float, float]:
        read.append(batch.source_tokens)
        return losses(updater, batch)

    monkeypatch.setattr(Updater, "losses", counted)
    flat = {"model_size": 32, "feed_forward_size": 64, "heads": 2, "source_tokens": 4}
    for name, changes in (("hierarchical", {"max_paragraphs": 1}), ("flat", {"preset": "ft-small", "overrides": flat})):
        model, timed = tmp_path / name / "model", tmp_path / name / "timed"
        model.mkdir(parents=True)
        timed.mkdir()
        settings, few = TINY.model_copy(update=changes), FEW.model_copy(update={"steps": 1, "decoded_articles": 0})
        train_summarizer(shards(), vocabulary(), settings, training=few, directory=model, seed=1)
        read.clear()
        found = measured(model, timed, articles=1, source_tokens=limit)
        assert found["batch"] >= 1
        assert read == [limit, limit]  # the first batch twice


def measured(
    model: Path, directory: Path, articles: int, precision: str = "auto", source_tokens: int = 120
) -> dict[str, Any]:
    return measure_efficiency(
        shards(),
        model,
        articles=articles,
        batch_tokens=512,
        paragraphs=3,
        source_tokens=source_tokens,
        memory_bytes=100_000_000,
        directory=directory,
        precision=precision,
        device="cpu",
    )
