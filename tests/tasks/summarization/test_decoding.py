"""Summaries of the test split: in the order of the examples, aligned with their attention, whatever the batches."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from models.contract import Memory
from models.hierarchical import HierarchicalTransformer
from models.layers.paragraphs import SourceBatch
from storage.schemas import PREDICTIONS
from tasks.engine.progress import Progress
from tasks.summarization.decoding import decode_shard
from tasks.summarization.settings import DecodingSettings
from tasks.summarization.training import train_summarizer
from tests.tasks.summarization.summarizer_examples import (
    FACTS,
    FEW,
    TINY,
    InMemory,
    examples,
    graphs,
    shards,
    vocabulary,
)

SHORT = DecodingSettings(beam=4, min_length=3, max_length=40, batch_articles=3)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A summarizer that knows the facts by heart."""
    directory = tmp_path_factory.mktemp("learned")
    training = FEW.model_copy(
        update={"steps": 200, "validation_interval": 100, "learning_rate_factor": 0.5, "label_smoothing": 0.0}
    )
    data = InMemory([(pa.concat_tables([examples("train"), examples("valid")]),)])
    metrics = train_summarizer(data, vocabulary(), TINY, training=training, directory=directory, seed=1)
    assert metrics["rouge2"] > 0.9
    return directory


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_a_summarizer_writes_what_it_learned(learned: Path, beam: int) -> None:
    reports: list[Progress] = []
    table = pa.concat_tables([examples("train"), examples("test"), examples("valid")])
    found = decode_shard(table, learned, SHORT.model_copy(update={"beam": beam}), progress=reports.append)
    assert found.schema.equals(PREDICTIONS.schema)
    assert found.column("article_id").to_pylist() == [f"test-{title}" for title in FACTS]
    assert found.column("summary").to_pylist() == list(FACTS.values())
    assert found.column("system").to_pylist() == ["ht"] * 4
    for row in found.to_pylist():
        assert "".join(row["tokens"]).replace("\u2581", " ").strip() == row["summary"]
        assert len(row["attention"]) == len(row["tokens"])
        for weights in row["attention"]:
            assert len(weights) == 3
            assert sum(weights) == pytest.approx(1, abs=1e-5)
    assert [(r.text.partition(" s")[0], r.share) for r in reports] == [("3 of 4", 0.75), ("4 of 4", 1.0)]
    tokens = sum(map(len, found.column("tokens").to_pylist()))
    assert str(reports[-1]).startswith(f"4 of 4 summaries, {tokens} tokens, ")


def test_a_batch_is_encoded_once(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although its search and its attention both read the source."""
    encoded: list[int] = []
    encode = HierarchicalTransformer.encode

    def counted(model: HierarchicalTransformer, source: SourceBatch) -> Memory:
        encoded.append(len(source.tokens))
        return encode(model, source)

    monkeypatch.setattr(HierarchicalTransformer, "encode", counted)
    decode_shard(examples("test"), learned, SHORT)
    assert encoded == [3, 1]


def test_neither_batches_nor_company_change_a_summary(learned: Path) -> None:
    table = pa.concat_tables(
        [examples("test", paragraphs=1), examples("test", titles=["Dolva"], paragraphs=2), examples("test")]
    )
    together = decode_shard(table, learned, SHORT.model_copy(update={"batch_articles": 64}))
    one_by_one = decode_shard(table, learned, SHORT.model_copy(update={"batch_articles": 1}))
    assert together.column("summary").equals(one_by_one.column("summary"))
    widths = [[len(weights) for weights in attention] for attention in together.column("attention").to_pylist()]
    assert [set(width) for width in widths] == [{1}] * 4 + [{2}] + [{3}] * 4


def test_attention_stands_at_the_ranks_of_paragraphs(learned: Path) -> None:
    row = examples("test", titles=["Aral"]).to_pylist()[0]
    row["source"] = [row["source"][0], [], row["source"][1]]
    found = decode_shard(pa.Table.from_pylist([row], schema=examples("test").schema), learned, SHORT)
    for weights in found.column("attention").to_pylist()[0]:
        assert weights[1] == 0
        assert weights[0] + weights[2] == pytest.approx(1, abs=1e-5)


def test_limits_of_the_search_and_of_the_source_hold(learned: Path) -> None:
    settings = SHORT.model_copy(update={"min_length": 5, "max_length": 5, "max_paragraphs": 2, "checkpoint": 1})
    found = decode_shard(examples("test"), learned, settings, system="cut")
    assert {len(tokens) for tokens in found.column("tokens").to_pylist()} == {5}
    assert {len(weights) for attention in found.column("attention").to_pylist() for weights in attention} == {2}
    assert set(found.column("system").to_pylist()) == {"cut"}


def test_a_shard_without_test_articles_has_no_predictions(learned: Path) -> None:
    assert decode_shard(examples("train"), learned, SHORT).equals(PREDICTIONS.schema.empty_table())


def test_a_summarizer_with_a_graph_wants_its_graph(tmp_path: Path) -> None:
    table = pa.concat_tables([examples("train"), examples("valid"), examples("test")])
    settings = TINY.model_copy(update={"graph": "similarity"})
    training = FEW.model_copy(update={"steps": 2})
    data = InMemory([(table, graphs(table))])
    train_summarizer(data, vocabulary(), settings, training=training, directory=tmp_path, seed=1)
    with pytest.raises(ValueError, match="reads the similarity graph: expected a table of graphs, got none"):
        decode_shard(table, tmp_path, SHORT)
    assert decode_shard(table, tmp_path, SHORT, graphs=graphs(table)).num_rows == 4


def test_contradicting_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="min_length is 20: expected at most max_length, which is 5"):
        DecodingSettings(max_length=5)
    with pytest.raises(ValueError, match="expected a trained summarizer in"):
        decode_shard(examples("test"), tmp_path, DecodingSettings())


def test_the_threads_of_the_machine_are_not_asked_for(learned: Path) -> None:
    """Sums, and so the bytes of a shard, depend on their number."""
    seen: list[int] = []
    torch.set_num_threads(3)
    try:
        decode_shard(examples("test"), learned, SHORT, progress=lambda _: seen.append(torch.get_num_threads()))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(1)
    assert seen == [1, 1]


FLAT = TINY.model_copy(
    update={
        "preset": "ft-small",
        "overrides": {"model_size": 32, "feed_forward_size": 64, "heads": 2, "source_tokens": 6, "dropout": 0.0},
    }
)


def test_a_flat_summarizer_reads_longer_input_when_told_to(tmp_path: Path) -> None:
    train_summarizer(shards(), vocabulary(), FLAT, training=FEW, directory=tmp_path, seed=1)
    settings = DecodingSettings(beam=2, max_length=8, min_length=2)
    test = examples("test")

    def looked_at(**changes: int) -> int:
        """Paragraphs that the first summary pays attention to."""
        found = decode_shard(test, tmp_path, settings.model_copy(update=changes))
        return max(np.flatnonzero(row).max() for row in found["attention"][0].as_py()) + 1

    assert looked_at() == 1
    assert looked_at(max_source_tokens=500) == 3
    with pytest.raises(ValueError, match=r"decoding.max_paragraphs is 4, .* reads 6 tokens .*max_source_tokens"):
        looked_at(max_paragraphs=4)
    assert looked_at(max_paragraphs=2, max_source_tokens=500) == 2
