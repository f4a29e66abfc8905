"""A trained summarizer on disk: everything needed to continue its training or to write summaries, in one directory.

`model.safetensors` has the best weights by validation loss, `config.json` the architecture and what it reads of an
article, `vocabulary.model` the vocabulary; `best.json` names the best of `checkpoints/`, and `metrics.jsonl` records
the training.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from models.contract import Summarizer
from models.registry import from_config_dict, to_config_dict
from models.training.checkpoints import write_bytes_atomically, write_text_atomically
from models.training.layout import Layout
from models.training.weights import load_weights
from models.vocabulary import Vocabulary
from tasks.summarization.settings import Graph

WEIGHTS, CONFIG, VOCABULARY, BEST = "model.safetensors", "config.json", "vocabulary.model", "best.json"


@dataclass(frozen=True)
class TrainedSummarizer:
    """A summarizer and how to prepare its input.

    Attributes:
        model: on its device, in evaluation mode.
        vocabulary: of its texts.
        layout: what it was trained to read of an article.
        graph: the paragraph graph it reads.
        preset: the preset it was built from.
    """

    model: Summarizer
    vocabulary: Vocabulary
    layout: Layout
    graph: Graph
    preset: str

    @property
    def name(self) -> str:
        """Its name in tables: its preset, and its graph if it reads one."""
        return self.preset if self.graph == "none" else f"{self.preset}+{self.graph}"


def describe_summarizer(
    directory: Path, model: Summarizer, vocabulary: Vocabulary, layout: Layout, *, graph: Graph, preset: str
) -> None:
    """Write everything but weights into `directory`, `config.json` last."""
    write_bytes_atomically(directory / VOCABULARY, vocabulary.model)
    record = {"preset": preset, "model": to_config_dict(model), "graph": graph, "layout": asdict(layout)}
    write_text_atomically(directory / CONFIG, json.dumps(record, indent=1) + "\n")


def load_summarizer(
    directory: Path, *, device: torch.device | str = "cpu", checkpoint: int = 0, source_tokens: int | None = None
) -> TrainedSummarizer:
    """Load a trained summarizer.

    Args:
        directory: written by training.
        device: device of the model.
        checkpoint: which of the best checkpoints, 0 being the best.
        source_tokens: maximum tokens of an article, for a summarizer whose architecture has such a limit; None = as in
            training.

    Raises:
        ValueError: the directory has no summarizer, or no such checkpoint, or one of its files is damaged.
    """
    if not (directory / CONFIG).is_file() or not (directory / WEIGHTS).is_file():
        raise ValueError(f"expected a trained summarizer in {directory}, found no {CONFIG} and {WEIGHTS}")
    try:
        record: dict[str, Any] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        layout = Layout(**record["layout"])
        limited = source_tokens is not None and "source_tokens" in record["model"]
        model = from_config_dict(record["model"], **({"source_tokens": source_tokens} if limited else {}))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{directory / CONFIG} does not describe a summarizer: {error}") from error
    load_weights(model, _weights(directory, checkpoint))
    return TrainedSummarizer(
        model=model.to(device).eval(),
        vocabulary=Vocabulary.from_file(directory / VOCABULARY),
        layout=layout,
        graph=record["graph"],
        preset=record["preset"],
    )


def published_files(directory: Path) -> list[str]:
    """Return the files on which decoding depends, relative to `directory`, with weights of the best checkpoints."""
    best = [f"{entry['checkpoint']}/{WEIGHTS}" for entry in _best(directory)]
    return [WEIGHTS, CONFIG, VOCABULARY, *([BEST] if best else []), *best]


def with_graphs(examples: pa.Table, graphs: pa.Table, kind: Graph) -> pa.Table:
    """Return examples with the column `graph` that batches read: the edges of one kind for each article.

    Args:
        examples: EXAMPLES rows.
        graphs: GRAPHS rows of the same articles, in any order.
        kind: which graph; "none" returns the examples as they are.

    Raises:
        ValueError: an article of several paragraphs has no graph.
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


def _weights(directory: Path, checkpoint: int) -> Path:
    if checkpoint == 0:
        return directory / WEIGHTS
    best = _best(directory)
    if checkpoint >= len(best):
        raise ValueError(f"expected checkpoint 0 to {max(len(best) - 1, 0)} of {directory}, got {checkpoint}")
    return directory / str(best[checkpoint]["checkpoint"]) / WEIGHTS


def _best(directory: Path) -> list[dict[str, Any]]:
    file = directory / BEST
    entries: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return entries
