"""Encyclopedias that others have already parsed as a source: a row is a page, an article or refused with a reason. Rows
are read in parts: byte ranges of lines, row groups of Parquet, whole archives."""

import hashlib
import json
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.sources.dump.articles import PageRules
from tasks.sources.encyclopedia import megawika, parsoid, structured
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

Row = bytes | Mapping[str, Any]  # a line of JSON, or the columns of a row
_LINES = (".jsonl", ".ndjson", ".json")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "lines": (*_LINES, *(f"{ending}.gz" for ending in _LINES)),
    "archives": (".tar.gz", ".tgz"),
    "Parquet": (".parquet",),
}
_BATCH = 64  # rows of Parquet in memory


@dataclass(frozen=True)
class Rows:
    """The rows of files of one kind, in partitions of which each is a part of one file."""

    files: Sequence[InputFile]  # in order
    kind: str  # lines | archives | Parquet
    columns: Sequence[str]  # those of Parquet that are read
    size: int  # bytes of a partition, about

    def partitions(self) -> list[Partition]:
        """Return byte ranges of lines, runs of row groups, or whole archives, which can be read only from their
        beginning; a digest covers the bytes of the rows. Reads every file once. Raises ValueError: a file is
        damaged."""
        return [part for file in self.files for part in _CUT[self.kind](file, self.size, file_state(file.path))]

    def read(self, partition: Partition) -> Iterator[Row]:
        """Yield the rows of a partition; a line, or some rows of Parquet, are in memory at a time. Raises ValueError:
        the file is damaged, cut short or has become shorter, or an archive holds no lines of JSON."""
        file = file_with(partition, self.files)
        if self.kind == "lines":
            lines = lines_of(file, partition.start - file.start, partition.stop - partition.start)
            yield from filter(bytes.strip, lines)
            return
        with _named(file.path):
            yield from _archived_lines(file.path) if self.kind == "archives" else self._parquet_rows(file, partition)

    def _parquet_rows(self, file: InputFile, partition: Partition) -> Iterator[Row]:
        with pq.ParquetFile(file.path) as parquet:
            starts = (file.start + start for start, _ in _group_bytes(parquet))
            groups = [number for number, start in enumerate(starts) if partition.start <= start < partition.stop]
            columns = [name for name in self.columns if name in parquet.schema_arrow.names]
            yield from parquet_rows(parquet.iter_batches(_BATCH, groups, columns))


def rows_in(paths: Sequence[str], setting: str, columns: Sequence[str], partition_bytes: int) -> Rows:
    """Return the rows of some files, which are of one kind, known by their endings. Raises FileNotFoundError: a file is
    missing, or nothing matches a pattern; ValueError: there is no path, or the files are of different or unknown
    kinds."""
    files = input_files(paths, setting, "data")
    kinds = [_kind(file.path) for file in files]
    other = next((place for place, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise ValueError(
            f"{setting}: expected files of one kind, got {kinds[0]} ({files[0].path}) and {kinds[other]} "
            f"({files[other].path})"
        )
    return Rows(files, kinds[0], columns, partition_bytes)


def _kind(path: Path) -> str:
    for kind, endings in _KINDS.items():
        if path.name.lower().endswith(endings):
            return kind
    known = ", ".join(ending for endings in _KINDS.values() for ending in endings)
    raise ValueError(f"{path}: expected a file ending in {known}")


def _archived_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of an archive's files of JSON, without blank ones. Raises ValueError: it holds no such file."""
    found = False
    with tarfile.open(path, "r|gz") as archive:
        for member in archive:
            if member.isfile() and member.name.lower().endswith(_LINES):
                found = True
                lines = archive.extractfile(member)
                assert lines is not None
                yield from filter(bytes.strip, lines)
    if not found:
        raise ValueError(f"{path}: expected an archive with files ending in {', '.join(_LINES)}, found none")


def _whole(file: InputFile, _size: int, _state: tuple[int, ...]) -> list[Partition]:
    return [Partition(str(file.path), file_digest(file.path), file.start, file.start + file.size)]


def _group_bytes(parquet: pq.ParquetFile) -> Iterator[tuple[int, int]]:
    """Yield first byte and byte after the last of each row group."""
    for number in range(parquet.num_row_groups):
        group = parquet.metadata.row_group(number)
        columns = [group.column(place) for place in range(group.num_columns)]
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


_CUT: Mapping[str, Callable[..., Iterable[Partition]]] = {
    "lines": line_partitions,
    "archives": _whole,
    "Parquet": _row_groups,
}


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in the error for a damaged one."""
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError, pa.ArrowException) as error:
        raise ValueError(f"{path}: expected a whole file of its kind, but {error}".replace("\n", " ")) from error


FORMAT_VERSION = 2  # rises when the same rows would give other articles
_PARTITION_BYTES = 64_000_000
_SETTING = "source.encyclopedia.paths"
_COLUMNS = (*structured.COLUMNS, *parsoid.COLUMNS, *megawika.COLUMNS)  # of Parquet
_LAYOUTS: Mapping[EncyclopediaLayout, Callable[[Mapping[str, Any], WikitextSettings], EncyclopediaPage]] = {
    "structured": structured.structured_entry,
    "megawika": megawika.megawika_entry,
    "html": parsoid.parsoid_entry,
}


class MalformedRowError(ValueError):
    """A row that is not of its layout, in a file that is whole."""


class EncyclopediaSource:
    """Rows of files; which pages are articles is decided as for a dump."""

    name = "encyclopedia"
    gives_documents = False

    def __init__(
        self,
        settings: EncyclopediaSettings,
        wikitext: WikitextSettings,
        *,
        partition_bytes: int = _PARTITION_BYTES,
        malformed: int = 0,
    ) -> None:
        """Take the settings; no file is opened yet. Up to `malformed` rows of a file are refused."""
        self._malformed = malformed
        self._settings = settings
        self._wikitext = wikitext
        self._rules = PageRules(wikitext)
        self._partition_bytes = partition_bytes

    def partitions(self) -> list[Partition]:
        """Return parts of the files; a digest covers their bytes, the layout and the settings of wikitext. Raises
        ValueError also if a file's first row is not of the layout and no such row is allowed."""
        rows = self._rows()
        recipe = json.dumps([FORMAT_VERSION, self._settings.layout, self._wikitext.recipe()], sort_keys=True)
        parts = rows.partitions()
        firsts = {file_with(part, rows.files).path: part for part in reversed(parts)}
        for part in firsts.values():
            next(self.read(part), None)
        return [replace(part, digest=hashlib.sha256(f"{recipe}|{part.digest}".encode()).hexdigest()) for part in parts]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield an article for each row of a part; one that is not of the layout is refused (`malformed_row`)."""
        rows = self._rows()
        file = file_with(partition, rows.files)
        place = partition.start - file.start

        def named(number: int) -> str:
            return f"{file.path.name}, row {number} from byte {place}"

        def of_file() -> Iterator[Row]:
            for part in rows.partitions():
                if file_with(part, rows.files).path == file.path:
                    yield from rows.read(part)

        return parsed(
            enumerate(rows.read(partition), 1),
            lambda row: self._entry(row).article(self._rules, self._wikitext.licence),
            MalformedRowError,
            lambda number: f"{file.path.parent / named(number)} (source.encyclopedia.layout {self._settings.layout})",
            refused=lambda number: Article(named(number), "", (), drop_reason=ArticleReason.MALFORMED_ROW),
            allowed=self._malformed,
            every=of_file(),
        )

    def _rows(self) -> Rows:
        return rows_in(self._settings.paths, _SETTING, _COLUMNS, self._partition_bytes)

    def _entry(self, row: Row) -> EncyclopediaPage:
        """Return the page of a row. Raises MalformedRowError: the row is not of the layout."""
        try:
            content = json_object(row) if isinstance(row, bytes) else row
            return _LAYOUTS[self._settings.layout](content, self._wikitext)
        except (ValueError, RecursionError) as error:
            raise MalformedRowError(str(error)) from error
