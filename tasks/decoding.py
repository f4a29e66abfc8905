"""The predictions stage: a trained summarizer writes a summary for every article of the test split."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from pydantic import Field

from models.search.beam import beam_search
from models.search.hypotheses import Hypothesis
from models.search.settings import SearchSettings
from models.training.distributed import find_device
from models.training.layout import Example, ExampleTable, source_batch
from models.vocabulary import Vocabulary
from storage.schemas import PREDICTIONS
from tasks.settings import Settings, tuning
from tasks.summarizer_directory import TrainedSummarizer, load_summarizer, with_graphs


class DecodingSettings(Settings):
    """How summaries are searched for; the defaults are those of 000."""

    beam: int = Field(5, ge=1, description="hypotheses kept for an article (000 sec. 4: 5)")
    normalisation: Literal["wu", "average", "none"] = Field(
        "wu", description="what a log-probability is divided by: Wu's length penalty (000), its length (001), nothing"
    )
    alpha: float = Field(0.4, ge=0, description="exponent of Wu's length penalty (000 sec. 4: .4)")
    min_length: int = Field(20, ge=0, description="fewest tokens of a summary (released HT: 20)")
    max_length: int = Field(400, ge=1, description="most tokens of a summary (released HT: 400)")
    block_ngrams: int = Field(0, ge=0, description="n: no n-gram twice in a summary; 0 = off (001 sec. 4.2: 3)")
    block_recent: int = Field(
        0, ge=0, description="no token equals one of this many before it, commas excepted; 0 = off (001 sec. 4.2: 2)"
    )
    allow_unknown: bool = Field(False, description="whether the unknown token may be generated")
    prompt_title: bool = Field(False, description="summaries begin with the title, as PHT's released decoder has it")
    max_paragraphs: int | None = Field(None, ge=1, description="paragraphs read; None = as many as in training")
    max_paragraph_tokens: int | None = Field(None, ge=2, description="tokens read of each; None = as in training")
    max_source_tokens: int | None = Field(
        None, ge=1, description="tokens read of all; None = as in training (000 tests at 1,600 and 3,000)"
    )
    checkpoint: int = Field(0, ge=0, description="which of the best checkpoints by validation loss; 0 = the best")
    precision: Literal["float32", "bfloat16"] = Field("float32", description="of the computation; weights are float32")
    batch_articles: int = tuning(16, "articles decoded at a time", ge=1)
    device: str = tuning("auto", "where the summarizer runs: auto | cpu | cuda | cuda:N")

    def search(self) -> SearchSettings:
        """Return what `beam_search` wants to know.

        Raises:
            ValueError: min_length is above max_length.
        """
        names = ("beam", "normalisation", "alpha", "min_length", "max_length", "block_ngrams", "block_recent")
        return SearchSettings(**{name: getattr(self, name) for name in names}, allow_unknown=self.allow_unknown)


@dataclass(frozen=True)
class DecodingProgress:
    """Where decoding stands.

    Attributes:
        articles: articles decoded.
        total: articles to decode.
        tokens: summary tokens written.
        seconds: since decoding began.
    """

    articles: int
    total: int
    tokens: int
    seconds: float

    @property
    def share(self) -> float:
        """Done, 0-1."""
        return self.articles / self.total

    def __str__(self) -> str:
        rate = self.articles / max(self.seconds, 1e-9)
        return f"{self.articles:,} of {self.total:,} summaries, {self.tokens:,} tokens, {rate:.1f} articles/s"


def decode_shard(
    examples: pa.Table,
    directory: Path,
    settings: DecodingSettings,
    *,
    graphs: pa.Table | None = None,
    system: str | None = None,
    progress: Callable[[DecodingProgress], None] | None = None,
) -> pa.Table:
    """Write a summary for each article of the test split.

    Args:
        examples: EXAMPLES rows of a shard; other splits are left out.
        directory: a trained summarizer, see `tasks/summarizer_directory.py`.
        settings: of the search.
        graphs: GRAPHS rows of the shard where the summarizer reads a graph.
        system: name of the summarizer in the table; None = its preset, and its graph if it reads one.
        progress: told after each batch.

    Returns:
        PREDICTIONS rows in the order of the examples.

    Raises:
        ValueError: the directory holds no summarizer, a graph is missing, or the settings contradict each other.
    """
    search = settings.search()
    test = examples.filter(pc.equal(examples.column("split"), "test"))
    if test.num_rows == 0:
        return PREDICTIONS.schema.empty_table()
    trained = load_summarizer(directory, device=find_device(settings.device), checkpoint=settings.checkpoint)
    rows = _rows(test, graphs, trained, settings)
    summaries: list[dict[str, Any]] = [{}] * len(rows)
    started, tokens = time.monotonic(), 0
    for done, batch in _batches(rows, settings.batch_articles):
        laid_out = [rows.example(row) for row in batch]
        hypotheses = _decode(laid_out, rows, trained, settings, search)
        for row, example, hypothesis in zip(batch, laid_out, hypotheses, strict=True):
            summaries[row] = _prediction(example, hypothesis, trained.vocabulary)
            tokens += len(hypothesis.tokens)
        if progress is not None:
            progress(DecodingProgress(done, len(rows), tokens, time.monotonic() - started))
    columns = {
        "article_id": test.column("article_id"),
        "system": [system or trained.name] * len(rows),
        **{name: [summary[name] for summary in summaries] for name in ("summary", "tokens", "attention")},
    }
    return pa.table(columns, schema=PREDICTIONS.schema)


def _rows(
    test: pa.Table, graphs: pa.Table | None, trained: TrainedSummarizer, settings: DecodingSettings
) -> ExampleTable:
    if trained.graph != "none":
        if graphs is None:
            raise ValueError(f"the summarizer reads the {trained.graph} graph: expected a table of graphs, got none")
        test = with_graphs(test, graphs, trained.graph)
    trained_on = trained.layout
    layout = replace(
        trained_on,
        max_paragraphs=settings.max_paragraphs or trained_on.max_paragraphs,
        max_paragraph_tokens=settings.max_paragraph_tokens or trained_on.max_paragraph_tokens,
        max_source_tokens=settings.max_source_tokens or trained_on.max_source_tokens,
    )
    return ExampleTable(test, layout)


def _batches(rows: ExampleTable, size: int) -> list[tuple[int, list[int]]]:
    """Return (rows done after it, rows) of each batch: alike in shape, the largest first, for memory runs out there."""
    shapes = rows.shapes()
    order = np.lexsort((shapes[:, 1], shapes[:, 0]))[::-1].tolist()
    return [(min(start + size, len(order)), order[start : start + size]) for start in range(0, len(order), size)]


def _decode(
    examples: Sequence[Example],
    rows: ExampleTable,
    trained: TrainedSummarizer,
    settings: DecodingSettings,
    search: SearchSettings,
) -> list[Hypothesis]:
    vocabulary = trained.vocabulary
    device = next(trained.model.parameters()).device
    source = source_batch(examples, rows.layout).to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=settings.precision == "bfloat16"):
        return beam_search(
            trained.model,
            source,
            search,
            begin=vocabulary.begin,
            end=vocabulary.end,
            unknown=vocabulary.unk,
            exempt=_commas(vocabulary) if search.block_recent else (),
            prompt=source.title if settings.prompt_title else None,
        )


def _prediction(example: Example, hypothesis: Hypothesis, vocabulary: Vocabulary) -> dict[str, Any]:
    attention = np.zeros((len(hypothesis.tokens), int(example.ranks[-1]) + 1), dtype=np.float32)
    attention[:, example.ranks] = hypothesis.attention[:, : len(example.ranks)].numpy()
    return {
        "summary": " ".join(vocabulary.decode(hypothesis.tokens).split()),
        "tokens": vocabulary.pieces(hypothesis.tokens),
        "attention": list(attention),
    }


def _commas(vocabulary: Vocabulary) -> tuple[int, ...]:
    """The ids of commas, which may stand close to each other (001's released code)."""
    pieces = vocabulary.pieces(range(vocabulary.size))
    return tuple(id_ for id_, piece in enumerate(pieces) if piece.lstrip("\u2581") == ",")
