"""The pages of the rehearsal's world on loopback, served by a separate process.

    python -m benchmarks.rehearsal.web

Its port is printed once connections are accepted; it ends when its standard input is closed.
"""

import asyncio
import re
from functools import partial

from benchmarks.loopback_web import ROBOTS, response, serve
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


if __name__ == "__main__":
    asyncio.run(serve(partial(answer, RehearsalWorld()), ["127.0.0.1"]))
