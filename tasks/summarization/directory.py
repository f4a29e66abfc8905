"""A trained summarizer on disk: everything needed to continue its training or to write summaries, in one directory.

`model.safetensors` has the best weights by validation loss, `config.json` the architecture and what it reads of an
article, `vocabulary.model` the vocabulary; `best.json` names the best of `checkpoints/`, and `metrics.jsonl` records
the training. For an attention predictor `config.json` has its sizes and its summarizer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from models.attention_predictor import AttentionPredictor, AttentionPredictorConfig
from models.contract import Summarizer
from models.exported import CONFIG, VOCABULARY, WEIGHTS, TrainedSummarizer, read_summarizer
from models.layers.config import configured
from models.registry import to_config_dict
from models.training.checkpoints import write_bytes_atomically, write_json_atomically
from models.training.layout import Layout
from models.vocabulary import Vocabulary
from models.weights_file import load_weights, weights_digest
from tasks.summarization.settings import Graph

BEST = "best.json"
PREDICTOR_FILES = (WEIGHTS, CONFIG)
_PREDICTOR = "attention-predictor"


def describe_summarizer(
    directory: Path, model: Summarizer, vocabulary: Vocabulary, layout: Layout, *, graph: Graph, preset: str
) -> None:
    """Write everything but weights into `directory`, `config.json` last."""
    write_bytes_atomically(directory / VOCABULARY, vocabulary.model)
    record = {"preset": preset, "model": to_config_dict(model), "graph": graph, "layout": asdict(layout)}
    write_json_atomically(directory / CONFIG, record)


def load_summarizer(
    directory: Path, *, device: torch.device | str = "cpu", checkpoint: int = 0, source_tokens: int | None = None
) -> TrainedSummarizer:
    """Load what a training wrote, as `read_summarizer` does; of its best checkpoints 0 is the best. Raises ValueError:
    the directory has no summarizer, or no such checkpoint, or one of its files is damaged."""
    weights = directory / weights_of(directory, _best(directory), checkpoint)
    return read_summarizer(directory, weights=weights, device=device, source_tokens=source_tokens)


def published_files(directory: Path) -> list[str]:
    """Return the files on which decoding depends, relative to `directory`, with weights of the best checkpoints."""
    best = [f"{entry['checkpoint']}/{WEIGHTS}" for entry in _best(directory)]
    return [WEIGHTS, CONFIG, VOCABULARY, *([BEST] if best else []), *best]


def with_graphs(examples: pa.Table, graphs: pa.Table, kind: Graph) -> pa.Table:
    """Return EXAMPLES rows with the column `graph` that batches read: the edges of one kind for each article, out of
    GRAPHS rows in any order; with "none" as they are. Raises ValueError: an article of several paragraphs has no graph.
    """
    if kind == "none":
        return examples
    row_of = {article: row for row, article in enumerate(graphs.column("article_id").to_pylist())}
    rows: list[int | None] = []
    for article, paragraphs in zip(examples.column("article_id").to_pylist(), examples.column("source"), strict=True):
        if article not in row_of and len(paragraphs) > 1:
            raise ValueError(f"article {article} has {len(paragraphs)} paragraphs and no row among the graphs")
        rows.append(row_of.get(article))
    edges = graphs.column(kind).combine_chunks().take(pa.array(rows, pa.int64()))
    filled = edges.fill_null([]) if edges.null_count else edges
    return examples.append_column("graph", filled)


def weights_of(directory: Path | str, entries: Sequence[Mapping[str, Any]], checkpoint: int) -> str:
    """Return the file, relative to its directory, with the weights of a checkpoint; `entries` are those of BEST. Raises
    ValueError: the checkpoint does not exist."""
    if checkpoint == 0:
        return WEIGHTS
    if checkpoint >= len(entries):
        raise ValueError(f"expected checkpoint 0 to {max(len(entries) - 1, 0)} of {directory}, got {checkpoint}")
    return f"{entries[checkpoint]['checkpoint']}/{WEIGHTS}"


def _best(directory: Path) -> list[dict[str, Any]]:
    file = directory / BEST
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return entries


def describe_predictor(directory: Path, predictor: AttentionPredictor, *, summarizer: str) -> None:
    """Write `config.json` next to the weights: the configuration, and the `weights_digest` of the summarizer."""
    record = {"architecture": _PREDICTOR, "config": asdict(predictor.config), "summarizer": summarizer}
    write_json_atomically(directory / CONFIG, record)


def load_predictor(directory: Path, summarizer: Path, *, device: torch.device | str = "cpu") -> AttentionPredictor:
    """Read the predictor in `directory`, of the summarizer in another, onto `device`, in evaluation mode. Raises
    ValueError: the directory has no attention predictor, one of another summarizer, or a damaged file."""
    try:
        record: dict[str, Any] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        architecture, config, learned = record["architecture"], record["config"], record["summarizer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"expected an attention predictor in {directory}: {error!r}") from error
    if architecture != _PREDICTOR:
        raise ValueError(f"{directory}: expected a model of architecture {_PREDICTOR!r}, got {architecture!r}")
    if learned != (actual := weights_digest(summarizer / WEIGHTS)):
        raise ValueError(
            f"{directory} predicts the attention of the summarizer with weights {learned}, expected those in "
            f"{summarizer}: {actual}"
        )
    predictor = AttentionPredictor(configured(AttentionPredictorConfig, config, "an attention predictor"))
    load_weights(predictor, directory / WEIGHTS)
    return predictor.to(device).eval()
