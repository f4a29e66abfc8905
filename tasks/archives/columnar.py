"""Common Crawl's columnar index: millions of URLs looked up in Parquet tables, file by file: the shuffle from hosts to
files. A table's files are in a folder, in an object store, or named by a list on the web; of its thirty columns
(https://github.com/commoncrawl/cc-index-table) eight are read.

A table is sorted by key, so the URLs of a shard of hosts are all over it. Grouped by file, every file is read once for
all URLs. Only row groups whose keys may include a wanted one are read: first the column of keys, and the other columns
only if one of the keys is wanted. They are read batch by batch, so that memory does not grow with the file. Which
captures of a URL are tried is decided by the rule of the CDX look-up (`common_crawl.py`), for whole columns. Redirects
are in the subset `crawldiagnostics`; what they lead to is looked up in a further pass over the files."""

import json
import logging
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pyarrow.types as kinds
from numpy.typing import NDArray

from storage.errors import StorageError
from storage.recipes import TALLY
from storage.schemas import CAPTURES, INDEX_FILES
from storage.store import Store
from tasks.archives.columnar_sought import positions
from tasks.archives.common_crawl import CAPTURES_TRIED, FILE_NAME, MAX_RECORD_BYTES, redirect_target
from tasks.archives.remote_files import CONNECTIONS, PATIENCE, RemoteFile, RemoteFiles
from tasks.fetching.reasons import CaptureReason
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CommonCrawlSettings, CrawlSettings, service_url

logger = logging.getLogger(__name__)

KEY = "url_surtkey"
# null if the archiver cut nothing; tables before CC-MAIN-2019-47 have no such column
TRUNCATED = "content_truncated"
REDIRECT = "fetch_redirect"  # the target of an HTTP redirect; as old as the column above

_PAGES, _DIAGNOSTICS = "subset=warc", "subset=crawldiagnostics"  # of a crawl; the latter has redirects and failures

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

    @property
    def has_no_pages(self) -> bool:
        """Whether it holds redirects and failures alone."""
        return _DIAGNOSTICS in self.name.split("/")

    def recipe(self) -> dict[str, str]:
        """Return the fields that decide what is found in it."""
        return {"name": self.name, "state": self.state}


class IndexFiles(tuple[TableFile, ...]):
    """The files of one crawl, in order of name."""

    def recipe(self) -> list[dict[str, str]]:
        """Return the fields that decide what is found in it."""
        return [file.recipe() for file in self]


def find_tables(settings: CrawlSettings, connect_to: Mapping[str, str]) -> list[IndexFiles]:
    """Return the tables that the settings name, in their order, each with its files of pages and of redirects. Raises
    FileNotFoundError: the folder or list does not exist, or it has no file of pages; ValueError: a list does not hold
    the names of files; ConnectionError: a list cannot be read."""
    tables = []
    for named in settings.common_crawl.tables:
        files = _listed(named, settings, connect_to) if named.lower().startswith(_ON_THE_WEB) else _in_folder(named)
        wanted = sorted((file for file in files if _is_wanted(file.name)), key=lambda file: file.name)
        if all(file.has_no_pages for file in wanted):
            raise FileNotFoundError(
                f"crawl.common_crawl.tables: {named!r} has no Parquet file of {_PAGES}; expected a folder of the "
                "columnar index, or a list of its files such as cc-index-table.paths.gz"
            )
        tables.append(IndexFiles(wanted))
    return tables


def _is_wanted(name: str) -> bool:
    parts = name.split("/")
    subsets = {part for part in parts[:-1] if part.startswith("subset=")}
    return parts[-1].endswith(".parquet") and subsets <= {_PAGES, _DIAGNOSTICS} and not name.startswith(("_", "."))


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
            if not decoder.eof or decoder.unused_data:
                raise zlib.error("it is too long, cut short, or goes on after its end")
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
    try:
        if remote:
            source = pa.PythonFile(RemoteFile(files, str(file)), "r")
        else:
            store = Store(file.folder)
            remote = not store.is_local
            source = store.filesystem.open_input_file(store.path(file.name))
        with source:
            yield pq.ParquetFile(source, pre_buffer=remote, buffer_size=0 if remote else _BUFFER_BYTES)
    except ConnectionError:
        raise
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{file} is not a Parquet file of the columnar index, or is damaged: {error}") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be read, or is damaged: {error}") from error


def place_columns(parquet: pq.ParquetFile) -> list[str]:
    """Return the columns besides the key that say where a capture is."""
    names = set(parquet.schema_arrow.names)
    return [name for name in (*_NEEDED, TRUNCATED, REDIRECT) if name != KEY and name in names]


def key_ranges(parquet: pq.ParquetFile) -> Iterator[tuple[str | None, str | None]]:
    """Yield the first and last key of each row group by its statistics; None if it has none."""
    metadata = parquet.metadata
    column = parquet.schema_arrow.names.index(KEY)
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        known = statistics is not None and statistics.has_min_max
        yield (_text(statistics.min), _text(statistics.max)) if known else (None, None)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def index_files(settings: CrawlSettings, *, table: IndexFiles, connect_to: Mapping[str, str]) -> pa.Table:
    """Return the content of the footers of a table's files, as rows of `index_files`; raises as `open_table`."""
    with RemoteFiles(settings, connect_to) as remote, ThreadPoolExecutor(CONNECTIONS, "footers") as pool:
        rows = list(pool.map(lambda file: _file_row(file, remote), table))
    unsorted = [row["file"] for row in rows if not row["sorted"]]
    overlapping = 0
    for subset in (False, True):  # each is sorted by itself
        of_subset = [row for row, file in zip(rows, table, strict=True) if file.has_no_pages == subset]
        ordered = sorted((row for row in of_subset if row["first"] is not None), key=lambda row: str(row["first"]))
        overlapping += sum(after["first"] < before["last"] for before, after in pairwise(ordered))
    if unsorted or overlapping:
        message = (
            "%s: the table is not sorted by %s, or lacks its statistics (in %d of %d files; %d files overlap): every "
            "URL is still found, but more of the table is read"
        )
        logger.warning(message, rows[0]["file"], KEY, len(unsorted), len(rows), overlapping)
    return pa.Table.from_pylist(rows, schema=INDEX_FILES.schema)


def _file_row(file: TableFile, remote: RemoteFiles) -> dict[str, Any]:
    with open_table(file, remote) as parquet:
        _check(parquet.schema_arrow, file)
        ranges = list(key_ranges(parquet))
        firsts, lasts = zip(*ranges, strict=True) if ranges else ((), ())
        whole = None in firsts
        columns = [parquet.schema_arrow.names.index(name) for name in (KEY, *place_columns(parquet))]
        groups = map(parquet.metadata.row_group, range(len(ranges)))
        return {
            "file": str(file),
            "first": None if whole else min(firsts, default=""),
            "last": None if whole else max(lasts, default=""),
            "rows": parquet.metadata.num_rows,
            "row_groups": len(ranges),
            "bytes": sum(group.column(column).total_compressed_size for group in groups for column in columns),
            "sorted": not whole and all(before <= after for before, after in zip(lasts, firsts[1:], strict=False)),
        }


def _check(schema: pa.Schema, file: TableFile) -> None:
    for name, (is_right, expected) in _NEEDED.items():
        position = schema.get_field_index(name)
        if position < 0:
            raise ValueError(f"{file} has no column {name}: expected a file of Common Crawl's columnar index")
        if not is_right(schema.field(position).type):
            raise ValueError(f"{file}: column {name} is of type {schema.field(position).type}, expected {expected}")


_TIME = pa.timestamp("us", tz="UTC")
# Ranks of captures: complete successes, redirects (which may lead to a page: those with a known target before the
# rest), others, rows that name no place.
_GOOD, _REDIRECT, _REDIRECT_SOMEWHERE, _OTHER, _BAD = range(5)


def chosen_captures(found: pa.Table, settings: CommonCrawlSettings) -> pa.Table:
    """Return the places of the captures that are tried, by number of the key and preference; a bad place has a reason.
    `found` has the target of each redirect as the column `redirect`."""
    # Older tables have times in nanoseconds and without a zone; they are in UTC too.
    times = pc.cast(found.column("fetch_time"), _TIME, safe=False)
    length = _whole(found, "warc_record_length")
    rank = _ranks(found, length)
    number = found.column("number").to_numpy()
    # As `CommonCrawlSettings.preference` sorts: the last is the most important.
    taken_at = times.cast(pa.int64()).fill_null(0).to_numpy()
    near = settings.near_time
    away = np.zeros(len(taken_at), np.int64) if near is None else np.abs(taken_at - round(near.timestamp() * 1e6))
    order = np.lexsort((-taken_at, away, rank, number))
    ordered = number[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered)  # among the captures of its key
    taken = order[(place == 0) | ((rank[order] == _GOOD) & (place < CAPTURES_TRIED))]
    usable = pa.array(rank[taken] != _BAD)
    reasons = np.where(rank[taken] == _BAD, CaptureReason.INDEX_BAD_ANSWER, CaptureReason.TOO_LARGE)
    refused = pa.array((rank[taken] == _BAD) | (length[taken] > MAX_RECORD_BYTES))
    files = found.column("warc_filename").take(pa.array(taken)).cast(pa.string())

    def where_usable(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        return pc.if_else(usable, values, pa.scalar(None, values.type))

    return pa.table(
        {
            "number": number[taken],
            "file": where_usable(pc.binary_join_element_wise(settings.data_url, files, "")),
            "offset": where_usable(pa.array(_whole(found, "warc_record_offset")[taken])),
            "decoded": pa.array(np.zeros(len(taken), bool)),
            "length": where_usable(pa.array(length[taken])),
            "captured_at": where_usable(times.take(pa.array(taken))),
            "redirect": where_usable(found.column("redirect").take(pa.array(taken))),
            "reason": pc.if_else(refused, pa.array(reasons.astype(object), pa.string()), pa.scalar(None, pa.string())),
        }
    )


def _ranks(found: pa.Table, length: NDArray[np.int64]) -> NDArray[np.int64]:
    names, status = found.column("warc_filename").cast(pa.string()), _whole(found, "fetch_status")
    named = pc.and_(pc.match_substring_regex(names, f"^{FILE_NAME}$"), pc.invert(pc.match_substring(names, "..")))
    usable = named.fill_null(False).to_numpy() & found.column("fetch_time").is_valid().to_numpy()
    usable &= (_whole(found, "warc_record_offset") >= 0) & (length > 0) & (status >= 100) & (status <= 999)
    complete = np.ones(found.num_rows, bool)
    if TRUNCATED in found.column_names:
        complete = found.column(TRUNCATED).is_null().to_numpy()
    good = (status >= 200) & (status < 300) & complete
    known, redirect = found.column("redirect").is_valid().to_numpy(), _are_redirects(status)
    return np.select([~usable, good, known, redirect], [_BAD, _GOOD, _REDIRECT, _REDIRECT_SOMEWHERE], _OTHER)


def _are_redirects(status: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (status >= 300) & (status < 400)


def _with_targets(found: pa.Table, keys: pa.StringArray, allowed_hosts: Collection[str]) -> pa.Table:
    """Return rows with the target of each redirect as `redirect`; null if the index does not name one that leads
    away from the URL."""
    targets = np.full(found.num_rows, None, object)
    if REDIRECT in found.column_names:
        rows = np.flatnonzero(_are_redirects(_whole(found, "fetch_status")))
        written = found.column(REDIRECT).take(pa.array(rows)).to_pylist()
        sought = keys.take(pa.array(found.column("number").to_numpy()[rows])).to_pylist()
        targets[rows] = [redirect_target(to, key, allowed_hosts) for to, key in zip(written, sought, strict=True)]
    return found.append_column("redirect", pa.array(targets, pa.string()))


def _whole(found: pa.Table, name: str) -> NDArray[np.int64]:
    """Return a column of numbers; -1 where it is null."""
    return np.asarray(found.column(name).cast(pa.int64()).fill_null(-1).to_numpy())


BATCH_ROWS = 65_536


def look_up_in_file(
    lookups: pa.Table, settings: CrawlSettings, *, file: TableFile, connect_to: Mapping[str, str]
) -> pa.Table:
    """Return captures of URLs in a file, by key: of each as many successes as are tried, else one other. A file without
    pages gives only redirects that lead to another URL. The tally counts redirects."""
    if not lookups.num_rows:
        return CAPTURES.schema.empty_table()
    lookups = lookups.sort_by([("key", "ascending"), ("url", "ascending")]).combine_chunks()
    encoded = lookups.column("key").chunk(0).dictionary_encode()  # of sorted keys, so its values are sorted too
    with RemoteFiles(settings, connect_to) as remote, open_table(file, remote) as parquet:
        results = list(_found(parquet, encoded.dictionary))
    if not results:
        return CAPTURES.schema.empty_table()
    rows = pa.concat_tables(results, promote_options="permissive")
    rows = _with_targets(rows, encoded.dictionary, settings.allowed_hosts)
    if file.has_no_pages:
        rows = rows.filter(rows.column("redirect").is_valid())
    captures = _for_each_url(chosen_captures(rows, settings.common_crawl), lookups, encoded.indices.to_numpy())
    tally = {"redirects": captures.num_rows - captures.column("redirect").null_count}
    return captures.replace_schema_metadata({TALLY: json.dumps(tally)})


def _found(parquet: pq.ParquetFile, keys: pa.StringArray) -> Iterator[pa.Table]:
    """Yield the rows of the index whose key is wanted: its place columns, and `number`, the position of its key."""
    columns = place_columns(parquet)
    for group, (first, last) in enumerate(key_ranges(parquet)):
        start, stop = positions(keys, first, last)
        if start == stop:
            continue
        rows, numbers = _matches(parquet, group, keys.slice(start, stop - start))
        if len(rows):
            yield from _rows(parquet, group, columns, rows, numbers + start)


def _matches(parquet: pq.ParquetFile, group: int, keys: pa.StringArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a row group whose key is among the wanted ones, and the position of the key there."""
    rows, numbers = [], []
    before = 0
    for batch in parquet.iter_batches(BATCH_ROWS, row_groups=[group], columns=[KEY], use_threads=False):
        position = pc.index_in(batch.column(0).cast(pa.string()), value_set=keys)
        here = np.flatnonzero(position.is_valid().to_numpy(zero_copy_only=False))
        rows.append(here + before)
        numbers.append(position.drop_null().to_numpy().astype(np.int64))
        before += batch.num_rows
    return np.concatenate([np.empty(0, np.int64), *rows]), np.concatenate([np.empty(0, np.int64), *numbers])


def _rows(
    parquet: pq.ParquetFile, group: int, columns: list[str], rows: NDArray[np.int64], numbers: NDArray[np.int64]
) -> Iterator[pa.Table]:
    before = 0
    for batch in parquet.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns, use_threads=False):
        start, stop = np.searchsorted(rows, [before, before + batch.num_rows])
        if start < stop:
            some = pa.Table.from_batches([batch.take(pa.array(rows[start:stop] - before))])
            yield some.append_column("number", pa.array(numbers[start:stop]))
        before += batch.num_rows


def _for_each_url(chosen: pa.Table, lookups: pa.Table, numbers: NDArray[np.int32]) -> pa.Table:
    """Return chosen captures once for each URL that has their key."""
    wanted = chosen.column("number").to_numpy()
    starts, stops = np.searchsorted(numbers, wanted, "left"), np.searchsorted(numbers, wanted, "right")
    counts = stops - starts
    captures = np.repeat(np.arange(len(wanted)), counts)
    ends = np.cumsum(counts)
    urls = np.repeat(starts - (ends - counts), counts) + np.arange(len(captures))
    of_url, of_capture = lookups.take(pa.array(urls)), chosen.take(pa.array(captures))
    names = ("url", "host_shard")
    columns = {name: (of_url if name in names else of_capture).column(name) for name in CAPTURES.schema.names}
    return pa.table(columns, schema=CAPTURES.schema)
