"""Waiting for a server of one's own."""

import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from flows.running.child_processes import free_port, start, stop, wait_for_api


class NotReady(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_error(503)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    process = start([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    stop(process, 10)


def test_a_server_that_is_not_ready_is_asked_now_and_then(child: "subprocess.Popen[bytes]") -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), NotReady) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert not wait_for_api(f"http://127.0.0.1:{server.server_port}/api", child, 0.5)
        server.shutdown()
    assert 1 <= NotReady.asked <= 5  # every tenth of a second at most


def test_a_port_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="port is 65536: expected one from 0 to 65535"):
        free_port("127.0.0.1", 65536)
