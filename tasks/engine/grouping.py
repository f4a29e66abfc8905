"""Tables article by article: slices of sorted tables, without a filter per article."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from tasks.engine.failure_logs import working_on


def by_article(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield each article's id and rows, in order; ValueError where `article_id` is null or not sorted."""
    ids = table.column("article_id").combine_chunks()
    if isinstance(ids, pa.ChunkedArray):  # combine_chunks returns this for a column without chunks
        return
    if ids.null_count:
        raise ValueError("article_id is null in a row: expected every row to name its article")
    runs = pc.run_end_encode(ids, run_end_type=pa.int64())
    start, previous = 0, None
    for article, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        if previous is not None and article < previous:
            raise ValueError(f"article {article} follows {previous}: expected rows sorted by article_id")
        working_on(f"article {article}")
        yield article, table.slice(start, end - start)
        start, previous = end, article


def join_by_article(left: pa.Table, *others: pa.Table) -> Iterator[tuple[str, *tuple[pa.Table, ...]]]:
    """Yield each article's id, its rows in `left` and in each of `others`, all sorted by `article_id`. A table without
    the article gives no rows, and rows of `others` whose article is not in `left` are skipped, so a caller selects
    articles by filtering `left`. Raises ValueError: a table is not sorted by `article_id`."""
    streams = [by_article(other) for other in others]
    heads = [next(stream, None) for stream in streams]
    for article, rows in by_article(left):
        matches = []
        for number, stream in enumerate(streams):
            head = heads[number]
            while head is not None and head[0] < article:
                head = next(stream, None)
            heads[number] = head
            matches.append(head[1] if head is not None and head[0] == article else others[number].slice(0, 0))
        working_on(f"article {article}")  # again, because the streams have read ahead
        yield article, rows, *matches
