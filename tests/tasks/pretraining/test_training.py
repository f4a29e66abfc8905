"""Pre-training at a tiny size: it learns, resumes, and leaves a folder that a summarizer starts from."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
import torch

from models.pretrained import read_folder
from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.training.state import TrainingProgress
from models.vocabulary import Vocabulary
from storage.schemas import PASSAGES
from tasks.pretraining.settings import check_pretraining
from tasks.pretraining.training import pretrain
from tasks.summarization.fresh_model import fresh_model
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tests.models.byte_level import TEXTS, write_folder
from tests.tasks.summarization.summarizer_examples import InMemory, vocabulary

pytestmark = pytest.mark.integration

TOKENS = 32
TINY = SummarizerSettings(
    preset="bart-small",
    overrides={
        "model_size": 16,
        "feed_forward_size": 32,
        "heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "max_positions": 80,
        "source_tokens": 80,
    },
)
TRAINING = TrainingSettings(
    steps=60,
    batch_tokens=400,
    accumulation=1,
    schedule="constant",
    learning_rate=0.01,
    label_smoothing=0,
    validation_interval=20,
    torch_threads=1,
)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Vocabulary(read_tokenizer(write_folder(tmp_path_factory.mktemp("bart"))))


def shards(words: Vocabulary) -> InMemory:
    rows = [
        {"article_id": f"{n:02}", "split": "valid" if n == 7 else "train", "sentences": words.encode_batch(TEXTS)}
        for n in range(8)
    ]
    table = pa.Table.from_pylist(rows, schema=PASSAGES.schema)
    return InMemory([(table.slice(0, 4),), (table.slice(4),)])


def test_a_pretrained_folder_is_one_that_summarizers_start_from(words: Vocabulary, tmp_path: Path) -> None:
    seen: list[TrainingProgress] = []
    metrics = pretrain(
        shards(words),
        words,
        summarizer=TINY,
        training=TRAINING,
        directory=tmp_path,
        seed=1,
        passage_tokens=TOKENS,
        progress=seen.append,
    )
    losses = [line.validation for line in seen if line.validation is not None]
    assert losses[-1] < losses[0] - 0.5
    assert metrics["validation_nll"] == min(losses)
    assert set(metrics["published"]) <= {path.name for path in tmp_path.iterdir()}
    assert read_tokenizer(tmp_path) == words.model
    assert read_folder(tmp_path).vocabulary_size == words.size
    started = fresh_model(TINY.model_copy(update={"pretrained": str(tmp_path)}), words, seed=9)
    fresh = fresh_model(TINY, words, seed=9)
    assert not torch.equal(*(m.state_dict()["model.shared.weight"] for m in (started, fresh)))
    # Once more: nothing is left to do, and the folder stays what it is.
    before = (tmp_path / "model.safetensors").read_bytes()
    chosen = {"summarizer": TINY, "training": TRAINING, "seed": 1, "passage_tokens": TOKENS}
    again = pretrain(shards(words), words, directory=tmp_path, **chosen)
    assert again["validation_nll"] == metrics["validation_nll"]
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_an_interrupted_pretraining_ends_as_one_that_was_not(words: Vocabulary, tmp_path: Path) -> None:
    def run(name: str, steps: int) -> bytes:
        training = TRAINING.model_copy(update={"steps": steps})
        chosen = {"summarizer": TINY, "training": training, "seed": 1, "passage_tokens": TOKENS}
        pretrain(shards(words), words, directory=tmp_path / name, **chosen)
        return (tmp_path / name / "model.safetensors").read_bytes()

    (tmp_path / "halved").mkdir()
    half = run("halved", 20)
    config = tmp_path / "halved" / "checkpoints" / "step-00000020" / "state.json"
    state = json.loads(config.read_text())["state"]["fingerprint"]
    assert state["vocabulary"] == words.digest
    with pytest.raises(ValueError, match="holds a run with other settings"):
        pretrain(
            shards(words),
            words,
            summarizer=TINY,
            training=TRAINING.model_copy(update={"steps": 20}),
            directory=tmp_path / "halved",
            seed=2,
            passage_tokens=TOKENS,
        )
    assert run("halved", 40) == run("whole", 40) != half


def test_what_cannot_be_pretrained_is_refused(words: Vocabulary, tmp_path: Path) -> None:
    check_pretraining(TINY, "byte-bpe")
    check_pretraining(TINY, None)
    with pytest.raises(ValueError, match=r"summarizer.preset is 'ht-small', .* expected one of architecture 'bart'"):
        check_pretraining(SummarizerSettings(preset="ht-small"), "byte-bpe")
    with pytest.raises(ValueError, match=r"'hie-bart-small', with heads that see sentences, .* expected a plain BART"):
        check_pretraining(SummarizerSettings(preset="hie-bart-small"), "byte-bpe")
    with pytest.raises(ValueError, match=r"vocabulary.model_type is 'bpe', .* expected 'byte-bpe'"):
        check_pretraining(TINY, "bpe")
    with pytest.raises(ValueError, match=r"\(SentencePiece, \d+ pieces\) has no piece for hidden text"):
        pretrain(InMemory([]), vocabulary(), summarizer=TINY, training=TRAINING, directory=tmp_path, seed=1)
