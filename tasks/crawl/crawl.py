"""The crawl of one shard of hosts: every URL of its frontier becomes exactly one row of `pages`. What was fetched goes
to a journal first, from which the rows are made, so that a killed run loses nothing and fetches no page twice. Pages
come from the web (`tasks.crawl.shard_crawl`), from archives, or from an earlier crawl."""

import itertools
import logging
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from storage.schemas import PAGES
from storage.store import Store
from tasks.archives.remote_files import archived_pages
from tasks.archives.replay import Replay
from tasks.archives.wayback import replace_dead
from tasks.crawl.shard_crawl import Report, ShardCrawl, StoredPages, unfetched_row
from tasks.engine.closing import on_sigterm
from tasks.engine.job import Scratch
from tasks.fetching.http import Client, Patience
from tasks.fetching.journal import BATCH_BYTES, ROW_COST, Journal
from tasks.fetching.progress import ProgressCount
from tasks.fetching.queues import UrlList, give_back, urls_of
from tasks.fetching.reused_pages import EarlierPages, find_earlier, forget_lost
from tasks.fetching.safety import LOOKUP_SECONDS, BoundedResolver, Guard, Resolver, system_resolver
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.turns import Pace, Turns, shared_turns
from tasks.fetching.urls import host_matches, host_of

logger = logging.getLogger(__name__)

PATIENCE = Patience()


def crawl_shard(
    frontier: pa.Table,
    settings: CrawlSettings,
    *,
    captures: pa.Table | None = None,
    indexed: pa.Table | None = None,
    shard: int,
    host_shards: int,
    root: str,
    scratch: Scratch,
    connect_to: Mapping[str, str],
    progress: Report,
    patience: Patience = PATIENCE,
) -> Iterator[pa.RecordBatch]:
    """Yield the pages of a host shard, journalling to the scratch folder (`crawl_batches`). Captures come from archive
    files (`captures`) and from an index (`indexed`). A crawl of the web reuses pages of an earlier one on the same root
    (`tasks.fetching.reused_pages`); dead links are looked up in the Internet Archive if the settings say so."""
    sources = [table for table in (captures, indexed) if table is not None]
    earlier = None
    if not settings.from_archives:
        earlier = find_earlier(Store(root), settings, shard=shard, host_shards=host_shards)
    with Journal(scratch.filesystem, scratch.path) as journal:
        rows = crawl_batches(
            frontier,
            pa.concat_tables(sources) if sources else None,
            settings,
            journal=journal,
            connect_to=connect_to,
            progress=progress,
            earlier=earlier,
            patience=patience,
        )
        del frontier, captures, indexed, sources  # so that the crawl can free them early
        if not settings.wayback.enabled:
            yield from rows
            return
        with Journal(scratch.filesystem, f"{scratch.path}/wayback") as earlier_pages:
            yield from replace_dead(rows, settings, journal=earlier_pages, connect_to=connect_to, earlier=earlier)


def crawl_batches(
    frontier: pa.Table,
    captures: pa.Table | None,
    settings: CrawlSettings,
    *,
    journal: Journal,
    connect_to: Mapping[str, str],
    progress: Report,
    earlier: EarlierPages | None = None,
    resolver: Resolver = system_resolver,
    turns: Turns | None = None,
    patience: Patience = PATIENCE,
) -> Iterator[pa.RecordBatch]:
    """Yield one row of `pages` for each distinct URL of the frontier's kept rows, in order of URL.

    Rows come in batches of some 8 MB, so memory does not grow with the shard. If there are `captures`, a page is
    fetched from the web only if the settings say so and no archive has it. Pages of the `earlier` crawl that are not
    due are reused, and the others are requested conditionally. `turns`: None = those that all shards of the run share.
    What is fetched is added to the journal. Raises ValueError: the settings name an archive and captures are missing.
    OSError: an archive file cannot be read. CorruptShardError: the earlier crawl's file has been damaged since it was
    opened. KeyboardInterrupt, SystemExit: the crawl was stopped; the journal holds what was fetched."""
    # With a million URLs each of these takes 90 MB, so only two of them exist at a time.
    frontier = frontier.select(["url", "drop_reason"])
    give_back()
    written = urls_of(frontier)
    del frontier
    give_back()
    urls = UrlList(written)
    del written
    give_back()
    if settings.from_archives:
        if captures is None:
            raise ValueError(f"crawl.archive names {len(settings.archive)} files: expected their captures, got none")
        if not (settings.common_crawl.used or settings.fetch_missing):
            yield from _replay(urls, captures, settings, progress)
            return
        archived_pages(urls, captures, settings, journal=journal, connect_to=connect_to, progress=progress)
        if not settings.fetch_missing:
            yield from journal.batches(urls)
            return
    private = [*settings.allowed_hosts, *connect_to]
    if not settings.contact and any(not host_matches(host, private) for host, _ in itertools.groupby(urls, host_of)):
        logger.warning("crawl.contact (or --contact) is empty: expected an address where site owners can reach you")
    guard = Guard(settings.allowed_hosts, connect_to, BoundedResolver(resolver, LOOKUP_SECONDS))
    client = Client(settings, guard, patience)
    pace = Pace(shared_turns() if turns is None else turns, guard, settings.host_delay_seconds)
    stored: StoredPages = earlier.get if earlier is not None else lambda _url: None
    forget_lost(journal, earlier)
    try:
        with on_sigterm(partial(sys.exit, 143)):  # an exception, so that the journal is closed
            ShardCrawl(client, pace, settings, patience, journal, progress).run(urls, stored)
    finally:
        journal.close()
        client.close()

    def unfetched(url: str) -> dict[str, Any] | None:
        page = stored(url)
        return unfetched_row(url, page, settings) if page is None or page.due else None

    yield from journal.batches(urls, unfetched, None if earlier is None else earlier.completing())


def _replay(urls: UrlList, captures: pa.Table, settings: CrawlSettings, progress: Report) -> Iterator[pa.RecordBatch]:
    count = ProgressCount(0, len(urls), progress)
    group: list[dict[str, Any]] = []
    size = 0
    with Replay(captures, settings) as replay:
        for url in urls:
            row = replay.row(url)
            count.add(row)
            count.tick()
            group.append(row)
            size += len(row["body"] or b"") + ROW_COST
            if size >= BATCH_BYTES:
                yield pa.RecordBatch.from_pylist(group, schema=PAGES.schema)
                group, size = [], 0
    if group:
        yield pa.RecordBatch.from_pylist(group, schema=PAGES.schema)
    count.tick(last=True)
