"""The cost of pages from Common Crawl that are still missing: requests, bytes, hours and money, for `--dry-run`."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import FRONTIER, INDEX_FILES, PAGES
from tasks.crawl.remote_files import PIECE_BYTES
from tasks.crawl.settings import CommonCrawlSettings
from tasks.engine.inputs import StageResult
from tasks.engine.stage import Run

CORPUS_URLS = 90_000_000  # 1.58 million articles with 57 URLs each
RECORD_BYTES = 30_000  # mean of a record in its file: a crawl has some 3 billion in 90 TB
READS_OF_A_ROW_GROUP = 4  # the keys, and three runs of adjacent columns
READS_OF_A_FOOTER = 3  # the size of the file, and the footer twice where it is long
# Common Crawl charges nothing. List prices of Amazon S3 in us-east-1, 2025, for a copy in a bucket of one's own.
DOLLARS_PER_MILLION_REQUESTS = 0.40
DOLLARS_PER_GB = 0.09  # that leaves the region


@dataclass(frozen=True)
class Reads:
    """Requests, and the bytes that they bring."""

    requests: int
    bytes: int

    def __str__(self) -> str:
        """Return both for people."""
        return f"{self.requests:,} requests for {self.bytes / 1e9:,.1f} GB"


def archive_line(run: Run, settings: CommonCrawlSettings) -> str | None:
    """Return what the missing shards of a planned walk cost at most; None if they ask nothing of Common Crawl."""
    if not settings.used:
        return None
    frontier, pages = (run.stages.get(dataset.name) for dataset in (FRONTIER, PAGES))
    looked_up = run.stages.get("captures-indexed")
    if frontier is None or pages is None or looked_up is None or not frontier.complete:
        whole = Reads(CORPUS_URLS, CORPUS_URLS * RECORD_BYTES)
        hours = CORPUS_URLS / settings.requests_per_second / 3600
        return (
            "Common Crawl: requests, hours and money are known once the frontier is made; for the records of the whole "
            f"WikiSum {whole}, {hours:,.0f} hours at {settings.requests_per_second:g} requests a second."
        )
    if pages.complete:
        return None
    urls = _kept(frontier)
    found = round(_left(pages) * (_kept(looked_up) if looked_up.complete else urls))
    records = Reads(found, found * RECORD_BYTES)
    if settings.indexes:
        asked = round(_left(looked_up) * urls)
        hours = (asked * settings.delay_seconds + found / settings.requests_per_second) / 3600
        index = f"{asked:,} look-ups, one in {settings.delay_seconds:g} s"
        total = records
    else:
        table = _table_reads(run, looked_up)
        if table is None:
            return "Common Crawl: requests, hours and money are known once the footers of its tables are read."
        total = Reads(table.requests + records.requests, table.bytes + records.bytes)
        hours = total.requests / settings.requests_per_second / 3600
        index = f"{table} of the columnar index"
    money = (
        f"${total.requests * DOLLARS_PER_MILLION_REQUESTS / 1e6:,.2f} for requests and "
        f"${total.bytes * DOLLARS_PER_GB / 1e9:,.2f} for traffic"
    )
    return (
        f"Common Crawl: at most {index}, and {records} of records, of {RECORD_BYTES / 1000:g} kB each: {hours:,.1f} "
        f"hours, at {settings.requests_per_second:g} requests a second. Free from Common Crawl; from a bucket of your "
        f"own in another region {money} (${DOLLARS_PER_MILLION_REQUESTS:.2f} a million, ${DOLLARS_PER_GB:.2f} "
        "a GB)."
    )


def _kept(result: StageResult) -> int:
    return sum(record.written.rows - sum(record.drops.values()) for record in result.records.values())


def _left(result: StageResult) -> float:
    """Return the share of the shards that are not done."""
    return 1 - len(result.records) / max(1, len(result.shards))


def _table_reads(run: Run, looked_up: StageResult) -> Reads | None:
    """Return what reading the needed columns of the files that are not done costs; None if they are unknown yet."""
    index = run.stages.get(INDEX_FILES.name)
    if index is None or not index.complete:
        return None
    tables = [run.store.read_table(record.path, record.written.sha256) for record in index.in_order]
    files = pa.concat_tables(tables)
    missing = [number for number in looked_up.shards if number not in looked_up.records]
    left = files.take(pa.array(missing, pa.int64()))
    size, groups = (int(pc.sum(left.column(name)).as_py() or 0) for name in ("bytes", "row_groups"))
    pieces = max(READS_OF_A_ROW_GROUP * groups, -(-size // PIECE_BYTES))
    return Reads(READS_OF_A_FOOTER * left.num_rows + pieces, size)
