"""Trainings on an object store survive their machine: while one runs, its checkpoints go to the store.

A snapshot is the working directory of a training at one moment: files named by their SHA-256 below
`NAME/KEY/.snapshot/`, and a manifest, written last, that says which of them is what. So a snapshot is whole or not
there, and what has not changed since the one before is not sent again. Another machine begins by fetching it.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from storage.directories import directory_path, download, is_leftover
from storage.errors import StorageError
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
    """Go on from the store's snapshot of a working directory, and keep one there while the block runs.

    A thread of its own looks for new checkpoints and sends them; a store that fails is tried again at the next look,
    and never ends the training. Where the block fails (SIGTERM included, which training turns into an error), the last
    checkpoint is sent before the error goes on. On local disk there is nothing to do.

    Args:
        store: where the directory will be published.
        folder: what `working_directory` returned.
        name: what it is, such as models/summarizer.
        key: the recipe's key.
    """
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
    """The snapshot of one working directory; `place` is its folder on the store."""

    def __init__(self, store: Store, folder: Path, place: str) -> None:
        self.store, self.folder, self.place = store, folder, place
        self._sent: object = None
        self._digests: dict[tuple[int, int, int], str] = {}

    def restore(self) -> None:
        """Put the store's snapshot in place of the working directory, unless that has a later checkpoint already."""
        files = self._read_manifest()
        newest = max((Path(file).parts[1] for file in files if file.startswith(f"{_CHECKPOINTS}/")), default="")
        if newest <= max((path.name for path in self._checkpoints()), default=""):
            return
        # Fetched beside it and renamed: half a directory would look like a damaged one.
        arriving = self.folder.with_name(f".{self.folder.name}.arriving")
        shutil.rmtree(arriving, ignore_errors=True)
        for file, sha256 in files.items():
            try:
                download(self.store, f"{self.place}/{sha256}", arriving / file)
            except FileNotFoundError:
                _log.warning("%s of the snapshot %s is gone from the store", file, self.place)
        shutil.rmtree(self.folder)
        arriving.rename(self.folder)
        _log.info("going on from %s, which another machine or an earlier run left in %s", newest, self.place)

    def take(self, until: Event) -> None:
        """Send what is new, if there is a new checkpoint; given up between two files once `until` is set."""
        try:
            self._take(until)
        except (StorageError, OSError) as error:
            _log.warning("the checkpoints of %s were not sent to the store, trying again: %s", self.place, error)

    def _take(self, until: Event) -> None:
        held = self.folder.with_name(f".{self.folder.name}.sending")
        checkpoints = self._hold(held)
        try:
            if checkpoints == self._sent or not checkpoints:
                return
            files = {}
            there = self.store.sizes(self.place)
            for path in sorted(path for path in held.rglob("*") if path.is_file()):
                if until.is_set():
                    return
                sha256 = files[path.relative_to(held).as_posix()] = self._digest(path)
                if there.get(sha256) != path.stat().st_size:
                    with path.open("rb") as file, self.store.writing(f"{self.place}/{sha256}") as sink:
                        shutil.copyfileobj(file, sink)
            self.store.write_bytes(f"{self.place}/{_MANIFEST}", json.dumps({"files": files}, indent=1).encode())
            self._sent = checkpoints
            for name in there.keys() - {*files.values(), _MANIFEST}:
                self.store.delete(f"{self.place}/{name}")
        finally:
            shutil.rmtree(held, ignore_errors=True)

    def _hold(self, held: Path) -> object:
        """Link the files of this moment into the folder `held`, out of reach of the training that replaces them.

        Returns what tells these checkpoints from others; empty where there are none.
        """
        for _ in range(_TRIES):
            shutil.rmtree(held, ignore_errors=True)
            try:
                checkpoints = self._identities()
                if not checkpoints or checkpoints == self._sent:
                    return checkpoints
                for path in [path for path in self.folder.rglob("*") if path.is_file()]:
                    relative = path.relative_to(self.folder)
                    if is_leftover(relative):
                        continue
                    (held / relative).parent.mkdir(parents=True, exist_ok=True)
                    if path.suffix == _GROWING:
                        shutil.copyfile(path, held / relative)
                    else:
                        os.link(path, held / relative)
                if self._identities() == checkpoints:
                    return checkpoints
            except FileNotFoundError:  # a checkpoint was pruned meanwhile: there is a newer one
                continue
        return ()  # at the next look

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
            manifest: dict[str, Any] = json.loads(self.store.read_bytes(f"{self.place}/{_MANIFEST}"))
            return dict(manifest["files"])
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("%s/%s cannot be read, the training begins again: %r", self.place, _MANIFEST, error)
            return {}
