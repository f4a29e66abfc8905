"""What a crawl has fetched so far, kept on disk while it runs, so that a killed one never asks for a page twice.

A journal is a directory of segments on any pyarrow filesystem. A segment is an Arrow IPC stream with one record batch
per row, written through to the file at once: whatever kills the process, all rows before the one being written are
there. Segments are closed every so often, because an object store shows only closed files. A torn end is left out
when a journal is opened again, and so is a row whose body is not what its digest says.
"""

import hashlib
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pafs

from storage.schemas import PAGES

logger = logging.getLogger(__name__)

_SUFFIX = ".arrows"
_WRITE_BUFFER = 1 << 20
_ROW = pa.struct(list(PAGES.schema))
# Small enough that a group of rows in a batch is a modest piece of memory.
BATCH_BYTES = 32 << 20


@dataclass(frozen=True)
class _Place:
    segment: str
    offset: int


class Journal:
    """Rows of `pages` that survive the process; not for more than one writer at a time.

    Attributes:
        asked: rows that were asked of the web, rather than read from an archive.
        bytes: body bytes of these rows.
        bodiless: URL -> digest of the body, for rows that have no reason and no body: it is an earlier crawl's.
    """

    def __init__(
        self, filesystem: pafs.FileSystem, directory: str, *, rows: int = 2_000, seconds: float = 30.0
    ) -> None:
        """Open a journal and read what it holds; nothing is written before the first row.

        Args:
            filesystem: where the journal lies.
            directory: its directory there; need not exist.
            rows: rows after which a segment is closed.
            seconds: age at which a segment is closed.
        """
        self._filesystem = filesystem
        self._directory = directory
        self._rows = rows
        self._seconds = seconds
        self._places: dict[str, _Place] = {}
        self._writer: _Segment | None = None
        self.asked = self.bytes = 0
        self.bodiless: dict[str, str] = {}
        for segment in self._segments():
            for row, place in self._scan(segment):
                self._note(row, place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, url: object) -> bool:
        return url in self._places

    def append(self, row: dict[str, Any]) -> None:
        """Write a row of `pages`; it is on disk when this returns (on an object store: when its segment is closed)."""
        if self._writer is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            name = f"{time.time_ns():020d}-{os.getpid()}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
            self._writer = _Segment(self._filesystem, str(PurePosixPath(self._directory, name)))
        offset = self._writer.write(row)
        self._note(row, _Place(self._writer.path, offset))
        if self._writer.count >= self._rows or self._writer.age >= self._seconds:
            self.close()

    def forget(self, url: str) -> None:
        """Take a bodiless row out, as if it had never been written; where the journal is opened again, it is back."""
        del self._places[url]
        del self.bodiless[url]
        self.asked -= 1

    def close(self) -> None:
        """Close the segment being written; the next row begins another."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def batches(
        self,
        urls: Iterable[str],
        extra: Iterable[dict[str, Any]] = (),
        complete: Callable[[str, pa.RecordBatch | None], pa.RecordBatch] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some URLs in the order given, in batches of some 32 MB.

        Args:
            urls: URLs whose rows are wanted; each is in the journal or in `extra`, or `complete` knows it.
            extra: rows that are not in the journal.
            complete: makes a row without reason and body whole, and gives the row of a URL that has none here.
        """
        self.close()
        others = {row["url"]: row for row in extra}
        files: dict[str, pa.NativeFile] = {}
        group: list[pa.RecordBatch] = []
        size = 0
        try:
            for url in urls:
                batch = self._row(url, others, files)
                if complete is not None and (batch is None or _is_bodiless(batch)):
                    batch = complete(url, batch)
                if batch is None:
                    raise KeyError(url)
                group.append(batch)
                size += batch.nbytes
                if size >= BATCH_BYTES:
                    yield pa.concat_batches(group)
                    group, size = [], 0
            if group:
                yield pa.concat_batches(group)
        finally:
            for file in files.values():
                file.close()

    def _note(self, row: dict[str, Any], place: _Place) -> None:
        url = row["url"]
        if row["archive"] is None and (url not in self._places or url in self.bodiless):
            self.asked += url not in self._places
            self.bytes += row["bytes"] or 0
        self._places[url] = place
        if row["reason"] is None and row["body"] is None:
            self.bodiless[url] = row["sha256"]
        else:
            self.bodiless.pop(url, None)

    def _row(
        self, url: str, others: dict[str, dict[str, Any]], files: dict[str, pa.NativeFile]
    ) -> pa.RecordBatch | None:
        if url in others:
            return _batch(others[url])
        return self._read(self._places[url], files) if url in self._places else None

    def _segments(self) -> list[str]:
        selector = pafs.FileSelector(self._directory, allow_not_found=True)
        return sorted(info.path for info in self._filesystem.get_file_info(selector) if info.path.endswith(_SUFFIX))

    def _scan(self, segment: str) -> Iterator[tuple[dict[str, Any], _Place]]:
        """Yield url, bytes and place of each sound row of a segment."""
        try:
            with self._filesystem.open_input_file(segment) as file:
                if not pa.ipc.read_schema(file).equals(PAGES.schema):
                    logger.warning("%s has another schema: left out", segment)
                    return
                while True:
                    offset = file.tell()
                    batch = pa.ipc.read_record_batch(pa.ipc.read_message(file), PAGES.schema)
                    if batch.num_rows == 0:
                        continue
                    row = batch.to_pylist()[0]
                    if row["body"] is None or hashlib.sha256(row["body"]).hexdigest() == row["sha256"]:
                        yield row, _Place(segment, offset)
                    else:
                        logger.warning("%s: the body of %s is damaged: left out", segment, row["url"])
        except EOFError:
            return
        except (pa.ArrowException, OSError, UnicodeError) as error:
            logger.warning("%s is torn or damaged: its sound rows are kept (%s)", segment, error)

    def _read(self, place: _Place, files: dict[str, pa.NativeFile]) -> pa.RecordBatch:
        file = files.get(place.segment)
        if file is None:
            file = files[place.segment] = self._filesystem.open_input_file(place.segment)
        file.seek(place.offset)
        return pa.ipc.read_record_batch(pa.ipc.read_message(file), PAGES.schema)


class _Segment:
    """The segment being written."""

    def __init__(self, filesystem: pafs.FileSystem, path: str) -> None:
        self.path = path
        self.count = 0
        self._opened = time.monotonic()
        # Buffered, so that a row is one write, not one for each of its columns.
        self._sink = pa.BufferedOutputStream(filesystem.open_output_stream(path), _WRITE_BUFFER)
        self._writer = pa.ipc.new_stream(
            self._sink,
            PAGES.schema,
            # One row is too little for threads to share.
            options=pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1), use_threads=False),
        )
        self._schema_written = False

    @property
    def age(self) -> float:
        return time.monotonic() - self._opened

    def write(self, row: dict[str, Any]) -> int:
        """Write a row through to the file and return its offset there."""
        batch = _batch(row)
        if not self._schema_written:  # the stream writes its schema with the first batch
            self._writer.write_batch(batch.slice(0, 0))
            self._schema_written = True
        offset = self._sink.tell()
        self._writer.write_batch(batch)
        self._sink.flush()
        self.count += 1
        return int(offset)

    def close(self) -> None:
        self._writer.close()
        self._sink.close()


def _is_bodiless(batch: pa.RecordBatch) -> bool:
    return bool(batch.column("reason").null_count and batch.column("body").null_count)


def _batch(row: dict[str, Any]) -> pa.RecordBatch:
    # One conversion for all columns: from_pylist makes one a column, which takes twice as long.
    return pa.RecordBatch.from_struct_array(pa.array([row], _ROW))
