"""A Prefect server for one process and its children, where nobody runs a lasting one.

Prefect can start one by itself, but every process that computes shards would start another, and a Ctrl-C in the
terminal would end the server together with the build, which then could not say that it was interrupted. This one runs
in a session of its own and ends when its process does, however that ends.
"""

import atexit
import os
import socket
import subprocess
import sys
import time

import requests
import uvicorn
from prefect.context import refresh_global_settings_context
from prefect.server.api.server import create_app
from prefect.settings import PREFECT_API_URL

from tasks.execution import end_with_parent

_START_SECONDS = 120.0
_STOP_SECONDS = 10.0


def use_prefect_api() -> None:
    """Use the Prefect server of the profile or environment; without one, run a temporary one until the process ends.

    Raises:
        RuntimeError: the temporary server does not start.
    """
    if PREFECT_API_URL.value():
        return
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")  # it would report an error without a network
    url = _start()
    # Through the environment, so that processes that compute shards see it as well as every thread of this one.
    os.environ["PREFECT_API_URL"] = url
    refresh_global_settings_context()


def _start() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "flows.temporary_server", str(port)], start_new_session=True)
    # At the very end, because Prefect sends its last logs and events when the interpreter is already shutting down.
    atexit.register(_stop, server)
    url = f"http://127.0.0.1:{port}/api"
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            if requests.get(f"{url}/health", timeout=5).ok:
                return url
        except requests.RequestException:
            time.sleep(0.1)
    raise RuntimeError(
        f"the temporary Prefect server did not start within {_START_SECONDS:.0f} s (exit code {server.poll()}); "
        "run `prefect server start` and set PREFECT_API_URL to see why"
    )


def _stop(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    end_with_parent()
    uvicorn.run(create_app(ephemeral=True, final=True), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
