"""Rows of an encyclopedia's files in parts: byte ranges of lines, row groups of Parquet, whole archives."""

import hashlib
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.sources.files import InputFile, blocks, file_digest, file_state, file_with, input_files
from tasks.sources.parquet import parquet_rows
from tasks.sources.records import RecordsSource
from tasks.sources.settings import RecordsSettings
from tasks.sources.source import Partition

T = TypeVar("T")
Row = bytes | Mapping[str, Any]  # a line of JSON, or the columns of a row
_LINES = (".jsonl", ".ndjson", ".json")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "lines": (*_LINES, *(f"{ending}.gz" for ending in _LINES)),
    "archives": (".tar.gz", ".tgz"),
    "Parquet": (".parquet",),
}
_BATCH = 64  # rows of Parquet in memory


class Rows(Protocol):
    """The rows of files of one kind, in partitions of which each is a part of one file."""

    def files(self) -> list[InputFile]:
        """Return the files in order."""

    def partitions(self) -> list[Partition]:
        """Return the partitions; a digest covers the bytes of their rows."""

    def parse(self, partition: Partition, parser: Callable[[Row], T]) -> Iterator[T]:
        """Yield what a parser returns for each row of a partition."""


def rows_in(paths: Sequence[str], setting: str, columns: Sequence[str], partition_bytes: int) -> Rows:
    """Return the rows of some files. They are of one kind, known by their endings; of Parquet only `columns` are read.
    Raises FileNotFoundError: a file is missing, or nothing matches a pattern; ValueError: there is no path, or the
    files are of different or unknown kinds."""
    files = input_files(paths, setting, "data")
    kinds = [_kind(file.path) for file in files]
    other = next((place for place, kind in enumerate(kinds) if kind != kinds[0]), None)
    if other is not None:
        raise ValueError(
            f"{setting}: expected files of one kind, got {kinds[0]} ({files[0].path}) and {kinds[other]} "
            f"({files[other].path})"
        )
    if kinds[0] == "lines":
        return RecordsSource(RecordsSettings(paths=tuple(paths)), partition_bytes=partition_bytes, setting=setting)
    return ParquetRows(files, columns, partition_bytes) if kinds[0] == "Parquet" else ArchiveRows(files)


def _kind(path: Path) -> str:
    for kind, endings in _KINDS.items():
        if path.name.lower().endswith(endings):
            return kind
    known = ", ".join(ending for endings in _KINDS.values() for ending in endings)
    raise ValueError(f"{path}: expected a file ending in {known}")


class ParquetRows:
    """Rows of Parquet files; a partition is some row groups."""

    def __init__(self, files: list[InputFile], columns: Sequence[str], partition_bytes: int) -> None:
        self._files = files
        self._columns = columns
        self._partition_bytes = partition_bytes

    def files(self) -> list[InputFile]:
        """Return the files in order."""
        return self._files

    def partitions(self) -> list[Partition]:
        """Return runs of row groups; a digest is that of their bytes and the file's schema. Reads every file once.
        Raises ValueError: a file is damaged."""
        return [
            part
            for file in self._files
            for part in _parquet_partitions(file, self._partition_bytes, file_state(file.path))
        ]

    def parse(self, partition: Partition, parser: Callable[[Row], T]) -> Iterator[T]:
        """Yield the parsed rows of some row groups. Raises ValueError: the file is damaged or has become shorter."""
        file = file_with(partition, self._files)
        with _named(file.path), pq.ParquetFile(file.path) as parquet:
            starts = (file.start + start for start, _ in _group_bytes(parquet))
            groups = [number for number, start in enumerate(starts) if partition.start <= start < partition.stop]
            columns = [name for name in self._columns if name in parquet.schema_arrow.names]
            yield from map(parser, parquet_rows(parquet.iter_batches(_BATCH, groups, columns)))


class ArchiveRows:
    """Lines of JSON in gzip archives; an archive is a partition, since it can be read only from its beginning."""

    def __init__(self, files: list[InputFile]) -> None:
        self._files = files

    def files(self) -> list[InputFile]:
        """Return the archives in order."""
        return self._files

    def partitions(self) -> list[Partition]:
        """Return a partition for each archive; a digest is that of its bytes. Reads every file once."""
        return [
            Partition(str(file.path), file_digest(file.path), file.start, file.start + file.size)
            for file in self._files
        ]

    def parse(self, partition: Partition, parser: Callable[[Row], T]) -> Iterator[T]:
        """Yield the parsed lines of an archive's files of JSON, without blank ones; a line is in memory at a time.
        Raises ValueError: the archive is damaged, cut short, or holds no such file."""
        path = file_with(partition, self._files).path
        found = False
        with _named(path), tarfile.open(path, "r|gz") as archive:
            for member in archive:
                if member.isfile() and member.name.lower().endswith(_LINES):
                    found = True
                    lines = archive.extractfile(member)
                    assert lines is not None
                    for line in lines:
                        if line.strip():
                            yield parser(line)
        if not found:
            raise ValueError(f"{path}: expected an archive with files ending in {', '.join(_LINES)}, found none")


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
def _parquet_partitions(file: InputFile, size: int, _state: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return runs of row groups of about `size` bytes, with their hashes; once per process and state of the file."""
    with _named(file.path), pq.ParquetFile(file.path) as parquet:
        schema = str(parquet.schema_arrow).encode()
        groups = list(_group_bytes(parquet))
    parts = []
    with file.path.open("rb") as stream:
        while groups:
            start = stop = groups[0][0]
            while groups and stop - start < size:
                stop = groups.pop(0)[1]
            stream.seek(start)
            digest = hashlib.sha256(schema)
            for block in blocks(stream, stop - start):
                digest.update(block)
            name = f"{file.path} bytes {start}-{stop - 1}"
            parts.append(Partition(name, digest.hexdigest(), file.start + start, file.start + stop))
    return tuple(parts)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in the error for a damaged one."""
    try:
        yield
    except (OSError, EOFError, zlib.error, tarfile.TarError, pa.ArrowException) as error:
        raise ValueError(f"{path}: expected a whole file of its kind, but {error}".replace("\n", " ")) from error
