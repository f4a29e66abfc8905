"""The page of the rehearsal: plain tables of what was planned, executed and extrapolated, and every assumption."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.rehearsal import world
from benchmarks.rehearsal.execution import CRAWL_DELAY, WORKERS
from benchmarks.rehearsal.extrapolation import HOSTS, HOSTS_OF, HOSTS_POWER, Extrapolation, Prices
from flows.running.archive_costs import RECORD_BYTES
from flows.running.estimates import ARTICLE_PARAGRAPHS, CORPUS_ARTICLES
from storage.schemas import DOCUMENTS, FRONTIER, RANKED
from tasks.crawl.settings import CommonCrawlSettings

_TB = 1e12


def write_page(
    extrapolation: Extrapolation, plans: Mapping[str, Any], prices: Prices, *, cores: int, machine: str, made: str
) -> str:
    """Return the page as Markdown.

    Args:
        extrapolation: the figures.
        plans: kind of plan -> what it took (`benchmarks.full_size_plan.plan`).
        prices: in dollars.
        cores: cores of the cluster whose time is told.
        machine: what it was measured on.
        made: the day, and how the page is made again.
    """
    sample, shards = extrapolation.articles, extrapolation.shards
    parts = [
        "# A rehearsal at the web's size",
        f"{CORPUS_ARTICLES:,} articles with {world.ARTICLE_URLS} URLs each, in {shards:,} shards of articles and "
        f"{shards:,} of hosts: planned whole, executed with {sample:,} articles (1 in {extrapolation.factor:,.0f}) on "
        f"a Dask cluster of {WORKERS} worker processes, and extrapolated by processor time. Measured on {machine}; "
        f"other work may have run beside it. {made}",
        "## The plan",
        _table(
            ["root", "seconds of a core", "memory, GB", "shards done", "to compute", "waiting"],
            [
                [kind, f"{plan['processor']:.1f}", f"{plan['peak'] / 1e9:.2f}"]
                + [f"{plan[count]:,}" for count in ("done", "missing", "waiting")]
                for kind, plan in plans.items()
            ],
        ),
        "*empty*: nothing is done; *finished*: the corpus is; *changed*: a setting of the crawl has changed since.",
        "## The stages",
        *_stages(extrapolation, cores),
        "## The crawl",
        *_crawl(extrapolation),
        "## Money",
        *_money(extrapolation, prices),
        "## Assumptions",
        *_assumptions(extrapolation),
    ]
    return "\n\n".join(parts) + "\n"


def _stages(extrapolation: Extrapolation, cores: int) -> list[str]:
    stages = extrapolation.stages()
    rows = [
        [
            stage.name,
            f"{stage.rows:,}",
            f"{stage.seconds:.1f}",
            f"{stage.processor:.1f}",
            f"{stage.fixed:.2f}",
            f"{stage.peak_bytes / 1e6:,.0f}",
            f"{stage.bytes / 1e6:,.2f}",
            "–" if stage.full_peak_bytes is None else f"{stage.full_peak_bytes / 1e6:,.0f}",
            "not extrapolated" if stage.core_hours is None else f"{stage.core_hours:,.1f}",
            "–" if stage.full_bytes is None else f"{stage.full_bytes / 1e9:,.1f}",
        ]
        for stage in stages
    ]
    hours = sum(stage.core_hours or 0.0 for stage in stages)
    size = sum(stage.full_bytes or 0.0 for stage in stages)
    headings = ["stage", "rows", "seconds", "core-seconds", "of these a shard", "memory, MB", "disk, MB"]
    headings += ["whole: memory of a shard, MB", "core-hours", "disk, GB"]
    opening = [
        f"{extrapolation.opening_hours(name):.1f} core-hours and {extrapolation.opening_bytes(name) / _TB:.1f} TB of "
        f"footers for each stage that reads `{name}`"
        for name in (FRONTIER.name, DOCUMENTS.name)
    ]
    return [
        _table(headings, rows),
        f"The whole: **{hours:,.0f} core-hours**, which is {hours / cores:,.0f} hours on {cores} cores if no core "
        f"waits, and **{size / 1e9:,.0f} GB** on disk. *Seconds* are those of the slowest shard, *memory* that of the "
        "largest process and of those that it started, *of these a shard* the core-seconds that a shard costs "
        f"whatever its size, told from a second sample of {extrapolation.smaller:,} articles.",
        "Included is what only many shards cost, as each shard opens every file of some stages: "
        f"{'; '.join(opening)} (`benchmarks/rehearsal/fan_in.py`).",
        "The vocabulary is made once, whatever the size; so are trainings and report. What trainings and decoding cost "
        "on a GPU is **not measured**."
        + (
            " They were executed with a few steps of a small model."
            if any(stage.name == RANKED.name for stage in stages)
            else " Ranking, graphs, examples and all that follows were **not executed** here (`--end corpus`), and are "
            "missing in the sums."
        ),
    ]


def _crawl(extrapolation: Extrapolation) -> list[str]:
    requests = extrapolation.requests()
    rows = [
        [
            "no limit" if limit.budget is None else f"{limit.budget:,} pages a domain",
            f"{limit.urls / 1e6:,.1f}",
            f"{limit.days:,.1f}",
            f"{limit.urls / limit.days / 86_400:,.0f}",
        ]
        for limit in extrapolation.limits()
    ]
    asked, size, days = extrapolation.common_crawl()
    rate = CommonCrawlSettings().requests_per_second
    rows.append([f"Common Crawl, {rate:g} requests a second", f"{asked / 1e6:,.1f}", f"{days:,.1f}", f"{rate:,.0f}"])
    return [
        f"{requests.urls / 1e6:,.1f} M URLs on {requests.hosts / 1e6:,.1f} M hosts: {requests.asked / 1e6:,.1f} M "
        f"requests for pages and {requests.hosts / 1e6:,.1f} M for robots.txt, which bring "
        f"{requests.received / _TB:.2f} TB. The largest domain decides the time, at "
        f"{CRAWL_DELAY:g} s between two requests:",
        _table(["way", "URLs, M", "days at least", "pages a second"], rows),
        f"Common Crawl brings {size / _TB:.2f} TB of records; how much its index costs depends on the index, and "
        "`--dry-run` says it once the footers of its tables are read.",
    ]


def _money(extrapolation: Extrapolation, prices: Prices) -> list[str]:
    hours = sum(stage.core_hours or 0.0 for stage in extrapolation.stages())
    size = sum(stage.full_bytes or 0.0 for stage in extrapolation.stages()) / 1e9
    asked, records, _ = extrapolation.common_crawl()
    rows = [
        ["processors", f"{hours:,.0f} core-hours", f"{prices.core_hour:g} a core-hour", hours * prices.core_hour],
        ["disk", f"{size:,.0f} GB for a month", f"{prices.gb_month:g} a GB and month", size * prices.gb_month],
        ["pages from the web", "what arrives is free", "0", 0.0],
        ["or: Common Crawl itself", "free", "0", 0.0],
        [
            "or: a copy of Common Crawl, another region",
            f"{asked / 1e6:,.1f} M requests, {records / 1e9:,.0f} GB",
            f"{prices.million_requests:g} a million, {prices.gb_out:g} a GB",
            asked / 1e6 * prices.million_requests + records / 1e9 * prices.gb_out,
        ],
        [
            "a search for each title, where no results are given",
            f"{CORPUS_ARTICLES:,} queries",
            f"{prices.thousand_queries:g} a thousand",
            CORPUS_ARTICLES / 1000 * prices.thousand_queries,
        ],
        ["GPUs: trainings, decoding", "not measured", "", None],
    ]
    shown = [[*row[:3], "not measured" if row[3] is None else f"{row[3]:,.0f}"] for row in rows]
    return [
        _table(["what", "how much", "price, $", "$"], shown),
        "List prices of Amazon in us-east-1 and of a search service, 2025; give your own (`--core-hour` and so on).",
    ]


def _assumptions(extrapolation: Extrapolation) -> list[str]:
    return [
        "\n".join(
            f"* {line}"
            for line in (
                f"Sizes are the papers': {ARTICLE_PARAGRAPHS} paragraphs of {world.PARAGRAPH_WORDS} words an article, "
                f"leads of {world.LEAD_WORDS} words (Liu & Lapata 2019, sec. 4), {world.ARTICLE_URLS} URLs an article "
                f"(search results among them), one article in {world.SPLIT_EVERY} in the test split.",
                f"One URL in {world.GONE_EVERY} is dead (Pew Research Center 2024: 11 %); no page redirects, waits or "
                "fails otherwise; none is cited twice.",
                f"A page has {world.PAGE_BYTES / 1000:g} kB of HTML (Common Crawl 2024), compressed "
                f"{RECORD_BYTES / 1000:g} kB, of which the paragraphs are a few.",
                f"Hosts: {HOSTS:,} among {HOSTS_OF:,} URLs, and their number grows with the power {HOSTS_POWER:g} of "
                "that of URLs (references of 100 real articles).",
                f"A domain's share of the URLs is one over its rank among {world.DOMAINS:,}: the first has 11 %, as "
                "archive.org has of the references of a real dump. In the sample chance adds some percent to that. "
                "The web has more domains with few pages, so that limits for a domain leave out fewer URLs there.",
                "Cost grows in a straight line with articles and shards. Shards of the sample have "
                f"{extrapolation.articles / WORKERS:g} articles, those of the whole "
                f"{CORPUS_ARTICLES / extrapolation.shards:,.0f}.",
                "Memory grows in a straight line with the articles of a shard; what a worker keeps from earlier stages "
                "is included. A row group of the sample is half a shard of documents, of the whole a thousandth. "
                "`benchmarks/stage_memory.py` measures single stages on shards of 1,000 articles.",
                "Modules are loaded before a job is measured, once a worker. A core of the cluster is as fast as one "
                "here; network and object store are not waited for.",
                "Synthetic words follow Zipf's law; pages are served over loopback, without TLS.",
            )
        )
    ]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
