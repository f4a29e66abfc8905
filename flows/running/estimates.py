"""The cost in a plan (hours at the rates of this root's records, requests to archives and sites), and the text of the
page of budgets."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from flows.config import BuildConfig
from flows.running.display import current_flow_run
from storage.directories import DirectoryRecord, find_directory
from storage.errors import CorruptShardError
from storage.recipes import ShardRecord, read_record
from storage.schemas import ARTICLES, DATASETS, FEATURES, FRONTIER, INDEX_FILES, PAGES, PARAGRAPHS, SEARCH, Dataset
from storage.spending import MONEY, Account, spent, this_month
from storage.store import Store
from tasks.archives.remote_files import PIECE_BYTES
from tasks.crawl.frontier import DomainLoad, plan_hosts
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Run
from tasks.fetching.settings import CommonCrawlSettings, CrawlSettings
from tasks.reporting.publishing import SPENDING, publish_page
from tasks.search.settings import WebSearchSettings

CORPUS_ARTICLES = 1_579_360  # training articles of the released ranked WikiSum
ARTICLE_PARAGRAPHS = 525  # candidates of an article, mean (Liu & Lapata 2019, sec. 4)
REFERENCE_RATE = 51.8  # articles of 525 paragraphs a second on one core: `python -m benchmarks.labels`
MEASURABLE_PARAGRAPHS = 100_000  # smaller roots spend more time on starting than on paragraphs

_SAMPLE = 50  # records read, if none of the plan's own shards is done


@dataclass(frozen=True)
class Estimate:
    """The cost of a stage's missing shards."""

    shard_seconds: float | None  # mean time of a shard in records of this root; None = none has been made here yet
    hours: float | None  # worker-hours of the missing shards at this rate; None = unknown


def estimate(run: Run) -> dict[str, Estimate]:
    """Return the estimate of each stage and directory of a planned walk."""
    estimates = {}
    for plan in run.plans:
        result, records = run.stages.get(plan.stage), list[ShardRecord | DirectoryRecord]()
        if result is not None:
            records += _records_of(run, plan.stage, DATASETS[result.stage])
        else:
            results = (
                find_directory(run.store, f"{plan.stage}/{name[:-5]}") for name in _sampled(run.store, plan.stage)
            )
            records += [record for record in results if record is not None]
        seconds = sum(record.seconds for record in records) / len(records) if records else None
        left = plan.shards - plan.done
        estimates[plan.stage] = Estimate(seconds, None if left and seconds is None else left * (seconds or 0.0) / 3600)
    return estimates


def queries(run: Run, settings: WebSearchSettings) -> int | None:
    """Return the most queries that missing shards of `search` need, with those of given results; None = unknown."""
    articles, search = run.stages.get(ARTICLES.name), run.stages.get(SEARCH.name)
    if settings.provider == "none" or (articles and search and search.complete):
        return 0
    if articles is None or search is None or not articles.complete:
        return None
    left = [record for shard, record in articles.records.items() if shard not in search.records]
    return sum(record.written.rows - sum(record.drops.values()) for record in left)


def writer_requests(run: Run, config: BuildConfig) -> tuple[()] | tuple[int, int, int] | None:
    """Return most requests, tokens read and written for what is missing; () before ranking, None without a writer."""
    settings, ranked, written = config.writer, run.stages.get("ranked"), run.stages.get("written")
    if settings is None or ranked is None or written is None or written.complete:
        return None
    if not ranked.complete:
        return ()
    from tasks.writing.stage import most_asked  # here, because it takes seconds

    articles, most = run.stages["articles"], (0, 0, 0)
    for shard in (number for number in ranked.shards if number not in written.records):
        of_articles, of_ranked = (
            run.store.read_table(stage.records[shard].path, stage.records[shard].written.sha256)
            for stage in (articles, ranked)
        )
        requests, read, made = most_asked(of_articles, of_ranked, settings)
        most = most[0] + requests, most[1] + read, most[2] + made
    return most


def account_of(config: BuildConfig) -> Account:
    """Return a new run's account."""
    return Account(config.root, config.budget.run_dollars, config.budget.month_dollars)


def check_budget(run: Run, config: BuildConfig) -> None:
    """Compare the known needs of a planned walk with the budget. BudgetSpentError: it would exceed that."""
    account = account_of(config)
    if not account.limited:
        return
    asked, written = queries(run, config.search) or 0, writer_requests(run, config)
    more = asked * (config.search.query_price or 0.0)
    if config.writer is not None and written:
        more += config.writer.price.of(*written[1:])
    account.check(more, spent(run.store, this_month(), limited=True)[0], {})


def _records_of(run: Run, stage: str, dataset: Dataset) -> list[ShardRecord]:
    """Return the records of a stage's own shards, or some of other shards of its dataset if there are none."""
    result = run.stages.get(stage)
    records = list(result.records.values()) if result else []
    for name in () if records else _sampled(run.store, dataset.name):
        with suppress(ValueError):
            records.append(read_record(run.store, f"{dataset.name}/{name}"))
    return records


def _sampled(store: Store, folder: str) -> list[str]:
    """Return the names of some records of a stage or directory, of any recipe."""
    return sorted(file for file in store.sizes(folder) if file.endswith(".json"))[:_SAMPLE]


def label_rate(run: Run) -> float | None:
    """Return the paragraphs per second of a core, from documents to tf-idf, by the records; None if they are few."""
    candidates, labelled = (_records_of(run, dataset.name, dataset) for dataset in (PARAGRAPHS, FEATURES))
    rows = sum(record.written.rows for record in candidates)
    labels = sum(record.written.rows for record in labelled)
    if rows < MEASURABLE_PARAGRAPHS or not labels:
        return None
    kept = 1 - sum(sum(record.drops.values()) for record in candidates) / rows
    seconds = sum(record.seconds for record in candidates) / rows
    return 1 / (seconds + kept * sum(record.seconds for record in labelled) / labels)


def corpus_hours(rate: float | None) -> float:
    """Return the core-hours for the paragraphs of the whole WikiSum at that rate; None = the benchmark's."""
    paragraphs = CORPUS_ARTICLES * ARTICLE_PARAGRAPHS
    return paragraphs / (rate or REFERENCE_RATE * ARTICLE_PARAGRAPHS) / 3600


CORPUS_URLS = 90_000_000  # 1.58 million articles with 57 URLs each
RECORD_BYTES = 30_000  # mean of a record in its file: a crawl has some 3 billion in 90 TB
READS_OF_A_ROW_GROUP = 4  # the keys, and three runs of adjacent columns
READS_OF_A_FOOTER = 3  # the size of the file, and the footer twice where it is long
# Common Crawl charges nothing. List prices of Amazon S3 in us-east-1, 2025, for a copy in your own bucket.
DOLLARS_PER_MILLION_REQUESTS = 0.40
DOLLARS_PER_GB = 0.09  # that leaves the region


@dataclass(frozen=True)
class Reads:
    """Requests, and the bytes that they bring."""

    requests: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.requests:,} requests for {self.bytes / 1e9:,.1f} GB"


def archive_line(run: Run, settings: CommonCrawlSettings) -> str | None:
    """Return what the missing shards of a planned walk cost at most; None if they ask nothing of Common Crawl."""
    if not settings.used:
        return None
    frontier, pages = (run.stages.get(dataset.name) for dataset in (FRONTIER, PAGES))
    looked_up = run.stages.get("captures-indexed")
    if frontier is None or pages is None or looked_up is None or not frontier.complete:
        whole = Reads(CORPUS_URLS, CORPUS_URLS * RECORD_BYTES)
        hours = CORPUS_URLS / settings.requests_per_second / 3600
        return (
            "Common Crawl: requests, hours and money are known once the frontier is made; for the records of the whole "
            f"WikiSum {whole}, {hours:,.0f} hours at {settings.requests_per_second:g} requests a second."
        )
    if pages.complete:
        return None
    urls = _kept(frontier)
    passes = [result for name, result in run.stages.items() if name.startswith("captures-indexed")]
    kept = round(_left(pages) * (sum(map(_kept, passes)) if looked_up.complete else urls))
    records = Reads(kept, kept * RECORD_BYTES)
    if settings.indexes:
        asked = round(_left(looked_up) * urls)
        hours = (asked * settings.delay_seconds + kept / settings.requests_per_second) / 3600
        index = f"{asked:,} look-ups, one in {settings.delay_seconds:g} s"
        total = records
    else:
        table = _table_reads(run, looked_up)
        if table is None:
            return "Common Crawl: requests, hours and money are known once the footers of its tables are read."
        total = Reads(table.requests + records.requests, table.bytes + records.bytes)
        hours = total.requests / settings.requests_per_second / 3600
        index = f"{table} of the columnar index and more to follow redirects"
    money = (
        f"${total.requests * DOLLARS_PER_MILLION_REQUESTS / 1e6:,.2f} for requests and "
        f"${total.bytes * DOLLARS_PER_GB / 1e9:,.2f} for traffic"
    )
    return (
        f"Common Crawl: at most {index}, and {records} of records, of {RECORD_BYTES / 1000:g} kB each: {hours:,.1f} "
        f"hours, at {settings.requests_per_second:g} requests a second. Free from Common Crawl; from a bucket of your "
        f"own in another region {money} (${DOLLARS_PER_MILLION_REQUESTS:.2f} a million, ${DOLLARS_PER_GB:.2f} "
        "a GB)."
    )


def _kept(result: StageResult) -> int:
    return sum(record.written.rows - sum(record.drops.values()) for record in result.records.values())


def _left(result: StageResult) -> float:
    """Return the share of the shards that are not done."""
    return 1 - len(result.records) / max(1, len(result.shards))


def _table_reads(run: Run, looked_up: StageResult) -> Reads | None:
    """Return what reading the needed columns of the files that are not done costs; None if they are unknown yet."""
    index = run.stages.get(INDEX_FILES.name)
    if index is None or not index.complete:
        return None
    tables = [run.store.read_table(record.path, record.written.sha256) for record in index.in_order]
    files = pa.concat_tables(tables)
    missing = [number for number in looked_up.shards if number not in looked_up.records]
    left = files.take(pa.array(missing, pa.int64()))
    size, groups = (int(pc.sum(left.column(name)).as_py() or 0) for name in ("bytes", "row_groups"))
    pieces = max(READS_OF_A_ROW_GROUP * groups, -(-size // PIECE_BYTES))
    return Reads(READS_OF_A_FOOTER * left.num_rows + pieces, size)


# Shards of the frontier that are read, of 1,000 some 1.8 M URLs: seconds, and enough for large domains.
_FRONTIER_SAMPLE = 20
_LARGEST = 10  # domains that a plan names


def host_lines(run: Run, settings: CrawlSettings) -> list[str]:
    """Return the known requests of a walk's crawl; nothing if it has no crawl, or nothing is left."""
    frontier, pages = run.stages.get(FRONTIER.name), run.stages.get(PAGES.name)
    if frontier is None or (pages is not None and pages.complete):
        return []
    if settings.from_archives and not settings.fetch_missing:
        return ["Crawl: pages come from archives; no site is asked."]
    if not frontier.complete:
        return ["Crawl: how many URLs each site has is known once the frontier is done."]
    try:
        return _domain_lines(run.store, frontier, () if pages is None else list(pages.records), settings)
    except CorruptShardError as error:
        return [f"Crawl: how many URLs each site has is not known: {error}"]


def _domain_lines(store: Store, frontier: StageResult, done: Collection[int], settings: CrawlSettings) -> list[str]:
    every = max(1, len(frontier.shards) // _FRONTIER_SAMPLE)
    records = frontier.in_order[::every]
    share = len(records) / max(1, len(frontier.shards))
    columns, delay = ["host", "host_shard", "drop_reason"], settings.host_delay_seconds
    batches = (batch for record in records for batch in store.read_batches(record.path, record.written.sha256, columns))
    loads = plan_hosts(batches, done=done, delay=delay, share=share, budget=settings.budget_domain_pages)
    if not loads:
        return []
    about = "" if share == 1 else f", as estimated from {len(records)} of its {len(frontier.shards):,} shards"
    lines = [f"Crawl: at most {sum(load.urls for load in loads):,} URLs of the frontier are left to ask for{about}."]
    if delay:
        lines[0] += (
            f" A registered domain is asked once in {delay:g} s, so the crawl takes at least "
            f"{loads[0].days:,.2f} days, however many workers it has. The largest domains:"
        )
        lines += [f"  {_load(load)}" for load in loads[:_LARGEST]]
    archives = [load for load in loads if load.archive is not None]
    return lines + [f"  {load.domain} is a web archive ({_load(load)}): {load.archive}." for load in archives]


def _load(load: DomainLoad) -> str:
    return f"{load.domain}: {load.urls:,} URLs, {load.hosts:,} hosts, {load.days:,.2f} days"


def spending_line(what: str, amounts: Mapping[str, float], most: float | None) -> str:
    """Return a sentence on what was spent, and what may be (US dollars)."""
    search, endpoints = (amounts.get(kind, 0.0) for kind in MONEY)
    return (
        f"{what}: ${search + endpoints:,.2f} (search ${search:,.2f}, language models ${endpoints:,.2f}); "
        f"{'no limit' if most is None else f'at most ${most:,g}'}."
    )


def month_line(run: Run, config: BuildConfig) -> str:
    """Return what this month's runs have spent."""
    month = this_month()
    return spending_line(f"Spent in {month} on this root", spent(run.store, month)[0], config.budget.month_dollars)


@contextmanager
def shown_spending(run: Run, config: BuildConfig) -> Iterator[None]:
    """Publish what a run and its month have spent when the block ends, however it does, if this is a flow run."""
    try:
        yield
    finally:
        if run.account is not None and current_flow_run() is not None:
            own = run.account.spent(run.store, this_month())[1]
            lines = [spending_line("This run", own, config.budget.run_dollars), month_line(run, config)]
            publish_page(config.name, SPENDING, "\n\n".join(lines), f"{config.name}: what this run and month cost.")
