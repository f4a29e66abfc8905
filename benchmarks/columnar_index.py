"""Look-ups a minute in Common Crawl's columnar index, and their memory, against DuckDB and a join of whole columns.

    python -m benchmarks.columnar_index [--rows N] [--urls N] [--keep FOLDER]

A table in the layout of the public one, sorted, in files of 500,000 rows with row groups of 100,000; half of the URLs
are in it, in another spelling. Ours is what a build does: the keys, the shuffle to files and the look-up in each file,
one thread. The peers get the keys for nothing and only join them with the table, and keep the two newest captures of
each: DuckDB on two threads, and pyarrow, which reads the six columns whole. Each runs in a process of its own and must
find the same captures. The goal is a million look-ups in a minute of processor time; the exit status is 1 if ours needs
more, or if the results differ."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq

from benchmarks.frame import apart, command, peak_bytes
from tasks.archives.columnar import find_tables, index_files, look_up_in_file
from tasks.archives.columnar_sought import seek
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import surt_key

GOAL = 1_000_000  # look-ups a minute
FILE_ROWS, GROUP_ROWS, HOST_PAGES = 500_000, 100_000, 20
KEPT = ["fetch_time", "fetch_status", "content_truncated", "warc_filename", "warc_record_offset", "warc_record_length"]


def joined(*parts: Any) -> pa.Array:
    """Return strings put together from columns and constants."""
    return pc.binary_join_element_wise(*parts, "")


def written(numbers: "np.ndarray[Any, Any]", width: int) -> pa.Array:
    """Return numbers with leading zeros, so that their order is that of the strings."""
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def write_table(folder: Path, rows: int) -> None:
    """Write the table; every fifth page has a second, older capture."""
    for first in range(0, rows, FILE_ROWS):
        number = np.arange(first, min(rows, first + FILE_ROWS))
        page = number - (number % 5 == 4)
        host, path = written(page // HOST_PAGES, 7), written(page % HOST_PAGES, 3)
        chance = np.random.default_rng(first)
        noise = pa.array(chance.integers(0, 1 << 60, len(number))).cast(pa.string())
        seconds = 1_790_000_000 - number % 5 * 1_000_000
        table = pa.table(
            {
                "url_surtkey": joined("com,site", host, ")/section/page-", path, "?number=", path),
                "url": joined("https://www.site", host, ".com/Section/page-", path, "?number=", path),
                "url_host_name": joined("www.site", host, ".com"),
                "url_host_registered_domain": joined("site", host, ".com"),
                "url_path": joined("/Section/page-", path),
                "fetch_time": pa.array(seconds * 1_000).cast(pa.timestamp("ms", tz="UTC")),
                "fetch_status": pa.array(np.full(len(number), 200, np.int16)),
                "content_digest": joined(noise, noise),
                "content_mime_detected": pa.repeat("text/html", len(number)),
                "content_truncated": pa.nulls(len(number), pa.string()),
                "warc_filename": joined("crawl-data/CC-MAIN-2026-43/segments/1.", written(number % 900, 5), ".warc.gz"),
                "warc_record_offset": pa.array(number.astype(np.int32)),
                "warc_record_length": pa.array(chance.integers(1_000, 60_000, len(number)).astype(np.int32)),
            }
        )
        path_of = folder / "subset=warc" / f"part-{first // FILE_ROWS:05d}.parquet"
        path_of.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path_of, row_group_size=GROUP_ROWS, compression="zstd")


def urls_of(rows: int, count: int) -> list[str]:
    """Return URLs in no order, of which half are in the table."""
    numbers = np.random.default_rng(7).permutation(rows)[:count]
    host, page = numbers // HOST_PAGES, numbers % HOST_PAGES
    absent = numbers % 2
    return [
        f"http://site{h:07d}.com/section/page-{p:03d}{'-gone' * a}?number={p:03d}"
        for h, p, a in zip(host, page, absent, strict=True)
    ]


def ours(folder: str, urls: list[str]) -> tuple[int, int, float]:
    """Look up as a build does; the last figure is the processor time at which the URLs had their keys and files."""
    settings = CrawlSettings.model_validate({"common_crawl": {"tables": [folder]}})
    (table,) = find_tables(settings, {})
    index: Any = [(index_files(settings, table=table, connect_to={}),)]
    lookups = seek(pa.table({"url": urls, "drop_reason": pa.nulls(len(urls), pa.string())}), index=index, shard=0)
    keyed = time.process_time()
    captures = offsets = 0
    for number, file in enumerate(table):
        of_file = lookups.filter(pc.equal(lookups.column("file"), number))
        result = look_up_in_file(of_file, settings, file=file, connect_to={})
        captures += result.num_rows
        offsets += pc.sum(result.column("offset")).as_py() or 0
    return captures, offsets, keyed


def by_duckdb(folder: str, keys: pa.Table) -> tuple[int, int, float]:
    """Join in DuckDB."""
    import duckdb

    with duckdb.connect(config={"threads": 2}) as connection:
        connection.register("keys", keys)
        captures, offsets = connection.execute(
            f"""
            select count(*), sum(warc_record_offset) from (
                select {", ".join(KEPT)}, row_number() over (partition by keys.key order by fetch_time desc) as place
                from read_parquet('{folder}/**/*.parquet') as t join keys on t.url_surtkey = keys.key
                where fetch_status between 200 and 299 and content_truncated is null
            ) where place <= 2
            """
        ).fetchall()[0]
    return int(captures), int(offsets), 0.0


def by_whole_columns(folder: str, keys: pa.Table) -> tuple[int, int, float]:
    """Read the columns whole, and join in pyarrow; that every page has at most two captures spares it the ranking."""
    table = pads.dataset(folder).to_table(columns=["url_surtkey", *KEPT])
    result = keys.join(table, "key", "url_surtkey", join_type="inner")
    return result.num_rows, int(pc.sum(result.column("warc_record_offset")).as_py() or 0), 0.0


def measure(who: str, folder: str, rows: int, count: int) -> dict[str, Any]:
    """Look up in this process; return the captures found and the sum of their offsets, seconds and peak bytes."""
    urls = urls_of(rows, count)
    peers = {"duckdb": by_duckdb, "whole columns": by_whole_columns}
    keys = pa.table({"key": [surt_key(url) for url in urls]}) if who in peers else None
    started, used = time.perf_counter(), time.process_time()
    captures, offsets, keyed = ours(folder, urls) if keys is None else peers[who](folder, keys)
    return {
        "keys": keyed - used if keyed else 0.0,
        "captures": captures,
        "offsets": offsets,
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - used,
        "peak": peak_bytes(),
    }


def main(rows: int = 2_000_000, urls: int = 1_000_000, keep: str | None = None) -> int:
    """Print the figures; return the exit status."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or temporary
        if not any(Path(folder).rglob("*.parquet")):
            write_table(Path(folder), rows)
        results = {who: apart(measure, who, folder, rows, urls) for who in ("ours", "duckdb", "whole columns")}
    print(f"{urls:,} URLs in {rows:,} rows")
    for who, figures in results.items():
        rate = 60 * urls / figures["processor"]
        print(
            f"{who:14}{rate:13,.0f} look-ups a minute of processor time: {figures['processor']:.1f} s "
            f"({figures['seconds']:.1f} s on the wall){figures['peak'] / 1e6:6.0f} MB  {figures['captures']:,} captures"
        )
    own = results["ours"]
    same = all(
        (result["captures"], result["offsets"]) == (own["captures"], own["offsets"]) for result in results.values()
    )
    look_up = own["processor"] - own["keys"]
    for who in ("duckdb", "whole columns"):
        time_of = results[who]["processor"]
        print(
            f"ours takes {own['processor'] / time_of:.2f} x the time of {who}, {look_up / time_of:.2f} x without "
            f"keys and shuffle ({own['keys']:.1f} s), {own['peak'] / results[who]['peak']:.2f} x its memory"
        )
    if not same:
        print("the captures differ")
    return 0 if same and 60 * urls / own["processor"] >= GOAL else 1


if __name__ == "__main__":
    command(main, __doc__)
