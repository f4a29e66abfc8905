"""Input files of a source: which there are, which holds a partition, what tells that one has changed, and its bytes."""

import glob
import gzip
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from tasks.sources.source import Partition

BLOCK = 1 << 18
_SETTLED_NS = 2_000_000_000  # file systems' clocks tick in milliseconds, some in seconds


@dataclass(frozen=True)
class InputFile:
    """A file and where its bytes begin, counted through all files of the source.

    Attributes:
        path: where it is.
        start: number of its first byte.
        size: its bytes.
    """

    path: Path
    start: int
    size: int


File = TypeVar("File", bound=InputFile)


def matching_files(patterns: Sequence[str], setting: str, kind: str) -> list[Path]:
    """Return the files that a setting names, in its order, those of a pattern sorted by name, each once.

    Args:
        patterns: paths, which may hold *, ? or [ ].
        setting: name of the setting, for messages.
        kind: what kind of file is expected.

    Raises:
        FileNotFoundError: a file is missing, or nothing matches a pattern.
        ValueError: there is no pattern.
    """
    if not patterns:
        raise ValueError(f"{setting} is empty: expected at least one {kind} file")
    paths: dict[Path, None] = {}
    for pattern in patterns:
        found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]  # noqa: PTH207 - may be absolute
        if not found:
            raise FileNotFoundError(f"no file matches {pattern!r} ({setting})")
        paths |= dict.fromkeys(map(Path, found))
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"no such file: {path} ({setting})")
    return list(paths)


def file_with(partition: Partition, files: Iterable[File]) -> File:
    """Return the file that holds a partition.

    Raises:
        ValueError: none does any more.
    """
    for file in files:
        if file.start <= partition.start < partition.stop <= file.start + file.size:
            return file
    raise ValueError(f"partition {partition.name} lies past the end of the files: they have become shorter")


def file_state(path: Path) -> tuple[int, int, int]:
    """Return what changes when the file does, so that a process digests it once: its size, time of change, a number.

    The number is 0 for a file that has lain still for a while; one that was written a moment ago can change again
    within the same tick of its clock, so that it is new each time.
    """
    found = path.stat()
    settled = time.time_ns() - found.st_mtime_ns > _SETTLED_NS
    return found.st_size, found.st_mtime_ns, 0 if settled else time.monotonic_ns()


def blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the next bytes of a stream, or those that there are."""
    while size > 0 and (block := stream.read(min(BLOCK, size))):
        size -= len(block)
        yield block


@contextmanager
def unzipped(path: Path) -> Iterator[BinaryIO]:
    """Open a gzip file for reading while the block runs.

    Raises:
        ValueError: it is damaged or cut short.
    """
    try:
        with gzip.open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: expected a whole gzip file, but {error}") from error
