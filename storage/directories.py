"""Files that belong together in a directory (a trained model, a report): published whole, the record last."""

import contextlib
import hashlib
import json
import shutil
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from storage.errors import CorruptShardError
from storage.store import Store


@dataclass(frozen=True)
class DirectoryRecord:
    """What a published directory holds.

    Attributes:
        name: what it is, such as models/ranker; also the folder it lies in.
        key: the recipe's key, the last part of its path.
        files: path within the directory -> SHA-256 of the bytes, hex.
        digest: digest of the files that readers depend on.
        settings: the fields of the recipe.
        inputs: name of each input -> digests of what was read of it.
        metrics: what its maker reported.
        seconds: time it took, all sessions of a resumed run together where the maker knows.
    """

    name: str
    key: str
    files: Mapping[str, str]
    digest: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any]
    metrics: Mapping[str, Any]
    seconds: float

    @property
    def path(self) -> str:
        """The directory, relative to the root."""
        return directory_path(self.name, self.key)


def directory_path(name: str, key: str) -> str:
    """Return the path of a directory, relative to the root."""
    return f"{name}/{key}"


def working_directory(store: Store, name: str, key: str) -> Path:
    """Return a local folder to fill: the final place on local disk, else one that a restart finds again."""
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
) -> DirectoryRecord:
    """Upload a folder's files where the root is remote, then write the record that makes it done.

    What was set aside in the folder as damaged, and what a killed writer left, is no part of the directory.

    Args:
        store: where to publish.
        folder: what `working_directory` returned, filled.
        name: what it is, such as models/ranker.
        key: the recipe's key.
        published: files that readers load; their digests make the directory's digest.
        settings: the fields of the recipe.
        inputs: name of each input -> digests of what was read of it.
        metrics: what to keep beside it.
        seconds: time it took.

    Raises:
        StorageError: a file could not be written.
    """
    files = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not _is_leftover(path.name)):
        relative = path.relative_to(folder).as_posix()
        files[relative] = _sha256(path)
        if not store.is_local:
            with path.open("rb") as file, store.writing(f"{directory_path(name, key)}/{relative}") as sink:
                shutil.copyfileobj(file, sink)  # checkpoints may be larger than memory should be
    digest = hashlib.sha256(json.dumps([files[file] for file in published]).encode()).hexdigest()[:32]
    record = DirectoryRecord(name, key, files, digest, settings, inputs, metrics, seconds)
    content = json.dumps(asdict(record), indent=1, sort_keys=True, ensure_ascii=False).encode()
    store.write_bytes(f"{directory_path(name, key)}.json", content)
    return record


def find_directory(store: Store, name: str, key: str) -> DirectoryRecord | None:
    """Return the record of a directory that is done, or None."""
    sidecar = f"{directory_path(name, key)}.json"
    if not store.exists(sidecar):
        return None
    record = DirectoryRecord(**json.loads(store.read_bytes(sidecar)))
    return record if all(store.exists(f"{record.path}/{file}") for file in record.files) else None


def fetch_directory(store: Store, record: DirectoryRecord) -> Path:
    """Return a directory on local disk after checking its files; a remote one is downloaded once.

    Raises:
        CorruptShardError: a file is gone or its bytes are not those of the record.
    """
    folder = working_directory(store, record.name, record.key)
    for file, sha256 in record.files.items():
        path = folder / file
        if not store.is_local and not (path.exists() and _sha256(path) == sha256):
            with contextlib.suppress(FileNotFoundError):  # said below
                _replace(path, store.read_bytes(f"{record.path}/{file}"))
        if not path.exists() or _sha256(path) != sha256:
            raise CorruptShardError(f"{record.path}/{file}", "its bytes are not those of its record")
    return folder


def _is_leftover(name: str) -> bool:
    return name.endswith(".damaged") or (name.startswith(".") and name.endswith(".tmp"))


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step: other processes of this machine may be reading the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
