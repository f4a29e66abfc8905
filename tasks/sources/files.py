"""Input files of a source: find them, find the file of a partition, detect changes, and read them. All malformed lines,
rows and titles are searched for; the first twenty are named, and the others counted."""

import glob
import gzip
import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from tasks.sources.source import Partition

if TYPE_CHECKING:
    import pyarrow as pa  # settings import this module without it

BLOCK = 1 << 18
_SETTLED_NS = 2_000_000_000  # modification times have a resolution of milliseconds, on some file systems of seconds


@dataclass(frozen=True)
class InputFile:
    """A file and its position in the concatenation of all files of the source."""

    path: Path
    start: int  # offset of its first byte in the concatenation
    size: int  # its size in bytes
    index: Path | None = None  # of the streams in it, where it is a dump that has one


def matching_files(patterns: Sequence[str], setting: str, kind: str) -> list[Path]:
    """Return the files that a setting names, in order, those of a pattern sorted by name, each once. Setting and kind
    of the files are named in messages. Raises FileNotFoundError: a file is missing, or nothing matches a pattern;
    ValueError: no pattern is given."""
    if not patterns:
        raise ValueError(f"{setting} is empty: expected at least one {kind} file")
    paths: dict[Path, None] = {}
    for pattern in patterns:
        files = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]  # noqa: PTH207 - may be absolute
        if not files:
            raise FileNotFoundError(f"no file matches {pattern!r} ({setting})")
        paths |= dict.fromkeys(map(Path, files))
    for path in paths:
        check_is_file(path, setting)
    return list(paths)


def check_is_file(path: Path, setting: str) -> None:
    """Check that a path is a file. Raises FileNotFoundError, which names the setting: it is a folder, or missing."""
    if path.is_dir():
        raise FileNotFoundError(f"{path} is a folder: expected a file ({setting})")
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path} ({setting})")


def input_files(patterns: Sequence[str], setting: str, kind: str) -> list[InputFile]:
    """Return the files that a setting names with their positions; arguments and errors as for `matching_files`."""
    files: list[InputFile] = []
    for path in matching_files(patterns, setting, kind):
        files.append(InputFile(path, files[-1].start + files[-1].size if files else 0, path.stat().st_size))
    return files


def file_with(partition: Partition, files: Iterable[InputFile]) -> InputFile:
    """Return the file of a partition. Raises ValueError: no file is long enough any more."""
    for file in files:
        if file.start <= partition.start < partition.stop <= file.start + file.size:
            return file
    raise ValueError(f"partition {partition.name} is beyond the end of the files: they have become shorter")


def file_state(path: Path) -> tuple[int, int, int]:
    """Return a key that changes with the file, to cache its digest: size, modification time, and a number. The number
    is 0, but differs at each call for a file written a moment ago, which can change again without a new modification
    time."""
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


T = TypeVar("T")
R = TypeVar("R")
_MOST_NAMED = 20


@dataclass
class Malformed:
    """The malformed lines, entries or titles of an input."""

    number: int = 0  # how many there are
    named: list[str] = field(default_factory=list)  # what is wrong with the first ones, each with its place

    def add(self, message: str) -> None:
        """Count one; the message names its place and what is wrong with it."""
        self.number += 1
        if len(self.named) < _MOST_NAMED:
            self.named.append(message)

    def check(self, more: str = "") -> None:
        """Refuse the input if there is any. `more`: a further remark on their number. Raises ValueError: names
        the first ones, and says how many there are if there are several."""
        if self.number:
            total = [f"{self.number} malformed in all{more}"] if self.number > 1 or more else []
            raise ValueError("\n  ".join([*self.named, *total]))


def parsed(
    rows: Iterable[tuple[int, R]],
    parser: Callable[[R], T],
    wrong: type[ValueError],
    named: Callable[[int], str],
    *,
    refused: Callable[[int], T] | None,
    allowed: int,
    every: Iterable[R],
) -> Iterator[T]:
    """Yield a parser's results for the rows of a part of a file, given with their places, until there are too many
    malformed rows, for which the parser raises `wrong`. `named` returns the name of a place, for messages. `refused`
    returns the result for a malformed row, None = none is allowed. The file may have `allowed` of them; `every` are all
    its rows, which are read only to count malformed ones. Raises ValueError: there are more: names the first twenty of
    the part, and how many there are."""
    result, number = Malformed(), 0
    for place, row in rows:
        try:
            content = parser(row)
        except wrong as error:
            number = number or (_number_among(every, parser, wrong) if allowed else 1)
            if refused is not None and number <= allowed:
                yield refused(place)
            else:
                result.add(f"{named(place)}: {error}")
        else:
            if not result.number:
                yield content
    result.check(f"; the file has {number}, source.malformed allows {allowed}" if allowed else "")


def _number_among(rows: Iterable[R], parser: Callable[[R], object], wrong: type[ValueError]) -> int:
    """Return how many rows a parser refuses; slow, so it is called only if there is one."""
    number = 0
    for row in rows:
        try:
            parser(row)
        except wrong:
            number += 1
    return number


def parquet_rows(batches: Iterable["pa.RecordBatch"]) -> Iterator[dict[str, Any]]:
    """Yield rows one by one: as Python objects, those of a whole batch would take too much memory."""
    for batch in batches:
        for number in range(batch.num_rows):
            yield batch.slice(number, 1).to_pylist()[0]
