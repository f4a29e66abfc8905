"""What a plan says about the sites that the crawl will ask: the largest, their days, and archives among them."""

from collections.abc import Collection, Iterator

import pyarrow as pa

from storage.errors import CorruptShardError
from storage.recipes import ShardRecord
from storage.schemas import FRONTIER, PAGES
from storage.store import Store
from tasks.crawl.host_plan import DomainLoad, plan_hosts
from tasks.crawl.settings import CrawlSettings
from tasks.engine.inputs import StageResult
from tasks.engine.stage import Run

_SAMPLE = 20  # shards of the frontier that are read, of 1,000 some 1.8 M URLs: seconds, and enough for large domains


def host_lines(run: Run, settings: CrawlSettings) -> list[str]:
    """Return what is known of the requests of a walk's crawl; nothing if it has no crawl, or nothing is left."""
    frontier, pages = run.stages.get(FRONTIER.name), run.stages.get(PAGES.name)
    if frontier is None or (pages is not None and pages.complete):
        return []
    if settings.from_archives and not settings.fetch_missing:
        return ["Crawl: pages come from archives; no site is asked."]
    if not frontier.complete:
        return ["Crawl: how many URLs each site has is known once the frontier is done."]
    try:
        return _lines(run.store, frontier, () if pages is None else list(pages.records), settings)
    except CorruptShardError as error:
        return [f"Crawl: how many URLs each site has is not known: {error}"]


def _lines(store: Store, frontier: StageResult, done: Collection[int], settings: CrawlSettings) -> list[str]:
    every = max(1, len(frontier.shards) // _SAMPLE)
    records = frontier.in_order[::every]
    share = len(records) / max(1, len(frontier.shards))
    plan = plan_hosts(
        _columns(store, records),
        done=done,
        delay=settings.host_delay_seconds,
        share=share,
        budget=settings.budget_domain_pages,
    )
    if not plan.loads:
        return []
    about = "" if share == 1 else f", as estimated from {len(records)} of its {len(frontier.shards):,} shards"
    lines = [f"Crawl: at most {plan.urls:,} URLs of the frontier are left to ask for{about}."]
    if settings.host_delay_seconds:
        lines[0] += (
            f" A registered domain is asked once in {settings.host_delay_seconds:g} s, so the crawl takes at least "
            f"{plan.loads[0].days:,.2f} days, however many workers it has. The largest domains:"
        )
        lines += [f"  {_load(load)}" for load in plan.largest]
    return lines + [f"  {load.domain} is a web archive ({_load(load)}): {load.archive}." for load in plan.archives]


def _load(load: DomainLoad) -> str:
    return f"{load.domain}: {load.urls:,} URLs, {load.hosts:,} hosts, {load.days:,.2f} days"


def _columns(store: Store, records: list[ShardRecord]) -> Iterator[pa.RecordBatch]:
    for record in records:
        yield from store.read_batches(record.path, record.written.sha256, ["host", "host_shard", "drop_reason"])
