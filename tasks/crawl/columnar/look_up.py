"""Look URLs up in the columnar index, file by file: the shuffle from hosts to files.

A table is sorted by key, so the URLs of a shard of hosts lie all over it. Grouped by file, every file is read once for
all URLs, instead of once for each shard of hosts. Only row groups whose keys may include a wanted one are read, of
these first the column of keys, and the other columns only where one of them is wanted; batch by batch, so that memory
does not grow with the file.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from storage.schemas import CAPTURES, URL_LOOKUPS
from tasks.crawl.columnar.choice import chosen_captures
from tasks.crawl.columnar.layout import KEY, key_ranges, place_columns
from tasks.crawl.columnar.tables import TableFile, TableFiles
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.surt import surt_key
from tasks.engine.inputs import Shards


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
    with TableFiles(settings, connect_to) as opener, opener.open(file) as parquet:
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
