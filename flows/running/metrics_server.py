"""The figures of a root at `/metrics`, for Prometheus: with the server's password, on loopback by default."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import uvicorn
from prometheus_client import make_asgi_app

from flows.running.child_processes import listening
from flows.running.guard import RequestGuard
from flows.running.hosts import known_hosts
from flows.running.metrics import registry

_BODY_BYTES = 0  # nobody sends one
_STOP_SECONDS = 5.0


def metrics_address(text: str) -> tuple[str, int]:
    """Return host and port of PORT, which listens on loopback, or HOST:PORT; ValueError for another text."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise ValueError(
            f"--metrics is {text!r}: expected a port, or an address to listen on and a port (0.0.0.0:9464)"
        )
    return host, int(port)


@contextmanager
def serving_metrics(address: str, root: str, credentials: str) -> Iterator[int]:
    """Answer Prometheus during the block; yield the port. Raises ValueError: the address is malformed; OSError: it is
    taken."""
    host, port = metrics_address(address)
    guard = RequestGuard(make_asgi_app(registry(root)), credentials, _BODY_BYTES, known_hosts(host, os.environ))
    with listening(host, port) as opened:
        server = uvicorn.Server(uvicorn.Config(guard, log_level="error", lifespan="off", server_header=False))
        thread = Thread(target=server.run, kwargs={"sockets": [opened]}, name="metrics", daemon=True)
        thread.start()
        try:
            yield int(opened.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(_STOP_SECONDS)
