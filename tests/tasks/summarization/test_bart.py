"""A BART on a byte-level vocabulary, from examples to cited pieces: trained, decoded, loaded as an export would be."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from models.exported import ExportedSummarizer, read_summarizer
from models.sentences import sentence_pieces, split_sentences
from models.tokenization.huggingface_tokenizer import read_tokenizer
from models.vocabulary import Vocabulary
from storage.schemas import ARTICLES, RANKED
from tasks.summarization.decoding import decode_shard
from tasks.summarization.examples import build_examples
from tasks.summarization.settings import DecodingSettings, ExampleSettings, SummarizerSettings
from tasks.summarization.training import train_summarizer
from tests.models.byte_level import write_folder
from tests.tasks.summarization.summarizer_examples import BY_HEART, FACTS, InMemory

pytestmark = pytest.mark.integration

TEXTS = ["See the map of Tavia.", "No more is known – «nothing»."]
TRAINING = BY_HEART


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Vocabulary(read_tokenizer(write_folder(tmp_path_factory.mktemp("bart"))))


def examples(words: Vocabulary, *, sentences: bool) -> pa.Table:
    articles, ranked = [], []
    for split in ("test", "train", "valid"):
        for title, fact in FACTS.items():
            id_ = f"{split}-{title}"
            articles.append({"article_id": id_, "title": title, "lead": fact, "split": split})
            ranked += [{"article_id": id_, "rank": r, "text": text} for r, text in enumerate([fact, *TEXTS])]
    tables = (
        pa.Table.from_pylist(sorted(rows, key=lambda row: row["article_id"]), schema=dataset.schema)
        for rows, dataset in ((articles, ARTICLES), (ranked, RANKED))
    )
    return build_examples(*tables, words, ExampleSettings(), form="sentences" if sentences else "plain")


@pytest.mark.parametrize("preset", ["bart-small", "hed-small", "hie-bart-small"])
def test_a_bart_learns_to_copy_its_first_paragraph_and_writes_no_mark(
    preset: str, words: Vocabulary, tmp_path: Path
) -> None:
    settings = SummarizerSettings(
        preset=preset,
        copying=True,
        overrides={
            "model_size": 32,
            "feed_forward_size": 64,
            "heads": 4,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "max_positions": 256,
            "source_tokens": 256,
            "gradient_checkpointing": preset == "hed-small",
        },
        max_paragraphs=3,
        max_target_tokens=100,
    )
    sentences = preset == "hie-bart-small"
    table = examples(words, sentences=sentences)
    train_summarizer(InMemory([(table,)]), words, settings, training=TRAINING, directory=tmp_path, seed=1)
    decoding = DecodingSettings(beam=2, min_length=5, max_length=90, source_values=True)
    rows = decode_shard(table, tmp_path, decoding).to_pylist()
    assert len(rows) == len(FACTS)
    for row in rows:
        weights = np.array(row["attention"], np.float32)
        assert not {"<s>", "</s>", "<pad>", "<mask>", "[BOS]"} & set(row["tokens"])
        assert weights.shape == (len(row["tokens"]), 3)
        assert weights.sum(axis=1) == pytest.approx(1, abs=1e-4)
        looks = np.array(row["source_attention"], np.float32)
        assert (looks.shape, looks.sum()) == ((3, 3), pytest.approx(1, abs=1e-5))
        covered = [piece for _, piece in sentence_pieces(row["summary"], row["tokens"])]
        assert covered[-1].stop <= len(row["tokens"])
    exact = [row["summary"] == FACTS[row["article_id"].removeprefix("test-")] for row in rows]
    assert np.mean(exact) > 0.5

    trained = read_summarizer(tmp_path)
    exported = ExportedSummarizer(**vars(trained), search=decoding.search(), source_values=True)
    title = rows[0]["article_id"].removeprefix("test-")
    texts = [FACTS[title], *TEXTS]
    if sentences:
        with pytest.raises(ValueError, match="expected each paragraph as a list of its sentences, got the text"):
            exported.summarize(title, texts)
    given = [split_sentences(text) for text in texts] if sentences else texts
    assert exported.summarize(title, given) == rows[0]["summary"]
