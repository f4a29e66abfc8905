"""Peak memory of the crawl of one shard, by kind and number of its URLs.

    python -m benchmarks.crawl_memory [--runs KIND=URLS ...] [--hosts N]

Kinds: `good` pages of 4 kB; `refused` by robots.txt; `spent`, skipped because the page budget is spent after a hundred;
`large` pages of 9.9 MB; `mixed`: of a thousand, 549 good, 200 refused, 150 gone, 100 redirected and one large. Each
runs in a separate process as in a build: frontier, crawl, journal, row groups, Parquet file with digests. The frontier,
with URLs of 80 characters, is included. Another process serves the web on addresses 127.0.1.*, as Linux has. The exit
status is 1 if a peak exceeds 400 MB or a URL has no row."""

import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any

from benchmarks.crawl import BAR_BYTES
from benchmarks.frame import apart, command, peak_bytes
from benchmarks.loopback_web import address, served
from benchmarks.synthetic import frontier_of
from storage.schemas import FRONTIER, PAGES
from storage.store import RowGroup, Store
from tasks.crawl.crawl import crawl_shard
from tasks.engine.job import Scratch
from tasks.fetching.settings import CrawlSettings

RUNS = ["good=10000", "refused=100000", "refused=1000000", "spent=300000", "large=200", "mixed=10000"]
NAME = "frontier/part-00000.parquet"
SLUG = "the-title-of-an-article-as-it-often-stands-in-url"


def path_of(kind: str, number: int) -> str:
    """Return the path of a URL of a kind."""
    if kind == "mixed":
        parts = {"large": 0, "moved": 100, "gone": 250, "refused": 450, "good": 999}
        kind = next(name for name, last in parts.items() if number % 1_000 <= last)
    folder = {"good": "page", "spent": "page", "refused": "private"}.get(kind, kind)
    return f"/{folder}/{number:07d}/{SLUG}"


def write_frontier(kind: str, count: int, hosts: int, port: int, folder: str) -> dict[str, Any]:
    """Write a frontier in this process, of one URL per reference and alternating hosts; return its row group."""
    urls = (f"http://{address(number % hosts + 1)}:{port}{path_of(kind, number)}" for number in range(count))
    return asdict(Store(folder).write_table(NAME, frontier_of(urls, cited=50), FRONTIER).groups[0])


def crawl_one(kind: str, folder: str, group: dict[str, Any]) -> dict[str, float]:
    """Crawl in this process; return rows, processor seconds and peak bytes, before the crawl and in all."""
    settings = CrawlSettings(
        allowed_hosts=("127.0.1.*",), host_delay_seconds=0.0, budget_pages=100 if kind == "spent" else None
    )
    store, started = Store(folder), time.process_time()
    frontier = [store.read_group(NAME, RowGroup(**group), FRONTIER)]
    before = peak_bytes()
    rows = crawl_shard(
        frontier.pop(),  # no other reference keeps it in memory, as in a build
        settings,
        shard=0,
        host_shards=1,
        root=folder,
        scratch=Scratch(store.filesystem, store.path("scratch")),
        connect_to={},
        progress=lambda progress: print(progress, file=sys.stderr, flush=True),
    )
    written = store.write_table("pages/part-00000.parquet", rows, PAGES)
    seconds = time.process_time() - started
    return {"rows": written.rows, "seconds": seconds, "before": before, "peak": peak_bytes()}


def measure(kind: str, count: int, hosts: int) -> dict[str, float]:
    """Make a frontier and crawl it, each in a separate process; return the figures of the crawl."""
    with served("benchmarks.loopback_web", str(hosts)) as port, tempfile.TemporaryDirectory() as folder:
        return apart(crawl_one, kind, folder, apart(write_frontier, kind, count, hosts, port, folder))


def main(runs: tuple[str, ...] = RUNS, hosts: int = 50) -> int:
    """Print a line for each run; return the exit status."""
    passed = True
    print(f"{'kind':10}{'URLs':>10}{'frontier MB':>14}{'peak MB':>10}{'CPU s':>10}", flush=True)
    for run in runs:
        kind, _, count = run.partition("=")
        figures = measure(kind, int(count), hosts)
        passed = passed and figures["peak"] <= BAR_BYTES and figures["rows"] == int(count)
        before, peak = figures["before"] / 1e6, figures["peak"] / 1e6
        print(f"{kind:10}{int(count):10,}{before:14.0f}{peak:10.0f}{figures['seconds']:10.0f}", flush=True)
    print(f"bar {BAR_BYTES / 1e6:.0f} MB")
    return 0 if passed else 1


if __name__ == "__main__":
    command(main, __doc__)
