"""Files that belong together in a directory (a trained model, a report): published whole, the record last.

A training on an object store survives its machine: while it runs, snapshots of its working directory go to the store.
Their files are named by SHA-256 below `NAME/KEY/.snapshot/`; a manifest, written last, maps paths to them. So a
snapshot is complete or absent, and files that have not changed since the last one are not sent again. Another machine
begins by downloading it."""

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from storage.errors import CorruptShardError, StorageError
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

_COPY_BYTES = 1 << 20
_log = logging.getLogger(__name__)
SNAPSHOT_SECONDS = 30.0
SNAPSHOT = ".snapshot"
_MANIFEST = "manifest.json"
_CHECKPOINTS = "checkpoints"
_CHECKPOINT = "step-*"  # appears by renaming, complete; its files never change
_GROWING = ".jsonl"


@dataclass(frozen=True)
class DirectoryRecord:
    """What a published directory holds."""

    name: str  # its name, such as models/ranker; also its folder
    key: str  # the recipe's key, the last part of its path
    files: Mapping[str, str]  # path within the directory -> SHA-256 of the bytes, hex
    digest: str  # digest of the files that readers depend on
    settings: Mapping[str, Any]  # the fields of the recipe
    inputs: Mapping[str, Any]  # name of each input -> digests of what was read of it
    metrics: Mapping[str, Any]  # figures that the function which filled the directory returned
    seconds: float  # time it took; the sum over all sessions of a resumed run, where that is known
    code: Mapping[str, str] = field(default_factory=dict)  # versions of code and libraries, for people; in no key
    version: int = 0  # in its recipe; 0 = not recorded
    notes: Mapping[str, str] = field(default_factory=dict)  # what else decided its content, as the digest of a start

    @property
    def path(self) -> str:
        """The directory, relative to the root."""
        return directory_path(self.name, self.key)


def directory_path(name: str, key: str) -> str:
    """Return the path of a directory, relative to the root."""
    return f"{name}/{key}"


def working_directory(store: Store, name: str, key: str) -> Path:
    """Return a local folder to fill: the final one on local disk, else a temporary one that a restart finds again."""
    if store.is_local:
        folder = Path(store.path(directory_path(name, key)))
    else:
        folder = Path(tempfile.gettempdir()) / "wikisum" / hashlib.sha256(store.root.encode()).hexdigest()[:12] / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def publish_directory(
    store: Store, folder: Path, *, name: str, key: str, published: list[str], **fields: Any
) -> DirectoryRecord:
    """Upload a folder's files where the root is remote, then write the record that makes it done; `fields` are its
    others. Files set aside as damaged and files left by a killed writer are not published. `folder` is what
    `working_directory` returned, filled. Readers load the files `published`, whose digests make the directory's.
    Raises StorageError: a file could not be written."""
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if is_leftover(path.relative_to(folder)):
            continue
        relative = path.relative_to(folder).as_posix()
        files[relative] = _sha256(path)
        if not store.is_local:
            with path.open("rb") as file, store.writing(f"{directory_path(name, key)}/{relative}") as sink:
                shutil.copyfileobj(file, sink)  # in pieces: checkpoints may be too large for memory
    digest = hashlib.sha256(json.dumps([files[file] for file in published]).encode()).hexdigest()[:32]
    record = DirectoryRecord(name, key, files, digest, **fields)
    store.write_bytes(f"{record.path}.json", seal(asdict(record)))
    return record


def find_directory(store: Store, path: str) -> DirectoryRecord | None:
    """Return the record of a finished directory by its path, or None; a damaged record is logged and counts as none."""
    sidecar = f"{path}.json"
    if not store.exists(sidecar):
        return None
    try:
        record = read_directory_record(store, sidecar)
    except ValueError as error:
        _log.warning("%s cannot be read (%s): its directory counts as missing", sidecar, error)
        return None
    return record if all(store.exists(f"{record.path}/{file}") for file in record.files) else None


def newest_directory(store: Store, name: str) -> DirectoryRecord | None:
    """Return the newest record of a model or report, of whatever recipe; None if there is none that can be read."""
    infos = {file: info for file, info in store.infos(name).items() if re.fullmatch(r"[0-9a-f]{16}\.json", file)}
    for file in sorted(infos, key=lambda file: (infos[file].mtime_ns, file), reverse=True):
        with contextlib.suppress(ValueError):
            return read_directory_record(store, f"{name}/{file}")
    return None


def read_directory_record(store: Store, sidecar: str) -> DirectoryRecord:
    """Return the record in a file. Raises ValueError: it is not a record, or that of another directory, copied under
    this name; FileNotFoundError: the file does not exist."""
    record = of_kind(DirectoryRecord, unseal(store.read_bytes(sidecar)))
    if f"{record.path}.json" != sidecar:
        raise ValueError(f"it is the record of {record.path}")
    return record


def fetch_directory(store: Store, record: DirectoryRecord) -> Path:
    """Return a directory on local disk, downloaded once, after checks; CorruptShardError: a file is gone or damaged."""
    folder = working_directory(store, record.name, record.key)
    for file, sha256 in record.files.items():
        path = folder / file
        if not store.is_local and not (path.is_file() and _sha256(path) == sha256):
            with contextlib.suppress(FileNotFoundError):  # reported below
                download(store, f"{record.path}/{file}", path)
        if not path.is_file() or _sha256(path) != sha256:
            raise CorruptShardError(f"{record.path}/{file}", "the file is missing or does not match its record")
    return folder


def is_leftover(relative: Path) -> bool:
    """Whether a file does not belong to its directory: set aside as damaged, or left by a killed writer."""
    return any(
        part.endswith(".damaged")
        or part.startswith(("damaged-", ".writing-"))
        or (part.startswith(".") and part.endswith(".tmp"))
        for part in relative.parts
    )


def download(store: Store, name: str, path: Path) -> None:
    """Download a file atomically, as others may read it. FileNotFoundError: there is none; StorageError: no answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with store.reading(name) as source, temporary.open("wb") as sink:
            while chunk := source.read(_COPY_BYTES):  # in pieces: checkpoints may be too large for memory
                sink.write(chunk)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def kept_on_store(store: Store, folder: Path, name: str, key: str) -> Iterator[None]:
    """Continue from the store's snapshot of a working directory, and update the snapshot while the block runs. A thread
    looks for new checkpoints and uploads them. A failed upload is tried again at the next interval and never ends the
    training. If the block fails (SIGTERM included, which training turns into an error), the last checkpoint is uploaded
    before the error is raised on. A local disk needs nothing."""
    if store.is_local:
        yield
        return
    snapshots = _Snapshots(store, folder, f"{directory_path(name, key)}/{SNAPSHOT}")
    snapshots.restore()
    ended = Event()

    def keep() -> None:
        while not ended.wait(SNAPSHOT_SECONDS):
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
        store.delete_folder(f"{directory_path(name, key)}/{SNAPSHOT}")


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
        if newest <= max(self._checkpoints(), default=""):
            return
        # Downloaded under another name and renamed: a partial directory would look like a damaged one.
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
        staging = self.folder.with_name(f".{self.folder.name}.sending")
        try:
            checkpoints = self._checkpoints()
            if not checkpoints or checkpoints == self._sent or not self._hold(staging, checkpoints):
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
        except (StorageError, OSError) as error:
            _log.warning("uploading checkpoints to %s failed, trying again later: %s", self.location, error)
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _hold(self, staging: Path, checkpoints: Mapping[str, tuple[int, int]]) -> bool:
        """Link the present files into the folder `staging`, where the running training does not replace them. False: it
        has replaced these checkpoints meanwhile, and the next interval comes soon."""
        shutil.rmtree(staging, ignore_errors=True)
        try:
            for path in [path for path in self.folder.rglob("*") if path.is_file()]:
                relative = path.relative_to(self.folder)
                if is_leftover(relative):
                    continue
                (staging / relative).parent.mkdir(parents=True, exist_ok=True)
                if path.suffix == _GROWING:
                    shutil.copyfile(path, staging / relative)
                else:
                    os.link(path, staging / relative)
            return self._checkpoints() == checkpoints
        except FileNotFoundError:
            return False

    def _checkpoints(self) -> dict[str, tuple[int, int]]:
        """Return the checkpoints by name, with what distinguishes one from another of that name."""
        result = ((path.name, path.stat()) for path in sorted((self.folder / _CHECKPOINTS).glob(_CHECKPOINT)))
        return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in result}

    def _digest(self, path: Path) -> str:
        stat = path.stat()
        identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if identity not in self._digests:
            self._digests[identity] = _sha256(path)
        return self._digests[identity]

    def _read_manifest(self) -> dict[str, str]:
        try:
            return dict(unseal(self.store.read_bytes(f"{self.location}/{_MANIFEST}"))["files"])
        except FileNotFoundError:
            return {}
        except ValueError as error:
            _log.warning(
                "%s/%s cannot be read, the training starts from the beginning: %r", self.location, _MANIFEST, error
            )
            return {}
