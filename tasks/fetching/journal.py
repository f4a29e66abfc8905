"""The rows that a crawl has fetched so far, kept on disk while it runs, so that a killed crawl requests no page twice.

A journal is a directory of segments on any pyarrow filesystem. A segment is an Arrow IPC stream with one record batch
per row, written through to the file at once: however the process ends, all rows before the one being written are kept.
Segments are closed regularly, because an object store shows only closed files. The more there are, the longer each
stays open, because a crawl of weeks would otherwise leave tens of thousands. When a journal is opened again, a torn end
is left out, and so is a row whose body does not match its digest. Rows are found by a map in memory."""

import hashlib
import logging
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.fs as pafs

from storage.schemas import PAGES
from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)


class Place(NamedTuple):
    """The position of a row."""

    segment: int  # number of the segment
    offset: int  # start of its record batch in the segment, in bytes


class Places:
    """URL -> place, by 64 bits of a digest with a secret key, in SQLite: some 25 bytes each. Two of a million URLs have
    the same 64 bits once in 37 million shards, and the secret key prevents deliberate collisions; readers of a row
    still compare its URL."""

    def __init__(self) -> None:
        self._secret = os.urandom(16)
        self._table = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._table.execute("pragma journal_mode = off")
        self._table.execute("create table places (digest integer primary key, segment integer, offset integer)")

    def __len__(self) -> int:
        return int(self._table.execute("select count(*) from places").fetchone()[0])

    def get(self, url: str) -> Place | None:
        """Return the place of a URL, or None."""
        wanted = (self._digest(url),)
        result = self._table.execute("select segment, offset from places where digest = ?", wanted).fetchone()
        return None if result is None else Place(*result)

    def put(self, url: str, place: Place) -> bool:
        """Store the place of a URL; return whether it had none."""
        row = (self._digest(url), *place)
        is_new = self._table.execute("insert or ignore into places values (?, ?, ?)", row).rowcount == 1
        if not is_new:
            self._table.execute("replace into places values (?, ?, ?)", row)
        return is_new

    def forget(self, url: str) -> None:
        """Remove a URL."""
        self._table.execute("delete from places where digest = ?", (self._digest(url),))

    def _digest(self, url: str) -> int:
        digest = hashlib.blake2b(url.encode(), digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, "little", signed=True)


SUFFIX = ".arrows"
_WRITE_BUFFER = 1 << 20
_ROW = pa.struct(list(PAGES.schema))
# One row is too little work for several threads.
_COMPRESSED = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", compression_level=1), use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)
_OPEN_FILES = 64  # a process may have 256 files open on some systems, 1,024 on most


def row_batch(row: dict[str, Any]) -> pa.RecordBatch:
    """Return a row of `pages` as a record batch."""
    # One conversion for all columns: from_pylist does one per column, which takes twice as long.
    return pa.RecordBatch.from_struct_array(pa.array([row], _ROW))


class SegmentWriter:
    """A segment being written."""

    def __init__(self, filesystem: pafs.FileSystem, path: str) -> None:
        self.count = 0  # rows written
        self.opened = time.monotonic()
        # Buffered, so that a row is one write, not one write per column.
        self._sink = pa.BufferedOutputStream(filesystem.open_output_stream(path), _WRITE_BUFFER)
        self._writer = pa.ipc.new_stream(self._sink, PAGES.schema, options=_COMPRESSED)

    def write(self, row: dict[str, Any]) -> int:
        """Write a row through to the file and return its offset there."""
        batch = row_batch(row)
        if self.count == 0:  # the stream writes its schema with the first batch
            self._writer.write_batch(batch.slice(0, 0))
        offset = int(self._sink.tell())
        if row["body"] is None:
            self._sink.write(batch.serialize())  # uncompressed: seventeen tiny columns are not worth it
        else:
            self._writer.write_batch(batch)
        self._sink.flush()
        self.count += 1
        return offset

    def close(self) -> None:
        """Close the segment."""
        self._writer.close()
        self._sink.close()


def scan_segment(filesystem: pafs.FileSystem, path: str) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield each intact row of a segment with its offset; torn or damaged rows are left out with a warning."""
    try:
        with filesystem.open_input_file(path) as file:
            batches = pa.ipc.open_stream(file, options=_READ)
            if not batches.schema.equals(PAGES.schema):
                logger.warning("%s has another schema: left out", path)
                return
            while True:
                offset = int(file.tell())
                batch = batches.read_next_batch()
                if batch.num_rows == 0:
                    continue
                row = batch.to_pylist()[0]
                if row["body"] is None or hashlib.sha256(row["body"]).hexdigest() == row["sha256"]:
                    yield row, offset
                else:
                    logger.warning("%s: the body of %s is damaged: left out", path, row["url"])
    except (EOFError, StopIteration):
        return
    except (pa.ArrowException, OSError, UnicodeError) as error:
        logger.warning("%s is torn or damaged: its intact rows are kept (%s)", path, error)


# A group of rows is in memory twice while it is joined, and some rows longer, while a row group is gathered.
BATCH_BYTES = 8 << 20
# A batch of one row without a body counts 126 bytes but takes 12,000: buffers are padded, columns are objects.
ROW_COST = 12_000
# Segments after which one stays open twice as long: after a week there are 2,000, the last ones of ten minutes.
_MANY = 100


class Journal(Closing):
    """Rows of `pages` that survive the process; for one writer at a time."""

    def __init__(
        self, filesystem: pafs.FileSystem, directory: str, *, rows: int = 2_000, seconds: float = 30.0
    ) -> None:
        """Open a journal and read its rows. A segment is closed after that many rows or seconds, later ones later."""
        self._filesystem = filesystem
        self._directory = directory
        self._rows = rows
        self._seconds = seconds
        self._places = Places()
        self._paths: list[str] = []  # the file of each segment
        self._writer: SegmentWriter | None = None
        self.asked = 0  # rows fetched from the web, not read from an archive
        self.bytes = 0  # of their bodies
        # URL -> digest of the body, for rows without reason and body: the body is in an earlier crawl
        self.bodiless: dict[str, str] = {}
        selector = pafs.FileSelector(directory, allow_not_found=True)
        for info in sorted(filesystem.get_file_info(selector), key=lambda info: info.path):
            if info.path.endswith(SUFFIX):
                self._paths.append(info.path)
                for row, offset in scan_segment(filesystem, info.path):
                    self._note(row, Place(len(self._paths) - 1, offset))

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._places.get(url) is not None

    def append(self, row: dict[str, Any]) -> None:
        """Write a row of `pages`; it is on disk when this returns (on an object store: when its segment is closed)."""
        if self._writer is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            # A unique name, which sorts after all earlier ones.
            name = f"{time.time_ns():020d}-{os.getpid()}-{uuid.uuid4().hex[:8]}{SUFFIX}"
            self._paths.append(str(PurePosixPath(self._directory, name)))
            self._writer = SegmentWriter(self._filesystem, self._paths[-1])
        offset = self._writer.write(row)
        self._note(row, Place(len(self._paths) - 1, offset))
        longest = self._seconds * (1 + len(self._paths) / _MANY)
        if self._writer.count >= self._rows or time.monotonic() - self._writer.opened >= longest:
            self.close()

    def forget(self, url: str) -> None:
        """Remove a bodiless row from this object only; when the journal is opened again, it is back."""
        self._places.forget(url)
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
        absent: Callable[[str], dict[str, Any] | None] | None = None,
        complete: Callable[[str, pa.RecordBatch | None], pa.RecordBatch] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some URLs in the given order, in batches of some 8 MB. `absent` returns the row of a URL
        that is not in the journal, or None. `complete` adds the body to a row without reason and body, and returns the
        row of a URL that has none here. Raises KeyError: a URL has no row."""
        self.close()
        group: list[pa.RecordBatch] = []
        size = 0
        # The least recently used file is closed first: a file is closed when nothing refers to it.
        opened = lru_cache(_OPEN_FILES)(self._filesystem.open_input_file)
        for url in urls:
            batch = self._row(url, absent, opened)
            has_no_body = batch is None or (batch["reason"].null_count and batch["body"].null_count)
            if complete is not None and has_no_body:
                batch = complete(url, batch)
            if batch is None:
                raise KeyError(url)
            group.append(batch)
            size += batch.nbytes + ROW_COST
            del batch  # then only the group keeps its body in memory, and that is released below
            if size >= BATCH_BYTES:
                gathered = pa.concat_batches(group)
                group, size = [], 0
                yield gathered
                del gathered
        if group:
            yield pa.concat_batches(group)

    def _note(self, row: dict[str, Any], place: Place) -> None:
        url = row["url"]
        is_new = self._places.put(url, place)
        if row["archive"] is None and (is_new or url in self.bodiless):
            self.asked += is_new
            self.bytes += row["bytes"] or 0
        if row["reason"] is None and row["body"] is None:
            self.bodiless[url] = row["sha256"]
        else:
            self.bodiless.pop(url, None)

    def _row(
        self, url: str, absent: Callable[[str], dict[str, Any] | None] | None, opened: Callable[[str], pa.NativeFile]
    ) -> pa.RecordBatch | None:
        place = self._places.get(url)
        if place is None:
            row = None if absent is None else absent(url)
            return None if row is None else row_batch(row)
        file = opened(self._paths[place.segment])
        file.seek(place.offset)
        batch = pa.ipc.read_record_batch(pa.ipc.read_message(file), PAGES.schema)
        if batch.column("url")[0].as_py() != url:
            raise KeyError(url)
        return batch
