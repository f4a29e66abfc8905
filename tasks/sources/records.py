"""Articles from JSONL files: one object a line, read in byte ranges."""

import glob
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import Field

from tasks.settings import Settings
from tasks.sources.source import Article, Partition

FORMAT_VERSION = 1  # rises when the same bytes would give other articles
SPLITS = ("train", "valid", "test")
_BLOCK = 1 << 20
_OPTIONAL_TEXTS = ("group", "split", "revision", "licence")


class RecordsSettings(Settings):
    """Which JSONL files articles are read from. Fields of a line: title, lead, references[, search_results, group,
    split, revision, licence]; others are ignored.
    """

    paths: tuple[str, ...] = Field((), description="JSONL files, also gzip (.gz); a path may hold *, ? or [ ]")
    partition_bytes: int = Field(
        64_000_000, ge=1, description="bytes of a partition; it ends with the line that passes them. A .gz file is one"
    )


@dataclass(frozen=True)
class _File:
    """One of the files and where its bytes begin, counted through all files."""

    path: Path
    start: int
    size: int

    @property
    def zipped(self) -> bool:
        return self.path.suffix == ".gz"


class RecordsSource:
    """Articles of JSONL files. Partitions count bytes through all files in order, and none spans two files."""

    name = "records"

    def __init__(self, settings: RecordsSettings) -> None:
        self._settings = settings

    def partitions(self) -> list[Partition]:
        """Return byte ranges that begin and end with lines; a digest is the SHA-256 of the range's bytes.

        Reads every file once.

        Raises:
            FileNotFoundError: a file is missing, or nothing matches a pattern.
            ValueError: no path was given.
        """
        return [partition for file in self._files() for partition in self._partitions_of(file)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a byte range.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a line is no article: names file, line (counted from 1 through the whole file), field, value
                and what was expected.
        """
        file = next((file for file in self._files() if file.start <= partition.start < file.start + file.size), None)
        if file is None:
            raise ValueError(f"partition {partition.name} lies past the end of the files: they have become shorter")
        offset = 0 if file.zipped else partition.start - file.start
        for number, line in enumerate(_lines(file, offset, partition.stop - partition.start)):
            if line.strip():
                try:
                    yield _article(line)
                except _MalformedError as error:
                    place = number + 1 + _lines_before(file.path, offset)
                    raise ValueError(f"{file.path}, line {place}: {error}") from error

    def _files(self) -> list[_File]:
        """Return the files in the order of the settings, those of a pattern sorted by name."""
        if not self._settings.paths:
            raise ValueError("source.records.paths is empty: expected at least one JSONL file")
        paths: list[Path] = []
        for path in self._settings.paths:
            found = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else [path]  # noqa: PTH207 - may be absolute
            if not found:
                raise FileNotFoundError(f"no file matches {path!r} (source.records.paths)")
            paths += [Path(name) for name in found if Path(name) not in paths]
        files, start = [], 0
        for entry in paths:
            if not entry.is_file():
                raise FileNotFoundError(f"no such file: {entry} (source.records.paths)")
            files.append(_File(entry, start, entry.stat().st_size))
            start += files[-1].size
        return files

    def _partitions_of(self, file: _File) -> Iterator[Partition]:
        """Yield ranges of about `partition_bytes`, each cut behind a newline, hashing on the way."""
        limit = file.size if file.zipped else self._settings.partition_bytes
        with file.path.open("rb") as stream:
            start = 0
            while True:
                digest, size = hashlib.sha256(str(FORMAT_VERSION).encode()), 0
                while size < limit and (block := stream.read(min(_BLOCK, limit - size))):
                    digest.update(block)
                    size += len(block)
                if size and not file.zipped and not block.endswith(b"\n"):
                    rest = stream.readline()
                    digest.update(rest)
                    size += len(rest)
                if not size:
                    return
                name = f"{file.path} bytes {start}-{start + size - 1}"
                yield Partition(name, digest.hexdigest(), file.start + start, file.start + start + size)
                start += size


class _MalformedError(ValueError):
    """A line that is no article."""


def _lines(file: _File, offset: int, size: int) -> Iterator[bytes]:
    """Yield the lines of a byte range, or all of a gzip file's, holding one at a time.

    Raises:
        ValueError: the gzip file is damaged.
    """
    if file.zipped:
        try:
            with gzip.open(file.path, "rb") as stream:
                yield from stream
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{file.path}: expected a whole gzip file, but {error}") from error
        return
    with file.path.open("rb") as plain:
        plain.seek(offset)
        while size > 0 and (line := plain.readline()):
            size -= len(line)
            yield line


def _lines_before(path: Path, offset: int) -> int:
    """Return how many lines end before a byte; counted only where a message needs it."""
    with path.open("rb") as stream:
        return sum(block.count(b"\n") for block in _blocks(stream, offset))


def _blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    while size > 0 and (block := stream.read(min(_BLOCK, size))):
        size -= len(block)
        yield block


def _article(line: bytes) -> Article:
    """Return the article of a line.

    Raises:
        _MalformedError: it is none.
    """
    try:
        entry = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _MalformedError(f"expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    except (ValueError, RecursionError) as error:
        raise _MalformedError(f"expected a JSON object, got {_shown(line)} ({error})") from error
    if not isinstance(entry, dict):
        raise _MalformedError(f"expected a JSON object, got {_shown(line)}")
    texts = {name: _text(entry, name, optional=True) for name in _OPTIONAL_TEXTS}
    if texts["split"] not in (*SPLITS, None):
        raise _MalformedError(f"field 'split': expected one of {', '.join(SPLITS)}, got {texts['split']!r}")
    return Article(
        title=_text(entry, "title") or "",
        lead=_text(entry, "lead") or "",
        references=_urls(entry, "references"),
        search_results=_urls(entry, "search_results", optional=True),
        **texts,
    )


def _text(entry: dict[str, Any], name: str, *, optional: bool = False) -> str | None:
    if optional and entry.get(name) is None:
        return None
    if name not in entry:
        raise _MalformedError(f"field {name!r} is missing: expected a string")
    value = entry[name]
    if name == "revision" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # MediaWiki numbers its revisions
    if not isinstance(value, str):
        raise _MalformedError(f"field {name!r}: expected a string, got {_shown(value)}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise _MalformedError(f"field {name!r}: expected text, got half of a surrogate pair in {_shown(value)}")
    return value


def _urls(entry: dict[str, Any], name: str, *, optional: bool = False) -> tuple[str, ...]:
    if optional and entry.get(name) is None:
        return ()
    if name not in entry:
        raise _MalformedError(f"field {name!r} is missing: expected a list of strings")
    values = entry[name]
    if not isinstance(values, list):
        raise _MalformedError(f"field {name!r}: expected a list of strings, got {_shown(values)}")
    for value in values:
        _text({name: value}, name)
    return tuple(values)


def _shown(value: object) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
