"""Pages of an archive whose records cost a request each: several are read at a time, and none is read twice."""

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
    """Add the row of each URL that the journal lacks to it, from its captures.

    Where the settings fetch what no archive has from the web, those URLs are left out of the journal.

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
        while some := list(islice(missing, workers)):  # so few, because each may be as long as a body may be
            for row in pool.map(replay.row, some):
                if not (settings.fetch_missing and row["reason"] == "not_in_archive"):
                    journal.append(row)
                    count.add(row)
            count.tick()
    count.tick(last=True)
