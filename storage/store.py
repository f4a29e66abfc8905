"""One root on any pyarrow filesystem: atomic shard writes, verified reads, and the row-group shuffle.

The shuffle turns one partitioning of rows into another (articles to hosts and back): a writer lays one Parquet row
group per destination shard, a reader takes just its row group from every file of the stage. Nothing is held in memory
but one shard, and what changed can be told per pair of shards, because every row group has its own digest.
"""

import errno
import hashlib
import io
import itertools
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from storage.digests import TableDigest, table_digest
from storage.errors import CorruptShardError, StorageError, StorageFullError
from storage.schemas import Dataset

_READ_BYTES = 1 << 20
ROW_GROUP_BYTES = 64 << 20  # of Arrow data: rows of pages and of labels differ a thousandfold in size


@dataclass(frozen=True)
class RowGroup:
    """The rows of one destination shard inside a file.

    Attributes:
        index: number of the Parquet row group.
        rows: how many rows it holds.
        digest: digest of its stable columns (`storage.digests.table_digest`).
    """

    index: int
    rows: int
    digest: str


@dataclass(frozen=True)
class WrittenTable:
    """What `Store.write_table` wrote.

    Attributes:
        rows: rows in the file.
        bytes: size of the file.
        sha256: digest of the file's bytes, hex.
        digest: digest of the stable columns of all rows.
        groups: destination shard -> row group, for a dataset that is grouped; else empty.
    """

    rows: int
    bytes: int
    sha256: str
    digest: str
    groups: Mapping[int, RowGroup] = field(default_factory=dict)


class Store:
    """Files below one root, on local disk or any filesystem pyarrow has a URI for (s3://, gs://, hdfs://).

    Paths given to its methods are relative to the root and use forward slashes.
    """

    def __init__(self, root: str) -> None:
        """Take a folder path or a URI; nothing is read or written yet.

        Raises:
            StorageError: the URI's scheme is unknown or its options are wrong.
        """
        self.root = root
        try:
            if "://" in root:
                self.filesystem, self.base = pafs.FileSystem.from_uri(root)
            else:
                self.filesystem, self.base = pafs.LocalFileSystem(), str(Path(root).expanduser().resolve())
        except (pa.ArrowInvalid, OSError) as error:
            raise StorageError(
                f"root {root!r} cannot be opened: {error}. Expected a folder or a URI such as s3://bucket/folder"
            ) from error

    @property
    def is_local(self) -> bool:
        """Whether the root is a folder of this machine."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def check_writable(self) -> None:
        """Create the root and write a file there, so that a build fails before it starts and not after an hour.

        Raises:
            StorageError: the root cannot be written.
        """
        try:
            probe = f".probe-{uuid.uuid4().hex}"
            self.write_bytes(probe, b"")
            self.delete(probe)
        except StorageFullError:
            raise
        except (StorageError, OSError) as error:
            raise StorageError(
                f"root {self.root!r} cannot be written: {error}. Give a writable folder or URI"
            ) from error

    def path(self, name: str) -> str:
        """Return the path of a file on the filesystem."""
        return f"{self.base}/{name}" if name else self.base

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return bool(self.filesystem.get_file_info(self.path(name)).type == pafs.FileType.File)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the files of a folder (not of folders below it): name -> size in bytes."""
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True)
        infos = self.filesystem.get_file_info(selector)
        return {info.base_name: info.size for info in infos if info.type == pafs.FileType.File}

    def delete(self, name: str) -> None:
        """Remove a file if it is there."""
        if self.exists(name):
            self.filesystem.delete_file(self.path(name))

    def rename(self, name: str, new_name: str) -> None:
        """Give a file another name below the root."""
        self.filesystem.move(self.path(name), self.path(new_name))

    def delete_folder(self, name: str) -> None:
        """Remove a folder and what is in it, if it is there."""
        if self.filesystem.get_file_info(self.path(name)).type != pafs.FileType.NotFound:
            self.filesystem.delete_dir(self.path(name))

    def read_bytes(self, name: str) -> bytes:
        """Return a whole file.

        Raises:
            FileNotFoundError: there is none.
        """
        with self.filesystem.open_input_stream(self.path(name)) as stream:
            data: bytes = stream.read()
        return data

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a whole file atomically: readers see the old file or the new one, also after a crash.

        Raises:
            StorageError: it could not be written.
        """
        with self._sink(name) as sink:
            sink.write(data)

    def write_table(self, name: str, rows: pa.Table | Iterable[pa.RecordBatch], dataset: Dataset) -> WrittenTable:
        """Write a stage's shard atomically.

        Args:
            name: the file.
            rows: a table, or its batches in order, which are never held all at once; a grouped dataset needs a table.
            dataset: whose schema the rows have.

        Raises:
            TypeError: the columns are not those of the dataset.
            StorageError: the file could not be written.
        """
        if isinstance(rows, pa.Table):
            _check_schema(rows.schema, dataset)
        stable = _stable(dataset)
        total = TableDigest(stable)
        groups: dict[int, RowGroup] = {}
        count = 0
        with self._sink(name) as sink:
            hashing = _HashingSink(sink)
            output = pa.PythonFile(hashing, "w")
            with pq.ParquetWriter(output, dataset.schema, compression="zstd", write_page_checksum=True) as writer:
                if dataset.grouped_by is None:
                    for piece in _pieces(rows, dataset):
                        writer.write_table(piece, row_group_size=max(1, piece.num_rows))
                        total.update(piece)
                        count += piece.num_rows
                else:
                    assert isinstance(rows, pa.Table), f"{dataset.name} is grouped: its shards are written from a table"
                    total.update(rows)
                    count = rows.num_rows
                    for index, (destination, piece) in enumerate(_by_destination(rows, dataset.grouped_by)):
                        writer.write_table(piece, row_group_size=max(1, piece.num_rows))
                        groups[destination] = RowGroup(index, piece.num_rows, table_digest(piece, stable))
        return WrittenTable(count, hashing.bytes, hashing.digest.hexdigest(), total.hexdigest(), groups)

    def read_batches(self, name: str, sha256: str) -> Iterator[pa.RecordBatch]:
        """Yield a shard in batches after checking its bytes; one row group is in memory at a time.

        Raises:
            CorruptShardError: the file is gone, cut short or changed.
        """
        try:
            with self.filesystem.open_input_stream(self.path(name)) as stream:
                _check_bytes(name, stream, sha256)
            with self.filesystem.open_input_file(self.path(name)) as source:
                parquet = pq.ParquetFile(source)
                for index in range(parquet.num_row_groups):
                    yield from parquet.read_row_group(index).to_batches()
        except FileNotFoundError as error:
            raise CorruptShardError(name, "the file is gone") from error

    def read_table(self, name: str, sha256: str) -> pa.Table:
        """Return a whole shard after checking its bytes.

        Raises:
            CorruptShardError: the file is gone, cut short or changed.
        """
        try:
            data = self.read_bytes(name)
        except FileNotFoundError as error:
            raise CorruptShardError(name, "the file is gone") from error
        _check_bytes(name, io.BytesIO(data), sha256)
        return pq.read_table(pa.BufferReader(data))

    def read_group(self, name: str, group: RowGroup, dataset: Dataset) -> pa.Table:
        """Return one row group of a shard after checking its values against their digest.

        Raises:
            CorruptShardError: the file is gone, cut short or changed.
        """
        try:
            with self.filesystem.open_input_file(self.path(name)) as source:
                parquet = pq.ParquetFile(source, page_checksum_verification=True)
                table = parquet.read_row_group(group.index)
        except FileNotFoundError as error:
            raise CorruptShardError(name, "the file is gone") from error
        except (pa.ArrowException, OSError, ValueError) as error:
            raise CorruptShardError(name, f"row group {group.index} cannot be read: {error}") from error
        if table.schema != dataset.schema or table_digest(table, _stable(dataset)) != group.digest:
            raise CorruptShardError(name, f"row group {group.index} does not match its digest")
        return table

    @contextmanager
    def _sink(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file for writing that appears under its name only when the block ends without an error."""
        path = self.path(name)
        try:
            if self.is_local:
                with _local_sink(Path(path)) as local:
                    yield local
            else:
                # An object store shows an object only once its upload has been closed.
                with self.filesystem.open_output_stream(path) as stream:
                    yield stream
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise StorageFullError(
                    f"no space left for {path}: free some or give another root, then run the same command again; "
                    "nothing half-written was kept"
                ) from error
            raise StorageError(f"{path} could not be written: {error}") from error


@contextmanager
def _local_sink(path: Path) -> Iterator[IO[bytes]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        _fsync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _HashingSink:
    """Passes writes on to a file while hashing and counting them."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        self.file.write(data)
        self.digest.update(data)
        self.bytes += len(data)
        return len(data)

    def tell(self) -> int:
        return self.bytes

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def _stable(dataset: Dataset) -> list[str]:
    return [column for column in dataset.schema.names if column not in dataset.unstable]


def _check_schema(schema: pa.Schema, dataset: Dataset) -> None:
    if not schema.equals(dataset.schema):
        raise TypeError(f"stage {dataset.name} made columns\n{schema}\nexpected\n{dataset.schema}")


def _check_bytes(name: str, stream: IO[bytes], sha256: str) -> None:
    found = hashlib.sha256()
    while chunk := stream.read(_READ_BYTES):
        found.update(chunk)
    if found.hexdigest() != sha256:
        raise CorruptShardError(name, f"its sha256 is {found.hexdigest()[:16]}…, its record says {sha256[:16]}…")


def _pieces(rows: pa.Table | Iterable[pa.RecordBatch], dataset: Dataset) -> Iterator[pa.Table]:
    """Yield the rows in tables of about ROW_GROUP_BYTES; an empty shard gives one empty table."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
        _check_schema(batch.schema, dataset)
        start = 0
        while start < batch.num_rows:
            room = (ROW_GROUP_BYTES - size) * batch.num_rows // max(1, batch.nbytes)
            part = batch.slice(start, max(1, room))
            pending.append(part)
            size += part.nbytes
            start += part.num_rows
            if size >= ROW_GROUP_BYTES:
                yield pa.Table.from_batches(pending)
                pending, size = [], 0
    yield pa.Table.from_batches(pending, schema=dataset.schema)


def _by_destination(table: pa.Table, column: str) -> Iterator[tuple[int, pa.Table]]:
    """Yield (destination, rows) in order of destination; rows keep their order."""
    destinations = table.column(column).to_numpy()
    order = np.argsort(destinations, kind="stable")
    sorted_destinations = destinations[order]
    bounds = [*np.flatnonzero(np.diff(sorted_destinations, prepend=-1)), len(order)]
    for start, stop in itertools.pairwise(bounds):
        yield int(sorted_destinations[start]), table.take(order[start:stop])
