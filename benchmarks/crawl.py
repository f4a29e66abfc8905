"""Pages per second and memory of the crawl, against Scrapy on the same hosts with the same settings of politeness.

    python -m benchmarks.crawl [--pages N] [--hosts N] [--delay SECONDS] [--rounds N]

Both read the same list of URLs, obey robots.txt, and are set to at most one open request per host and 32 in total. Both
write each body to disk: the crawl to its journal and then to record batches, Scrapy to a feed of JSON lines. Each run
is a separate process; rounds alternate, and the fastest counts. Another process serves the web and counts how many
requests a host has open at once: without a delay Scrapy does not keep to one. The exit status is 1 if the crawl is
slower than Scrapy, has two requests open on a host, loses a page, or needs more than 400 MB. Needs addresses 127.0.1.*,
as Linux has."""

import tempfile
import time
from pathlib import Path

import pyarrow.fs as pafs
import requests

from benchmarks.frame import apart, command, peak_bytes
from benchmarks.loopback_web import MOST_AT_ONCE, address, served
from benchmarks.synthetic import frontier_of
from tasks.crawl.crawl import crawl_batches
from tasks.fetching.journal import Journal
from tasks.fetching.settings import CrawlSettings

BAR, BAR_BYTES = 1.0, 400_000_000
CONNECTIONS = 32


def make_urls(pages: int, hosts: int, port: int) -> list[str]:
    """Return the URLs, with alternating hosts."""
    return [f"http://{address(page % hosts + 1)}:{port}/page/{page}" for page in range(pages)]


def crawl_own(urls: list[str], folder: Path, delay: float) -> dict[str, float]:
    """Crawl in this process; return the number of pages with a body, and seconds."""
    settings = CrawlSettings(allowed_hosts=("127.0.1.*",), host_delay_seconds=delay, connections=CONNECTIONS)
    frontier = frontier_of(urls)
    started, pages = time.perf_counter(), 0
    with Journal(pafs.LocalFileSystem(), str(folder / "journal")) as journal:
        for batch in crawl_batches(frontier, None, settings, journal=journal, connect_to={}, progress=lambda _: None):
            pages += batch.num_rows - batch.column("body").null_count
    return {"pages": pages, "seconds": time.perf_counter() - started}


def crawl_peer(urls: list[str], folder: Path, delay: float) -> dict[str, float]:
    """Crawl with Scrapy in this process; return the number of pages with a body, and seconds."""
    from benchmarks.scrapy_peer import crawl

    started = time.perf_counter()
    pages = crawl(urls, folder / "feed.jsonl", connections=CONNECTIONS, delay=delay)
    return {"pages": pages, "seconds": time.perf_counter() - started}


CRAWLERS = {"crawl": crawl_own, "scrapy": crawl_peer}


def measure(crawler: str, urls: list[str], delay: float) -> dict[str, float]:
    """Run a crawler in this process; return pages, seconds and peak bytes."""
    with tempfile.TemporaryDirectory() as folder:
        return {**CRAWLERS[crawler](urls, Path(folder), delay), "peak": peak_bytes()}


def main(pages: int = 5_000, hosts: int = 50, delay: float = 0.0, rounds: int = 3) -> int:
    """Print figures and ratio; return the exit status."""
    runs: dict[str, list[dict[str, float]]] = {crawler: [] for crawler in CRAWLERS}
    with served("benchmarks.loopback_web", str(hosts)) as port:
        urls = make_urls(pages, hosts, port)
        for _ in range(rounds):
            for crawler, result in runs.items():
                ran = apart(measure, crawler, urls, delay)
                at_once = requests.get(f"http://{address(1)}:{port}{MOST_AT_ONCE}", timeout=60).text
                result.append({**ran, "at_once": int(at_once)})
    rate, most = {}, {}
    for crawler, result in runs.items():
        fastest, peak = min(item["seconds"] for item in result), max(item["peak"] for item in result)
        rate[crawler] = pages / fastest
        most[crawler] = max(item["at_once"] for item in result)
        print(
            f"{crawler:8}{rate[crawler]:8.0f} pages per second{fastest:9.1f} s{peak / 1e6:9.0f} MB at most"
            f"{most[crawler]:6.0f} requests at once on a host"
        )
    ratio = rate["crawl"] / rate["scrapy"]
    peak = max(run["peak"] for run in runs["crawl"])
    lost = pages - min(run["pages"] for run in runs["crawl"])
    print(f"crawl / scrapy {ratio:.2f}   bar {BAR:.1f};  {peak / 1e6:.0f} MB   bar {BAR_BYTES / 1e6:.0f};  {lost} lost")
    return 0 if ratio >= BAR and peak <= BAR_BYTES and not lost and most["crawl"] == 1 else 1


if __name__ == "__main__":
    command(main, __doc__)
