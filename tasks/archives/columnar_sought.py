"""The shuffle of URLs from hosts to the files of the columnar index that may have them: URLs of the frontier, and then,
pass by pass, those that redirects lead to."""

from bisect import bisect_left, bisect_right

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import URL_LOOKUPS
from tasks.engine.recipe import Shards
from tasks.fetching.urls import surt_key


def seek(
    frontier: pa.Table, *, index: Shards, shard: int, captures: pa.Table | None = None, earlier: pa.Table | None = None
) -> pa.Table:
    """Return `lookups` of a host shard: its URLs for each file, of all tables, whose keys may include theirs. The first
    pass looks up the frontier. A further pass gets the `captures` of the pass before it and looks up the URLs that
    redirects lead to, except those of the frontier and of the redirects of `earlier` passes. So each URL is looked up
    once, and a loop of redirects ends."""
    kept = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    urls = kept.column("url").unique()
    if captures is not None:
        looked_up = pa.chunked_array([urls] if earlier is None else [urls, _redirect_targets(earlier)], pa.string())
        targets = _redirect_targets(captures)
        urls = targets.filter(pc.invert(pc.is_in(targets, value_set=looked_up)))
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


def _redirect_targets(captures: pa.Table) -> pa.Array:
    """Return the URLs that redirects lead to; those of a URL that has a page too are not followed."""
    urls, moved = captures.column("url"), pc.is_valid(captures.column("redirect"))
    has_page = pc.and_(pc.invert(moved), pc.is_null(captures.column("reason")))
    follows = pc.and_(moved, pc.invert(pc.is_in(urls, value_set=urls.filter(has_page))))
    return captures.column("redirect").filter(follows).unique()


def positions(keys: pa.StringArray, first: str | None, last: str | None) -> tuple[int, int]:
    """Return where the keys from `first` to `last` begin and end among sorted ones; None = without a bound."""
    start = 0 if first is None else bisect_left(keys, first, key=_value)
    stop = len(keys) if last is None else bisect_right(keys, last, key=_value)
    return start, stop


def _value(scalar: pa.StringScalar) -> str:
    return str(scalar.as_py())
