"""Pages of an archive in which every record costs a request: neighbours together, several at a time, and none twice."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa

from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress, ProgressCount
from tasks.crawl.reasons import PageReason
from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.replay import Capture, Replay
from tasks.crawl.safety import FetchError
from tasks.crawl.settings import CrawlSettings

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


class RangeRecords:
    """Reads records, those of one range from memory; others, such as an older capture, by a request of their own."""

    def __init__(self, files: RemoteFiles, part: FileRange) -> None:
        """Ask for a range of several records; if it cannot be read, each is asked for by itself."""
        self._files = files
        self._part = part
        self._data: bytes | None = None
        if len(part.urls) > 1:
            try:
                self._data = files.read(part.file, part.offset, part.length)
            except FetchError:
                return

    def read(self, url: str, offset: int, length: int) -> bytes:
        """Return a range of a file. Raises FetchError: `archive_failed` or `archive_bad_answer`."""
        start = offset - self._part.offset
        if self._data is not None and url == self._part.file and 0 <= start <= len(self._data) - length:
            return self._data[start : start + length]
        return self._files.read(url, offset, length)


def archived_pages(
    urls: Collection[str],
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
    workers = settings.common_crawl.connections
    with (
        closing(RemoteFiles(settings, connect_to)) as files,
        Replay(captures, settings) as replay,
        ThreadPoolExecutor(workers, "archive") as pool,
    ):

        def read(part: FileRange) -> None:
            records = RangeRecords(files, part)
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
            if len(running) >= workers:
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
