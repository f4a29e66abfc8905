"""Pages of an archive in which every record costs a request: neighbours together, several at a time, and none twice."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass

import pyarrow as pa

from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress, ProgressCount
from tasks.crawl.reasons import PageReason
from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.replay import Capture, ReadRange, Replay
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
