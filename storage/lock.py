"""One build at a time below a root: two would fetch and compute the same shards twice."""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from storage.errors import RootBusyError
from storage.store import Store

LOCK = ".lock"
LEASE_SECONDS = 60.0
_POLL_SECONDS = 15.0


@contextmanager
def root_lock(store: Store) -> Iterator[None]:
    """Hold the root until the block ends.

    On local disk the kernel holds the lock and lets go when the process ends, however it ends. An object store has no
    locks: there a lease is renewed while the block runs and lapses a minute after its holder died. A lease keeps out
    the second run that a person or a schedule starts; two that start within the same second both pass, which costs
    double work and nothing else, since shards are immutable and written atomically.

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
    if store.exists(LOCK):
        held = store.read_bytes(LOCK)
        if time.time() - float(json.loads(held)["time"]) < LEASE_SECONDS:
            raise _busy(store, held)
    ended = Event()

    def renew() -> None:
        while not ended.wait(_POLL_SECONDS):
            store.write_bytes(LOCK, _holder())

    store.write_bytes(LOCK, _holder())
    keeper = Thread(target=renew, name="root-lease", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()
        store.delete(LOCK)
