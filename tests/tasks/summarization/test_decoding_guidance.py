"""Summaries under alignment, coverage and compression: what has to be at hand, and whose attention is told."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from models.attention_predictor import AttentionPredictor, expected_attention
from models.contract import Summarizer
from models.layers.paragraphs import SourceBatch
from models.training.layout import ExampleTable, source_batch
from models.weights_file import save_weights
from storage.schemas import RANKED
from tasks.summarization.attention_training import train_attention
from tasks.summarization.decoding import decode_shard
from tasks.summarization.directory import load_predictor, load_summarizer
from tasks.summarization.settings import AttentionSettings, DecodingSettings
from tasks.summarization.training import train_summarizer
from tests.tasks.summarization.summarizer_examples import FEW, TINY, InMemory, examples, vocabulary

PHT = TINY.model_copy(
    update={
        "preset": "pht",
        "overrides": {
            "model_size": 32,
            "feed_forward_size": 64,
            "heads": 2,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "dropout": 0.0,
        },
    }
)
PLAIN = DecodingSettings(beam=2, normalisation="average", min_length=4, max_length=8, batch_articles=3, block_ngrams=3)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A summarizer and its attention predictor."""
    summarizer, predictor = (tmp_path_factory.mktemp(name) for name in ("summarizer", "predictor"))
    data = InMemory([(pa.concat_tables([examples("train", paragraphs=4), examples("valid", paragraphs=4)]),)])
    train_summarizer(data, vocabulary(), PHT, training=FEW, directory=summarizer, seed=1)
    settings = AttentionSettings(steps=4, warmup=2)
    few = {"batch_tokens": 512, "validation_interval": 2500}
    train_attention(data, summarizer, settings, directory=predictor, seed=1, **few)
    return summarizer, predictor


def ranked(table: pa.Table, paragraphs: int = 3) -> pa.Table:
    rows = [
        {"article_id": article, "rank": rank, "paragraph_id": rank, "url": "", "position": rank, "text": "", "score": s}
        for article in reversed(table.column("article_id").to_pylist())
        for rank, s in reversed(list(enumerate([0.9, 0.05, 0.05][:paragraphs])))
    ]
    return pa.Table.from_pylist(rows, schema=RANKED.schema)


def changed(**fields: object) -> DecodingSettings:
    return DecodingSettings.model_validate({**PLAIN.model_dump(), **fields})


def test_everything_together_in_batches_of_any_size(trained: tuple[Path, Path]) -> None:
    summarizer, predictor = trained
    table = pa.concat_tables([examples("test"), examples("test", titles=["Aral", "Dolva"], paragraphs=2)])
    both = {"alignment": "ranked", "coverage": 0.3, "compressed_paragraphs": 2}
    together, alone = (
        decode_shard(table, summarizer, changed(**both, batch_articles=size), predictor=predictor, ranked=ranked(table))
        for size in (64, 1)
    )
    assert together.column("summary").equals(alone.column("summary"))
    assert together.column("system").to_pylist() == ["pht"] * 6


def best_two(predictor: AttentionPredictor, model: Summarizer, source: SourceBatch) -> list[list[int]]:
    return expected_attention(predictor, model, source).topk(2, dim=1).indices.sort(dim=1).values.tolist()


def other_than_first(trained: tuple[Path, Path], predictor: Path) -> tuple[pa.Table, list[list[int]]]:
    """Write a predictor that chooses two of three paragraphs, not always the first ones; return examples and choice."""
    summarizer, table = trained[0], examples("test")
    loaded = load_summarizer(summarizer)
    rows = ExampleTable(table, loaded.layout)
    source = source_batch([rows.example(row) for row in range(4)], loaded.layout)
    chosen = load_predictor(trained[1], summarizer)
    kept = best_two(chosen, loaded.model, source)
    if all(places == [0, 1] for places in kept):
        with torch.no_grad():
            chosen.unit.weight.neg_()  # what was expected to get least now gets most: not the first paragraphs
        kept = best_two(chosen, loaded.model, source)
    assert any(places != [0, 1] for places in kept)
    save_weights(chosen, predictor / "model.safetensors")
    shutil.copy(trained[1] / "config.json", predictor)
    return table, kept


def test_compression_tells_attention_at_the_ranks_of_the_paragraphs_that_were_kept(
    trained: tuple[Path, Path], tmp_path: Path
) -> None:
    (summarizer, _), predictor = trained, tmp_path
    table, kept = other_than_first(trained, predictor)
    found = decode_shard(table, summarizer, changed(compressed_paragraphs=2), predictor=predictor)
    for attention, places in zip(found.column("attention").to_pylist(), kept, strict=True):
        weights = np.array(attention)
        assert weights.shape[1] == 3
        np.testing.assert_allclose(weights[:, places].sum(axis=1), 1, atol=1e-5)
        assert (weights[:, places] > 0).all()


def test_alignment_draws_attention_to_what_is_expected(
    trained: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    summarizer, _ = trained
    table = examples("test")

    def to_the_first(settings: DecodingSettings) -> float:
        found = decode_shard(table, summarizer, settings, ranked=ranked(table))
        return float(np.mean([np.mean(attention, axis=0)[0] for attention in found.column("attention").to_pylist()]))

    plain = to_the_first(changed(beam=8))
    monkeypatch.setattr(DecodingSettings, "beta", 1000.0)
    assert to_the_first(changed(alignment="ranked", beam=8)) > plain


def test_the_predictor_is_used_where_it_is_asked_for(trained: tuple[Path, Path]) -> None:
    summarizer, predictor = trained
    for fields in ({"alignment": "predicted"}, {"compressed_paragraphs": 2}):
        assert decode_shard(examples("test"), summarizer, changed(**fields), predictor=predictor).num_rows == 4
        with pytest.raises(ValueError, match="expected the directory of an attention predictor, got none"):
            decode_shard(examples("test"), summarizer, changed(**fields))


def test_the_predictor_knows_the_best_checkpoint_alone(trained: tuple[Path, Path]) -> None:
    assert decode_shard(examples("test"), trained[0], changed(checkpoint=1)).num_rows == 4
    for fields in ({"alignment": "predicted"}, {"compressed_paragraphs": 2}):
        with pytest.raises(ValueError, match="expected checkpoint 0 where predicted attention is asked for, got 1"):
            changed(checkpoint=1, **fields)


def test_scores_of_the_ranker_are_asked_for_and_complete(trained: tuple[Path, Path]) -> None:
    summarizer, _ = trained
    table, settings = examples("test"), changed(alignment="ranked")
    with pytest.raises(ValueError, match="expected a table of ranked paragraphs, got none"):
        decode_shard(table, summarizer, settings)
    with pytest.raises(ValueError, match="article test-Aral has 3 paragraphs: expected a score for each, got 2"):
        decode_shard(table, summarizer, settings, ranked=ranked(table, paragraphs=2))


def test_a_title_without_paragraphs_has_no_score_and_can_be_aligned(trained: tuple[Path, Path]) -> None:
    summarizer, _ = trained
    table = examples("test", paragraphs=0)
    found = decode_shard(table, summarizer, changed(alignment="ranked"), ranked=ranked(table, paragraphs=0))
    assert {len(weights) for attention in found.column("attention").to_pylist() for weights in attention} == {1}


def test_the_predictor_of_another_summarizer_is_refused(trained: tuple[Path, Path], tmp_path: Path) -> None:
    data = InMemory([(examples("train"),)])
    train_summarizer(data, vocabulary(), PHT, training=FEW, directory=tmp_path / "other", seed=2)
    with pytest.raises(ValueError, match="predicts the attention of the summarizer with weights"):
        decode_shard(examples("test"), tmp_path / "other", changed(alignment="predicted"), predictor=trained[1])
    train_summarizer(data, vocabulary(), TINY, training=FEW, directory=tmp_path / "ht", seed=1)
    with pytest.raises(ValueError, match="not for one of 'hierarchical'"):
        decode_shard(examples("test"), tmp_path / "ht", changed(alignment="predicted"), predictor=trained[1])
