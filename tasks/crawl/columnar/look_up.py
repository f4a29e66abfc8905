"""Look URLs up in the columnar index, file by file: the shuffle from hosts to files.

A table is sorted by key, so the URLs of a shard of hosts lie all over it. Grouped by file, every file is read once for
all URLs, instead of once for each shard of hosts. Only row groups whose keys may include a wanted one are read, of
these first the column of keys, and the other columns only where one of them is wanted; batch by batch, so that memory
does not grow with the file.

Which captures of a URL are tried is decided by the rule of the CDX look-up (`tasks.crawl.common_crawl`), for whole
columns."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.schemas import CAPTURES, URL_LOOKUPS
from tasks.crawl.columnar.tables import KEY, TRUNCATED, TableFile, key_ranges, open_table, place_columns
from tasks.crawl.common_crawl import CAPTURES_TRIED, FILE_NAME, MAX_RECORD_BYTES
from tasks.crawl.reasons import CaptureReason
from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.settings import CommonCrawlSettings, CrawlSettings
from tasks.crawl.surt import surt_key
from tasks.engine.inputs import Shards

_TIME = pa.timestamp("us", tz="UTC")
# Ranks of captures: complete successes, redirects (which may lead to a page), others, rows that name no place.
_GOOD, _REDIRECT, _OTHER, _BAD = range(4)


def chosen_captures(found: pa.Table, settings: CommonCrawlSettings) -> pa.Table:
    """Return where the captures are that are tried, by number of the key and preference; a bad place has a reason."""
    # Older tables have times in nanoseconds and without a zone; they are in UTC too.
    times = pc.cast(found.column("fetch_time"), _TIME, safe=False)
    length = _whole(found, "warc_record_length")
    rank = _ranks(found, length)
    number = found.column("number").to_numpy()
    order = np.lexsort((*_preference(times, settings), rank, number))
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
    redirect = (status >= 300) & (status < 400)
    return np.select([~usable, good, redirect], [_BAD, _GOOD, _REDIRECT], _OTHER)


def _preference(times: pa.ChunkedArray, settings: CommonCrawlSettings) -> tuple[NDArray[np.int64], ...]:
    """Return what `CommonCrawlSettings.preference` sorts by, the last the most important, as for `np.lexsort`."""
    taken_at = times.cast(pa.int64()).fill_null(0).to_numpy()
    near = settings.near_time
    away = np.zeros(len(taken_at), np.int64) if near is None else np.abs(taken_at - round(near.timestamp() * 1e6))
    return -taken_at, away


def _whole(found: pa.Table, name: str) -> NDArray[np.int64]:
    """Return a column of numbers; -1 where it is null."""
    return np.asarray(found.column(name).cast(pa.int64()).fill_null(-1).to_numpy())


def seek(frontier: pa.Table, *, index: Shards, shard: int) -> pa.Table:
    """Return `lookups` of a host shard: its URLs for each file, of all tables, whose keys may include theirs."""
    kept = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    urls = kept.column("url").unique()
    keys = pa.array([surt_key(url) for url in urls.to_pylist()], pa.string())
    order = pc.sort_indices(pa.table({"key": keys, "url": urls}), [("key", "ascending"), ("url", "ascending")])
    keys, urls = keys.take(order), urls.take(order)
    pieces = [URL_LOOKUPS.schema.empty_table()]
    files = (file for (table,) in index for file in table.select(["first", "last"]).to_pylist())
    for number, file in enumerate(files):
        start, stop = positions(keys, file["first"], file["last"])
        if start < stop:
            count = stop - start
            pieces.append(
                pa.table(
                    {
                        "url": urls.slice(start, count),
                        "key": keys.slice(start, count),
                        "host_shard": pa.repeat(pa.scalar(shard, pa.int32()), count),
                        "file": pa.repeat(pa.scalar(number, pa.int32()), count),
                    },
                    schema=URL_LOOKUPS.schema,
                )
            )
    return pa.concat_tables(pieces)


def positions(keys: pa.StringArray, first: str | None, last: str | None) -> tuple[int, int]:
    """Return where the keys from `first` to `last` begin and end among sorted ones; None = without a bound."""
    start = 0 if first is None else bisect_left(keys, first, key=_value)
    stop = len(keys) if last is None else bisect_right(keys, last, key=_value)
    return start, stop


def _value(scalar: pa.StringScalar) -> str:
    return str(scalar.as_py())


BATCH_ROWS = 65_536


def look_up_in_file(
    lookups: pa.Table, settings: CrawlSettings, *, file: TableFile, connect_to: Mapping[str, str]
) -> pa.Table:
    """Return captures of URLs in a file, by key: of each as many successes as are tried, else one other."""
    if not lookups.num_rows:
        return CAPTURES.schema.empty_table()
    lookups = lookups.sort_by([("key", "ascending"), ("url", "ascending")]).combine_chunks()
    encoded = lookups.column("key").chunk(0).dictionary_encode()  # of sorted keys, so its values are sorted too
    with RemoteFiles(settings, connect_to) as remote, open_table(file, remote) as parquet:
        found = list(_found(parquet, encoded.dictionary))
    if not found:
        return CAPTURES.schema.empty_table()
    chosen = chosen_captures(pa.concat_tables(found, promote_options="permissive"), settings.common_crawl)
    return _for_each_url(chosen, lookups, encoded.indices.to_numpy())


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
