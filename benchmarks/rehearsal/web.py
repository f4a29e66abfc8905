"""The pages of the rehearsal's world on loopback, served by a separate process.

    python -m benchmarks.rehearsal.web

Its port is printed once connections are accepted; it ends when its standard input is closed.
"""

import asyncio
import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.loopback_web import ROBOTS, LoopbackConnection, response
from benchmarks.rehearsal.world import RehearsalWorld

_PATH = re.compile(r"/articles/(\d+)/sources/(\d+)\.html")
_GONE = response("404 Not Found", "text/plain", b"gone")


def answer(world: RehearsalWorld, path: str) -> bytes:
    """Return the response for a path."""
    if path == "/robots.txt":
        return response("200 OK", "text/plain", ROBOTS)
    found = _PATH.fullmatch(path)
    page = None if found is None else world.page(int(found[1]), int(found[2]))
    if page is None:
        return _GONE
    return response("200 OK\r\nContent-Encoding: gzip", "text/html; charset=utf-8", page)


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """Serve the web while the context lasts; yield its port."""
    call = [sys.executable, "-m", "benchmarks.rehearsal.web"]
    with subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        yield int(server.stdout.readline())
        server.stdin.close()


async def serve() -> None:
    """Serve until standard input is closed."""
    loop, world = asyncio.get_running_loop(), RehearsalWorld()
    server = await loop.create_server(lambda: LoopbackConnection(lambda path: answer(world, path)), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve())
