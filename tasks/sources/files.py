"""Input files of a source: find them, find the file of a partition, detect changes, and read their bytes."""

import glob
import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from tasks.sources.source import Partition

BLOCK = 1 << 18
_SETTLED_NS = 2_000_000_000  # modification times have a resolution of milliseconds, on some file systems of seconds


@dataclass(frozen=True)
class InputFile:
    """A file and its position in the concatenation of all files of the source."""

    path: Path
    start: int  # offset of its first byte in the concatenation
    size: int  # its size in bytes


File = TypeVar("File", bound=InputFile)


def matching_files(patterns: Sequence[str], setting: str, kind: str) -> list[Path]:
    """Return the files that a setting names, in order, those of a pattern sorted by name, each once. Setting and kind
    of the files are named in messages. Raises FileNotFoundError: a file is missing, or nothing matches a pattern;
    ValueError: there is no pattern."""
    if not patterns:
        raise ValueError(f"{setting} is empty: expected at least one {kind} file")
    paths: dict[Path, None] = {}
    for pattern in patterns:
        files = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]  # noqa: PTH207 - may be absolute
        if not files:
            raise FileNotFoundError(f"no file matches {pattern!r} ({setting})")
        paths |= dict.fromkeys(map(Path, files))
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"no such file: {path} ({setting})")
    return list(paths)


def input_files(patterns: Sequence[str], setting: str, kind: str) -> list[InputFile]:
    """Return the files that a setting names with their positions; arguments and errors as for `matching_files`."""
    files: list[InputFile] = []
    for path in matching_files(patterns, setting, kind):
        files.append(InputFile(path, files[-1].start + files[-1].size if files else 0, path.stat().st_size))
    return files


def file_with(partition: Partition, files: Iterable[File]) -> File:
    """Return the file of a partition. Raises ValueError: no file is long enough any more."""
    for file in files:
        if file.start <= partition.start < partition.stop <= file.start + file.size:
            return file
    raise ValueError(f"partition {partition.name} is beyond the end of the files: they have become shorter")


def file_state(path: Path) -> tuple[int, int, int]:
    """Return a key that changes with the file, to cache its digest: size, modification time, and a number that differs
    at each call for a file written a moment ago, which can change again without a new modification time, else 0."""
    status = path.stat()
    settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NS
    return status.st_size, status.st_mtime_ns, 0 if settled else time.monotonic_ns()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, hex; a process reads the file once, until it changes."""
    return _digest(path, file_state(path))


@cache
def _digest(path: Path, _state: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_object(line: bytes) -> dict[str, Any]:
    """Return the object that a line of JSON, in UTF-8 with or without a mark, holds. Raises ValueError: it holds
    anything else."""
    try:
        content = json.loads(line.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("expected a JSON object, got one nested too deeply") from error
    if not isinstance(content, dict):
        raise ValueError(f"expected a JSON object, got {type(content).__name__}")
    return content


def digested(file: InputFile, ranges: Iterable[tuple[int, int]], salt: bytes = b"") -> Iterator[Partition]:
    """Yield a partition for each range of bytes of a file; its digest is the SHA-256 of `salt` and these bytes."""
    with file.path.open("rb") as stream:
        for start, stop in ranges:
            stream.seek(start)
            digest = hashlib.sha256(salt)
            for block in blocks(stream, stop - start):
                digest.update(block)
            name = f"{file.path} bytes {start}-{stop - 1}"
            yield Partition(name, digest.hexdigest(), file.start + start, file.start + stop)


def blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the next `size` bytes of a stream in blocks, or fewer at its end."""
    while size > 0 and (block := stream.read(min(BLOCK, size))):
        size -= len(block)
        yield block


@contextmanager
def unzipped(path: Path) -> Iterator[BinaryIO]:
    """Open a gzip file for reading while the block runs. Raises ValueError: it is damaged or cut short."""
    try:
        with gzip.open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: expected a whole gzip file, but {error}") from error
