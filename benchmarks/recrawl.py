"""The cost of a second crawl of the same web, as a share of the first.

    python -m benchmarks.recrawl [--pages N] [--size BYTES]

Pages of one size, each with an ETag or a Last-Modified date, are crawled the first time; again with one URL more; again
with a new `crawl.refresh` while nothing has changed; and once more after a fiftieth of them has changed. Each crawl
runs the stages frontier and pages of a build, in a separate process; another process serves the web and counts the
bytes of both directions, including headers: a re-crawl transfers little else, and as much for a small page as for a
large one. The exit status is 1 if the unchanged pages transfer 2 % of the bytes or more, or change the digest of the
pages."""

import tempfile
import time
from typing import Any

import requests

from benchmarks.changing_web import CHANGED
from benchmarks.frame import OptionError, apart, command, peak_bytes
from benchmarks.loopback_web import served
from benchmarks.synthetic import frontier_of
from storage.schemas import FRONTIER, PAGES
from storage.store import Store
from tasks.crawl.crawl import crawl_shard
from tasks.crawl.settings import CrawlSettings
from tasks.engine.recipe import Recipe, gathered
from tasks.engine.stage import Executor, Run

BAR = 0.02
HOSTS = 20
CRAWLS = (("first", 0, "", 1), ("one URL more", 0, "", 0), ("unchanged", 0, "b", 0), ("changed", 1, "c", 0))


def crawl(root: str, pages: int, port: int, refresh: str) -> dict[str, Any]:
    """Crawl so many pages in this process; return rows, the pages' digest, seconds and peak bytes."""
    urls = [f"http://site{number % HOSTS}.test/page/{number}" for number in range(pages)]
    run = Run(Store(root), Executor())
    recipe = Recipe(FRONTIER, lambda urls: frontier_of(urls, cited=len(urls)), arguments={"urls": urls})
    frontier = run.stage(recipe, shards=1, inputs={})
    started = time.perf_counter()
    result = run.stage(
        Recipe(
            PAGES,
            crawl_shard,
            settings=CrawlSettings(refresh=refresh, host_delay_seconds=0, host_concurrency=4, backoff_seconds=0.1),
            arguments={"host_shards": 1},
            per_shard={"shard": range(1)},
        ),
        shards=1,
        inputs={"frontier": gathered(frontier)},
        context={"root": root, "connect_to": {"*.test": f"127.0.0.1:{port}"}, "progress": lambda _: None},
        scratch="scratch",
    )
    written = result.records[0].written
    seconds = time.perf_counter() - started
    return {"rows": written.rows, "digest": written.digest, "seconds": seconds, "peak": peak_bytes()}


def main(pages: int = 2_000, size: int = 30_000) -> int:
    """Print the figures of each crawl and its share of the first; return the exit status."""
    if pages <= CHANGED:
        raise OptionError(f"expected --pages above {CHANGED}, so that one changes, got {pages}")
    found: dict[str, dict[str, Any]] = {}
    print(f"{pages} pages of {size} bytes")
    with tempfile.TemporaryDirectory() as root:
        for label, version, refresh, left_out in CRAWLS:
            with served("benchmarks.changing_web", str(size), str(version)) as port:
                figures = found[label] = apart(crawl, root, pages - left_out, port, refresh)
                figures |= requests.get(f"http://127.0.0.1:{port}/moved", timeout=60).json()
            shares = (figures[key] / found["first"][key] for key in ("bytes", "requests", "seconds"))
            print(
                f"  {label:13}{figures['rows']:6} URLs{figures['bytes'] / 1e6:9.2f} MB{figures['requests']:7} requests"
                f"{figures['seconds']:7.1f} s{figures['peak'] / 1e6:6.0f} MB held   "
                "of the first: bytes {:.2%}, requests {:.1%}, seconds {:.0%}".format(*shares)
            )
    share = found["unchanged"]["bytes"] / found["first"]["bytes"]
    same = found["unchanged"]["digest"] == found["one URL more"]["digest"]
    print(f"unchanged / first {share:.2%} of the bytes   bar {BAR:.0%};  digests {'the same' if same else 'changed'}")
    return 0 if share < BAR and same else 1


if __name__ == "__main__":
    command(main, __doc__)
