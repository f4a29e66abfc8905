"""A Prefect server for one process and its children, used without a permanent one.

Prefect can start one by itself, but every worker process would start another. A Ctrl-C in the terminal would also end
the server together with the build, which then could not report that it was interrupted. This one runs in its own
session and ends with its process, however that ends."""

import atexit
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from prefect.client.orchestration import get_client
from prefect.context import refresh_global_settings_context
from prefect.settings import PREFECT_API_URL, PREFECT_HOME

from flows.running.child_processes import listening, stop, wait_for_api
from flows.running.prefect_server import start_server
from flows.running.profile import is_left_behind
from flows.running.serve_options import CREDENTIALS

_START_SECONDS = 600.0  # it takes 6 to 9 on an idle machine; a busy one must not be an error
_STOP_SECONDS = 10.0


def has_prefect_api() -> bool:
    """Whether profile or environment name a permanent Prefect server, other than one that `serve` has left behind."""
    return bool(PREFECT_API_URL.value()) and not is_left_behind()


def use_prefect_api() -> None:
    """Use the named Prefect server, else a temporary one to the process's end. Raises ConnectionError: the named one
    does not answer, or refuses the password; RuntimeError: the temporary one did not start within ten minutes."""
    if has_prefect_api():
        check_prefect_api()
        return
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")  # without a network it would log an error
    password = f"build:{secrets.token_urlsafe(18)}"  # other users and pages in a browser also reach loopback
    with alone(PREFECT_HOME.value()):
        url = _start(password)
    # In the environment, so that worker processes and all threads of this one see them.
    os.environ["PREFECT_API_URL"], os.environ["PREFECT_API_AUTH_STRING"] = url, password
    os.environ["PREFECT_UI_URL"] = ""  # it has no pages: Prefect would log addresses at which nobody answers
    refresh_global_settings_context()


def check_prefect_api() -> None:
    """Check the named Prefect server, if any. Raises ConnectionError: it does not answer, or refuses the password."""
    if not has_prefect_api():
        return
    with get_client(sync_client=True) as client:
        error = client.api_healthcheck()
    if isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in (401, 403):
        return  # it is there, and flows bear with a server that is busy
    if error is not None:
        reason = str(error).splitlines()[0] or type(error).__name__
        raise ConnectionError(
            f"PREFECT_API_URL is {PREFECT_API_URL.value()!r}: expected a Prefect server that answers, but {reason}. "
            "Start it (make serve), or unset the variable: then a temporary server is started"
        )


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Start alone in this Prefect home: if several servers create one SQLite file together, only one of them
    survives."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".wikisum-server-start").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released with the file, also where this process is killed
        yield


def _start(password: str) -> str:
    """Start a server that asks for a password; return the URL of its API."""
    with listening("127.0.0.1") as opened:  # from here on the port is the server's
        address = f"http://127.0.0.1:{opened.getsockname()[1]}"
        secret = {CREDENTIALS: password, "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": address}
        server = start_server(opened, "temporary", {**os.environ, **secret}, quiet=False)
    url = f"{address}/api"
    # Registered to run last, because Prefect sends its last logs and events while the interpreter shuts down.
    atexit.register(stop, server, _STOP_SECONDS)
    if wait_for_api(url, server, _START_SECONDS):
        return url
    raise RuntimeError(
        f"the temporary Prefect server did not start within {_START_SECONDS:.0f} s (exit code {server.poll()}); "
        "run `prefect server start` and set PREFECT_API_URL to see why"
    )
