"""A root: the lock that one build at a time holds, as two would compute the same shards twice, and its format.

The format is how the files below a root are named and sealed, and what the small ones hold; what a stage's shards hold
is up to the stage's version. A change that an older program would misread raises `FORMAT` (`docs/upgrading.md` lists
what changed). It is in `root.json`, with the root's inventory (`storage.inventory`)."""

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from threading import Event, Thread

from storage.errors import MissingFilesError, RootBusyError, StorageError
from storage.inventory import FORMAT_FILE, check_format, take_stock
from storage.leases import LOCK, ConditionalWrites, Lease, busy, conditional_writes, holder, leased, token_of
from storage.store import Store

LEASE_SECONDS = 60.0
RENEW_SECONDS = 15.0
WATCH_SECONDS = 1.0
_log = logging.getLogger(__name__)


@contextmanager
def root_lock(store: Store, wait_seconds: float = 0.0, *, retry_seconds: float = 5.0) -> Iterator[None]:
    """Hold the root until the block ends.

    The kernel holds the lock of a local disk, also while the process is stopped, and releases it when the process ends,
    however it ends. An object store has no locks: there a lease is renewed while the block runs and expires a minute
    after its holder died. Clocks are not trusted: a run that finds a lease watches it until it is renewed, released or
    has expired. If a holder was paused for so long that another run took its lease over, its next write, rename or
    deletion (`Store`) fails with RootBusyError, also in a process that makes shards for it. A store that ignores
    conditions may let one file through at worst; a warning says so.

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
            raise busy(store.root, file.read()) from None
        file.truncate(0)
        file.write(holder())
        file.flush()
        try:
            yield
        finally:
            file.truncate(0)  # else whoever finds the root held by a reader would name this process


@contextmanager
def reading_root(store: Store) -> Iterator[None]:
    """Keep runs from changing the root during the block, and write nothing, so that it may be on a disk that takes no
    writes. On an object store, which has no locks, only a run that holds it at the beginning is seen. Raises
    RootBusyError: a run holds it."""
    if not store.is_local:
        now = store.read_if_there(LOCK)
        if now is not None and not _lapses(store, now):
            raise busy(store.root, now)
        yield
        return
    import fcntl

    try:
        file = Path(store.path(LOCK)).open("rb")  # noqa: SIM115 - held by the stack below
    except FileNotFoundError:  # no run has ever held it
        yield
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise busy(store.root, file.read()) from None
        yield


@contextmanager
def _lease(store: Store) -> Iterator[None]:
    objects, why = _conditional(store)
    path, token, ended = store.path(LOCK), uuid.uuid4().hex, Event()
    tag = objects.tag(path) if objects else None
    now = store.read_if_there(LOCK)
    if now is not None:
        if not _lapses(store, now):
            raise busy(store.root, now)
        store.delete(_renewal(token_of(now)))
        if not store.exists(LOCK):
            tag = None
    if objects is None:
        store.write_bytes(LOCK, holder(token))
    elif not objects.put(path, BytesIO(holder(token)), tag):
        raise busy(store.root, store.read_if_there(LOCK) or b"")
    if why:
        _log.warning(
            "the root's object store ignores conditions of writes (%s): a run that is paused for longer than "
            "its lease, between its last look at the lease and a write, can overwrite one file of the next run. Do not "
            "suspend machines, or take a store that knows If-Match and If-None-Match",
            why,
        )
    lease = Lease(token, conditional=objects is not None)

    def renew() -> None:
        while not ended.wait(RENEW_SECONDS):
            try:
                lease.check(store.root, store.read_if_there(LOCK))
                store.write_bytes(_renewal(token), holder(token))
            except RootBusyError as lost:
                _log.warning("%s", lost)
                return
            except StorageError as error:
                _log.warning("the lease of the root was not renewed, trying again: %s", error)

    keeper = Thread(target=renew, name="root-lease", daemon=True)
    keeper.start()
    try:
        with leased(store.root, lease):
            yield
    finally:
        ended.set()
        keeper.join()
        try:
            tag = objects.tag(path) if objects else None
            now = store.read_if_there(LOCK)
            if now is not None and token_of(now) == token:  # else another run has taken it over
                if objects is None:
                    store.delete(LOCK)
                elif tag is not None:
                    objects.delete(path, tag)
            store.delete(_renewal(token))
        except StorageError as error:  # the lease expires by itself; this must not hide an error of the block
            _log.warning("the lease of the root could not be released and will expire: %s", error)


def _conditional(store: Store) -> tuple[ConditionalWrites | None, str]:
    """Return what changes objects on conditions, or None and why the store cannot."""
    if store.filesystem.type_name != "s3":
        return None, f"only those of S3 are used, not those of {store.filesystem.type_name}"
    objects = conditional_writes(store.root)
    why = objects.unheeded(store.base)
    return None if why else objects, why


def _renewal(token: str | None) -> str:
    """Return the path of what a holder renews: not the lease, which by then may be another's."""
    return f"{LOCK}.{token}"


def _lapses(store: Store, lease: bytes) -> bool:
    """Watch a lease; return whether it was released or expired, not renewed."""
    deadline = time.monotonic() + LEASE_SECONDS
    renewal = _renewal(token_of(lease))
    before = store.read_if_there(renewal)
    while time.monotonic() < deadline:
        time.sleep(WATCH_SECONDS)
        now = store.read_if_there(LOCK)
        if now != lease:
            return now is None
        if store.read_if_there(renewal) != before:
            return False
    return True


@contextmanager
def opened_root(store: Store, wait_seconds: float = 0.0) -> Iterator[None]:
    """Make the root if there is none, hold it, and list in its inventory what a killed run did not. StorageError: it
    cannot be written, has another format, or its inventory is gone; RootBusyError: another run holds it."""
    store.check_writable()
    check_format(store)
    with root_lock(store, wait_seconds):
        take_stock(store)
        yield


def accept_lost_inventory(store: Store) -> None:
    """Make an inventory of what is there if `root.json` is gone. Raises StorageError: the root does not exist."""
    store.check_exists()
    try:
        check_format(store)
    except MissingFilesError:
        with root_lock(store):
            take_stock(store, anew=True)


def check_root(store: Store) -> None:
    """Check that there is a root to read. Raises StorageError: there is none, or none of a format that is read here."""
    store.check_exists()
    check_format(store)
    if FORMAT_FILE not in store.names():
        raise StorageError(f"{store.root!r} has no {FORMAT_FILE}: expected the folder or URI of a build")
