"""The page of the rehearsal: plain tables of what was planned, executed and extrapolated, and every assumption."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rehearsal import extrapolation as extrapolation_module
from benchmarks.rehearsal import world
from benchmarks.rehearsal.execution import CRAWL_DELAY, WORKERS
from benchmarks.rehearsal.extrapolation import Extrapolation, Prices, StageCost
from flows.running.estimates import ARTICLE_PARAGRAPHS, CORPUS_ARTICLES, RECORD_BYTES
from storage.schemas import DOCUMENTS, FRONTIER, RANKED
from tasks.crawl.settings import CommonCrawlSettings
from tasks.reporting.page import templates


def write_page(
    extrapolation: Extrapolation, plans: Mapping[str, Any], prices: Prices, *, cores: int, machine: str, made: str
) -> str:
    """Return the page as Markdown.

    `plans` has what each kind of plan took (`benchmarks.full_size_plan.plan`); `cores` are those of the cluster whose
    time is told.
    """
    environment = templates(Path(__file__).parent, escaped=False)
    stages = extrapolation.stages()
    hours = sum(stage.core_hours or 0.0 for stage in stages)
    gigabytes = sum(stage.full_bytes or 0.0 for stage in stages) / 1e9
    return environment.get_template("page.md.j2").render(
        whole=extrapolation,
        world=world,
        hosts=extrapolation_module,
        articles=CORPUS_ARTICLES,
        workers=WORKERS,
        machine=machine,
        made=made,
        cores=cores,
        hours=hours,
        gigabytes=gigabytes,
        plans=_table(
            ["root", "seconds of a core", "memory, GB", "shards done", "to compute", "waiting"],
            [
                [kind, f"{plan['processor']:.1f}", f"{plan['peak'] / 1e9:.2f}"]
                + [f"{plan[count]:,}" for count in ("done", "missing", "waiting")]
                for kind, plan in plans.items()
            ],
        ),
        stages=_stages(stages),
        opening=[
            f"{extrapolation.opening_hours(name):.1f} core-hours and {extrapolation.opening_bytes(name) / 1e12:.1f} TB "
            f"of footers for each stage that reads `{name}`"
            for name in (FRONTIER.name, DOCUMENTS.name)
        ],
        ranked=any(stage.name == RANKED.name for stage in stages),
        requests=extrapolation.requests(),
        crawl_delay=CRAWL_DELAY,
        crawl=_crawl(extrapolation),
        archived=extrapolation.common_crawl()[1],
        money=_money(extrapolation, prices, hours, gigabytes),
        paragraphs=ARTICLE_PARAGRAPHS,
        record_bytes=RECORD_BYTES,
    )


def _stages(stages: Sequence[StageCost]) -> str:
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
    headings = ["stage", "rows", "seconds", "core-seconds", "of these a shard", "memory, MB", "disk, MB"]
    headings += ["whole: memory of a shard, MB", "core-hours", "disk, GB"]
    return _table(headings, rows)


def _crawl(extrapolation: Extrapolation) -> str:
    rows = [
        [
            "no limit" if limit.budget is None else f"{limit.budget:,} pages a domain",
            f"{limit.urls / 1e6:,.1f}",
            f"{limit.days:,.1f}",
            f"{limit.urls / limit.days / 86_400:,.0f}",
        ]
        for limit in extrapolation.limits()
    ]
    asked, _, days = extrapolation.common_crawl()
    rate = CommonCrawlSettings().requests_per_second
    rows.append([f"Common Crawl, {rate:g} requests a second", f"{asked / 1e6:,.1f}", f"{days:,.1f}", f"{rate:,.0f}"])
    return _table(["way", "URLs, M", "days at least", "pages a second"], rows)


def _money(extrapolation: Extrapolation, prices: Prices, hours: float, size: float) -> str:
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
    return _table(["what", "how much", "price, $", "$"], shown)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
