"""One root on any pyarrow filesystem: atomic shard writes, verified reads, and the row-group shuffle.

The shuffle turns one partitioning of rows into another (articles to hosts and back). A writer makes one Parquet row
group per destination shard; a reader reads only its row group from every file of the stage. Only one shard is in memory
at a time, and changes are detected per pair of shards, because every row group has its own digest."""

import hashlib
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from storage.errors import CorruptShardError, DamagedFieldsError, StorageError, StorageFullError
from storage.filesystems import open_filesystem
from storage.leases import LOCK, ConditionalWrites, Lease, conditional_writes, held
from storage.redaction import holds_secret
from storage.schemas import Dataset
from storage.tables import ROW_GROUP_BYTES, TableDigest, by_destination, by_run, by_size, check_schema, table_digest
from storage.writing import HashingSink, whole_file

_ALMOST_URI = re.compile(r"[a-z][a-z0-9+.-]+:/|(s3|gs|gcs|hdfs|abfss?|file):", re.IGNORECASE)
_READ_BYTES = 1 << 20
_BUFFER_BYTES = 4 << 20
_BATCH_ROWS = 256
GONE = "the file is gone"  # what is wrong with a shard that is not there


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The rows of one destination shard inside a file."""

    index: int  # number of the Parquet row group
    rows: int  # how many rows it holds
    digest: str  # digest of its stable columns (`storage.tables.table_digest`)


@dataclass(frozen=True)
class WrittenTable:
    """What `Store.write_table` wrote."""

    rows: int  # rows in the file
    bytes: int  # size of the file
    sha256: str  # digest of the file's bytes, hex
    digest: str  # digest of the stable columns of all rows
    groups: Mapping[int, RowGroup] = field(default_factory=dict)  # destination shard -> row group, where grouped


class Store:
    """Files below one root, on local disk or any filesystem pyarrow has a URI for (s3://, gs://, hdfs://). Paths given
    to its methods are relative to the root and use forward slashes. An S3 server other than Amazon's is named by the
    URI (`s3://bucket/folder?endpoint_override=minio:9000&scheme=http`) or by the environment (`AWS_ENDPOINT_URL`); keys
    are read from the environment or `~/.aws`, as by the AWS tools.

    What is written, renamed or deleted under a lease fails with RootBusyError once another run has taken it over. On S3
    that holds to the last moment: an object is looked at, then the lease, and then the object is changed if it still is
    what it was. So a process that lay still in between changes nothing that the next run has made."""

    def __init__(self, root: str, lease: Lease | None = None) -> None:
        """Take a folder path or a URI, and the lease of the run that this process works for if it does not hold it
        itself; nothing is read or written yet. Raises StorageError: it is empty, or the URI's scheme is unknown, its
        options are wrong, or it holds a password; or it is a folder that looks like a URI, or of an unknown user."""
        if not root.strip():
            raise StorageError(f"root is {root!r}: expected a folder or a URI such as s3://bucket/folder")
        if holds_secret(root):
            raise StorageError(
                "the root's URI holds a password, which would end up in logs and manifests: expected it in the "
                "environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or in ~/.aws/credentials"
            )
        if "://" not in root and _ALMOST_URI.match(root):
            raise StorageError(
                f"root is {root!r}: expected two slashes in a URI such as s3://bucket/folder, or {'./' + root!r} for a "
                "folder of that name"
            )
        self.root, self._lease = root, lease
        try:
            self.filesystem, self.base = open_filesystem(root)
        except (ValueError, OSError, RuntimeError) as error:  # the last of `expanduser`
            raise StorageError(
                f"root {root!r} cannot be opened: {error}. Expected a folder or a URI such as s3://bucket/folder"
            ) from error

    @property
    def lease(self) -> Lease | None:
        """The lease under which this process changes the root; None on local disk, or if it may do so without."""
        return self._lease or held(self.root)

    @property
    def is_local(self) -> bool:
        """Whether the root is a folder of this machine."""
        return isinstance(self.filesystem, pafs.LocalFileSystem)

    def check_writable(self) -> None:
        """Create the root and write a file there, so that a build fails at its start; StorageError: it cannot be."""
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

    def check_exists(self) -> None:
        """Check that the root exists. Raises StorageError: the root does not exist."""
        with self._naming("", "looked up"):
            kind = self.filesystem.get_file_info(self.base).type
        if kind != pafs.FileType.Directory:
            raise StorageError(f"root {self.root!r} does not exist: expected the folder or URI of a build")

    def path(self, name: str) -> str:
        """Return the path of a file on the filesystem."""
        return f"{self.base}/{name}" if name else self.base

    def exists(self, name: str) -> bool:
        """Whether there is such a file. Raises StorageError, as all methods below: the filesystem does not answer."""
        return bool(self._type(name) == pafs.FileType.File)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the files of a folder (not of folders below it): name -> size in bytes."""
        return {name: info.size for name, info in self.infos(folder).items()}

    def infos(self, folder: str) -> dict[str, pafs.FileInfo]:
        """Return the same files: name -> size and time."""
        return {info.base_name: info for info in self._listed(folder) if info.type == pafs.FileType.File}

    def files(self, folder: str = "") -> dict[str, pafs.FileInfo]:
        """Return every file below the root or a folder: name -> size and time."""
        result = (info for info in self._listed(folder, recursive=True) if info.type == pafs.FileType.File)
        return {info.path[len(self.base) :].lstrip("/"): info for info in result}

    def no_files(self) -> list[str]:
        """Return the paths below the root, if it is local, that are folders, pipes or devices."""
        infos = self._listed("", recursive=True) if self.is_local else []
        return [info.path[len(self.base) :].lstrip("/") for info in infos if info.type != pafs.FileType.File]

    def names(self) -> list[str]:
        """Return the names of the files and folders directly below the root, sorted; none if it is missing."""
        return sorted(info.base_name for info in self._listed(""))

    def delete(self, name: str) -> None:
        """Remove a file if it exists."""
        if self._changed(name, lambda objects, path, tag: tag is None or objects.delete(path, tag)):
            return
        with self._naming(name, "deleted"):
            if self.exists(name):
                self.filesystem.delete_file(self.path(name))

    def rename(self, name: str, new_name: str) -> None:
        """Give a file another name below the root."""
        self._check_lease(name)
        with self._naming(name, "renamed"):
            if self.lease is None:
                self.filesystem.move(self.path(name), self.path(new_name))
            else:  # in the two steps that it is on an object store, the second on a condition
                self.filesystem.copy_file(self.path(name), self.path(new_name))
                self.delete(name)

    def delete_folder(self, name: str) -> None:
        """Remove a folder and its content, if it exists."""
        if self.lease is not None and self.lease.conditional:
            for file in self.files(name):
                self.delete(file)  # one at a time, on a condition; folders are not objects
            return
        self._check_lease(name)
        with self._naming(name, "deleted"):
            if self._type(name) != pafs.FileType.NotFound:
                self.filesystem.delete_dir(self.path(name))

    def read_bytes(self, name: str) -> bytes:
        """Return a whole file. Raises FileNotFoundError: there is none."""
        with self._naming(name, "read"), self._stream(name) as stream:
            data: bytes = stream.read()
        return data

    def read_if_there(self, name: str) -> bytes | None:
        """Return a whole file, or None if there is none."""
        try:
            return self.read_bytes(name)
        except FileNotFoundError:
            return None

    @contextmanager
    def reading(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file to read it in pieces. Raises FileNotFoundError: there is none."""
        with self._naming(name, "read"), self._stream(name) as stream:
            yield stream

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a whole file atomically: readers see the old or the new one; StorageError: it could not be written."""
        with self.writing(name) as sink:
            sink.write(data)

    def write_table(
        self, name: str, rows: pa.Table | Iterable[pa.RecordBatch], dataset: Dataset, group_bytes: int = ROW_GROUP_BYTES
    ) -> WrittenTable:
        """Write a stage's shard atomically. Batches are never held all at once; those of a grouped dataset come in
        order of its column, and for any other `group_bytes` are those of a row group, in memory. Raises TypeError: the
        columns are not those of the dataset; StorageError: the file could not be written."""
        if isinstance(rows, pa.Table):
            check_schema(rows.schema, dataset)
        stable = dataset.stable
        total = TableDigest(stable)
        groups: dict[int, RowGroup] = {}
        count = 0
        with self.writing(name) as sink:
            hashing = HashingSink(sink)
            output = pa.PythonFile(hashing, "w")
            with pq.ParquetWriter(output, dataset.schema, compression="zstd", write_page_checksum=True) as writer:
                if dataset.grouped_by is None:
                    for piece in by_size(rows, dataset, group_bytes=group_bytes):
                        writer.write_table(piece, row_group_size=max(1, piece.num_rows))
                        total.update(piece)
                        count += piece.num_rows
                        del piece  # else it would stay in memory while the next one is gathered
                else:
                    if isinstance(rows, pa.Table):
                        total.update(rows)  # in its own order
                        pieces = by_destination(rows, dataset.grouped_by)
                    else:
                        pieces = by_run(rows, dataset, dataset.grouped_by)
                    for destination, piece in pieces:
                        writer.write_table(piece, row_group_size=max(1, piece.num_rows))
                        if not isinstance(rows, pa.Table):
                            total.update(piece)
                        count += piece.num_rows
                        groups[destination] = RowGroup(len(groups), piece.num_rows, table_digest(piece, stable))
                        del piece
        return WrittenTable(count, hashing.bytes, hashing.digest.hexdigest(), total.hexdigest(), groups)

    def read_batches(self, name: str, sha256: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield a shard, or some of its columns, in batches after checking its bytes. Less than a row group is in
        memory; no batch spans two. Raises CorruptShardError: the file is gone, cut short or changed."""
        with self._source(name) as source:
            check_bytes(name, source, sha256)
            source.seek(0)
            # Buffered, a row group is decompressed piece by piece, not all at once.
            parquet = pq.ParquetFile(source, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            for index in range(parquet.num_row_groups):
                yield from parquet.iter_batches(_BATCH_ROWS, row_groups=[index], columns=columns)

    def read_table(self, name: str, sha256: str) -> pa.Table:
        """Return a whole shard after checking its bytes. Raises CorruptShardError: it is gone, cut short or changed."""
        try:
            with self._naming(name, "read"), self._file(name) as file:
                # Not Python's bytes: Arrow's threads may let go of them while Python ends, which aborts the process.
                source = pa.BufferReader(file.read_buffer())
        except FileNotFoundError as error:
            raise CorruptShardError(name, GONE) from error
        check_bytes(name, source, sha256)
        source.seek(0)
        return pq.ParquetFile(source).read()

    def read_group(self, name: str, group: RowGroup, dataset: Dataset) -> pa.Table:
        """Return a row group after checking its values. Raises CorruptShardError: it is gone, cut short or changed."""
        try:
            with self._source(name) as source:
                parquet = pq.ParquetFile(source, page_checksum_verification=True)
                table = parquet.read_row_group(group.index)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise CorruptShardError(name, f"row group {group.index} cannot be read: {error}") from error
        if table.schema != dataset.schema or table_digest(table, dataset.stable) != group.digest:
            raise CorruptShardError(name, f"row group {group.index} does not match its digest")
        return table

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a file that appears under its name only when the block ends without an error; else nothing does. Raises
        StorageError: it could not be written, or this process has lost the root (RootBusyError)."""

        def upload(file: IO[bytes]) -> bool:
            return self._changed(name, lambda objects, path, tag: objects.put(path, file, tag))

        with whole_file(self.filesystem, self.path(name), upload) as sink:
            yield sink

    def _check_lease(self, name: str) -> None:
        if self.lease is not None and not name.startswith(LOCK):
            self.lease.check(self.root, self.read_if_there(LOCK))

    def _changed(self, name: str, change: Callable[[ConditionalWrites, str, str | None], bool]) -> bool:
        """Look at an object and at the lease, then change the object if it still is what it was, until that is so.
        False: without a lease or without conditions; then the lease alone was looked at."""
        while self.lease is not None and self.lease.conditional and not name.startswith(LOCK):
            objects, path = conditional_writes(self.root), self.path(name)
            tag = objects.tag(path)
            self._check_lease(name)
            if change(objects, path, tag):
                return True
        self._check_lease(name)
        return False

    def _listed(self, folder: str, *, recursive: bool = False) -> list[pafs.FileInfo]:
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True, recursive=recursive)
        with self._naming(folder, "listed"):
            infos: list[pafs.FileInfo] = self.filesystem.get_file_info(selector)
        return infos

    def _stream(self, name: str) -> pa.NativeFile:
        self._check_is_file(name)
        return self.filesystem.open_input_stream(self.path(name))

    def _file(self, name: str) -> pa.NativeFile:
        self._check_is_file(name)
        return self.filesystem.open_input_file(self.path(name))

    def _check_is_file(self, name: str) -> None:
        """Raise DamagedFieldsError for a folder, a pipe or a device: to open a pipe would wait for ever."""
        if self.is_local and self._type(name) not in (pafs.FileType.File, pafs.FileType.NotFound):
            raise DamagedFieldsError(
                f"{self.path(name)} is not a file: expected one, and not a folder, a pipe or a device"
            )

    def _type(self, name: str) -> pafs.FileType:
        with self._naming(name, "looked up"):
            return self.filesystem.get_file_info(self.path(name)).type

    @contextmanager
    def _naming(self, name: str, done: str) -> Iterator[None]:
        """Turn an error of the filesystem into one that names the file; FileNotFoundError is raised unchanged."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:  # the second where Azure refuses
            raise StorageError(f"{self.path(name)} could not be {done}: {error}") from error

    @contextmanager
    def _source(self, name: str) -> Iterator[pa.NativeFile]:
        """Open a file for Parquet to read; a network error is a StorageError, not a damaged file."""
        try:
            with self._naming(name, "read"):
                file = self._file(name)
            with file:
                yield file if self.is_local else pa.PythonFile(_NamedReads(self, name, file), "r")
        except FileNotFoundError as error:
            raise CorruptShardError(name, GONE) from error


class _NamedReads:
    """A file for Parquet to read from, whose errors name the file. It has these methods alone: Arrow would call others,
    such as `read_buffer`, past the names."""

    def __init__(self, store: Store, name: str, file: pa.NativeFile) -> None:
        self.store, self.name, self.file = store, name, file

    @property
    def closed(self) -> bool:
        return bool(self.file.closed)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def read(self, size: int = -1) -> bytes:
        with self.store._naming(self.name, "read"):
            data: bytes = self.file.read(None if size < 0 else size)
        return data


def check_bytes(name: str, stream: IO[bytes], sha256: str) -> None:
    """Read a file to its end. Raises CorruptShardError: its bytes are not those of the record."""
    digest = hashlib.sha256()
    while chunk := stream.read(_READ_BYTES):
        digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise CorruptShardError(name, f"its sha256 is {digest.hexdigest()[:16]}…, its record says {sha256[:16]}…")
