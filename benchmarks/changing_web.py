"""Pages of one size with a validator each, on loopback, served by a separate process; for `benchmarks.recrawl`.

    python -m benchmarks.changing_web SIZE VERSION

`/page/N` of any host is a page; odd ones have an ETag, even ones a Last-Modified date. In version 1 one page in CHANGED
is different. `/moved` tells what went over the connections so far."""

import asyncio
import json
import random
import sys
from collections.abc import Mapping

from benchmarks.loopback_web import ROBOTS, response, serve

CHANGED = 50
_DATES = ("Mon, 02 Mar 2026 10:00:00 GMT", "Mon, 09 Mar 2026 10:00:00 GMT")


class ChangingWeb:
    """Answers requests and counts them, and the bytes of both directions."""

    def __init__(self, size: int, version: int) -> None:
        """Take the bytes of a page and the version, 0 or 1."""
        self._size, self._version = size, version
        self._counts = {"requests": 0, "bytes": 0}

    def __call__(self, path: str, headers: Mapping[str, str]) -> bytes:
        """Return the response for a path."""
        if path == "/moved":
            return response("200 OK", "application/json", json.dumps(self._counts).encode())
        answered = self._answer(path, headers)
        head = len(f"GET {path} HTTP/1.1\r\n\r\n") + sum(len(f"{one}: {value}\r\n") for one, value in headers.items())
        self._counts = {"requests": self._counts["requests"] + 1, "bytes": self._counts["bytes"] + head + len(answered)}
        return answered

    def _answer(self, path: str, headers: Mapping[str, str]) -> bytes:
        if path == "/robots.txt":
            return response("200 OK", "text/plain", ROBOTS)
        number = int(path.rpartition("/")[2])
        version = self._version if number % CHANGED == 0 else 0
        name, value = ("ETag", f'"{number}-{version}"') if number % 2 else ("Last-Modified", _DATES[version])
        if value in (headers.get("if-none-match"), headers.get("if-modified-since")):
            return f"HTTP/1.1 304 Not Modified\r\n{name}: {value}\r\n\r\n".encode()
        noise = random.Random(f"{number} {version}").randbytes(self._size // 2).hex()
        body = f"<!doctype html><title>{number}</title><p>{noise}</p>".encode()
        return response(f"200 OK\r\n{name}: {value}", "text/html; charset=utf-8", body)


if __name__ == "__main__":
    asyncio.run(serve(ChangingWeb(int(sys.argv[1]), int(sys.argv[2])), ["127.0.0.1"]))
