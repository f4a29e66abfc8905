"""Sorted rows article by article: slices of tables and batches, without a filter per article; and items in groups of a
limited size."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from tasks.engine.failure_logs import working_on

T = TypeVar("T")


def by_article(rows: pa.Table | pa.RecordBatchReader) -> Iterator[tuple[str, pa.Table]]:
    """Yield each article's id and rows, in order; a reader's batches are in memory until their articles are yielded.
    Raises ValueError: `article_id` is null or not sorted."""
    current, pieces = "", list[pa.RecordBatch]()
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
        ids = batch.column("article_id")
        if ids.null_count:
            raise ValueError("article_id is null in a row: expected every row to name its article")
        runs = pc.run_end_encode(ids, run_end_type=pa.int64())
        start = 0
        for article, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            if pieces and article != current:
                working_on(f"article {current}")
                yield current, pa.Table.from_batches(pieces)
                if article < current:
                    raise ValueError(f"article {article} follows {current}: expected rows sorted by article_id")
                pieces = []
            current = article
            pieces.append(batch.slice(start, end - start))
            start = end
    if pieces:
        working_on(f"article {current}")
        yield current, pa.Table.from_batches(pieces)


def join_by_article(
    left: pa.Table, *others: pa.Table | pa.RecordBatchReader
) -> Iterator[tuple[str, *tuple[pa.Table, ...]]]:
    """Yield each article's id, its rows in `left` and in each of `others`, all sorted by `article_id`. Others without
    the article give no rows, and rows of `others` whose article is not in `left` are skipped, so a caller selects
    articles by filtering `left`. Raises ValueError: one of them is not sorted by `article_id`."""
    streams = [by_article(other) for other in others]
    heads = [next(stream, None) for stream in streams]
    for article, rows in by_article(left):
        matches = []
        for number, stream in enumerate(streams):
            head = heads[number]
            while head is not None and head[0] < article:
                head = next(stream, None)
            heads[number] = head
            matches.append(head[1] if head is not None and head[0] == article else others[number].schema.empty_table())
        working_on(f"article {article}")  # again, because the streams have read ahead
        yield article, rows, *matches


def packed(items: Iterable[T], size: Callable[[T], int], most: int, number: float = math.inf) -> Iterator[list[T]]:
    """Yield as many items together, in order, as have at most the size `most` in all and are at most `number`; an item
    that is larger is alone."""
    group: list[T] = []
    total = 0
    for item in items:
        added = size(item)
        if group and (total + added > most or len(group) == number):
            yield group
            group, total = [], 0
        group.append(item)
        total += added
    if group:
        yield group
