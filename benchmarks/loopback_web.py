"""Fifty hosts of pages on loopback, served by a separate process; for `benchmarks.crawl` and `crawl_memory`.

python -m benchmarks.loopback_web HOSTS

Host number n is the address 127.0.1.n, all at one port, which is printed once connections are accepted; the server ends
when its standard input is closed. `/robots.txt` forbids only `/private/`. A path below `/large/` is a page of 9.9 MB,
below `/gone/` nothing, below `/moved/` a redirect, and every other path is a page of some 4 kB. An answer takes
`LATENCY` seconds, so that requests can be open together; `/most-at-once` says how many a host had at most since it was
asked for last."""

import asyncio
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

ROBOTS = b"User-agent: *\nDisallow: /private/\n"
PARAGRAPH = "The {0} of the region was written down in the register of that year, and is kept in the archive. "


def address(host: int) -> str:
    """Return the address of a host, counted from 1."""
    return f"127.0.1.{host}"


def page(path: str) -> bytes:
    """Return the page at a path: always the same bytes."""
    text = "".join(f"<p>{PARAGRAPH.format(path) * 4}</p>\n" for _ in range(10))
    return f"<!doctype html><html><head><title>{path}</title></head><body>\n{text}</body></html>".encode()


def large_page() -> bytes:
    """Return a page of 9.9 MB that does not compress."""
    noise = random.Random(9).randbytes(4_900_000).hex().encode()
    return b"<!doctype html><html><body><p>" + noise + b"</p>" + b"<p>The end.</p>" * 6_600 + b"</body></html>"


def answer(path: str, _headers: Mapping[str, str], *, large: bytes) -> bytes:
    """Return the answer to a request."""
    if path == "/robots.txt":
        return response("200 OK", "text/plain", ROBOTS)
    if path.startswith("/gone/"):
        return response("404 Not Found", "text/plain", b"gone")
    if path.startswith("/moved/"):
        return response(f"301 Moved\r\nLocation: {path.replace('/moved/', '/page/', 1)}", "text/plain", b"")
    return response("200 OK", "text/html; charset=utf-8", large if path.startswith("/large/") else page(path))


def response(status: str, kind: str, body: bytes) -> bytes:
    """Return a whole response; further headers may follow the status, each after a line break."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


LATENCY = 0.002
MOST_AT_ONCE = "/most-at-once"


class OpenRequests:
    """How many requests each host has open."""

    def __init__(self) -> None:
        """Begin with none."""
        self._now: Counter[str] = Counter()
        self._most = 0

    def begin(self, host: str) -> None:
        """Count a request."""
        self._now[host] += 1
        self._most = max(self._most, self._now[host])

    def end(self, host: str) -> None:
        """Count its answer."""
        self._now[host] -= 1

    def most(self) -> int:
        """Return the largest number that any host had, and begin again."""
        most, self._most = self._most, 0
        return most


Answer = Callable[[str, Mapping[str, str]], bytes]
"""Returns the response for a path and the request's headers, whose names are in lower case."""


class LoopbackConnection(asyncio.Protocol):
    """Answers GET requests of one connection, which stays open: at once, or late where open requests are counted."""

    def __init__(self, answer: Answer, counted: OpenRequests | None = None) -> None:
        """Take the function that answers, and what counts open requests, or None."""
        self._answer = answer
        self._counted = counted

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host = str(transport.get_extra_info("sockname")[0])
        self._received = b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            path = first.split(" ", 2)[1]
            if self._counted is None:
                self._transport.write(self._answer(path, headers))
            elif path == MOST_AT_ONCE:
                self._transport.write(response("200 OK", "text/plain", str(self._counted.most()).encode()))
            else:
                self._counted.begin(self._host)
                asyncio.get_running_loop().call_later(LATENCY, self._late, self._answer(path, headers))

    def _late(self, answered: bytes) -> None:
        assert self._counted is not None
        self._counted.end(self._host)
        self._transport.write(answered)


async def serve(answer: Answer, addresses: Sequence[str], counted: OpenRequests | None = None) -> None:
    """Print a free port and serve there, on all addresses, until standard input is closed."""
    loop, port, servers = asyncio.get_running_loop(), 0, []
    for item in addresses:
        servers.append(await loop.create_server(lambda: LoopbackConnection(answer, counted), item, port))
        port = servers[0].sockets[0].getsockname()[1]
    print(port, flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    for server in servers:
        server.close()


@contextmanager
def served(module: str, *arguments: str) -> Iterator[int]:
    """Run a module that calls `serve` in a process of its own while the context lasts; yield the port."""
    call = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        yield int(server.stdout.readline())
        server.stdin.close()


if __name__ == "__main__":
    asyncio.run(
        serve(partial(answer, large=large_page()), [address(n + 1) for n in range(int(sys.argv[1]))], OpenRequests())
    )
