"""BERTSUMEXTABS on the mini web, from nothing: it learns to extract, goes on to write, and both are decoded."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows import dag
from flows.running.session import Session
from models.training.checkpoints import read_metrics
from tests.stage_outputs import Watching, walk

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SHAPE = {
    **{"model_size": 32, "feed_forward_size": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 1},
    **{"encoder_feed_forward_size": 64, "encoder_heads": 2, "source_positions": 320, "source_tokens": 320},
    **{"dropout": 0.0, "encoder_warmup": 10},
}
SETTINGS = [
    "--summarizer.preset=bertsumextabs-small",
    f"--summarizer.overrides={json.dumps(SHAPE)}",
    "--source.miniweb.topics=60",
    *("--training.steps=160", "--training.validation-interval=20", "--training.accumulation=1"),
    *("--training.schedule=constant", "--training.learning-rate=0.003"),
    *("--baselines.systems=lead,bertsumext", "--decoding.block-ngrams=3", "--decoding.beam=5"),
    "--training.log-interval=4",
]


def evaluate(session: Session) -> None:
    dag.baselines(session)
    dag.predictions(session)


def losses(root: Path, model: str, kind: str, measure: str) -> list[float]:
    (metrics,) = (root / "models" / model).rglob("metrics.jsonl")
    return [line[measure] for line in read_metrics(metrics) if line["kind"] == kind]


def test_it_extracts_first_and_then_writes(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra `backbones`")
    walk(tmp_path, Watching(), SETTINGS, evaluate)
    extracting = losses(tmp_path, "extractor", "train", "loss")
    assert len(extracting) == 10  # lines of four steps: a quarter of the summarizer's
    assert extracting[-1] < extracting[0] - 0.05
    assert len(losses(tmp_path, "summarizer", "validation", "nll")) == 8
    writing = losses(tmp_path, "summarizer", "train", "nll")  # of 60 topics it learns by heart
    assert writing[-1] < writing[0] - 2
    rows = pa.concat_tables(
        pq.read_table(file, columns=["article_id", "system", "summary"])
        for file in tmp_path.rglob("*.parquet")
        if file.parent.name in ("baselines", "predictions")
    ).to_pylist()
    systems = {row["system"]: row["summary"] for row in rows}
    assert systems.keys() == {"lead", "bertsumext", "bertsumextabs-small"}
    assert all(row["summary"] and "[BOS]" not in row["summary"] for row in rows)
    texts = " ".join(
        " ".join(text.split())
        for file in (tmp_path / "ranked").glob("*.parquet")
        for text in pq.read_table(file)["text"].to_pylist()
    )
    assert all(re.split(r"(?<=[.?!]) ", row["summary"])[0] in texts for row in rows if row["system"] == "bertsumext")
