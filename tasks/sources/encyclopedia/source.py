"""Encyclopedias that others have already parsed as a source: a row is a page, an article or refused with a reason. Rows
are read in parts: byte ranges of lines, row groups of Parquet, whole archives."""

import hashlib
import json
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.sources.dump.source import PageRules
from tasks.sources.encyclopedia import entry, parsoid
from tasks.sources.encyclopedia.entry import EncyclopediaPage
from tasks.sources.files import (
    InputFile,
    digested,
    file_digest,
    file_state,
    file_with,
    input_files,
    json_object,
    parquet_rows,
    parsed,
)
from tasks.sources.records import line_partitions, lines_of
from tasks.sources.settings import EncyclopediaLayout, EncyclopediaSettings, WikitextSettings
from tasks.sources.source import Article, ArticleReason, Partition

FORMAT_VERSION = 3  # rises when the same rows would give other articles
_SETTING = "source.encyclopedia.paths"
_COLUMNS = (  # of Parquet
    *("name", "identifier", "main_entity", "namespace", "version", "license", "abstract", "sections", "references"),
    *("templates", "categories", "article_body", "title", "wikicode", "last_revision", "elements"),
)
_LAYOUTS: Mapping[EncyclopediaLayout, Callable[[Mapping[str, Any], WikitextSettings], EncyclopediaPage]] = {
    "structured": entry.structured_entry,
    "megawika": entry.megawika_entry,
    "html": parsoid.parsoid_entry,
}
_LINES = (".jsonl", ".ndjson", ".json")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "lines": (*_LINES, *(f"{ending}.gz" for ending in _LINES)),
    "archives": (".tar.gz", ".tgz"),
    "Parquet": (".parquet",),
}
_BATCH = 64  # rows of Parquet in memory
Row = bytes | Mapping[str, Any]  # a line of JSON, or the columns of a row


class MalformedRowError(ValueError):
    """A row that is not of its layout, in a file that is whole."""


@dataclass(frozen=True)
class EncyclopediaSource:
    """Rows of files; which pages are articles is decided as for a dump."""

    settings: EncyclopediaSettings
    wikitext: WikitextSettings
    partition_bytes: int = 64_000_000
    malformed: int = 0  # rows of a file that may be refused
    gives_documents = False

    def partitions(self) -> list[Partition]:
        """Return byte ranges of lines, runs of row groups, or whole archives, which can be read only from their
        beginning; a digest covers the bytes of the rows, the layout and the settings of wikitext. Raises ValueError
        also if files are of different kinds, or a file's first row is not of the layout and no such row is allowed."""
        recipe = json.dumps([FORMAT_VERSION, self.settings.layout, self.wikitext.recipe()], sort_keys=True)
        parts = []
        for file in self._files():
            of_file = list(self._parts(file))
            for first in of_file[:1]:
                next(self.read(first), None)
            parts += of_file
        return [replace(part, digest=hashlib.sha256(f"{recipe}|{part.digest}".encode()).hexdigest()) for part in parts]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield an article for each row of a part; one that is not of the layout is refused (`malformed_row`). A line,
        or some rows of Parquet, are in memory at a time."""
        file = file_with(partition, self._files())
        rules, layout = PageRules(self.wikitext), self.settings.layout

        def named(number: int) -> str:
            return f"{file.path.name}, row {number} from byte {partition.start - file.start}"

        def article(row: Row) -> Article:
            try:
                content = json_object(row) if isinstance(row, bytes) else row
                page = _LAYOUTS[layout](content, self.wikitext)
            except (ValueError, RecursionError) as error:
                raise MalformedRowError(str(error)) from error
            return page.article(rules, self.wikitext.licence)

        def every() -> Iterator[Row]:  # no generator expression, which would cut the whole file for each of its parts
            for part in self._parts(file):
                yield from _rows(file, part)

        return parsed(
            enumerate(_rows(file, partition), 1),
            article,
            MalformedRowError,
            lambda number: f"{file.path.parent / named(number)} (source.encyclopedia.layout {layout})",
            refused=lambda number: Article(named(number), drop_reason=ArticleReason.MALFORMED_ROW),
            allowed=self.malformed,
            every=every(),
        )

    def _files(self) -> list[InputFile]:
        files = input_files(self.settings.paths, _SETTING, "data")
        kinds = [_kind(file.path) for file in files]
        other = next((index for index, kind in enumerate(kinds) if kind != kinds[0]), None)
        if other is not None:
            raise ValueError(
                f"{_SETTING}: expected files of one kind, got {kinds[0]} ({files[0].path}) and {kinds[other]} "
                f"({files[other].path})"
            )
        return files

    def _parts(self, file: InputFile) -> Iterable[Partition]:
        match _kind(file.path):
            case "lines":
                return line_partitions(file, self.partition_bytes, file_state(file.path))
            case "Parquet":
                return _row_groups(file, self.partition_bytes, file_state(file.path))
        return [Partition(str(file.path), file_digest(file.path), file.start, file.start + file.size)]


def _kind(path: Path) -> str:
    for kind, endings in _KINDS.items():
        if path.name.lower().endswith(endings):
            return kind
    known = ", ".join(ending for endings in _KINDS.values() for ending in endings)
    raise ValueError(f"{path}: expected a file ending in {known}")


def _rows(file: InputFile, partition: Partition) -> Iterator[Row]:
    """Yield the rows of a partition. Raises ValueError: the file is damaged, cut short or has become shorter, or an
    archive holds no lines of JSON."""
    kind = _kind(file.path)
    if kind == "lines":
        yield from filter(bytes.strip, lines_of(file, partition.start - file.start, partition.stop - partition.start))
        return
    with _named(file.path):
        yield from _archived_lines(file.path) if kind == "archives" else _parquet_rows(file, partition)


def _parquet_rows(file: InputFile, partition: Partition) -> Iterator[Row]:
    with pq.ParquetFile(file.path) as parquet:
        starts = (file.start + start for start, _ in _group_bytes(parquet))
        groups = [number for number, start in enumerate(starts) if partition.start <= start < partition.stop]
        columns = [name for name in _COLUMNS if name in parquet.schema_arrow.names]
        yield from parquet_rows(parquet.iter_batches(_BATCH, groups, columns))


def _archived_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of an archive's files of JSON, without blank ones. Raises ValueError: it holds no such file."""
    result = False
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            if member.isfile() and member.name.lower().endswith(_LINES):
                result = True
                lines = archive.extractfile(member)
                assert lines is not None
                yield from filter(bytes.strip, lines)
    if not result:
        raise ValueError(f"{path}: expected an archive with files ending in {', '.join(_LINES)}, found none")


def _group_bytes(parquet: pq.ParquetFile) -> Iterator[tuple[int, int]]:
    """Yield first byte and byte after the last of each row group."""
    for number in range(parquet.num_row_groups):
        group = parquet.metadata.row_group(number)
        columns = [group.column(index) for index in range(group.num_columns)]
        starts = [
            column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
            for column in columns
        ]
        stops = (start + column.total_compressed_size for start, column in zip(starts, columns, strict=True))
        yield min(starts), max(stops)


@cache
def _row_groups(file: InputFile, size: int, _state: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return runs of row groups of about `size` bytes, with their hashes; once per process and state of the file."""
    with _named(file.path), pq.ParquetFile(file.path) as parquet:
        schema = str(parquet.schema_arrow).encode()
        groups = list(_group_bytes(parquet))
    ranges = []
    while groups:
        start = stop = groups[0][0]
        while groups and stop - start < size:
            stop = groups.pop(0)[1]
        ranges.append((start, stop))
    return tuple(digested(file, ranges, schema))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in the error for a damaged one."""
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError, pa.ArrowException) as error:
        raise ValueError(f"{path}: expected a whole file of its kind, but {error}".replace("\n", " ")) from error
