"""One build at a time below a root: two would fetch and compute the same shards twice."""

import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from storage.errors import RootBusyError, StorageError
from storage.store import Store

LOCK = ".lock"
LEASE_SECONDS = 60.0
_RENEW_SECONDS = 15.0
_WATCH_SECONDS = 1.0
_log = logging.getLogger(__name__)


@contextmanager
def root_lock(store: Store) -> Iterator[None]:
    """Hold the root until the block ends.

    On local disk the kernel holds the lock and lets go when the process ends, however it ends. An object store has no
    locks: there a lease is renewed while the block runs and lapses a minute after its holder died. Clocks are not
    trusted: a lease that looks old, or comes from the future, is watched for a renewal before it is taken over. A
    lease keeps out the second run that a person or a schedule starts; two that start within the same second both
    pass, which costs double work and nothing else, since shards are immutable and written atomically.

    Raises:
        RootBusyError: another run holds the root; the message names its process and machine.
    """
    with _local_lock(store) if store.is_local else _lease(store):
        yield


def _holder() -> bytes:
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "time": time.time()}).encode()


def _busy(store: Store, held: bytes) -> RootBusyError:
    try:
        holder = json.loads(held)
        who = f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return RootBusyError(
        f"another build is running on root {store.root!r} ({who}). Wait until it ends, stop it, or give another root"
    )


@contextmanager
def _local_lock(store: Store) -> Iterator[None]:
    import fcntl  # only on systems with local POSIX disks; the lease needs nothing of it

    path = Path(store.path(LOCK))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise _busy(store, file.read()) from None
        file.truncate(0)
        file.write(_holder())
        file.flush()
        yield


@contextmanager
def _lease(store: Store) -> Iterator[None]:
    if (held := _held(store)) is not None and (_is_fresh(held) or _is_renewed(store, held)):
        raise _busy(store, held)
    ended = Event()

    def renew() -> None:
        while not ended.wait(_RENEW_SECONDS):
            try:
                store.write_bytes(LOCK, _holder())
            except StorageError as error:
                _log.warning("the lease of the root was not renewed, trying again: %s", error)

    store.write_bytes(LOCK, _holder())
    keeper = Thread(target=renew, name="root-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()
        try:
            store.delete(LOCK)
        except StorageError as error:  # it lapses by itself, and must not hide how the block ended
            _log.warning("the lease of the root was left to lapse: %s", error)


def _held(store: Store) -> bytes | None:
    try:
        return store.read_bytes(LOCK)
    except FileNotFoundError:
        return None


def _is_fresh(held: bytes) -> bool:
    """Whether a lease was renewed within its time, by this machine's clock."""
    try:
        return 0 <= time.time() - float(json.loads(held)["time"]) < LEASE_SECONDS
    except (ValueError, KeyError, TypeError):
        return False


def _is_renewed(store: Store, held: bytes) -> bool:
    """Whether somebody renews a lease whose time says nothing: it is watched for two renewals' time."""
    deadline = time.monotonic() + 2 * _RENEW_SECONDS
    while time.monotonic() < deadline:
        time.sleep(_WATCH_SECONDS)
        now = _held(store)
        if now != held:
            return now is not None
    return False
