"""Which captures of a URL are tried: the rule of the CDX look-up (`tasks.crawl.common_crawl`), for whole columns."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.crawl.columnar.layout import TRUNCATED
from tasks.crawl.common_crawl import CAPTURES_TRIED, FILE_NAME, MAX_RECORD_BYTES
from tasks.crawl.reasons import CaptureReason
from tasks.crawl.settings import CommonCrawlSettings

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
