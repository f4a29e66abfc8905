"""Trainings on an object store survive their machine: while one runs, its checkpoints go to the store.

A snapshot is the working directory of a training at one moment: files named by their SHA-256 below
`NAME/KEY/.snapshot/`, and a manifest, written last, that maps paths to them. So a snapshot is complete or absent, and
files that have not changed since the last one are not sent again. Another machine begins by downloading it."""

import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from storage.directories import directory_path, download, is_leftover
from storage.errors import StorageError
from storage.sealed import seal, unseal
from storage.store import Store

INTERVAL_SECONDS = 30.0
FOLDER = ".snapshot"
_MANIFEST = "manifest.json"
_CHECKPOINTS = "checkpoints"
_CHECKPOINT = "step-*"  # appears by renaming, complete; its files never change
_GROWING = ".jsonl"
_TRIES = 5
_log = logging.getLogger(__name__)


@contextmanager
def kept_on_store(store: Store, folder: Path, name: str, key: str) -> Iterator[None]:
    """Continue from the store's snapshot of a working directory, and update the snapshot while the block runs. A thread
    looks for new checkpoints and uploads them. A failed upload is tried again at the next interval and never ends the
    training. If the block fails (SIGTERM included, which training turns into an error), the last checkpoint is uploaded
    before the error is raised on. On local disk there is nothing to do."""
    if store.is_local:
        yield
        return
    snapshots = _Snapshots(store, folder, f"{directory_path(name, key)}/{FOLDER}")
    snapshots.restore()
    ended = Event()

    def keep() -> None:
        while not ended.wait(INTERVAL_SECONDS):
            snapshots.take(until=ended)

    keeper = Thread(target=keep, name="snapshots", daemon=True)
    keeper.start()
    try:
        yield
    except Exception:
        ended.set()
        keeper.join()
        snapshots.take(until=Event())
        raise
    finally:
        ended.set()
        keeper.join()


def discard_snapshot(store: Store, name: str, key: str) -> None:
    """Remove the snapshot of a directory that is published."""
    if not store.is_local:
        store.delete_folder(f"{directory_path(name, key)}/{FOLDER}")


class _Snapshots:
    """The snapshot of one working directory; `location` is its folder on the store."""

    def __init__(self, store: Store, folder: Path, location: str) -> None:
        self.store, self.folder, self.location = store, folder, location
        self._sent: object = None
        self._digests: dict[tuple[int, int, int], str] = {}

    def restore(self) -> None:
        """Replace the working directory by the store's snapshot, unless it already has a later checkpoint."""
        files = self._read_manifest()
        newest = max((Path(file).parts[1] for file in files if file.startswith(f"{_CHECKPOINTS}/")), default="")
        if newest <= max((path.name for path in self._checkpoints()), default=""):
            return
        # Downloaded beside it and renamed: a partial directory would look like a damaged one.
        arriving = self.folder.with_name(f".{self.folder.name}.arriving")
        shutil.rmtree(arriving, ignore_errors=True)
        for file, sha256 in files.items():
            try:
                download(self.store, f"{self.location}/{sha256}", arriving / file)
            except FileNotFoundError:
                _log.warning("%s of the snapshot %s is gone from the store", file, self.location)
        shutil.rmtree(self.folder)
        arriving.rename(self.folder)
        _log.info("continuing from %s, which another machine or an earlier run left in %s", newest, self.location)

    def take(self, until: Event) -> None:
        """Upload the new files if there is a new checkpoint; stop between two files once `until` is set."""
        try:
            self._take(until)
        except (StorageError, OSError) as error:
            _log.warning("uploading checkpoints to %s failed, trying again later: %s", self.location, error)

    def _take(self, until: Event) -> None:
        staging = self.folder.with_name(f".{self.folder.name}.sending")
        checkpoints = self._hold(staging)
        try:
            if checkpoints == self._sent or not checkpoints:
                return
            files = {}
            stored = self.store.sizes(self.location)
            for path in sorted(path for path in staging.rglob("*") if path.is_file()):
                if until.is_set():
                    return
                sha256 = files[path.relative_to(staging).as_posix()] = self._digest(path)
                if stored.get(sha256) != path.stat().st_size:
                    with path.open("rb") as file, self.store.writing(f"{self.location}/{sha256}") as sink:
                        shutil.copyfileobj(file, sink)
            self.store.write_bytes(f"{self.location}/{_MANIFEST}", seal({"files": files}))
            self._sent = checkpoints
            for name in stored.keys() - {*files.values(), _MANIFEST}:
                self.store.delete(f"{self.location}/{name}")
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _hold(self, staging: Path) -> object:
        """Link the present files into the folder `staging`, where the running training does not replace them. Returns
        identities of the checkpoints, to compare with those sent last; empty if there are none."""
        for _ in range(_TRIES):
            shutil.rmtree(staging, ignore_errors=True)
            try:
                checkpoints = self._identities()
                if not checkpoints or checkpoints == self._sent:
                    return checkpoints
                for path in [path for path in self.folder.rglob("*") if path.is_file()]:
                    relative = path.relative_to(self.folder)
                    if is_leftover(relative):
                        continue
                    (staging / relative).parent.mkdir(parents=True, exist_ok=True)
                    if path.suffix == _GROWING:
                        shutil.copyfile(path, staging / relative)
                    else:
                        os.link(path, staging / relative)
                if self._identities() == checkpoints:
                    return checkpoints
            except FileNotFoundError:  # a checkpoint was deleted meanwhile: there is a newer one
                continue
        return ()  # try again at the next interval

    def _identities(self) -> tuple[tuple[str, int, int], ...]:
        found = ((path.name, path.stat()) for path in self._checkpoints())
        return tuple((name, stat.st_ino, stat.st_mtime_ns) for name, stat in found)

    def _checkpoints(self) -> list[Path]:
        return sorted((self.folder / _CHECKPOINTS).glob(_CHECKPOINT))

    def _digest(self, path: Path) -> str:
        stat = path.stat()
        identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if identity not in self._digests:
            with path.open("rb") as file:
                self._digests[identity] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[identity]

    def _read_manifest(self) -> dict[str, str]:
        try:
            return dict(unseal(self.store.read_bytes(f"{self.location}/{_MANIFEST}"))["files"])
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError) as error:
            _log.warning(
                "%s/%s cannot be read, the training starts from the beginning: %r", self.location, _MANIFEST, error
            )
            return {}
