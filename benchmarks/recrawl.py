"""The cost of a second crawl of the same web, as a share of the first.

    python -m benchmarks.recrawl [--pages N] [--size BYTES] [--topics N]

Two webs on loopback: plain pages of one size, each with an ETag or a Last-Modified date, and the embedded mini web,
whose pages are small, partly broken, and partly without any validator. Each is crawled the first time; again with one
URL more; again with a new `crawl.refresh` while nothing has changed; and once more after a fiftieth of the pages has
changed (mini web: after a week). Each crawl runs the stages frontier and pages of a build, in a separate process,
through a proxy that counts the bytes of both directions, including headers: a re-crawl transfers little else, and as
much for a small page as for a large one. The exit status is 1 if the unchanged plain pages transfer 2 % of the bytes or
more, or an unchanged web changes the digest of the pages.
"""

import contextlib
import random
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from benchmarks.frame import apart, command, peak_bytes
from benchmarks.synthetic import frontier_of
from storage.schemas import FRONTIER, PAGES
from storage.store import Store
from tasks.articles.articles import merge_articles, read_articles
from tasks.crawl.frontier import build_frontier
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.stage import crawl_shard
from tasks.engine.inputs import gathered
from tasks.engine.recipe import Recipe
from tasks.engine.shard import Scratch
from tasks.engine.stage import InlineExecutor, Run
from tasks.search.search import search_articles
from tasks.search.settings import WebSearchSettings
from tasks.sources.choice import open_source
from tasks.sources.miniweb.server import MiniwebServer
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.settings import SourceSettings

BAR = 0.02
HOSTS = 20
CHANGED = 50  # one page in 50 changes before the last crawl
_BLOCK = 1 << 16
_DATES = ("Mon, 02 Mar 2026 10:00:00 GMT", "Mon, 09 Mar 2026 10:00:00 GMT")


@dataclass
class CountingProxy:
    """Forwards connections to an address and counts the bytes of both directions."""

    target: tuple[str, int]  # where connections lead
    sent: int = 0  # bytes from clients
    received: int = 0  # bytes from the server
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """`127.0.0.1:port`."""
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def moved(self) -> int:
        """Bytes of both directions, HTTP headers included."""
        return self.sent + self.received

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(self.target)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(client, server, "sent"), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, "received"), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, direction: str) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_BLOCK):
                with self._lock:
                    setattr(self, direction, getattr(self, direction) + len(data))
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class PlainServer(ThreadingHTTPServer):
    """Serves pages of one size at `/page/N` of any host; odd ones have an ETag, even ones a Last-Modified date.

    Attributes:
        size: bytes of a page.
        version: 0 or 1; with 1, one page in CHANGED is different.
        requests: how many were received.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, size: int, version: int) -> None:
        """Bind a free port."""
        super().__init__(("127.0.0.1", 0), _PlainHandler)
        self.size = size
        self.version = version
        self.requests = 0

    def page(self, number: int) -> tuple[bytes, dict[str, str]]:
        """Return body and validator of a page."""
        version = self.version if number % CHANGED == 0 else 0
        noise = random.Random(f"{number} {version}").randbytes(self.size // 2).hex()
        body = f"<!doctype html><title>{number}</title><p>{noise}</p>".encode()
        return body, {"ETag": f'"{number}-{version}"'} if number % 2 else {"Last-Modified": _DATES[version]}


class _PlainHandler(BaseHTTPRequestHandler):
    server: PlainServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        self.server.requests += 1
        if self.path == "/robots.txt":
            self._answer(200, b"User-agent: *\nDisallow: /private/\n", {"Content-Type": "text/plain"})
            return
        body, validator = self.server.page(int(self.path.rpartition("/")[2]))
        asked = self.headers.get("If-None-Match") or self.headers.get("If-Modified-Since")
        if asked in validator.values():
            self._answer(304, b"", validator)
        else:
            self._answer(200, body, {"Content-Type": "text/html; charset=utf-8", **validator})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            if status != 304 or name != "Content-Length":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has this name
        pass


@dataclass
class Web:
    """A web that is served."""

    proxy: CountingProxy  # leads to it
    frontier: pa.Table  # URLs of its pages
    requests: Callable[[], int]  # returns the number of requests, without those that made the frontier


@contextlib.contextmanager
def plain_web(pages: int, size: int, version: int) -> Iterator[Web]:
    """Serve plain pages over HOSTS hosts."""
    urls = [f"http://site{number % HOSTS}.test/page/{number}" for number in range(pages)]
    with PlainServer(size, version) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        proxy = CountingProxy(("127.0.0.1", server.server_port))
        yield Web(proxy, frontier_of(urls, cited=pages), lambda: server.requests)
        server.shutdown()


@contextlib.contextmanager
def mini_web(topics: int, week: int) -> Iterator[Web]:
    """Serve the mini web; its frontier is what its articles of week 0 cite and what a search finds for them."""
    settings = MiniwebSettings(topics=topics, week=week, growth=0.0, slow_seconds=0.0)
    source = SourceSettings(miniweb=settings)
    with MiniwebServer(settings) as server:
        parts = [
            read_articles(partition=partition, source=source, source_name="miniweb", article_shards=1, seed=1)
            for partition in open_source(source).partitions()
        ]
        articles = merge_articles(pa.concat_tables(parts))
        searching = WebSearchSettings(provider="searxng", endpoint="http://search.miniweb.test/search", delay_seconds=0)
        with tempfile.TemporaryDirectory() as folder:
            scratch = Scratch(LocalFileSystem(), folder)
            search = search_articles(articles, searching, scratch=scratch, connect_to=server.connect_to)
        frontier = build_frontier(articles, search, CrawlSettings(), article_shard=0, host_shards=1)
        server.requests.clear()
        host, _, port = server.address.rpartition(":")
        yield Web(CountingProxy((host, int(port))), frontier, server.requests.total)


def crawl(root: str, web: Web, refresh: str, left_out: int) -> dict[str, Any]:
    """Crawl all but the last few of a web's URLs in a separate process.

    Return rows, refusals by reason, the pages' digest, seconds, peak bytes, bytes moved, and requests.
    """
    kept = web.frontier.filter(pc.is_null(web.frontier.column("drop_reason"))).column("url").to_pylist()
    asked = sorted(set(kept))[: -left_out or None]
    frontier = web.frontier.filter(pc.is_in(web.frontier.column("url"), pa.array(asked)))
    pq.write_table(frontier, f"{root}/frontier.parquet")
    figures = apart(crawl_once, root, web.proxy.address, refresh)
    return {**figures, "bytes": web.proxy.moved, "requests": web.requests()}


def crawl_once(root: str, address: str, refresh: str) -> dict[str, Any]:
    """Crawl in this process; return its figures."""
    store = Store(root)
    table = pq.read_table(f"{root}/frontier.parquet", schema=FRONTIER.schema)
    urls = sorted({row["url"] for row in table.to_pylist() if row["drop_reason"] is None})
    run = Run(store, InlineExecutor())
    frontier = run.stage(Recipe(FRONTIER, lambda urls: table, arguments={"urls": urls}), shards=1, inputs={})
    started = time.perf_counter()
    pages = run.stage(
        Recipe(
            PAGES,
            crawl_shard,
            settings=CrawlSettings(refresh=refresh, host_delay_seconds=0, host_concurrency=4, backoff_seconds=0.1),
            arguments={"host_shards": 1},
            per_shard={"shard": range(1)},
        ),
        shards=1,
        inputs={"frontier": gathered(frontier)},
        context={"root": store.root, "connect_to": {"*.test": address}, "progress": lambda _: None},
        scratch="scratch",
    )
    record = pages.records[0]
    return {
        "seconds": time.perf_counter() - started,
        "peak": peak_bytes(),
        "rows": record.written.rows,
        "drops": record.drops,
        "digest": record.written.digest,
    }


def measure(name: str, serve: Callable[[int], contextlib.AbstractContextManager[Web]]) -> tuple[float, bool]:
    """Crawl a web four times and print the figures; `serve` takes 0, or 1 for the changed web.

    Return the share of the first crawl's bytes that the unchanged web transfers, and whether the pages' digest is the
    same.
    """
    found: dict[str, dict[str, Any]] = {}
    crawls = (("first", 0, "", 1), ("one URL more", 0, "", 0), ("unchanged", 0, "b", 0), ("changed", 1, "c", 0))
    print(name)
    with tempfile.TemporaryDirectory() as root:
        for label, version, refresh, left_out in crawls:
            with serve(version) as web:
                figures = found[label] = crawl(root, web, refresh, left_out)
            shares = (figures[key] / found["first"][key] for key in ("bytes", "requests", "seconds"))
            print(
                f"  {label:13}{figures['rows']:6} URLs{figures['bytes'] / 1e6:9.2f} MB{figures['requests']:7} requests"
                f"{figures['seconds']:7.1f} s{figures['peak'] / 1e6:6.0f} MB held   "
                f"of the first: bytes {{:.2%}}, requests {{:.1%}}, seconds {{:.0%}}".format(*shares)
            )
        print(f"  refused: {', '.join(f'{reason} {count}' for reason, count in figures['drops'].items()) or 'none'}")
    share = found["unchanged"]["bytes"] / found["first"]["bytes"]
    return share, found["unchanged"]["digest"] == found["one URL more"]["digest"]


def main(pages: int = 2_000, size: int = 30_000, topics: int = 60) -> int:
    """Print the figures of each crawl and its share of the first; return the exit status."""
    share, same = measure(f"{pages} plain pages of {size} bytes", lambda version: plain_web(pages, size, version))
    _, mini_same = measure(f"mini web of {topics} topics", lambda version: mini_web(topics, version))
    digests = "the same" if same and mini_same else "changed"
    print(f"unchanged / first {share:.2%} of the bytes   bar {BAR:.0%};  digests {digests}")
    return 0 if share < BAR and same and mini_same else 1


if __name__ == "__main__":
    command(main, __doc__)
