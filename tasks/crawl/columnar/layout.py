"""The columns of the columnar index that are read, and what the footers of its files say. The table is described at
https://github.com/commoncrawl/cc-index-table. Of its thirty columns seven are read."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds

from storage.schemas import INDEX_FILES
from tasks.crawl.columnar.tables import IndexFiles, TableFile, open_table
from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.settings import CrawlSettings

logger = logging.getLogger(__name__)

KEY = "url_surtkey"
TRUNCATED = (
    "content_truncated"  # null where the archiver cut nothing; tables before CC-MAIN-2019-47 have no such column
)


def _is_text(kind: pa.DataType) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))


_NEEDED: Mapping[str, tuple[Callable[[pa.DataType], bool], str]] = {
    KEY: (_is_text, "text"),
    "fetch_time": (kinds.is_timestamp, "a time"),
    "fetch_status": (kinds.is_integer, "a whole number"),
    "warc_filename": (_is_text, "text"),
    "warc_record_offset": (kinds.is_integer, "a whole number"),
    "warc_record_length": (kinds.is_integer, "a whole number"),
}


def place_columns(parquet: pq.ParquetFile) -> list[str]:
    """Return the columns besides the key that say where a capture is."""
    names = set(parquet.schema_arrow.names)
    return [name for name in (*_NEEDED, TRUNCATED) if name != KEY and name in names]


def key_ranges(parquet: pq.ParquetFile) -> Iterator[tuple[str | None, str | None]]:
    """Yield the first and last key of each row group by its statistics; None where it has none."""
    metadata = parquet.metadata
    column = parquet.schema_arrow.names.index(KEY)
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        known = statistics is not None and statistics.has_min_max
        yield (_text(statistics.min), _text(statistics.max)) if known else (None, None)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def index_files(settings: CrawlSettings, *, table: IndexFiles, connect_to: Mapping[str, str]) -> pa.Table:
    """Return what the footers of a table's files say, as rows of `index_files`; raises as `open_table`."""
    with (
        RemoteFiles(settings, connect_to) as remote,
        ThreadPoolExecutor(settings.common_crawl.connections, "footers") as pool,
    ):
        rows = list(pool.map(lambda file: _file_row(file, remote), table.files))
    _warn_if_unsorted(rows)
    return pa.Table.from_pylist(rows, schema=INDEX_FILES.schema)


def _file_row(file: TableFile, remote: RemoteFiles) -> dict[str, Any]:
    with open_table(file, remote) as parquet:
        _check(parquet.schema_arrow, file)
        ranges = list(key_ranges(parquet))
        firsts, lasts = zip(*ranges, strict=True) if ranges else ((), ())
        whole = None in firsts
        return {
            "file": str(file),
            "first": None if whole else min(firsts, default=""),
            "last": None if whole else max(lasts, default=""),
            "rows": parquet.metadata.num_rows,
            "row_groups": len(ranges),
            "bytes": _column_bytes(parquet),
            "sorted": not whole and all(before <= after for before, after in zip(lasts, firsts[1:], strict=False)),
        }


def _check(schema: pa.Schema, file: TableFile) -> None:
    for name, (is_right, expected) in _NEEDED.items():
        position = schema.get_field_index(name)
        if position < 0:
            raise ValueError(f"{file} has no column {name}: expected a file of Common Crawl's columnar index")
        if not is_right(schema.field(position).type):
            raise ValueError(f"{file}: column {name} is of type {schema.field(position).type}, expected {expected}")


def _column_bytes(parquet: pq.ParquetFile) -> int:
    """Return the compressed bytes of the columns that are read."""
    names, metadata = parquet.schema_arrow.names, parquet.metadata
    columns = [names.index(name) for name in (KEY, *place_columns(parquet))]
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    return sum(group.column(column).total_compressed_size for group in groups for column in columns)


def _warn_if_unsorted(rows: list[dict[str, Any]]) -> None:
    unsorted = [row["file"] for row in rows if not row["sorted"]]
    ordered = sorted((row for row in rows if row["first"] is not None), key=lambda row: str(row["first"]))
    overlapping = sum(after["first"] < before["last"] for before, after in pairwise(ordered))
    if unsorted or overlapping:
        logger.warning(
            "%s: the table is not sorted by %s, or lacks its statistics (in %d of %d files; %d files overlap): every "
            "URL is still found, but more of the table is read",
            rows[0]["file"],
            KEY,
            len(unsorted),
            len(rows),
            overlapping,
        )
