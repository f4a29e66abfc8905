"""A causal language model of a folder as a summarizer: as it is, tuned by adapters, and tuned whole."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

from models.causal import Causal
from models.exported import read_summarizer
from models.training.state import TrainingProgress
from models.values import ValueIndex, missing
from models.vocabulary import Vocabulary
from storage.schemas import EXAMPLES
from tasks.summarization.decoding import decode_shard
from tasks.summarization.directory import load_summarizer
from tasks.summarization.examples import layout_of
from tasks.summarization.fresh_model import check_start, folder_vocabulary
from tasks.summarization.settings import DecodingSettings, SummarizerSettings
from tasks.summarization.training import train_summarizer
from tests.models.causal_folders import write_causal
from tests.patience import PATIENCE
from tests.tasks.summarization.summarizer_examples import FACTS, FEW, InMemory

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(find_spec("peft") is None, reason="needs the extra `backbones`"),
]

TRAINING = FEW.model_copy(
    update={
        **{"schedule": "constant", "learning_rate": 0.01, "label_smoothing": 0.0, "accumulation": 2},
        **{"batch_tokens": 2000, "precision": "bfloat16", "log_interval": 1},
    }
)
SEARCH = DecodingSettings(beam=2, min_length=0, max_length=30, normalisation="average", as_transformers=True)


def settings(folder: Path, preset: str = "llama", **overrides: object) -> SummarizerSettings:
    lengths = {"max_paragraphs": 3, "max_paragraph_tokens": 60, "max_target_tokens": 80}
    return SummarizerSettings(preset=preset, pretrained=str(folder), overrides=overrides, **lengths)


def shards(words: Vocabulary, *splits: str) -> InMemory:
    rows = []
    for split in splits:
        for title, fact in FACTS.items():
            row = {"article_id": f"{split}-{title}", "split": split, "title": words.encode(title), "title_text": title}
            source = [words.encode(text) for text in (fact, "See the map of Tavia.", "No more is known.")]
            target = [*words.target_start, *words.encode(fact), words.end]
            rows.append({**row, "source": source, "target": target, "target_text": fact})
    return InMemory([(pa.Table.from_pylist(rows, schema=EXAMPLES.schema),)])


def train(
    folder: Path, directory: Path, chosen: SummarizerSettings | None = None, progress: Any = None, **changes: Any
):
    words = folder_vocabulary(str(folder), "summarizer.pretrained")
    return train_summarizer(
        shards(words, "train", "valid"),
        words,
        chosen or settings(folder, lora_rank=2),
        training=TRAINING.model_copy(update=changes),
        directory=directory,
        seed=1,
        progress=progress,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "causal"
    write_causal(folder, texts=list(FACTS.values()) * 5)
    return folder


def train_and_die(folder: str, directory: str) -> None:
    """Train in this process, and kill it between two checkpoints."""

    def kill(at: TrainingProgress) -> None:
        if at.step == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    train(Path(folder), Path(directory), progress=kill)


def test_a_killed_training_of_adapters_ends_in_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    metrics = train(folder, tmp_path / "whole")
    call = "import sys; from tests.tasks.summarization.test_causal import train_and_die; train_and_die(*sys.argv[1:])"
    command = [sys.executable, "-c", call, str(folder), str(tmp_path / "killed")]
    assert subprocess.run(command, check=False, timeout=PATIENCE).returncode == -signal.SIGKILL
    checkpoints = sorted(path.name for path in (tmp_path / "killed" / "checkpoints").iterdir())
    assert checkpoints == ["step-00000002", "step-00000004"]
    train(folder, tmp_path / "killed")
    for file in metrics["published"]:
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    assert (tmp_path / "whole" / "model.safetensors").stat().st_size < weights / 2
    before = read_summarizer(folder).model.state_dict()
    after = load_summarizer(tmp_path / "whole").model
    assert isinstance(after, Causal)
    base = {name.replace(".base_layer", ""): value for name, value in after.named_parameters() if "lora_" not in name}
    assert all(torch.equal(base[name], value) for name, value in before.items())
    assert any(value.abs().max() > 0.01 for name, value in after.named_parameters() if "lora_B" in name)


def test_no_steps_leave_the_model_as_it_is(folder: Path, tmp_path: Path) -> None:
    words = folder_vocabulary(str(folder), "summarizer.pretrained")
    assert train(folder, tmp_path, steps=0)["steps"] == 0
    (test,) = shards(words, "test").tables[0]
    assert decode_shard(test, tmp_path, SEARCH).equals(decode_shard(test, folder, SEARCH))
    with pytest.raises(ValueError, match="expected checkpoint 0 to 0 of"):
        load_summarizer(tmp_path, checkpoint=1)


def test_all_weights_learn_what_adapters_are_for(folder: Path, tmp_path: Path) -> None:
    """Trained long enough, the model writes the fact that it reads."""
    chosen = settings(folder, lora_rank=0)
    words = folder_vocabulary(str(folder), "summarizer.pretrained")
    train(folder, tmp_path, chosen, steps=100, validation_interval=100, decoded_articles=0, accumulation=1)
    record = json.loads((tmp_path / "config.json").read_text())
    assert record["model"]["folder"] is None
    (test,) = shards(words, "test").tables[0]
    written = decode_shard(test, tmp_path, SEARCH)["summary"].to_pylist()
    assert written == list(FACTS.values())


def test_only_values_of_the_source_are_written_where_this_is_asked(folder: Path) -> None:
    (test,) = shards(folder_vocabulary(str(folder), "summarizer.pretrained"), "test").tables[0]
    for held in (False, True):
        found = decode_shard(test, folder, SEARCH.model_copy(update={"source_values": held}))["summary"].to_pylist()
        read = [[title, fact, "See the map of Tavia.", "No more is known."] for title, fact in FACTS.items()]
        lost = [missing(summary, ValueIndex(texts)) for summary, texts in zip(found, read, strict=True)]
        assert any(found)
        assert any(lost) != held


def test_a_source_is_cut_where_the_context_ends(tmp_path: Path) -> None:
    write_causal(tmp_path, max_position_embeddings=620)
    words, chosen = folder_vocabulary(str(tmp_path), "summarizer.pretrained"), settings(tmp_path)
    layout = layout_of(chosen, words)
    assert layout.title_mark is None
    assert layout.max_source_tokens is not None
    assert 60 <= layout.max_source_tokens < 3 * 60
    assert layout_of(settings(tmp_path, source_tokens=70), words).max_source_tokens == 70
    assert layout_of(settings(tmp_path, source_tokens=10_000), words) == layout


def test_the_preset_is_the_family_of_the_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = folder_vocabulary(str(folder), "summarizer.pretrained")
    assert check_start(settings(folder), words) is not None
    with pytest.raises(ValueError, match=r"of model_type 'llama': expected summarizer.preset 'llama', got 'qwen'"):
        check_start(settings(folder, preset="qwen"), words)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(ValueError, match="four_bit needs the library bitsandbytes"):
        check_start(settings(folder, lora_rank=2, four_bit=True), words)
    write_causal(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    with pytest.raises(ValueError, match=r"summarizer.pretrained is .*, preset 'llama': expected a chat template in"):
        check_start(settings(tmp_path), folder_vocabulary(str(tmp_path), "summarizer.pretrained"))
