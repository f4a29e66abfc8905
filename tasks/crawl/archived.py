"""Pages of an archive in which every record costs a request: neighbours together, several at a time, and none twice."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing

import pyarrow as pa

from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress, ProgressCount
from tasks.crawl.ranges import FileRange, RangeRecords, gathered_ranges
from tasks.crawl.reasons import PageReason
from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.replay import Replay
from tasks.crawl.settings import CrawlSettings


def archived_pages(
    urls: Collection[str],
    captures: pa.Table,
    settings: CrawlSettings,
    *,
    journal: Journal,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> None:
    """Add the rows of missing URLs to the journal, from their captures.

    If the settings fetch URLs that are in no archive from the web, these URLs are left out of the journal.

    Args:
        urls: the URLs.
        captures: rows of `captures` of these URLs.
        settings: settings of the crawl.
        journal: rows found so far; the new ones are added.
        connect_to: pattern of host -> `address:port` where connections are made instead.
        progress: called about once a second.
    """
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
