"""Turn rows of the `examples` dataset into the tensors a summarizer reads: cut them, add the title, pad the rows of a
batch.

The layout is that of the released WikiSum examples: the first paragraph begins with the title and `<T>`, or with the
title and a colon where the vocabulary has no such piece. An architecture that was pre-trained with marks around its
source gets them: `<s>` before the article or before each paragraph, after which the title follows, and one `</s>` at
the end. Marks count in every limit, and whatever is cut, a source ends with its mark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.layers.paragraphs import SourceBatch

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Layout:
    """How much of an example a summarizer reads, and how its batches are padded."""

    pad: int  # id of the padding token
    title_mark: int | None  # id that ends the title; None = the title is not read
    max_paragraphs: int = 24  # best ranked paragraphs read (24 in training, Liu & Lapata 2019, sec. 4)
    max_paragraph_tokens: int = 100  # tokens read of a paragraph; the title counts in the first one
    max_source_tokens: int | None = None  # tokens of all paragraphs together, in order; None = no limit
    # tokens of the lead, begin and end included. A lead that is cut gets no end token, because it does not end there.
    max_target_tokens: int = 400
    # padded lengths of paragraphs and targets are rounded up to a multiple of this, so that fewer shapes occur
    length_multiple: int = 8
    graph: bool = False  # whether batches carry the paragraph graph (column `graph`)
    source_begin: int | None = None  # id before the source, or None
    begins_each: bool = False  # whether `source_begin` is before each paragraph, not only the first
    source_end: int | None = None  # id after the source, or None
    # whether `max_source_tokens` is divided equally among an article's paragraphs, each of which is cut at its end, and
    # not the end of all of them (Shen et al. 2023, app. C).
    shared_limit: bool = False
    # id before each paragraph except the first instead of `source_begin`, if `begins_each`; None = none
    separator: int | None = None

    def __post_init__(self) -> None:
        for name, minimum in (("max_paragraphs", 1), ("max_paragraph_tokens", 1), ("max_target_tokens", 2)):
            if getattr(self, name) < minimum:
                raise ValueError(f"expected {name} of at least {minimum}, got {getattr(self, name)}")
        if self.max_paragraph_tokens < 2 and (self.source_begin is not None or self.source_end is not None):
            raise ValueError("expected max_paragraph_tokens of at least 2 where marks are around the source, got 1")
        if self.length_multiple < 1 or (self.max_source_tokens is not None and self.max_source_tokens < 1):
            raise ValueError(f"expected length_multiple and max_source_tokens of at least 1, got {self}")

    def may_be_cut(self, tokens: int, together: int) -> bool:
        """Whether the end of a paragraph of so many tokens, title and marks included, may have been cut off, where all
        paragraphs of the article have so many together."""
        total = self.max_source_tokens
        limited = total is not None and (self.shared_limit or together >= total)
        return limited or tokens >= self.max_paragraph_tokens

    def rounded(self, length: int) -> int:
        """Return `length` rounded up to the length multiple."""
        return -(-length // self.length_multiple) * self.length_multiple


@dataclass(frozen=True)
class Example:
    """One example, cut and with its title."""

    paragraphs: list[Numbers]  # token ids of each paragraph that has any, best first; the first begins with the title
    ranks: Numbers  # rank of each of them
    title: Numbers  # token ids of the title
    target: Numbers  # token ids of the lead
    # (i, j, weight) arrays over ranks, or None if the layout has no graph
    edges: tuple[Numbers, Numbers, Numbers] | None


class ExampleTable:
    """Rows of `examples` (columns title, source, target and, with a graph, graph) from which examples are made. The
    tokens stay in Arrow's flat buffers; the arrays of an example are made on request."""

    def __init__(self, table: pa.Table, layout: Layout) -> None:
        """Take rows. Raises ValueError: a column is missing or has nulls, or a target lacks begin or end."""
        self.layout = layout
        self._title_starts, titles = _lists(table, "title")
        self._target_starts, targets = _lists(table, "target")
        self._source_starts, paragraphs = _lists(table, "source")
        self._paragraph_starts = paragraphs.offsets.to_numpy()
        self._titles, self._targets, self._tokens = (_numbers(a) for a in (titles, targets, paragraphs.values))
        short = np.flatnonzero(np.diff(self._target_starts) < 2)
        if short.size:
            raise ValueError(f"expected a target of at least 2 tokens (begin and end), row {short[0]} has fewer")
        if layout.graph:
            self._graph_starts, edges = _lists(table, "graph")
            self._edges = tuple(_numbers(edges.field(name)) for name in ("i", "j", "weight"))

    def __len__(self) -> int:
        return len(self._target_starts) - 1

    def shapes(self) -> NDArray[np.int64]:
        """Return (paragraphs, tokens of the longest, target tokens) of every row as laid out, [rows, 3]."""
        lengths = map(self._lengths, range(len(self)))
        shapes = [(np.count_nonzero(own), own.max(), self._target_tokens(row)) for row, own in enumerate(lengths)]
        return np.array(shapes, dtype=np.int64).reshape(-1, 3)

    def example(self, row: int) -> Example:
        """Lay out a row."""
        title = self._titles[self._title_starts[row] : self._title_starts[row + 1]]
        first = self._source_starts[row]
        lengths = self._lengths(row)
        ranks = np.flatnonzero(lengths)
        paragraphs = []
        for rank in ranks:
            has_text = first + rank < self._source_starts[row + 1]
            start, stop = self._paragraph_starts[first + rank : first + rank + 2] if has_text else (0, 0)
            before = self._before(int(rank), title)
            tokens = np.concatenate([before, self._tokens[start:stop]]) if before.size else self._tokens[start:stop]
            paragraphs.append(tokens[: lengths[rank]])
        if self.layout.source_end is not None:  # its length is counted, so that one token less is text
            paragraphs[-1] = np.append(
                paragraphs[-1][: lengths[ranks[-1]] - 1], paragraphs[-1].dtype.type(self.layout.source_end)
            )
        start = self._target_starts[row]
        target = self._targets[start : start + self._target_tokens(row)]
        return Example(paragraphs, ranks.astype(np.int64), title, target, self._edges_of(row))

    def _before(self, rank: int, title: Numbers) -> Numbers:
        """Return what is before the text of the paragraph of a rank: its mark, and in the first one the title."""
        layout = self.layout
        before: list[int] = []
        if layout.source_begin is not None and (rank == 0 or layout.begins_each):
            before.append(layout.source_begin if rank == 0 or layout.separator is None else layout.separator)
        if rank == 0 and layout.title_mark is not None:
            before += [*title.tolist(), layout.title_mark]
        return np.array(before, dtype=title.dtype)

    def _lengths(self, row: int) -> Numbers:
        """Tokens taken from each of the best paragraphs, zeros included; the title and marks count."""
        layout = self.layout
        first = self._source_starts[row]
        last = min(self._source_starts[row + 1], first + layout.max_paragraphs)
        lengths: Numbers = np.diff(self._paragraph_starts[first : last + 1]).astype(np.int64)
        if lengths.size == 0:
            lengths = np.zeros(1, dtype=np.int64)
        if layout.begins_each:
            lengths[1:] += lengths[1:] > 0
        lengths[0] += layout.source_begin is not None
        if layout.title_mark is not None:
            lengths[0] += self._title_starts[row + 1] - self._title_starts[row] + 1
        most, total = layout.max_paragraph_tokens, layout.max_source_tokens
        if total is not None and layout.shared_limit:
            most = min(most, max(total // max(int(np.count_nonzero(lengths)), 1), 2))
        lengths = np.minimum(lengths, most)
        if total is not None:
            lengths = np.diff(np.minimum(np.cumsum(lengths), total), prepend=np.int64(0))
        if layout.begins_each:
            lengths[1:][lengths[1:] == 1] = 0  # cut down to its mark
        if layout.source_end is not None and (total is None or lengths.sum() < total):
            end = np.flatnonzero(lengths)[-1] if lengths.any() else 0
            lengths[end] = min(lengths[end] + 1, most)
        return lengths

    def _target_tokens(self, row: int) -> int:
        return int(min(self._target_starts[row + 1] - self._target_starts[row], self.layout.max_target_tokens))

    def _edges_of(self, row: int) -> tuple[Numbers, Numbers, Numbers] | None:
        if not self.layout.graph:
            return None
        span = slice(self._graph_starts[row], self._graph_starts[row + 1])
        i, j, weight = self._edges
        return i[span], j[span], weight[span]


def source_batch(examples: Sequence[Example], layout: Layout) -> SourceBatch:
    """Pad examples to one SourceBatch: [B, P, L] with L rounded up."""
    most = max(len(example.paragraphs) for example in examples)
    longest = layout.rounded(max(len(p) for example in examples for p in example.paragraphs))
    tokens = np.full((len(examples), most, longest), layout.pad, dtype=np.int64)
    ranks = np.zeros((len(examples), most), dtype=np.int64)
    for b, example in enumerate(examples):
        ranks[b, : len(example.ranks)] = example.ranks
        for p, paragraph in enumerate(example.paragraphs):
            tokens[b, p, : len(paragraph)] = paragraph
    return SourceBatch(
        tokens=torch.from_numpy(tokens),
        ranks=torch.from_numpy(ranks),
        title=_padded([example.title for example in examples], layout, 1),
        pad=layout.pad,
        graph=torch.from_numpy(_graphs(examples, most)) if layout.graph else None,
    )


def target_batch(examples: Sequence[Example], layout: Layout) -> Tensor:
    """Pad the targets to [B, T] int64, T - 1 (what a decoder reads and predicts) rounded up."""
    longest = max(len(example.target) for example in examples)
    return _padded([example.target for example in examples], layout, 1 + layout.rounded(longest - 1))


def _padded(rows: Sequence[Numbers], layout: Layout, minimum: int) -> Tensor:
    padded = np.full((len(rows), max(minimum, *(len(row) for row in rows), 1)), layout.pad, dtype=np.int64)
    for b, row in enumerate(rows):
        padded[b, : len(row)] = row
    return torch.from_numpy(padded)


def _graphs(examples: Sequence[Example], most: int) -> NDArray[np.float32]:
    """Return [B, P, P] symmetric weights with a unit diagonal; edges to paragraphs that were cut are left out."""
    graphs = np.zeros((len(examples), most, most), dtype=np.float32)
    graphs[:, np.arange(most), np.arange(most)] = 1.0
    for b, example in enumerate(examples):
        assert example.edges is not None
        i, j, weight = example.edges
        highest = max(int(i.max(initial=0)), int(j.max(initial=0)), int(example.ranks[-1]))
        row_of = np.full(highest + 1, -1, dtype=np.int64)
        row_of[example.ranks] = np.arange(len(example.ranks))
        i, j = row_of[i], row_of[j]
        kept = (i >= 0) & (j >= 0) & (i != j)
        graphs[b, i[kept], j[kept]] = weight[kept]
        graphs[b, j[kept], i[kept]] = weight[kept]
    return graphs


def _lists(table: pa.Table, name: str) -> tuple[NDArray[np.int32], pa.Array]:
    """Return a list column's offsets and the values they point into."""
    if name not in table.column_names:
        raise ValueError(f"expected a column {name!r} among the examples' columns, found {table.column_names}")
    column = table.column(name).combine_chunks()
    if column.null_count:
        raise ValueError(f"expected no nulls in the examples' column {name!r}, found {column.null_count}")
    return column.offsets.to_numpy(), column.values


def _numbers(array: pa.Array) -> Numbers:
    values: Numbers = array.to_numpy(zero_copy_only=False)
    return values
