"""A web server of raw sockets on loopback that tests script byte by byte, and a crawl of it."""

import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pafs

from storage.schemas import FRONTIER, PAGES
from tasks.crawl.crawl import crawl_batches
from tasks.fetching.http import Patience
from tasks.fetching.journal import Journal
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import host_of
from tests.patience import PATIENCE

PAGE = b"<!doctype html><html><body><p>A page of the loopback web.</p></body></html>"


def answer(body: bytes = PAGE, status: str = "200 OK", **headers: str) -> bytes:
    """A well-formed answer; header names with underscores for hyphens."""
    fields = {"Content_Type": "text/html; charset=utf-8", "Content_Length": str(len(body)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items() if value)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


@dataclass
class Exchange:
    """One request and the connection it came by."""

    sock: socket.socket
    host: str
    path: str
    headers: dict[str, str]
    hit: int  # how often this host and path were asked for before
    server: "LoopbackServer"
    body: bytes = b""

    def send(self, data: bytes) -> None:
        self.server.bytes_sent += len(data)
        self.sock.sendall(data)

    def drip(self, data: bytes, seconds: float) -> None:
        """Send a byte at a time."""
        for byte in data:
            self.sock.sendall(bytes([byte]))
            time.sleep(seconds)

    def reset(self) -> None:
        """Close the connection by a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.sock.close()


def _seconds_since_data(sock: socket.socket) -> float:
    """How long ago data last came, by the system's clock of the connection: on a busy machine this process reads it
    later, and two requests that were sent apart would be noted together. 0 where the system does not tell."""
    if not hasattr(socket, "TCP_INFO"):
        return 0.0
    milliseconds = struct.unpack_from("I", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 56), 52)[0]
    return float(milliseconds) / 1000


Handler = Callable[[Exchange], object] | bytes


class Gate:
    """Lets the first requests pass and holds the others until it is opened.

    A crawl that is to be killed halfway then cannot come to its end before the test has seen it begin.
    """

    def __init__(self, first: int) -> None:
        self._first = threading.Semaphore(first)
        self._open = threading.Event()

    def before(self, page: Handler) -> Handler:
        """Return the page behind the gate."""

        def handle(exchange: Exchange) -> None:
            if not self._first.acquire(blocking=False):
                self._open.wait(PATIENCE)
            exchange.send(page) if isinstance(page, bytes) else page(exchange)

        return handle

    def open(self) -> None:
        """Let all requests pass."""
        self._open.set()


@dataclass(frozen=True)
class Hit:
    """One line of the server's log."""

    at: float  # monotonic seconds when it came
    host: str
    path: str
    conditional: bool = False


@dataclass
class LoopbackServer:
    """Serves `pages` by path, or by host and path (`//site.test/path`), the query being optional.

    What is not there is 404, robots.txt too."""

    pages: dict[str, Handler] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    keep_alive: bool = False
    greeting: bytes = b""  # sent before any request is read
    log: list[Hit] = field(default_factory=list)
    bytes_sent: int = 0  # by `Exchange.send`

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._lock = threading.Lock()
        self._hits: dict[tuple[str, str], int] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        with contextlib.suppress(OSError):
            socket.create_connection(self._listener.getsockname(), timeout=1).close()
        self._thread.join(5)
        self._listener.close()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def paths(self, host: str | None = None) -> list[str]:
        """Paths asked for in order, without robots.txt."""
        return [hit.path for hit in self.log if hit.path != "/robots.txt" and host in (None, hit.host)]

    def _accept(self) -> None:
        while True:
            sock, _ = self._listener.accept()
            if self._stopping:
                sock.close()
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as stack:
            sock.settimeout(PATIENCE)
            if self.tls is not None:
                sock = self.tls.wrap_socket(sock, server_side=True)
            stack.callback(sock.close)
            sock.sendall(self.greeting)
            while self._exchange(sock) and self.keep_alive:
                pass

    def _exchange(self, sock: socket.socket) -> bool:
        request = b""
        while b"\r\n\r\n" not in request:
            data = sock.recv(65_536)
            if not data:
                return False
            request += data
        arrived = time.monotonic() - _seconds_since_data(sock)
        head, _, body = request.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += sock.recv(65_536)
        host, path = headers["host"], first.split(" ")[1]
        with self._lock:
            hit = self._hits.get((host, path), 0)
            self._hits[host, path] = hit + 1
            conditional = "if-none-match" in headers or "if-modified-since" in headers
            self.log.append(Hit(arrived, host, path, conditional))
        missing = answer(b"missing", "404 Not Found")
        short = path.partition("?")[0]
        names = (f"//{host}{path}", f"//{host}{short}", path, short)
        handler = next((self.pages[name] for name in names if name in self.pages), missing)
        exchange = Exchange(sock, host, path, headers, hit, self, body)
        exchange.send(handler) if isinstance(handler, bytes) else handler(exchange)
        return True


# Nothing waits long between requests, and an answer that a busy machine delays is waited for.
FAST = {"host_delay_seconds": 0.0, "max_bytes": 200_000}
QUICK = Patience(PATIENCE, retries=1, backoff_seconds=0.01, max_backoff_seconds=0.05, read_seconds=PATIENCE)


def take_patience(settings: dict[str, Any]) -> Patience:
    """Take the fields of a patience out of settings; return it, else that of QUICK."""
    return replace(QUICK, **{name: settings.pop(name) for name in [*settings] if hasattr(QUICK, name)})


# For answers that never come in time; a good page that is asked for with these may be late too.
HASTY = {"read_seconds": 0.5, "total_seconds": 1.5}


def frontier(urls: Iterable[str]) -> pa.Table:
    """A frontier of one article that cites some URLs."""
    rows = [
        {
            "article_id": "a",
            "article_shard": 0,
            "url": url,
            "host": host_of(url),
            "host_shard": 0,
            "provenance": "citation",
            "rank": rank,
            "drop_reason": None,
        }
        for rank, url in enumerate(urls)
    ]
    return pa.Table.from_pylist(rows, schema=FRONTIER.schema)


def crawl_pages(*arguments: Any, **options: Any) -> pa.Table:
    """Return the rows of `crawl_batches` as one table."""
    return pa.Table.from_batches(crawl_batches(*arguments, **options), schema=PAGES.schema)


def crawl(server: LoopbackServer, urls: Iterable[str], journal: Journal, **settings: Any) -> dict[str, dict[str, Any]]:
    """Crawl URLs of hosts below `.test`, which all are the server; return the rows by URL."""
    options: dict[str, Any] = {"connect_to": {"*.test": server.address}, "progress": lambda _: None}
    options["patience"] = take_patience(settings)
    for name in ("resolver", "progress", "connect_to", "earlier", "turns"):
        if name in settings:
            options[name] = settings.pop(name)
    batches = crawl_batches(frontier(urls), None, CrawlSettings(**{**FAST, **settings}), journal=journal, **options)
    return {row["url"]: row for batch in batches for row in batch.to_pylist()}


def local_journal(directory: object) -> Journal:
    """A journal in a local directory."""
    return Journal(pafs.LocalFileSystem(), f"{directory}/journal")
