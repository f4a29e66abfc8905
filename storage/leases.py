"""What a run holds of a root that has no locks: a file with its token, as long as it renews it (`storage.lock`)."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from storage.errors import RootBusyError

LOCK = ".lock"  # files whose names begin so are changed without a lease
_held: dict[str, "Lease"] = {}  # by root


@dataclass(frozen=True)
class Lease:
    """The lease of a run; small and picklable, for its jobs."""

    token: str  # in the file, as long as it is held
    conditional: bool  # whether the store changes an object on condition that it is what was seen

    def check(self, root: str, now: bytes | None) -> None:
        """Take the content of the file, or None if there is none. Raises RootBusyError: another run took it over."""
        if now is None or token_of(now) != self.token:
            by = "a run that has ended since" if now is None else busy(root, now)
            raise RootBusyError(f"the lease of the root expired and was taken over, nothing more is written: {by}")


@contextmanager
def leased(root: str, lease: Lease) -> Iterator[None]:
    """Let this process hold a lease during the block."""
    _held[root] = lease
    try:
        yield
    finally:
        del _held[root]


def held(root: str) -> Lease | None:
    """Return the lease that this process holds of a root."""
    return _held.get(root)


def holder(token: str = "") -> bytes:
    """Return what a holder writes: another content each time."""
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "token": token}).encode()


def token_of(lease: bytes) -> str | None:
    """Return the token of whoever wrote a file; None if it is not a lease."""
    token = _field(lease, "token")
    return token if isinstance(token, str) else None


def busy(root: str, lease: bytes) -> RootBusyError:
    """Return the error of a run that finds a root held by another, whom it names."""
    pid, host = _field(lease, "pid"), _field(lease, "host")
    who = "another process" if pid is None or host is None else f"process {pid} on {host}"
    return RootBusyError(
        f"another build is running on root {root!r} ({who}). Wait until it ends, stop it, or give another root"
    )


def _field(lease: bytes, name: str) -> object:
    try:
        return json.loads(lease).get(name)
    except (ValueError, AttributeError):
        return None
