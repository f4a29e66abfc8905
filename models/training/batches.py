"""Batches of examples: a stream over shards that holds at most one window of examples in memory, in a seeded order that
can be resumed at any batch.

An epoch reads all shards in an order drawn from (seed, epoch). Whole shards are gathered until a window is full; its
examples are sorted by shape, cut into batches whose padded source and padded target both fit the token budget, and
the batches are shuffled. So padding is small, order is random, and a position is three numbers: the epoch, the index in
the epoch's shard order at which the window begins, and the batch within the window.

With several ranks, every rank plans the same stream and pads only every `world`-th batch of it. So one update sees the
same examples whatever the number of ranks, and a run can be resumed with another number of ranks."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch import Tensor

from models.layers.paragraphs import SourceBatch, change_tensors
from models.training.layout import ExampleTable, Layout, source_batch, target_batch


def positions_of(target: Tensor, pad: int) -> Tensor:
    """Return the numbers [M] of the tokens of `target` that are not padding; the host waits for the device."""
    return (target != pad).flatten().nonzero().squeeze(1)


class ExampleShards(Protocol):
    """Shards of the `examples` dataset, read one at a time; a list of tables is one."""

    def __len__(self) -> int:
        """Number of shards."""

    def __getitem__(self, i: int, /) -> pa.Table:
        """Return shard i: the columns of `examples` and, if the layout has a graph, a column `graph`. `graph` is
        list<struct<i: int32, j: int32, weight: float32>>: the edges between ranks of paragraphs."""


@dataclass(frozen=True)
class Position:
    """A position in the stream: the next batch to be read by rank 0."""

    epoch: int = 0
    shard: int = 0
    batch: int = 0


class TrainingBatch:
    """What the trainer needs to know about a batch of any objective."""

    source_tokens: int  # source tokens that are not padding
    padded_tokens: int  # source tokens with padding
    following: Position  # position in the data once every rank has its batch

    def pin_memory(self) -> Self:
        """Return the batch in pinned memory, from which a GPU copies while the host continues."""
        return change_tensors(self, Tensor.pin_memory)


@dataclass(frozen=True)
class Batch(TrainingBatch):
    """A batch for a summarizer of `models.contract`."""

    source: SourceBatch  # what the encoder reads
    target: Tensor  # [B, T] int64 lead tokens, begin and end included, padded
    examples: int  # number of examples, B
    source_tokens: int  # source tokens that are not padding
    padded_tokens: int  # source tokens with padding, B x P x L
    following: Position  # position of the stream once every rank has its batch

    @cached_property
    def predicted(self) -> Tensor:
        """[M] int64, the numbers of the tokens to predict among the B*(T-1): the target without begin and padding."""
        return positions_of(self.target[:, 1:], self.source.pad)


@dataclass(frozen=True)
class BatchStream:
    """The endless stream of training batches of one rank."""

    shards: ExampleShards  # training examples
    layout: Layout  # how an example is cut and padded
    _: KW_ONLY
    batch_tokens: int  # maximum padded source (B x P x L) and maximum padded target (B x T) of a batch, in tokens
    # number of examples to gather before sorting and shuffling; whole shards are read until there are that many
    window: int = 4096
    seed: int  # decides the order of shards and batches
    rank: int = 0  # this process among `world`
    world: int = 1  # processes that train together
    # (rows of a shard, epoch, shard number) -> the examples to read of them in this epoch; None = the rows are examples
    prepare: Callable[[pa.Table, int, int], pa.Table] | None = None

    def __post_init__(self) -> None:
        window, seed, rank, world = self.window, self.seed, self.rank, self.world
        if window < 1 or seed < 0 or not 0 <= rank < world:
            raise ValueError(f"expected window >= 1, seed >= 0, 0 <= rank < world: {window}, {seed}, {rank}, {world}")
        check_budget(self.layout, self.batch_tokens)

    def batches(self, start: Position | None = None) -> Iterator[Batch]:
        """Yield this rank's batches from a position on, without end. Raises ValueError: the shards hold no examples, or
        the position is not one of this stream."""
        plans = self._plans(start or Position())
        while group := list(islice(plans, self.world)):
            table, rows, _ = group[self.rank]
            yield lay_out(table, rows, group[-1][2])

    def _plans(self, start: Position) -> Iterator[tuple[ExampleTable, NDArray[np.int64], Position]]:
        epoch, shard, skip = start.epoch, start.shard, start.batch
        while True:
            order = np.random.default_rng((self.seed, epoch)).permutation(len(self.shards))
            any_plans = shard > 0
            while shard < len(order):
                table, following = self._window(order, shard, epoch)
                rng = np.random.default_rng((self.seed, epoch, shard))
                plans = plan_batches(table.shapes(), self.layout, self.batch_tokens, rng)
                rng.shuffle(plans)
                if skip and skip >= len(plans):
                    raise ValueError(f"{start} does not exist in these examples: its window has {len(plans)} batches")
                ends = following < len(order)
                next_window = Position(epoch, following, 0) if ends else Position(epoch + 1, 0, 0)
                for n in range(skip, len(plans)):
                    yield table, plans[n], Position(epoch, shard, n + 1) if n + 1 < len(plans) else next_window
                any_plans = any_plans or bool(plans)
                shard, skip = following, 0
            if not any_plans:
                raise ValueError(
                    f"expected training examples, found none in {len(self.shards)} shards: a lead without a sentence "
                    "whose values the summarizer reads is left out where examples.supported_by is set"
                )
            epoch, shard = epoch + 1, 0

    def _window(self, order: NDArray[np.int64], shard: int, epoch: int) -> tuple[ExampleTable, int]:
        """Read shards from index `shard` of the order until the window is full; return it and the index after it."""
        tables: list[pa.Table] = []
        while shard < len(order) and sum(table.num_rows for table in tables) < self.window:
            number = int(order[shard])
            rows = self.shards[number]
            tables.append(_needed(rows if self.prepare is None else self.prepare(rows, epoch, number), self.layout))
            shard += 1
        return ExampleTable(pa.concat_tables(tables), self.layout), shard


def sweep(
    shards: ExampleShards, layout: Layout, *, batch_tokens: int, rank: int = 0, world: int = 1
) -> Iterator[Batch]:
    """Yield each example once, in batches by shape, shard after shard: this rank's share of a validation."""
    check_budget(layout, batch_tokens)
    batch = 0
    for shard in range(len(shards)):
        table = ExampleTable(_needed(shards[shard], layout), layout)
        for rows in plan_batches(table.shapes(), layout, batch_tokens):
            if batch % world == rank:
                yield lay_out(table, rows, Position(0, shard, batch))
            batch += 1


def plan_batches(
    shapes: NDArray[np.int64], layout: Layout, batch_tokens: int, rng: np.random.Generator | None = None
) -> list[NDArray[np.int64]]:
    """Cut examples of the given shapes ([N, 3]: paragraphs, longest, target tokens) into batches of row numbers. Rows
    are sorted by padded paragraph length, then by number of paragraphs and by target; the direction of the latter two
    alternates with each length, so that neighbours in the order are similar. `rng` breaks ties."""
    if not len(shapes):
        return []
    paragraphs, longest, target = shapes.T
    longest = -(-longest // layout.length_multiple) * layout.length_multiple
    target = 1 + -(-(target - 1) // layout.length_multiple) * layout.length_multiple
    turn = np.where(np.unique(longest, return_inverse=True)[1] % 2, -1, 1)
    ties = rng.permutation(len(shapes)) if rng else np.arange(len(shapes))
    order = np.lexsort((ties, target * turn, paragraphs * turn, longest))
    plans: list[list[int]] = []
    most = (0, 0, 0)
    for row, *shape in np.column_stack([order, paragraphs[order], longest[order], target[order]]).tolist():
        size = len(plans[-1]) + 1 if plans else 1
        p, length, t = (max(pair) for pair in zip(most, shape, strict=True))
        if not plans or size * max(p * length, t) > batch_tokens:
            plans.append([])
            p, length, t = shape
        plans[-1].append(row)
        most = (p, length, t)
    return [np.array(plan, dtype=np.int64) for plan in plans]


def lay_out(table: ExampleTable, rows: NDArray[np.int64], following: Position) -> Batch:
    """Make the batch of some rows."""
    examples = [table.example(int(row)) for row in rows]
    source = source_batch(examples, table.layout)
    batch = Batch(
        source=source,
        target=target_batch(examples, table.layout),
        examples=len(examples),
        source_tokens=sum(len(paragraph) for example in examples for paragraph in example.paragraphs),
        padded_tokens=source.tokens.numel(),
        following=following,
    )
    _ = source.rows, batch.predicted  # found here, ahead of the step, and on the CPU: a GPU would have to wait
    return batch


def check_budget(layout: Layout, batch_tokens: int) -> None:
    """Raise ValueError if one example could exceed the token budget of a batch."""
    longest = layout.rounded(layout.max_paragraph_tokens)
    largest = layout.max_paragraphs * longest
    target = 1 + layout.rounded(layout.max_target_tokens - 1)
    if batch_tokens < max(largest, target):
        raise ValueError(
            f"batch_tokens of {batch_tokens} cannot hold one example of {layout.max_paragraphs} paragraphs x {longest} "
            f"tokens = {largest} and a target of {target}: expected at least {max(largest, target)}"
        )


def _needed(table: pa.Table, layout: Layout) -> pa.Table:
    columns = ["title", "source", "target", *(["graph"] if layout.graph else [])]
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise ValueError(f"expected the columns {columns} in a shard of examples, found no {missing[0]!r}")
    return table.select(columns)


Item = TypeVar("Item")


@contextmanager
def prefetch(items: Iterator[Item], *, ahead: int = 4) -> Iterator[Iterator[Item]]:
    """Return an iterator over the same items in the same order, of which at most `ahead` are made before they are read.
    An exception of `items` is raised instead of the item. The thread that makes them ends with the context."""
    end: Any = object()
    with ThreadPoolExecutor(1, "prefetch") as thread:
        waiting = deque(thread.submit(next, items, end) for _ in range(ahead))

        def read() -> Iterator[Item]:
            while (item := waiting.popleft().result()) is not end:
                waiting.append(thread.submit(next, items, end))
                yield item

        try:
            yield read()
        finally:
            thread.shutdown(cancel_futures=True)
