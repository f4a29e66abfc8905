"""Training the attention predictor: what it learns, what it leaves, and that a killed run ends where another does."""

import json
import os
import re
import signal
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

from models.training.checkpoints import read_metrics
from models.training.state import TrainingProgress, TrainingStopped
from tasks.summarization.attention_training import train_attention
from tasks.summarization.directory import load_predictor
from tasks.summarization.settings import AttentionSettings, SummarizerSettings
from tasks.summarization.training import train_summarizer
from tests.tasks.summarization.summarizer_examples import FEW, TINY, InMemory, examples, graphs, shards, vocabulary

pytestmark = pytest.mark.integration

SIZES = {"model_size": 32, "feed_forward_size": 64, "heads": 2, "dropout": 0.0}
PHT = TINY.model_copy(update={"preset": "pht", "overrides": {**SIZES, "encoder_layers": 1, "decoder_layers": 2}})
SHORT = AttentionSettings(steps=6, warmup=4)


def train(data: InMemory, summarizer: Path, settings: AttentionSettings, **more: Any) -> dict[str, Any]:
    few = {"batch_tokens": 512, "validation_interval": 2}
    return train_attention(data, summarizer, settings, **{**few, **more})


def summarizer_in(directory: Path, settings: SummarizerSettings = PHT, data: InMemory | None = None) -> Path:
    training = FEW.model_copy(update={"steps": 30, "validation_interval": 30})
    train_summarizer(data or shards(), vocabulary(), settings, training=training, directory=directory, seed=1)
    return directory


@pytest.fixture(scope="module")
def summarizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return summarizer_in(tmp_path_factory.mktemp("summarizer"))


@pytest.fixture(scope="module")
def trained(summarizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("trained")
    train(shards(), summarizer, SHORT, directory=directory, seed=1)
    return directory


def test_the_papers_settings_are_the_defaults() -> None:
    assert AttentionSettings().steps == 100_000


def test_it_learns_more_than_that_all_paragraphs_are_alike(
    summarizer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.summarization.attention_training.DROPOUT", 0.0)
    data = InMemory([(pa.concat_tables([examples("train"), examples("valid")]),)])
    settings = SHORT.model_copy(update={"steps": 24, "learning_rate_factor": 0.1, "warmup": 10})
    found = train(data, summarizer, settings, directory=tmp_path, seed=1, validation_interval=12)
    assert found["validation_error"] < found["uniform_error"] / 5
    assert json.loads(json.dumps(found)) == found


def test_a_model_directory_and_its_metrics(summarizer: Path, tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    found = train(shards(), summarizer, SHORT, directory=tmp_path, seed=1, log_interval=1, progress=reports.append)
    assert found["published"] == ["model.safetensors", "config.json"]
    assert found["steps"] == 6
    assert found["validation_error"] == min(report.validation for report in reports if report.validation)
    assert [report.step for report in reports] == [1, 2, 2, 3, 4, 4, 5, 6, 6]
    assert (reports[0].validation, reports[-1].share) == (None, 1.0)
    assert re.match(r"step 6 of 6; error \S+ squared error/paragraph; ", str(reports[-1]))
    lines = [(line["kind"], line["step"]) for line in read_metrics(tmp_path / "metrics.jsonl")]
    assert lines == [
        ("train", 1),
        ("train", 2),
        ("validation", 2),
        ("train", 3),
        ("train", 4),
        ("validation", 4),
        ("train", 5),
        ("train", 6),
        ("validation", 6),
    ]
    predictor = load_predictor(tmp_path, summarizer)
    assert not predictor.training
    assert predictor.config.feed_forward_size == 128  # four times the summarizer's 32
    assert sum(parameter.numel() for parameter in predictor.parameters()) == found["parameters"]


def test_an_interrupted_training_ends_in_the_same_model(trained: Path, summarizer: Path, tmp_path: Path) -> None:
    def fail(at: TrainingProgress) -> None:
        if at.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(shards(), summarizer, SHORT, directory=tmp_path, seed=1, log_interval=1, progress=fail)
    train(shards(), summarizer, SHORT, directory=tmp_path, seed=1)
    for file in ("model.safetensors", "config.json"):
        assert (tmp_path / file).read_bytes() == (trained / file).read_bytes(), file


def test_sigterm_saves_a_checkpoint_that_the_next_run_goes_on_from(
    trained: Path, summarizer: Path, tmp_path: Path
) -> None:
    assert threading.current_thread() is threading.main_thread()

    def stop(at: TrainingProgress) -> None:
        if at.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingStopped, match="stopped by SIGTERM after step 3"):
        train(shards(), summarizer, SHORT, directory=tmp_path, seed=1, log_interval=1, progress=stop)
    reports: list[TrainingProgress] = []
    train(shards(), summarizer, SHORT, directory=tmp_path, seed=1, log_interval=1, progress=reports.append)
    assert reports[0].step == 4
    assert (tmp_path / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()


def test_another_run_in_the_same_directory_is_refused(trained: Path, summarizer: Path) -> None:
    with pytest.raises(ValueError, match=r"other settings \(seed\): seed was 1 and is 2"):
        train(shards(), summarizer, SHORT, directory=trained, seed=2)
    changed = SHORT.model_copy(update={"warmup": 5})
    with pytest.raises(ValueError, match=r"warmup was 4 and is 5"):
        train(shards(), summarizer, changed, directory=trained, seed=1)


def test_a_summarizer_without_paragraph_embeddings_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    directory = summarizer_in(tmp_path / "ht", TINY)
    unread = InMemory([])
    with pytest.raises(ValueError, match=r"parallel or graphsum.*not for one of 'hierarchical'"):
        train(unread, directory, SHORT, directory=tmp_path / "attention", seed=1)
    assert not (tmp_path / "attention").exists()


def test_graphsum_is_learned_from_with_its_graph(tmp_path: Path) -> None:
    layers = {"word_layers": 1, "graph_layers": 1, "decoder_layers": 1}
    settings = TINY.model_copy(update={"preset": "graphsum", "overrides": {**SIZES, **layers}, "graph": "similarity"})
    table = pa.concat_tables([examples("train"), examples("valid")])
    data = InMemory([(table, graphs(table))])
    directory = summarizer_in(tmp_path / "graphsum", settings, data)
    found = train(data, directory, SHORT, directory=tmp_path / "attention", seed=1)
    assert found["validation_error"] is not None
    with pytest.raises(ValueError, match="expected shards of examples and graphs"):
        train(InMemory([(table,)]), directory, SHORT, directory=tmp_path / "other", seed=1)


def test_without_validation_examples_the_last_weights_are_the_model(summarizer: Path, tmp_path: Path) -> None:
    data = InMemory([(examples("train"),)])
    found = train(data, summarizer, SHORT, directory=tmp_path, seed=1)
    assert (found["validation_error"], found["uniform_error"]) == (None, None)
    last = tmp_path / "checkpoints/step-00000006/model.safetensors"
    assert (tmp_path / "model.safetensors").read_bytes() == last.read_bytes()


def test_a_predictor_is_that_of_one_summarizer(trained: Path, summarizer: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ValueError, match="predicts the attention of the summarizer with weights"):
        load_predictor(trained, tmp_path)
    with pytest.raises(ValueError, match="expected an attention predictor in"):
        load_predictor(tmp_path, summarizer)
    with pytest.raises(ValueError, match="expected an attention predictor in"):
        load_predictor(summarizer, summarizer)


def test_what_cannot_be_trained_is_an_error(summarizer: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"batch_tokens of 100 .* expected at least 120"):
        train(shards(), summarizer, SHORT, directory=tmp_path, seed=1, batch_tokens=100)
    with pytest.raises(ValueError, match="found none in 1 shards"):
        train(InMemory([(examples("valid"),)]), summarizer, SHORT, directory=tmp_path, seed=1)


def test_threads_are_always_two(summarizer: Path, tmp_path: Path) -> None:
    """Sums, and so the bytes of weights, depend on their number."""
    seen: list[int] = []
    settings = SHORT.model_copy(update={"steps": 2})
    train(
        shards(),
        summarizer,
        settings,
        directory=tmp_path,
        seed=1,
        progress=lambda _: seen.append(torch.get_num_threads()),
    )
    assert set(seen) == {2}
    assert torch.get_num_threads() == 1
