"""Child processes in their own sessions, which end with all their children. Imports nothing heavy: children start with
it."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from http.client import HTTPException
from urllib.request import urlopen

_POLL_SECONDS = 0.1
_LAST_PORT = 65535
_WATCH_SECONDS = 1.0


def start(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    quiet: bool = False,
    inherited: Sequence[int] = (),
) -> "subprocess.Popen[bytes]":
    """Start a process in its own session, out of reach of a Ctrl-C; it `inherited` open files by number."""
    output = subprocess.DEVNULL if quiet else None
    return subprocess.Popen(command, env=environment, stdout=output, start_new_session=True, pass_fds=inherited)


def stop(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Ask a process to end, wait for it, and then kill the rest of its session."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    finally:  # also after a second Ctrl-C
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def end_with_parent(parent: int) -> None:
    """End with the parent, however it ends; its id is given, because it may have ended before it could be asked for."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def how_it_ended(code: int) -> str:
    """Return the meaning of an exit code of a process, to follow its name."""
    if code < 0:
        return f"was killed by signal {-code} ({signal.strsignal(-code)})"
    return f"ended unexpectedly with exit code {code}"


def wait_for_api(url: str, process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Return whether the Prefect API at `url` answered in time, before its process ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, HTTPException), urlopen(f"{url}/health", timeout=5):
            return True
        time.sleep(_POLL_SECONDS)
    return False


@contextlib.contextmanager
def listening(host: str, port: int = 0) -> Iterator[socket.socket]:
    """Listen for the block on a port (0 = any); a child that inherits the socket continues."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as opened:
        yield opened


def free_port(host: str, wanted: int = 0, besides: Collection[int] = ()) -> int:
    """Return `wanted` (0 = any), or a free port of the host if it is taken; ValueError for a wrong host or port."""
    if not 0 <= wanted <= _LAST_PORT:
        raise ValueError(f"port is {wanted}: expected one from 0 to {_LAST_PORT}")
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except PermissionError as error:
            raise ValueError(f"this user may not open port {wanted}: expected one above 1023") from error
        except OSError as error:
            if wanted:
                return free_port(host, 0, besides)
            raise ValueError(f"host {host!r} is not an address of this machine: {error}") from error
        port = int(probe.getsockname()[1])
    return free_port(host, 0, besides) if port in besides else port
