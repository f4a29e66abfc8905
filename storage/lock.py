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
from storage.store import LOCK, Store, fenced

LEASE_SECONDS = 60.0
RENEW_SECONDS = 15.0
WATCH_SECONDS = 1.0
_log = logging.getLogger(__name__)


@contextmanager
def root_lock(store: Store, wait_seconds: float = 0.0, *, retry_seconds: float = 5.0) -> Iterator[None]:
    """Hold the root until the block ends.

    On local disk the kernel holds the lock and releases it when the process ends, however it ends. An object store has
    no locks: there a lease is renewed while the block runs and expires a minute after its holder died. Clocks are not
    trusted: a run that finds a lease watches it until it is renewed, released or has expired. A lease keeps out the
    second run that a person or a schedule starts. A holder that lay still for so long that another run took its lease
    over (a paused machine), or that started within the same second as another, fails with RootBusyError at what it
    writes, renames or deletes next: before each, this process reads the lease. Others that make shards for it do not,
    since shards are immutable and written atomically.

    It is tried every `retry_seconds`, for `wait_seconds` while another run holds it. Raises RootBusyError: another run
    still holds the root; the message names its process and machine."""
    deadline = time.monotonic() + wait_seconds
    waiting = False
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(_local_lock(store) if store.is_local else _lease(store))
                break
            except RootBusyError as busy:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise
                if not waiting:
                    _log.warning("%s; waiting up to %.0f s", busy, remaining)
                    waiting = True
                time.sleep(min(retry_seconds, remaining))
        yield


def _holder(token: str = "") -> bytes:
    fields = {"pid": os.getpid(), "host": socket.gethostname(), "time": time.time(), "token": token}
    return json.dumps(fields).encode()


def _busy(store: Store, lease: bytes) -> RootBusyError:
    try:
        holder = json.loads(lease)
        who = f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return RootBusyError(
        f"another build is running on root {store.root!r} ({who}). Wait until it ends, stop it, or give another root"
    )


@contextmanager
def _local_lock(store: Store) -> Iterator[None]:
    import fcntl  # here, because only POSIX systems have it and the lease does not need it

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
    lease = _read(store, LOCK)
    if lease is not None and not _lapses(store, lease):
        raise _busy(store, lease)
    token = uuid.uuid4().hex
    store.write_bytes(LOCK, _holder(token))
    ended = Event()

    def check() -> None:
        now = _read(store, LOCK)
        if now is None or _token(now) != token:
            by = "a run that has ended since" if now is None else _busy(store, now)
            raise RootBusyError(f"the lease of the root expired and was taken over, nothing more is written: {by}")

    def renew() -> None:
        while not ended.wait(RENEW_SECONDS):
            try:
                check()
                store.write_bytes(_renewal(token), _holder(token))
            except RootBusyError as lost:
                _log.warning("%s", lost)
                return
            except StorageError as error:
                _log.warning("the lease of the root was not renewed, trying again: %s", error)

    keeper = Thread(target=renew, name="root-lease", daemon=True)
    keeper.start()
    try:
        with fenced(store.root, check):
            yield
    finally:
        ended.set()
        keeper.join()
        try:
            now = _read(store, LOCK)
            if now is not None and _token(now) == token:  # else another run has taken it over
                store.delete(LOCK)
            store.delete(_renewal(token))
        except StorageError as error:  # the lease expires by itself; this must not hide an error of the block
            _log.warning("the lease of the root could not be released and will expire: %s", error)


def _renewal(token: str | None) -> str:
    """Return the path of what a holder renews: not the lease, which by then may be another's."""
    return f"{LOCK}.{token}"


def _read(store: Store, name: str) -> bytes | None:
    try:
        return store.read_bytes(name)
    except FileNotFoundError:
        return None


def _token(lease: bytes) -> str | None:
    """Return the random token of a lease's holder; None if the file is not a lease."""
    try:
        token: str = json.loads(lease)["token"]
    except (ValueError, KeyError, TypeError):
        return None
    return token


def _lapses(store: Store, lease: bytes) -> bool:
    """Watch a lease; return whether it was released or expired, not renewed."""
    deadline = time.monotonic() + LEASE_SECONDS
    renewal = _renewal(_token(lease))
    before = _read(store, renewal)
    while time.monotonic() < deadline:
        time.sleep(WATCH_SECONDS)
        now = _read(store, LOCK)
        if now != lease:
            return now is None
        if _read(store, renewal) != before:
            return False
    store.delete(renewal)
    return True
