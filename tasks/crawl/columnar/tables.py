"""The files of a table of the columnar index: a folder, an object store, or files named by a list on the web; and what
their footers say. The table is described at https://github.com/commoncrawl/cc-index-table. Of its thirty columns seven
are read."""

import logging
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pyarrow.types as kinds

from storage.errors import StorageError
from storage.schemas import INDEX_FILES
from storage.store import Store
from tasks.crawl.common_crawl import FILE_NAME
from tasks.crawl.remote_files import PATIENCE, RemoteFile, RemoteFiles
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Service
from tasks.crawl.settings import CrawlSettings, service_url

logger = logging.getLogger(__name__)

KEY = "url_surtkey"
# null where the archiver cut nothing; tables before CC-MAIN-2019-47 have no such column
TRUNCATED = "content_truncated"

_MOST_LIST_BYTES = 20_000_000  # a list of a crawl has 900 lines of 110 characters
_BUFFER_BYTES = 4 << 20
_ON_THE_WEB = ("http://", "https://")


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


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of the index."""

    folder: str  # path or URI that its name is below; for a file on the web the data URL of the settings
    # its name there, such as cc-index/table/cc-main/warc/crawl=CC-MAIN-2026-43/subset=warc/part-00000.parquet
    name: str
    state: str  # size and modification time, or "" on the web, where published files do not change

    def __str__(self) -> str:
        return f"{self.folder.removesuffix('/')}/{self.name}"

    def recipe(self) -> dict[str, str]:
        """Return the fields that decide what is found in it."""
        return {"name": self.name, "state": self.state}


@dataclass(frozen=True)
class IndexFiles:
    """The files of one crawl, in order of name."""

    files: tuple[TableFile, ...]

    def recipe(self) -> list[dict[str, str]]:
        """Return the fields that decide what is found in it."""
        return [file.recipe() for file in self.files]


def find_tables(settings: CrawlSettings, connect_to: Mapping[str, str]) -> list[IndexFiles]:
    """Return the tables that the settings name, in their order, each with its files of subset=warc. The other subsets
    hold redirects, error pages and robots.txt. Raises FileNotFoundError: there is no such folder or list, or it has no
    such file; ValueError: a list does not hold the names of files; ConnectionError: a list cannot be read."""
    tables = []
    for named in settings.common_crawl.tables:
        files = _listed(named, settings, connect_to) if named.lower().startswith(_ON_THE_WEB) else _in_folder(named)
        wanted = sorted((file for file in files if _is_wanted(file.name)), key=lambda file: file.name)
        if not wanted:
            raise FileNotFoundError(
                f"crawl.common_crawl.tables: {named!r} has no Parquet file of subset=warc; expected a folder of the "
                "columnar index, or a list of its files such as cc-index-table.paths.gz"
            )
        tables.append(IndexFiles(tuple(wanted)))
    return tables


def _is_wanted(name: str) -> bool:
    parts = name.split("/")
    subsets = {part for part in parts[:-1] if part.startswith("subset=")}
    return parts[-1].endswith(".parquet") and subsets <= {"subset=warc"} and not name.startswith(("_", "."))


def _in_folder(named: str) -> list[TableFile]:
    try:
        store = Store(named)
        infos = store.filesystem.get_file_info(pafs.FileSelector(store.base, recursive=True))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"crawl.common_crawl.tables: there is no folder {named!r}") from error
    except (OSError, StorageError) as error:
        raise FileNotFoundError(f"crawl.common_crawl.tables: {named!r} cannot be listed: {error}") from error
    return [
        TableFile(named, info.path.removeprefix(store.base).lstrip("/"), f"{info.size}-{info.mtime_ns}")
        for info in infos
        if info.type == pafs.FileType.File
    ]


def _listed(named: str, settings: CrawlSettings, connect_to: Mapping[str, str]) -> list[TableFile]:
    with Service(service_url(named), settings, PATIENCE, connect_to, delay_seconds=0.0) as service:
        try:
            answer = service.get(service.url, max_bytes=_MOST_LIST_BYTES)
        except FetchError as fault:
            raise ConnectionError(f"crawl.common_crawl.tables: {named} could not be read: {fault}") from fault
    if not answer.success:
        raise FileNotFoundError(f"crawl.common_crawl.tables: {named} answered HTTP {answer.status}; expected a list")
    body = answer.body
    try:
        if body.startswith(b"\x1f\x8b"):
            decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
            body = decoder.decompress(body, _MOST_LIST_BYTES)
            if not decoder.eof:
                raise zlib.error("it is too long, or cut short")
        lines = body.decode("ascii").split()
    except (zlib.error, UnicodeError) as error:
        raise ValueError(f"crawl.common_crawl.tables: {named} is not a list of file names: {error}") from error
    for line in lines:
        if not re.fullmatch(FILE_NAME, line) or ".." in line:
            raise ValueError(f"crawl.common_crawl.tables: {named} has the line {line[:80]!r}; expected a file name")
    return [TableFile(settings.common_crawl.data_url, line, "") for line in lines]


@contextmanager
def open_table(file: TableFile, files: RemoteFiles) -> Iterator[pq.ParquetFile]:
    """Open a file for the block and read its footer. Columns of a local file are read piece by piece, those of a remote
    one a row group at a time, because each read is a request. Raises ValueError: it is not Parquet; StorageError: it
    cannot be read, or is damaged; ConnectionError: it is on the web, and could not be fetched."""
    remote = file.folder.startswith(_ON_THE_WEB)
    with _named_errors(file):
        if remote:
            source = pa.PythonFile(RemoteFile(files, str(file)), "r")
        else:
            store = Store(file.folder)
            remote = not store.is_local
            source = store.filesystem.open_input_file(store.path(file.name))
        with source:
            yield pq.ParquetFile(source, pre_buffer=remote, buffer_size=0 if remote else _BUFFER_BYTES)


@contextmanager
def _named_errors(file: TableFile) -> Iterator[None]:
    """Turn errors of reading a file into errors that name it."""
    try:
        yield
    except ConnectionError:
        raise
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{file} is not a Parquet file of the columnar index, or is damaged: {error}") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read, or is damaged: {error}") from error


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
