"""Pages of an archive in which every record costs a request: read several at a time, and none twice."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice

import pyarrow as pa

from tasks.crawl.common_crawl import RemoteRecords
from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress, ProgressCount
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
    workers = settings.common_crawl.connections
    with (
        closing(RemoteRecords(settings, connect_to)) as remote,
        Replay(captures, settings, remote) as replay,
        ThreadPoolExecutor(workers, "archive") as pool,
    ):
        missing = (url for url in urls if url not in journal)
        while some := list(islice(missing, workers)):  # only so many, because each body may be large
            for row in pool.map(replay.row, some):
                if not (settings.fetch_missing and row["reason"] == "not_in_archive"):
                    journal.append(row)
                    count.add(row)
            count.tick()
    count.tick(last=True)
