"""Which URLs are looked up in which file of the columnar index: the shuffle from hosts to files.

A table is sorted by key, so the URLs of a shard of hosts lie all over it. Grouped by file, every file is read once for
all URLs, instead of once for each shard of hosts.
"""

from bisect import bisect_left, bisect_right

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import SOUGHT
from tasks.crawl.surt import surt_key
from tasks.engine.inputs import Shards


def seek(frontier: pa.Table, *, index: Shards, shard: int) -> pa.Table:
    """Return the URLs of a host shard, for each file whose keys may include theirs.

    Args:
        frontier: rows of `frontier` of the host shard.
        index: the shards of `index_files`, one for each table.
        shard: the host shard.

    Returns:
        Rows of `sought`: by file, numbered through all tables, then by key.
    """
    kept = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    urls = kept.column("url").unique()
    keys = pa.array([surt_key(url) for url in urls.to_pylist()], pa.string())
    order = pc.sort_indices(pa.table({"key": keys, "url": urls}), [("key", "ascending"), ("url", "ascending")])
    keys, urls = keys.take(order), urls.take(order)
    pieces = [SOUGHT.schema.empty_table()]
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
                    schema=SOUGHT.schema,
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
