import json
from pathlib import Path

import pytest
import torch

from tasks.tables.efficiency import time_validation
from tasks.training import train_summarizer
from tests.tasks.summarizer_examples import FEW, TINY, shards, vocabulary

torch.set_num_threads(1)


def test_a_trained_summarizer_is_timed_on_the_validation_articles(tmp_path: Path) -> None:
    model, timed = tmp_path / "model", tmp_path / "timed"
    model.mkdir()
    timed.mkdir()
    few = FEW.model_copy(update={"steps": 1})
    train_summarizer(shards(), vocabulary(), TINY, training=few, directory=model, seed=1)
    found = time_validation(shards(), model, articles=10, batch_tokens=512, directory=timed, device="cpu")
    assert found["published"] == ["efficiency.json"]
    assert (found["articles"], found["device"]) == (2, "cpu")
    assert found["seconds"] >= 0
    said = json.loads((timed / "efficiency.json").read_text())
    assert said == {name: found[name] for name in ("seconds", "articles", "device")}
    assert (
        time_validation(shards(), model, articles=1, batch_tokens=512, directory=timed, device="cpu")["articles"] == 1
    )


def test_a_folder_without_a_summarizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a trained summarizer"):
        time_validation(shards(), tmp_path, articles=1, batch_tokens=512, directory=tmp_path, device="cpu")
