"""One build at a time below a root: two would fetch and compute the same shards twice."""

import json
import logging
import os
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

from storage.errors import RootBusyError, StorageError
from storage.store import Store

LOCK = ".lock"
LEASE_SECONDS = 60.0
_RENEW_SECONDS = 15.0
_WATCH_SECONDS = 1.0
_RETRY_SECONDS = 5.0
_log = logging.getLogger(__name__)


@contextmanager
def root_lock(store: Store, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the root until the block ends.

    On local disk the kernel holds the lock and lets go when the process ends, however it ends. An object store has no
    locks: there a lease is renewed while the block runs and lapses a minute after its holder died. Clocks are not
    trusted: whoever finds a lease watches it, until it is renewed, let go, or has lapsed. A lease keeps out the second
    run that a person or a schedule starts; two that start within the same second both pass, which costs double work
    and nothing else, since shards are immutable and written atomically.

    Args:
        store: whose root.
        wait_seconds: how long to wait for another run that holds it.

    Raises:
        RootBusyError: another run holds the root, still; the message names its process and machine.
    """
    deadline = time.monotonic() + wait_seconds
    waiting = False
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(_local_lock(store) if store.is_local else _lease(store))
                break
            except RootBusyError as busy:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise
                if not waiting:
                    _log.warning("%s; waiting for it, %.0f s at most", busy, remaining)
                    waiting = True
                time.sleep(min(_RETRY_SECONDS, remaining))
        yield


def _holder(token: str = "") -> bytes:
    fields = {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "token": token}
    return json.dumps(fields).encode()


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
    held = _held(store)
    if held is not None and not _lapses(store, held):
        raise _busy(store, held)
    token = uuid.uuid4().hex
    store.write_bytes(LOCK, _holder(token))
    ended = Event()

    def renew() -> None:
        while not ended.wait(_RENEW_SECONDS):
            try:
                now = _held(store)
                if now is not None and _token(now) != token:
                    _log.warning("the lease of the root lapsed and was taken over: %s", _busy(store, now))
                    return
                store.write_bytes(LOCK, _holder(token))
            except StorageError as error:
                _log.warning("the lease of the root was not renewed, trying again: %s", error)

    keeper = Thread(target=renew, name="root-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()
        try:
            now = _held(store)
            if now is not None and _token(now) == token:  # else it is another run's by now, and its to let go
                store.delete(LOCK)
        except StorageError as error:  # it lapses by itself, and must not hide how the block ended
            _log.warning("the lease of the root was left to lapse: %s", error)


def _held(store: Store) -> bytes | None:
    try:
        return store.read_bytes(LOCK)
    except FileNotFoundError:
        return None


def _token(held: bytes) -> str | None:
    """Return what tells a lease's holder from every other one; None where it is no lease."""
    try:
        token: str = json.loads(held)["token"]
    except (ValueError, KeyError, TypeError):
        return None
    return token


def _lapses(store: Store, held: bytes) -> bool:
    """Watch a lease until it is let go, renewed, or has not been renewed for its time."""
    deadline = time.monotonic() + LEASE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(_WATCH_SECONDS)
        now = _held(store)
        if now != held:
            return now is None
    return True
