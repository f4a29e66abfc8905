"""Files that belong together in a directory (a trained model, a report): published whole, the record last."""

import contextlib
import hashlib
import json
import logging
import re
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from storage.errors import CorruptShardError
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

_COPY_BYTES = 1 << 20
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DirectoryRecord:
    """What a published directory holds."""

    name: str  # what it is, such as models/ranker; also the folder it lies in
    key: str  # the recipe's key, the last part of its path
    files: Mapping[str, str]  # path within the directory -> SHA-256 of the bytes, hex
    digest: str  # digest of the files that readers depend on
    settings: Mapping[str, Any]  # the fields of the recipe
    inputs: Mapping[str, Any]  # name of each input -> digests of what was read of it
    metrics: Mapping[str, Any]  # figures that the function which filled the directory returned
    seconds: float  # time it took; the sum over all sessions of a resumed run, where that is known
    # Version and git commit of the code that made it, and versions of libraries; for people, not part of key or digest
    code: Mapping[str, str] = field(default_factory=dict)
    version: int = 0  # in its recipe; 0 = not recorded
    # What else decided its content, such as the digest of the weights that a training started from
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The directory, relative to the root."""
        return directory_path(self.name, self.key)

    def to_json(self) -> bytes:
        """Return the record as it is stored."""
        return seal(asdict(self))

    @classmethod
    def from_json(cls, data: bytes) -> "DirectoryRecord":
        """Read a stored record. Raises ValueError: it is not a record."""
        return of_kind(cls, unseal(data))


def directory_path(name: str, key: str) -> str:
    """Return the path of a directory, relative to the root."""
    return f"{name}/{key}"


def record_of_directory(name: str, key: str) -> str:
    """Return the path of a directory's record."""
    return f"{directory_path(name, key)}.json"


def working_directory(store: Store, name: str, key: str) -> Path:
    """Return a local folder to fill: the final one on local disk, else a temporary one that a restart finds again."""
    if store.is_local:
        folder = Path(store.path(directory_path(name, key)))
    else:
        folder = Path(tempfile.gettempdir()) / "wikisum" / hashlib.sha256(store.root.encode()).hexdigest()[:12] / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def publish_directory(
    store: Store,
    folder: Path,
    *,
    name: str,
    key: str,
    published: list[str],
    settings: Mapping[str, Any],
    inputs: Mapping[str, Any],
    metrics: Mapping[str, Any],
    seconds: float,
    code: Mapping[str, str] | None = None,
    version: int = 0,
    notes: Mapping[str, str] | None = None,
) -> DirectoryRecord:
    """Upload a folder's files where the root is remote, then write the record that makes it done. Files set aside as
    damaged and files left by a killed writer are not published. `folder` is what `working_directory` returned, filled.
    Readers load the files `published`, whose digests make the directory's; `notes` say what else decided its content.
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
    record = DirectoryRecord(
        name, key, files, digest, settings, inputs, metrics, seconds, code or {}, version, notes or {}
    )
    store.write_bytes(record_of_directory(name, key), record.to_json())
    return record


def find_directory(store: Store, name: str, key: str) -> DirectoryRecord | None:
    """Return the record of a finished directory, or None; a damaged record is logged and counts as missing."""
    sidecar = record_of_directory(name, key)
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
    this name; FileNotFoundError: there is no such file."""
    record = DirectoryRecord.from_json(store.read_bytes(sidecar))
    if record_of_directory(record.name, record.key) != sidecar:
        raise ValueError(f"it is the record of {record.path}")
    return record


def fetch_directory(store: Store, record: DirectoryRecord) -> Path:
    """Return a directory on local disk after checking its files; a remote one is downloaded once. Raises
    CorruptShardError: a file is missing or its bytes do not match the record."""
    folder = working_directory(store, record.name, record.key)
    for file, sha256 in record.files.items():
        path = folder / file
        if not store.is_local and not (path.exists() and _sha256(path) == sha256):
            with contextlib.suppress(FileNotFoundError):  # reported below
                download(store, f"{record.path}/{file}", path)
        if not path.exists() or _sha256(path) != sha256:
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
    """Download a file atomically: other processes may be reading the local copy it replaces. Raises FileNotFoundError:
    the store has no file of that name; StorageError: the store does not answer."""
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
