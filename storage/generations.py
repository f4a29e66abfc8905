"""Generations of a backup, which share files (`storage.backup`). A file is named by its SHA-256 (`files/0f/0f3a...`),
and a generation (`generations/20261124-030000.json`) says which root it is of and which file had which content. So a
backup can be checked without its root."""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO

from storage.errors import StorageError
from storage.sealed import of_kind, unseal
from storage.store import Store

FILES = "files"
_GENERATIONS = "generations"
_OBJECT = re.compile(rf"{FILES}/[0-9a-f]{{2}}/[0-9a-f]{{64}}(?:\.damaged)?")
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Generation:
    """What a root held at one time."""

    root: str  # id of the root
    created: str  # UTC time, ISO 8601
    files: Mapping[str, str]  # file -> SHA-256 of its content, hex


@dataclass
class BackupCheck:
    """What a backup holds."""

    generations: dict[str, Generation]  # by name, oldest first
    files: int = 0  # files read
    bytes: int = 0  # their size
    damaged: dict[str, str] = field(default_factory=dict)  # file of the backup -> what is wrong, and what it is


def check(copy: Store) -> BackupCheck:
    """Read every file that a generation names. Damaged ones are renamed, so that the next backup copies them again.
    Raises StorageError: the folder has no backup."""
    generations, unread = some_generations(copy)
    done = BackupCheck(generations, damaged=unread)
    names: dict[str, list[str]] = {}  # SHA-256 -> what it is
    for name, generation in generations.items():
        for path, sha256 in generation.files.items():
            names.setdefault(sha256, []).append(f"{path} of {name}")
    for sha256, what in sorted(names.items()):
        path = object_path(sha256)
        try:
            with copy.reading(path) as stream:
                digest, size = hashed(stream)
            done.files, done.bytes = done.files + 1, done.bytes + size
            problem = "" if digest == sha256 else "its content has changed"
            if problem:
                with suppress(StorageError):  # of a backup that takes no writes
                    copy.rename(path, f"{path}.damaged")
        except FileNotFoundError:
            problem = "it is gone"
        except StorageError as error:
            problem = str(error)
        if problem:
            others = f" and {len(what) - 1} more" if len(what) > 1 else ""
            done.damaged[path] = f"{problem}; it is {what[-1]}{others}"
    return done


def check_identity(copy: Store, generations: Mapping[str, Generation], unread: Mapping[str, str], root: str) -> None:
    """Check that a backup, if there is one, is that of a root. Raises StorageError: it is another's, or none of its
    generations can be read (`unread` has why)."""
    if unread and not generations:
        name, problem = next(iter(unread.items()))
        raise StorageError(f"{name} of backup {copy.root!r} cannot be read, nor another generation: {problem}")
    for generation in generations.values():
        if generation.root != root:
            raise StorageError(
                f"{copy.root!r} is a backup of root {generation.root}, and this one is {root or 'without identity'}: "
                "expected a folder for each root"
            )


def object_path(sha256: str) -> str:
    """Return the path of a file of a backup."""
    return f"{FILES}/{sha256[:2]}/{sha256}"


def generation_path(generation: str) -> str:
    """Return the path of the file of a generation."""
    return f"{_GENERATIONS}/{generation}.json"


def some_generations(copy: Store) -> tuple[dict[str, Generation], dict[str, str]]:
    """Return what `read_generations` does. Raises StorageError: the folder has no backup that can be read."""
    copy.check_exists()
    generations, unread = read_generations(copy)
    if not generations:
        why = "".join(f"; {name}: {problem}" for name, problem in unread.items())
        raise StorageError(
            f"{copy.root!r} has no generation that can be read{why}: expected the folder or URI of a backup. A copy "
            "that an earlier version made is a root by itself (docs/upgrading.md)"
        )
    return generations, unread


def read_generations(copy: Store) -> tuple[dict[str, Generation], dict[str, str]]:
    """Return the generations by name, oldest first, and the files of those that cannot be read, with the reason."""
    generations, unread = dict[str, Generation](), dict[str, str]()
    for file in sorted(copy.sizes(_GENERATIONS)):
        if file.endswith(".json"):
            name = file.removesuffix(".json")
            try:
                generation = of_kind(Generation, unseal(copy.read_bytes(generation_path(name))))
                if not all(_OBJECT.fullmatch(object_path(str(sha256))) for sha256 in dict(generation.files).values()):
                    raise ValueError("a file in it has no SHA-256")
                generations[name] = generation
            except (ValueError, TypeError, StorageError) as error:
                unread[generation_path(name)] = str(error)
    return generations, unread


def new_name(generations: Mapping[str, Generation]) -> str:
    """Return a name for a new generation: the time, or the next second after the newest."""
    second = datetime.now(UTC)
    while (name := f"{second:%Y%m%d-%H%M%S}") <= max(generations, default=""):
        second += timedelta(seconds=1)
    return name


def expire(copy: Store, generations: Mapping[str, Generation], keep: int) -> None:
    """Delete the oldest generations, then the files that none of the others names."""
    for name in list(generations)[:-keep]:
        copy.delete(generation_path(name))
    kept = list(generations.values())[-keep:]
    named = {object_path(sha256) for generation in kept for sha256 in generation.files.values()}
    for name in copy.files(FILES).keys() - named:
        if _OBJECT.fullmatch(name):
            copy.delete(name)


def hashed(stream: IO[bytes]) -> tuple[str, int]:
    """Return the SHA-256 of what is left in a stream, and how many bytes that is."""
    digest, size = hashlib.sha256(), 0
    while piece := stream.read(_READ_BYTES):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size
