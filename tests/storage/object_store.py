"""A real S3-compatible server in a process of its own, and a proxy in front of it that fails and dawdles as told."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from tests.patience import PATIENCE

BUCKET = "bucket"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
_OF_THE_HOP = {"connection", "content-length", "date", "expect", "transfer-encoding"}
_CHANGED = b"<Error><Code>PreconditionFailed</Code><Message>It is another.</Message></Error>"
_ERROR = b'<?xml version="1.0"?><Error><Code>InternalError</Code><Message>We failed.</Message></Error>'


_SERVER = """
import sys
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
app = DomainDispatcherApplication(create_backend_app)
make_server("127.0.0.1", int(sys.argv[1]), app, threaded=True, fd=int(sys.argv[2])).serve_forever()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def object_store() -> Iterator[int]:
    """The port of a server that holds one empty bucket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:  # kept from here on: tests beside it open ports too
        port, number = listening.getsockname()[1], listening.fileno()
        call = [sys.executable, "-c", _SERVER, str(port), str(number)]
        environment = {**os.environ, **CREDENTIALS}
        server = subprocess.Popen(
            call, env=environment, pass_fds=[number], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    try:
        requests.put(f"http://127.0.0.1:{port}/{BUCKET}", timeout=PATIENCE).raise_for_status()
        yield port
    finally:
        server.kill()
        server.wait()


def uri(port: int, folder: str) -> str:
    return f"s3://{BUCKET}/{folder}?scheme=http&endpoint_override=127.0.0.1:{port}"


class Proxy(ThreadingHTTPServer):
    """Passes requests on; answers those it is told to fail with 500, and waits before each.

    Attributes:
        failing: methods answered with 500, such as {"PUT"}.
        failures: how many more of them; None = all.
        seconds: wait before every answer.
        failed: how many were answered with 500.
        dropped: headers that are not passed on, in lower case.
        seen: called with the method and path of each request that is passed on, before that.
    """

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = port
        self.failing: set[str] = set()
        self.failures: int | None = None
        self.seconds = 0.0
        self.failed = 0
        self.dropped: set[str] = set()
        self.seen: Callable[[str, str], None] = lambda method, path: None
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def fails(self, method: str) -> bool:
        with self._lock:
            if method not in self.failing or self.failures == 0:
                return False
            if self.failures is not None:
                self.failures -= 1
            self.failed += 1
            return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no fault of the proxy's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def pass_on(self) -> None:
        body = self._body()
        time.sleep(self.server.seconds)
        if self.server.fails(self.command):
            self._answer(500, [("Content-Type", "application/xml"), ("Content-Length", str(len(_ERROR)))], _ERROR)
            return
        self.server.seen(self.command, self.path)
        behind = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=PATIENCE)
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_HOP | self.server.dropped
        }
        if self.command == "POST" and (tag := headers.get("If-Match")):  # moto heeds it only where a whole file is put
            behind.request("HEAD", self.path.split("?")[0], headers={"Authorization": headers["Authorization"]})
            looked = behind.getresponse()
            looked.read()
            if looked.getheader("ETag") != tag:
                self._answer(
                    412, [("Content-Type", "application/xml"), ("Content-Length", str(len(_CHANGED)))], _CHANGED
                )
                return
        behind.request(self.command, self.path, body, headers)
        answer = behind.getresponse()
        content = answer.read()
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OF_THE_HOP]
        self._answer(answer.status, [*kept, ("Content-Length", length or "0")], content)
        behind.close()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on  # noqa: N815 - the library's names

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            """Skip trailers."""
        return b"".join(chunks)

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """A proxy before the server at `port`."""
    server = Proxy(port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
