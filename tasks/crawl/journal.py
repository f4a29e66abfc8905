"""The rows that a crawl has fetched so far, kept on disk while it runs, so that a killed crawl requests no page twice.

A journal is a directory of segments on any pyarrow filesystem. A segment is an Arrow IPC stream with one record batch
per row, written through to the file at once: however the process ends, all rows before the one being written are kept.
Segments are closed regularly, because an object store shows only closed files, and small ones are merged, because a
crawl of weeks with a page a minute would otherwise leave tens of thousands. When a journal is opened again, a torn end
is left out, and so is a row whose body does not match its digest."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from tasks.crawl.segments import (
    SUFFIX,
    Place,
    Places,
    SegmentReader,
    SegmentWriter,
    new_segment_path,
    row_batch,
    scan_segment,
)
from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)

# A group of rows is in memory twice while it is joined, and some rows longer, while a row group is gathered.
BATCH_BYTES = 8 << 20
# A batch of one row without a body counts 126 bytes but takes 12,000: buffers are padded, columns are objects.
ROW_COST = 12_000
MERGED = 64  # small segments that become one
_SMALL_BYTES = 16 << 20


class Journal(Closing):
    """Rows of `pages` that survive the process; for one writer at a time."""

    def __init__(
        self, filesystem: pafs.FileSystem, directory: str, *, rows: int = 2_000, seconds: float = 30.0
    ) -> None:
        """Open a journal and read its rows. A segment is closed after that many rows or seconds."""
        self._filesystem = filesystem
        self._directory = directory
        self._rows = rows
        self._seconds = seconds
        self._places = Places()
        self._paths: dict[int, str] = {}  # number of a segment -> its file
        self._numbers = 0
        self._live: Counter[int] = Counter()  # number of a segment -> rows that are read from it
        self._small: list[int] = []  # closed ones that can be merged, oldest first
        self._writer: SegmentWriter | None = None
        self.asked = 0  # rows fetched from the web, not read from an archive
        self.bytes = 0  # of their bodies
        # URL -> digest of the body, for rows without reason and body: the body is in an earlier crawl
        self.bodiless: dict[str, str] = {}
        selector = pafs.FileSelector(directory, allow_not_found=True)
        for info in sorted(filesystem.get_file_info(selector), key=lambda info: info.path):
            if info.path.endswith(SUFFIX):
                number = self._number(info.path)
                for row, offset in scan_segment(filesystem, info.path):
                    self._note(row, Place(number, offset))
                self._closed(number, info.size)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._places.get(url) is not None

    def append(self, row: dict[str, Any]) -> None:
        """Write a row of `pages`; it is on disk when this returns (on an object store: when its segment is closed)."""
        if self._writer is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            self._writer = self._begin()
        offset = self._writer.write(row)
        self._note(row, Place(self._writer.number, offset))
        if self._writer.count >= self._rows or self._writer.age >= self._seconds:
            self.close()
            while len(self._small) >= MERGED:
                self._merge(self._small[:MERGED])

    def forget(self, url: str) -> None:
        """Remove a bodiless row from this object only; when the journal is opened again, it is back."""
        self._live[self._places.forget(url).segment] -= 1
        del self.bodiless[url]
        self.asked -= 1

    def close(self) -> None:
        """Close the segment being written; the next row begins another."""
        if self._writer is not None:
            self._writer.close()
            self._closed(self._writer.number, self._writer.size)
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
        with SegmentReader(self._filesystem) as reader:
            for url in urls:
                batch = self._row(url, absent, reader)
                if complete is not None and (batch is None or _is_bodiless(batch)):
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
        before = self._move(url, place)
        if row["archive"] is None and (before is None or url in self.bodiless):
            self.asked += before is None
            self.bytes += row["bytes"] or 0
        if row["reason"] is None and row["body"] is None:
            self.bodiless[url] = row["sha256"]
        else:
            self.bodiless.pop(url, None)

    def _move(self, url: str, place: Place) -> Place | None:
        before = self._places.put(url, place)
        if before is not None:
            self._live[before.segment] -= 1
        self._live[place.segment] += 1
        return before

    def _row(
        self, url: str, absent: Callable[[str], dict[str, Any] | None] | None, reader: SegmentReader
    ) -> pa.RecordBatch | None:
        place = self._places.get(url)
        if place is None:
            row = None if absent is None else absent(url)
            return None if row is None else row_batch(row)
        batch = reader.read(self._paths[place.segment], place.offset)
        if batch.column("url")[0].as_py() != url:
            raise KeyError(url)
        return batch

    def _number(self, path: str) -> int:
        self._numbers += 1
        self._paths[self._numbers] = path
        return self._numbers

    def _begin(self) -> SegmentWriter:
        path = new_segment_path(self._directory)
        return SegmentWriter(self._filesystem, path, self._number(path))

    def _closed(self, number: int, size: int) -> None:
        if 8 * self._live[number] < self._rows and size < _SMALL_BYTES:
            self._small.append(number)

    def _merge(self, parts: list[int]) -> None:
        """Copy the live rows of segments into a newer one, then delete them; after a kill rows are there twice."""
        merged = self._begin()
        for part in parts:
            for row, offset in scan_segment(self._filesystem, self._paths[part]):
                if self._places.get(row["url"]) == Place(part, offset):
                    self._move(row["url"], Place(merged.number, merged.write(row)))
        merged.close(durable=True)
        self._small = self._small[len(parts) :]
        for part in parts:
            if self._live.pop(part, 0):
                logger.warning("%s was damaged after it had been written: it is kept", self._paths[part])
            else:
                self._filesystem.delete_file(self._paths.pop(part))
        self._closed(merged.number, merged.size)


def _is_bodiless(batch: pa.RecordBatch) -> bool:
    return bool(batch.column("reason").null_count and batch.column("body").null_count)
