"""BERTSUMEXTABS on a WordPiece vocabulary: the extractor learns which sentence a lead says, and the summarizer goes on
from its encoder."""

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest
import torch
from safetensors.torch import load_file, save_file

from models.exported import read_summarizer
from models.training.batches import Position
from models.training.checkpoints import read_metrics
from models.training.state import TrainingProgress, TrainingStopped
from models.weights_file import weights_digest
from storage.schemas import ARTICLES, RANKED
from tasks.evaluation.settings import BaselineSettings
from tasks.summarization.decoding import decode_shard
from tasks.summarization.examples import build_examples
from tasks.summarization.extraction import (
    ExtractionObjective,
    load_extractor,
    predict_with_extractor,
    sentence_labels,
    train_extractor,
)
from tasks.summarization.settings import DecodingSettings, ExampleSettings, SummarizerSettings
from tasks.summarization.training import SplitShards, train_summarizer
from tasks.summarization.vocabulary import adopt_vocabulary
from tests.models.word_pieces import CLS, SEP, TINY, write_bert, write_tokenizer
from tests.tasks.summarization.summarizer_examples import BY_HEART, FACTS, InMemory

pytest.importorskip("transformers", reason="needs the extra `backbones`")

pytestmark = pytest.mark.integration

OTHER = ["See the map of Tavia.", "No more is known."]
SETTINGS = SummarizerSettings(
    preset="bertsumextabs",
    overrides={**TINY, "model_size": 32, "dropout": 0.0, "encoder_rate": 1.0, "encoder_warmup": 20},
    max_paragraphs=3,
    max_paragraph_tokens=60,
    max_target_tokens=60,
)
TRAINING = BY_HEART.model_copy(update={"steps": 160, "validation_interval": 20})


def tables() -> tuple[pa.Table, pa.Table]:
    """Articles whose fact stands in a paragraph of two sentences, at another rank in each."""
    articles, ranked = [], []
    for split in ("test", "train", "valid"):
        for place, (title, fact) in enumerate(FACTS.items()):
            id_ = f"{split}-{title}"
            articles.append({"article_id": id_, "title": title, "lead": fact, "split": split})
            texts = list(OTHER)
            texts.insert(place % 3, f"Nothing. {fact}")
            ranked += [{"article_id": id_, "rank": rank, "text": text} for rank, text in enumerate(texts)]
    made = (
        pa.Table.from_pylist(sorted(rows, key=lambda row: row["article_id"]), schema=dataset.schema)
        for rows, dataset in ((articles, ARTICLES), (ranked, RANKED))
    )
    return tuple(made)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    texts = [*FACTS.values(), *FACTS, *OTHER]
    return adopt_vocabulary(str(write_tokenizer(tmp_path_factory.mktemp("words"), texts, 200)))


def shards(words: pa.Table) -> InMemory:
    return InMemory([(build_examples(*tables(), words, ExampleSettings(), form="sentences"),)])


def train(words: pa.Table, directory: Path, **given: object) -> dict[str, object]:
    return train_extractor(shards(words), words, SETTINGS, training=TRAINING, directory=directory, seed=1, **given)


@pytest.fixture(scope="module")
def extractor(words: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("extractor")
    found = train(words, directory)
    assert found["steps"] == 40  # a quarter
    assert json.loads(json.dumps(found)) == found
    return directory


def test_a_label_is_one_for_the_sentences_that_together_say_the_lead() -> None:
    source = [CLS, 50, SEP, CLS, 7, 8, 9, SEP, CLS, 20, 21, SEP, CLS, 9, 10, 11, SEP]
    assert sentence_labels(source, [CLS, 7, 8, 9, 10, 11, SEP], CLS, titled=True) == [-1, 1, 0, 1]
    assert sentence_labels(source, [CLS, 7, 8, 9, 10, 11, SEP], CLS, titled=False) == [0, 1, 0, 1]
    assert sentence_labels([50, 51], [7, 8], CLS, titled=True) == []
    assert sentence_labels([CLS, 50, CLS], [7], CLS, titled=True) == [-1, 0]


def test_the_extractor_learns_which_sentence_the_lead_says(words: pa.Table, extractor: Path) -> None:
    lines = [line for line in read_metrics(extractor / "metrics.jsonl") if line["kind"] == "validation"]
    assert lines[-1]["loss"] < lines[0]["loss"] < 0.7
    articles, ranked = tables()
    settings = BaselineSettings(systems=("lead", "bertsumext"))
    found = predict_with_extractor(articles, ranked, shards(words).read(0)[0], extractor, settings)
    assert found["system"].to_pylist() == ["lead", "bertsumext"] * len(FACTS)
    assert found["summary"].to_pylist()[1::2] == list(FACTS.values())


def test_a_stopped_training_ends_where_an_undisturbed_one_does(
    words: pa.Table, extractor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: TrainingProgress) -> None:
        if progress.step == 20:
            event.set()

    event = threading.Event()
    monkeypatch.setattr("models.training.trainer.stop_on_sigterm", lambda: _Held(event))
    with pytest.raises(TrainingStopped):
        train(words, tmp_path, progress=stop)
    event.clear()
    train(words, tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == (extractor / "model.safetensors").read_bytes()


class _Held:
    def __init__(self, event: threading.Event) -> None:
        self.event = event

    def __enter__(self) -> threading.Event:
        return self.event

    def __exit__(self, *_: object) -> None:
        pass


def test_the_summarizer_goes_on_from_the_encoder_and_writes(words: pa.Table, extractor: Path, tmp_path: Path) -> None:
    def summarizer(directory: Path, steps: int, **given: object) -> dict[str, object]:
        training = TRAINING.model_copy(update={"steps": steps, "validation_interval": 20, "schedule": "constant"})
        return train_summarizer(
            shards(words), words, SETTINGS, training=training, directory=directory, seed=1, extractor=extractor, **given
        )

    still = TRAINING.model_copy(update={"steps": 1, "schedule": "constant", "learning_rate": 1e-12})
    train_summarizer(
        shards(words), words, SETTINGS, training=still, directory=tmp_path / "still", seed=1, extractor=extractor
    )
    own, theirs = (load_file(folder / "model.safetensors") for folder in (tmp_path / "still", extractor))
    for name, tensor in theirs.items():
        if name.startswith("encoder."):
            torch.testing.assert_close(own[name], tensor, atol=1e-9, rtol=0)

    summarizer(tmp_path / "at-once", 100)
    summarizer(tmp_path / "in-two", 40)
    found = summarizer(tmp_path / "in-two", 100)
    assert weights_digest(tmp_path / "in-two" / "model.safetensors") == weights_digest(
        tmp_path / "at-once" / "model.safetensors"
    )
    lines = [
        line["nll"] for line in read_metrics(tmp_path / "in-two" / "metrics.jsonl") if line["kind"] == "validation"
    ]
    assert found["validation_nll"] < lines[0] / 4
    decoded = decode_shard(
        shards(words).read(0)[0], tmp_path / "in-two", DecodingSettings(max_length=40, min_length=1, block_ngrams=3)
    )
    assert [text.replace(" ", "") for text in decoded["summary"].to_pylist()] == [
        fact.lower().replace(" ", "") for fact in FACTS.values()
    ]
    trained = read_summarizer(tmp_path / "in-two")
    assert trained.layout.source_begin == CLS
    assert trained.layout.source_end == SEP


def test_another_extractor_is_another_run(words: pa.Table, extractor: Path, tmp_path: Path) -> None:
    given = {"training": TRAINING.model_copy(update={"steps": 2}), "directory": tmp_path / "run", "seed": 1}
    train_summarizer(shards(words), words, SETTINGS, extractor=extractor, **given)
    other = tmp_path / "other"
    other.mkdir()
    weights = load_file(extractor / "model.safetensors")
    weights["score.bias"] += 1
    save_file(weights, other / "model.safetensors", {"aliases": "{}"})
    with pytest.raises(ValueError, match="holds a run with other settings"):
        train_summarizer(shards(words), words, SETTINGS, extractor=other, **given)
    del weights["encoder.bert.embeddings.word_embeddings.weight"]
    save_file(weights, other / "model.safetensors")
    with pytest.raises(ValueError, match="1 weights missing in"):
        train_summarizer(shards(words), words, SETTINGS, extractor=other, **{**given, "directory": tmp_path / "fresh"})


def test_a_folder_gives_both_trainings_their_encoder(tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    bert = write_bert(folder).bert
    words = adopt_vocabulary(str(folder))
    settings = SETTINGS.model_copy(update={"overrides": {**TINY, "dropout": 0.0}, "pretrained": str(folder)})
    still = TRAINING.model_copy(update={"steps": 4, "schedule": "constant", "learning_rate": 1e-12})
    found = train_extractor(shards(words), words, settings, training=still, directory=tmp_path / "own", seed=1)
    assert found["pretrained_sha256"]
    trained = load_extractor(tmp_path / "own")
    for name, tensor in bert.state_dict().items():
        torch.testing.assert_close(trained.model.encoder.bert.state_dict()[name], tensor, atol=1e-9, rtol=0)


def test_articles_without_a_sentence_to_extract_are_refused(words: pa.Table, extractor: Path) -> None:
    trained = load_extractor(extractor)
    examples = shards(words).read(0)[0]
    bare = examples.set_column(
        examples.column_names.index("source"), "source", pa.array([[[]]] * len(examples), examples["source"].type)
    )
    objective = ExtractionObjective(
        trained.model, SplitShards(InMemory([(bare,)]), "train"), bare.slice(0, 0), trained.layout, 900, 1
    )
    with pytest.raises(ValueError, match="expected sentences to extract"):
        next(objective.batches(Position()))
    assert objective.validate(lambda _: (0.0,)) is None


def test_a_directory_without_an_extractor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a trained extractor in"):
        load_extractor(tmp_path)
    (tmp_path / "config.json").write_text('{"architecture": "ranker"}')
    with pytest.raises(ValueError, match="a model of architecture 'ranker'"):
        load_extractor(tmp_path)
