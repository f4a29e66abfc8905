"""Published summarization corpora as a source: a row of a file is an article with its documents and its summary. The
layout of the corpus (`collections.toml`) says where they are."""

import csv
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from io import TextIOWrapper
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO

import ijson
import pyarrow as pa
import pyarrow.parquet as pq

from models.sentences import first_sentence, split_sentences
from models.words import cut, written_words
from tasks.engine.data_files import read_data
from tasks.sources.files import check_is_file, file_state, json_object, matching_files, parquet_rows, parsed, unzipped
from tasks.sources.settings import CollectionSettings
from tasks.sources.source import Article, ArticleReason, GivenDocument, Partition

FORMAT_VERSION = 1  # rises when the same rows would give other articles
_ROWS = 1000  # of a partition, whose documents are in memory: 10 MB of news, 50 MB of WCEP
_FILE = 1 << 32  # rows by which the numbers of a file's partitions are shifted


@dataclass(frozen=True)
class CollectionLayout:
    """The columns of a row."""

    documents: Sequence[str]  # columns of documents, in order: a string, a list, or an object of documents by name
    summary: str  # column of the target
    text: str = "text"  # field of a document that is an object
    title: str = ""  # column of the title; "" = none
    id: str = ""  # column of a unique name; "" = none
    split: str = "split"  # column of the split, which rows may lack: then it is that of the file's name
    # The separator between the documents of one string; none = the string is one document
    separators: Sequence[str] = ()
    line_break: str = ""  # the mark of a line break; "" = none
    most: int | None = None  # documents read of a row; None = all
    licence: str = ""  # column of the licence of the summary; "" = none
    group: str = ""  # column of a row's group, for the splits; "" = none
    lines: bool = False  # whether the lines of a document are its paragraphs unchanged, and those of a summary stay

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that every row has."""
        return (*self.documents, self.summary, *filter(None, (self.title, self.id, self.licence, self.group)))


SOURCE, TARGET = "src", "tgt"  # columns of parallel files, by the ends of their names

_PUBLISHED = {
    name: CollectionLayout(**fields) for name, fields in read_data("tasks.sources", "collections.toml").items()
}


@dataclass(frozen=True)
class CollectionSource:
    """Rows of files, in partitions of 1,000; up to `malformed` rows of a file are refused."""

    settings: CollectionSettings
    partition_rows: int = _ROWS
    malformed: int = 0
    gives_documents = True

    @property
    def layout(self) -> CollectionLayout:
        """The chosen layout: a published one, or the columns of the settings."""
        chosen = self.settings
        if chosen.layout != "columns":
            return _PUBLISHED[chosen.layout]
        separators = (chosen.separator,) if chosen.separator else ()
        names = chosen.columns
        return CollectionLayout(
            (names.get("documents", "documents"),),
            names.get("summary", "summary"),
            title=names.get("title", ""),
            id=names.get("id", ""),
            separators=separators,
        )

    def partitions(self) -> list[Partition]:
        """Return ranges of rows; a digest covers the rows, the name of their file and the settings. Raises ValueError
        also if two files have one name, or a file is empty or lacks a column."""
        recipe = json.dumps([FORMAT_VERSION, self.settings.model_dump(exclude={"paths"})])
        results = []
        for number, path in enumerate(self._files()):
            for start, stop, digest in _ranges(path, self.layout.needed, recipe, self.partition_rows, _state(path)):
                name = f"{path} rows {start + 1}-{stop}"
                results.append(Partition(name, digest, number * _FILE + start, number * _FILE + stop))
        return results

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of some rows; one that is not of the layout is refused (`malformed_row`)."""
        number, start = divmod(partition.start, _FILE)
        path = self._files()[number]
        layout, split = self.layout, split_of(path.name)
        stop = start + partition.stop - partition.start

        def article(numbered: tuple[int, Row]) -> Article:
            place, row = numbered
            return article_of(parse_row(row), layout, f"{path.name}:{place}", split, self.settings.paragraph_words)

        def refused(place: int) -> Article:
            name, reason = f"{path.name}, row {place}", ArticleReason.MALFORMED_ROW
            return Article(name, split=split, drop_reason=reason, id=f"{path.name}:{place}")

        return parsed(
            ((place, (place, row)) for place, row in enumerate(_whole(path, start, stop), start + 1)),
            article,
            ValueError,
            lambda place: f"{path}, row {place}",
            refused=refused,
            allowed=self.malformed,
            every=enumerate(rows(path), 1),
        )

    def _files(self) -> list[Path]:
        files = matching_files(self.settings.paths, "source.collection.paths", "data")
        names = [path.name for path in files]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"source.collection.paths has two files {twice!r}: expected different names, as rows are named by them"
            )
        return files


Row = bytes | tuple[bytes, bytes] | Any  # a line of JSON, parallel lines, or the columns of a row
_BATCH = 64  # rows of Parquet in memory
_BEYOND = "\0"  # name of the fields of a row of CSV that has more of them than the header
_KINDS = ".jsonl, .json, .csv, .tsv, .parquet or .src, text also with .gz"
csv.field_size_limit(sys.maxsize)  # a field holds whole documents; the default ends at 131,072 characters


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; `parse_row` reads one. Raises ValueError: the file is of another kind, damaged, or its
    parallel file has other lines; FileNotFoundError: its parallel file is missing."""
    suffixes = path.name.removesuffix(".gz").split(".")[1:]
    try:
        if SOURCE in suffixes:
            yield from _parallel(path)
            return
        match suffixes[-1:]:
            case ["parquet"]:
                yield from parquet_rows(pq.ParquetFile(path).iter_batches(_BATCH))
            case ["csv" | "tsv" as kind]:
                with _open(path) as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as text:
                    delimiter = "," if kind == "csv" else "\t"
                    yield from csv.DictReader(text, delimiter=delimiter, restkey=_BEYOND, strict=True)
            case ["json" | "jsonl" as kind]:
                with _open(path) as stream:
                    beginning = stream.read(1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip() if kind == "json" else b""
                    stream.seek(0)
                    is_array = beginning.startswith(b"[")
                    yield from ijson.items(stream, "item", use_float=True) if is_array else filter(bytes.strip, stream)
            case _:
                raise ValueError(f"expected a file ending in {_KINDS}")
    except (ValueError, csv.Error, ijson.JSONError, pa.ArrowException) as error:
        if isinstance(error, UnicodeDecodeError):
            error = ValueError(f"expected UTF-8, got the byte {error.object[error.start]:#04x}")
        named = str(error).startswith(f"{path}: ")
        raise ValueError((str(error) if named else f"{path}: {error}").replace("\n", " ")) from error


def parse_row(row: Row) -> Mapping[str, Any]:
    """Return the columns of a row. Raises ValueError: it is not a JSON object, not UTF-8, or has more fields than
    columns."""
    if isinstance(row, tuple):
        return {SOURCE: row[0].decode(), TARGET: row[1].decode()}
    content = json_object(row) if isinstance(row, bytes) else row
    if not isinstance(content, Mapping):
        raise ValueError(f"expected a JSON object, got {type(content).__name__}")
    if _BEYOND in content:
        raise ValueError(f"expected as many fields as columns, got {len(content[_BEYOND])} more")
    return content


def row_bytes(row: Row) -> bytes:
    """Return what a digest of a row is computed from."""
    if isinstance(row, tuple):
        return b"\0".join(row)
    return row if isinstance(row, bytes) else json.dumps(row, sort_keys=True, default=str).encode()


def _open(path: Path) -> AbstractContextManager[BinaryIO]:
    return unzipped(path) if path.suffix == ".gz" else path.open("rb")


def _parallel(path: Path) -> Iterator[tuple[bytes, bytes]]:
    other = path.with_name(f".{TARGET}".join(path.name.rsplit(f".{SOURCE}", 1)))
    check_is_file(other, f"the summaries of {path.name}")
    with _open(path) as sources, _open(other) as targets:
        for source, target in zip_longest(sources, targets):
            if source is None or target is None:
                got = "fewer" if source is None else "more"
                raise ValueError(f"expected as many lines as {other.name} has, got {got}")
            yield source, target


def _whole(path: Path, start: int, stop: int) -> Iterator[Row]:
    """Yield a range of rows. Raises ValueError: the file is damaged or has become shorter."""
    result = 0
    for row in islice(rows(path), start, stop):
        result += 1
        yield row
    if result < stop - start:
        raise ValueError(f"{path}: expected rows {start + 1} to {stop}: it has become shorter")


def _state(path: Path) -> tuple[tuple[int, int, int], ...]:
    parallel = path.parent.glob(f"{path.name.split(f'.{SOURCE}')[0]}.*") if f".{SOURCE}" in path.name else [path]
    return tuple(file_state(file) for file in sorted(parallel))


@cache
def _ranges(
    path: Path, needed: Sequence[str], recipe: str, size: int, _states: tuple[tuple[int, int, int], ...]
) -> tuple[tuple[int, int, str], ...]:
    """Return first row, one past the last, and digest of each partition of a file; once per process and state."""
    ranges = []
    start = stop = 0
    checked = False
    digest = hashlib.sha256()
    for stop, row in enumerate(rows(path), 1):
        checked = checked or _has_columns(path, row, needed)
        if stop - 1 == start:
            digest = hashlib.sha256(f"{recipe}|{path.name}|{start}".encode())
        digest.update(row_bytes(row))
        if stop - start == size:
            ranges.append((start, stop, digest.hexdigest()))
            start = stop
    if stop == 0:
        raise ValueError(f"{path}: expected rows, but it is empty")
    if stop > start:
        ranges.append((start, stop, digest.hexdigest()))
    return tuple(ranges)


def _has_columns(path: Path, row: Row, needed: Sequence[str]) -> bool:
    """Check the columns of the first row that has any; False for one that is malformed, which is found when it is read.
    Raises ValueError: a column is missing."""
    try:
        columns = parse_row(row)
    except ValueError:
        return False
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ValueError(f"{path}: expected a column {missing[0]!r}, got {', '.join(map(str, columns)) or 'none'}")
    return True


_TITLE_WORDS = 12  # words of a document's beginning, if a row has no title
_SPLITS = {"train": "train", "valid": "valid", "validation": "valid", "val": "valid", "dev": "valid", "test": "test"}
_IN_NAME = re.compile(f"(?:^|[^a-z])({'|'.join(_SPLITS)})(?:[^a-z]|$)")
_NAMES = ("url", "archive_url", "id")  # of a document that is an object


def article_of(
    row: Mapping[str, Any], layout: CollectionLayout, name: str, split: str | None, paragraph_words: int | None
) -> Article:
    """Return the article of a row. `name`, of file and row, identifies it where its layout has no id; `split` is that
    of its file, for a row that names none. A paragraph has at most `paragraph_words`; None = a document is one
    paragraph. Raises ValueError: a column holds another kind of value."""
    results = [document for column in layout.documents for document in _documents(row.get(column), layout, column)]
    documents = tuple(
        GivenDocument(
            url or f"document:{number}", title, tuple(_paragraphs(_broken(text, layout), layout, paragraph_words))
        )
        for number, (text, title, url) in enumerate(results[: layout.most], 1)
    )
    summary = _broken(_string(row, layout.summary), layout)
    own = row.get(layout.id) if layout.id else None
    # Without a title, that of the first document that has one, else the beginning of the first text
    titles = (document.title for document in documents if document.title)
    texts = (first_sentence(text) for document in documents for text in document.paragraphs)
    beginning = " ".join(next(titles, next(texts, "")).split()[:_TITLE_WORDS])
    return Article(
        title=_string(row, layout.title) or beginning or name,
        lead=summary if layout.lines else " ".join(summary.split()),
        references=(),
        split=_split(_string(row, layout.split)) or split,
        group=_string(row, layout.group) or None,
        licence=_string(row, layout.licence) or None,
        documents=documents,
        id=name if own is None else str(own),
        published_target=True,
    )


def split_of(name: str) -> str | None:
    """Return the split that a file's name says, None if it says none."""
    match = _IN_NAME.search(name.lower())
    return _SPLITS[match[1]] if match else None


def _split(value: str) -> str | None:
    if value and value.lower() not in _SPLITS:
        raise ValueError(f"column 'split': expected one of {', '.join(_SPLITS)}, got {value!r}")
    return _SPLITS[value.lower()] if value else None


def _string(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column) if column else None
    if value is not None and not isinstance(value, str):
        raise ValueError(f"column {column!r}: expected a string, got {type(value).__name__}")
    return value or ""


def _documents(value: Any, layout: CollectionLayout, column: str) -> Iterator[tuple[str, str | None, str | None]]:
    match value:
        case None:
            return
        case str():
            parts = re.split("|".join(map(re.escape, layout.separators)), value) if layout.separators else [value]
            # The text before the first separator or after the last one is often blank: then it is not a document.
            yield from ((text, None, None) for text in parts if text.strip())
        case Mapping() if layout.text in value and isinstance(value[layout.text], list):  # columns of a struct
            yield from _documents(value[layout.text], layout, column)
        case list() | Mapping():
            for part in value if isinstance(value, list) else value.values():
                yield _document(part, layout, column)
        case _:
            raise ValueError(f"column {column!r}: expected documents, got {type(value).__name__}")


def _document(part: Any, layout: CollectionLayout, column: str) -> tuple[str, str | None, str | None]:
    if isinstance(part, str):
        return part, None, None
    if not isinstance(part, Mapping) or not isinstance(part.get(layout.text) or "", str):
        raise ValueError(f"column {column!r}: expected strings or objects with {layout.text!r}, got {part!r:.60}")
    url = next((part[name] for name in _NAMES if isinstance(part.get(name), str) and part[name]), None)
    title = part.get("title")
    return part.get(layout.text) or "", title if isinstance(title, str) and title else None, url


def _broken(text: str, layout: CollectionLayout) -> str:
    return text.replace(layout.line_break, "\n") if layout.line_break else text


def _paragraphs(text: str, layout: CollectionLayout, most: int | None) -> Iterator[str]:
    """Yield the lines of a text, unless the layout says otherwise those of more than `most` words in pieces of whole
    sentences."""
    if layout.lines:
        yield from filter(None, text.split("\n"))
        return
    if most is None:
        yield from filter(None, [" ".join(text.split())])
        return
    for line in text.splitlines():
        line = " ".join(line.split())
        start = end = words = 0  # of the piece
        for sentence in split_sentences(line):
            # A sentence longer than a paragraph, as in text without full stops, is cut.
            for part in cut(sentence, most):
                begin, length = line.index(part, end), len(written_words(part))
                if words and words + length > most:
                    yield line[start:end]
                    start, words = begin, 0
                words, end = words + length, begin + len(part)
        if words:
            yield line[start:end]
