"""Articles from JSONL files: one object a line, read in byte ranges."""

import glob
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic import Field

from tasks.engine.settings import Settings
from tasks.sources.file_state import file_state
from tasks.sources.source import Article, GivenDocument, Partition

FORMAT_VERSION = 1  # rises when the same bytes would give other articles
SPLITS = ("train", "valid", "test")
T = TypeVar("T")
_BLOCK = 1 << 20
_OPTIONAL_TEXTS = ("group", "split", "revision", "licence")


class RecordsSettings(Settings):
    """Which JSONL files articles are read from. Fields of a line: title, lead, references[, search_results, group,
    split, revision, licence, documents]; others are ignored.

    Where the first line of a file has `documents`, every line of it may: a list of objects with `text`, whose lines are
    paragraphs, or `paragraphs`, and if they like `url` and `title`. Such a line needs no `references`.
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

    @property
    def gives_documents(self) -> bool:
        """Whether its first line that is not blank has documents; malformed ones are seen to when they are read."""
        first = next((line for line in _lines(self, 0, self.size) if line.strip()), b"")
        try:
            return "documents" in json_object(first)
        except MalformedLineError:
            return False


class RecordsSource:
    """Articles of JSONL files. Partitions count bytes through all files in order, and none spans two files."""

    name = "records"

    def __init__(self, settings: RecordsSettings) -> None:
        self._settings = settings

    @property
    def gives_documents(self) -> bool:
        """Whether the first line of any file has documents."""
        return any(file.gives_documents for file in self._files())

    def partitions(self) -> list[Partition]:
        """Return byte ranges that begin and end with lines; a digest is the SHA-256 of the range's bytes.

        Reads every file once.

        Raises:
            FileNotFoundError: a file is missing, or nothing matches a pattern.
            ValueError: no path was given.
        """
        return [partition for file in self._files() for partition in self._cut(file)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a byte range.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a line is no article: names file, line (counted from 1 through the whole file), field, value
                and what was expected.
        """
        file = self._file(partition)
        return self.parse(partition, _article_with_documents if file.gives_documents else _article_without)

    def parse(self, partition: Partition, parser: Callable[[bytes], T]) -> Iterator[T]:
        """Yield what a parser makes of each line of a byte range that is not blank.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: the parser raised `MalformedLineError`: names file and line too.
        """
        file = self._file(partition)
        offset = 0 if file.zipped else partition.start - file.start
        for number, line in enumerate(_lines(file, offset, partition.stop - partition.start)):
            if line.strip():
                try:
                    yield parser(line)
                except MalformedLineError as error:
                    place = number + 1 + _lines_before(file.path, offset)
                    raise ValueError(f"{file.path}, line {place}: {error}") from error

    def _file(self, partition: Partition) -> _File:
        for file in self._files():
            if file.start <= partition.start < file.start + file.size:
                return file
        raise ValueError(f"partition {partition.name} lies past the end of the files: they have become shorter")

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

    def _cut(self, file: _File) -> tuple[Partition, ...]:
        return _partitions_of(file, self._settings.partition_bytes, file_state(file.path))


@cache
def _partitions_of(file: _File, partition_bytes: int, _state: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return ranges of about `partition_bytes`, each cut behind a newline, hashing on the way.

    A process reads a file for this once, until it changes: what checks a run before it starts asks for it as well.
    """

    def cut() -> Iterator[Partition]:
        limit = file.size if file.zipped else partition_bytes
        version = f"{FORMAT_VERSION}{'d' if file.gives_documents else ''}"
        with file.path.open("rb") as stream:
            start = 0
            while True:
                digest, size = hashlib.sha256(version.encode()), 0
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

    return tuple(cut())


class MalformedLineError(ValueError):
    """A line that is not what it should be."""


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


def _article_without(line: bytes) -> Article:
    """Return the article of a line in a file whose first line has no documents.

    Raises:
        MalformedLineError: it is none, or it has documents nevertheless.
    """
    article = _article_with_documents(line)
    if article.documents:
        raise MalformedLineError("field 'documents': expected it in the first line of the file too, if only as []")
    return article


def _article_with_documents(line: bytes) -> Article:
    """Return the article of a line.

    Raises:
        MalformedLineError: it is none.
    """
    entry = json_object(line)
    documents = _documents(entry)
    texts = {name: text_field(entry, name, optional=True) for name in _OPTIONAL_TEXTS}
    if texts["split"] not in (*SPLITS, None):
        raise MalformedLineError(f"field 'split': expected one of {', '.join(SPLITS)}, got {texts['split']!r}")
    return Article(
        title=text_field(entry, "title") or "",
        lead=text_field(entry, "lead") or "",
        references=text_list(entry, "references", optional=bool(documents)),
        search_results=text_list(entry, "search_results", optional=True),
        documents=documents,
        **texts,
    )


def _documents(entry: dict[str, Any]) -> tuple[GivenDocument, ...]:
    """Return the documents of an article; one without URL is called after its place.

    Raises:
        MalformedLineError: they are none.
    """
    values = entry.get("documents") or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise MalformedLineError(f"field 'documents': expected a list of objects, got {_shown(values)}")
    return tuple(_document(value, place) for place, value in enumerate(values, 1))


def _document(entry: dict[str, Any], place: int) -> GivenDocument:
    try:
        if ("text" in entry) == ("paragraphs" in entry):
            raise MalformedLineError(f"expected either field 'text' or 'paragraphs', got {_shown(entry)}")
        texts = (text_field(entry, "text") or "").split("\n") if "text" in entry else text_list(entry, "paragraphs")
        return GivenDocument(
            url=text_field(entry, "url", optional=True) or f"document:{place}",
            title=text_field(entry, "title", optional=True),
            paragraphs=tuple(" ".join(text.split()) for text in texts if text.strip()),
        )
    except MalformedLineError as error:
        raise MalformedLineError(f"document {place}: {error}") from error


def json_object(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line.

    Raises:
        MalformedLineError: it is none.
    """
    try:
        entry = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedLineError(f"expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedLineError(f"expected a JSON object, got {_shown(line)} ({error})") from error
    if not isinstance(entry, dict):
        raise MalformedLineError(f"expected a JSON object, got {_shown(line)}")
    return entry


def text_field(entry: dict[str, Any], name: str, *, optional: bool = False) -> str | None:
    """Return a field that is to be a text; None where it may be missing and is.

    Raises:
        MalformedLineError: it is none.
    """
    if optional and entry.get(name) is None:
        return None
    if name not in entry:
        raise MalformedLineError(f"field {name!r} is missing: expected a string")
    value = entry[name]
    if name == "revision" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # MediaWiki numbers its revisions
    if not isinstance(value, str):
        raise MalformedLineError(f"field {name!r}: expected a string, got {_shown(value)}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise MalformedLineError(f"field {name!r}: expected text, got half of a surrogate pair in {_shown(value)}")
    return value


def text_list(entry: dict[str, Any], name: str, *, optional: bool = False) -> tuple[str, ...]:
    """Return a field that is to be a list of texts; empty where it may be missing and is.

    Raises:
        MalformedLineError: it is none.
    """
    if optional and entry.get(name) is None:
        return ()
    if name not in entry:
        raise MalformedLineError(f"field {name!r} is missing: expected a list of strings")
    values = entry[name]
    if not isinstance(values, list):
        raise MalformedLineError(f"field {name!r}: expected a list of strings, got {_shown(values)}")
    for value in values:
        text_field({name: value}, name)
    return tuple(values)


def _shown(value: object) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
