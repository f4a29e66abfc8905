"""Files of an archive read over HTTP by ranges of bytes: records of WARC files, and columns of Parquet files. A file
has gigabytes, and a few kilobytes of it are needed. So only these bytes are requested: neighbours together, several at
a time, and none twice. All processes of this machine together keep to `crawl.common_crawl.requests_per_second`."""

import io
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa

from tasks.archives.replay import Capture, ReadRange, Replay
from tasks.engine.closing import Closing
from tasks.fetching.http import Patience, Response
from tasks.fetching.journal import Journal
from tasks.fetching.progress import CrawlProgress, ProgressCount
from tasks.fetching.queues import UrlList
from tasks.fetching.reasons import PageReason
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.turns import turn
from tasks.fetching.urls import host_of

# Its servers are often busy, and answer after some minutes.
PATIENCE = Patience(total_seconds=60.0, retries=5, backoff_seconds=2.0, max_backoff_seconds=120.0)

CONNECTIONS = 4  # requests of one shard at the same time
PIECE_BYTES = 4 << 20  # of one request for a part of a file: it arrives in time at half a megabit a second
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


class RemoteFiles(Closing):
    """The files below the archive's data URL; usable from many threads; the caller must close it."""

    def __init__(self, settings: CrawlSettings, connect_to: Mapping[str, str]) -> None:
        chosen = settings.common_crawl
        self._delay = 1 / chosen.requests_per_second
        self._queue = f"files of {host_of(chosen.data_url)}"
        self._service = Service(
            chosen.data_url, settings, PATIENCE, connect_to, delay_seconds=0.0, connections=CONNECTIONS
        )

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def read(self, url: str, offset: int, length: int) -> bytes:
        """Return a range of a file. Raises FetchError: `archive_failed` or `archive_bad_answer`."""
        answer = self._get(url, offset, offset + length - 1)
        if len(answer.body) != length:
            raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, f"{len(answer.body)} bytes for a range of {length}")
        return answer.body

    def size(self, url: str) -> int:
        """Return the size of a file in bytes. Raises FetchError: `archive_failed` or `archive_bad_answer`."""
        content_range = _RANGE.fullmatch(self._get(url, 0, 0).headers["content-range"])
        assert content_range is not None
        if content_range[3] == "*":
            raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, f"no size of {url}")
        return int(content_range[3])

    def _get(self, url: str, first: int, last: int) -> Response:
        if not url.startswith(self._service.url):
            raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, f"{url} is not below {self._service.url}")

        def inspect(status: int, headers: Mapping[str, str], start: bytes | None) -> str | None:
            if start is not None:
                return None
            content_range = _RANGE.fullmatch(headers.get("content-range", ""))
            right = (
                status == 206
                and content_range is not None
                and (int(content_range[1]), int(content_range[2])) == (first, last)
            )
            return None if right else PageReason.ARCHIVE_BAD_ANSWER

        wanted = {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity"}
        with turn(self._queue, self._delay):
            pass  # only the starts take turns; the requests overlap
        try:
            answer = self._service.get(url, max_bytes=last - first + 1, headers=wanted, inspect=inspect)
        except FetchError as fault:
            bad = fault.reason in (PageReason.ARCHIVE_BAD_ANSWER, PageReason.TOO_LARGE, PageReason.BAD_ENCODING)
            raise FetchError(PageReason.ARCHIVE_BAD_ANSWER if bad else PageReason.ARCHIVE_FAILED, fault) from fault
        if not answer.success:
            raise FetchError(PageReason.ARCHIVE_FAILED, f"HTTP {answer.status} for {url}")
        return answer


class RemoteFile(io.RawIOBase):
    """One of these files as a file object, readable at any offset."""

    def __init__(self, files: RemoteFiles, url: str) -> None:
        """Ask for its size. Raises ConnectionError: the file does not exist, or the archive does not answer."""
        self._files = files
        self._url = url
        self._place = 0
        with self._naming():
            self._size = files.size(url)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Return bytes, fewer only at the end; large parts come in several requests. Raises ConnectionError."""
        end = self._size if size < 0 else min(self._size, self._place + size)
        pieces = []
        while self._place < end:
            length = min(PIECE_BYTES, end - self._place)
            with self._naming():
                pieces.append(self._files.read(self._url, self._place, length))
            self._place += length
        return b"".join(pieces)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except FetchError as fault:
            raise ConnectionError(f"{self._url} could not be read: {fault}. Run the same command again") from fault


# Reading a gap costs less than another request: at 5 MB a second, 256 kB take the 50 ms for which the default rate lets
# the next request wait.
GAP_BYTES = 256 << 10
_MOST_BYTES = 8 << 20  # of a range: so much is in memory for each connection


@dataclass(frozen=True)
class FileRange:
    """Records that lie close to each other in one file."""

    file: str  # URL of the file
    offset: int  # first byte of the first record
    length: int  # bytes to the end of the last one
    urls: tuple[str, ...]  # the URLs of their pages, in order of offset


def gathered_ranges(wanted: Iterable[tuple[str, Capture]]) -> Iterator[FileRange]:
    """Yield the ranges that hold the captures of some URLs, by file and offset; every capture must have a length."""
    file, start, end, urls = "", 0, 0, list[str]()
    for url, capture in sorted(wanted, key=lambda pair: (pair[1].file, pair[1].offset, pair[0])):
        assert capture.length is not None
        last = capture.offset + capture.length
        joins = capture.file == file and capture.offset - end <= GAP_BYTES and max(end, last) - start <= _MOST_BYTES
        if urls and not joins:
            yield FileRange(file, start, end - start, tuple(urls))
        if not joins or not urls:
            file, start, end, urls = capture.file, capture.offset, last, []
        end = max(end, last)
        urls.append(url)
    if urls:
        yield FileRange(file, start, end - start, tuple(urls))


def reading(files: RemoteFiles, part: FileRange) -> ReadRange:
    """Return what reads records: those of a range of several from memory, unless it cannot be read; others, such as an
    older capture, by a request of their own."""
    data: bytes | None = None
    if len(part.urls) > 1:
        with suppress(FetchError):
            data = files.read(part.file, part.offset, part.length)

    def read(url: str, offset: int, length: int) -> bytes:
        start = offset - part.offset
        if data is not None and url == part.file and 0 <= start <= len(data) - length:
            return data[start : start + length]
        return files.read(url, offset, length)

    return read


def archived_pages(
    urls: UrlList,
    captures: pa.Table,
    settings: CrawlSettings,
    *,
    journal: Journal,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> None:
    """Add the rows of missing URLs from their captures, but those in no archive that the web is asked for."""
    count = ProgressCount(len(journal), len(urls), progress)
    writing = threading.Lock()
    with (
        RemoteFiles(settings, connect_to) as files,
        Replay(captures, settings) as replay,
        ThreadPoolExecutor(CONNECTIONS, "archive") as pool,
    ):

        def read(part: FileRange) -> None:
            records = reading(files, part)
            for url in part.urls:
                row = replay.row(url, records)
                with writing:  # at once, because each body may be large
                    if not (settings.fetch_missing and row["reason"] == PageReason.NOT_IN_ARCHIVE):
                        journal.append(row)
                        count.add(row)
                    count.tick()

        running: set[Future[None]] = set()
        for part in _parts([url for url in urls if url not in journal], replay):
            running.add(pool.submit(read, part))
            if len(running) >= CONNECTIONS:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
        for future in running:
            future.result()
    count.tick(last=True)


def _parts(urls: list[str], replay: Replay) -> Iterator[FileRange]:
    """Yield the URLs in the ranges of files to read for them; a URL without such a record is a part of its own."""
    remote = []
    for url in urls:
        capture = replay.first(url)
        if capture is None or capture.length is None:
            yield FileRange("", 0, 0, (url,))
        else:
            remote.append((url, capture))
    yield from gathered_ranges(remote)
