"""The page of the rehearsal: plain tables of what was planned, executed and extrapolated, and every assumption."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.rehearsal import extrapolation as extrapolation_module
from benchmarks.rehearsal import world
from benchmarks.rehearsal.execution import CRAWL_DELAY, WORKERS
from benchmarks.rehearsal.extrapolation import Extrapolation, Prices
from flows.running.estimates import ARTICLE_PARAGRAPHS, CORPUS_ARTICLES, RECORD_BYTES
from storage.schemas import DOCUMENTS, FRONTIER, RANKED
from tasks.fetching.settings import CommonCrawlSettings
from tasks.reporting.page import templates


def write_page(
    extrapolation: Extrapolation, plans: Mapping[str, Any], prices: Prices, *, cores: int, machine: str, made: str
) -> str:
    """Return the page as Markdown.

    `plans` has what each kind of plan took (`plan.plan`); `cores` are those of the cluster whose time is reported."""
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
        plans=plans,
        stages=stages,
        opening=[
            f"{extrapolation.opening_hours(name):.1f} core-hours and {extrapolation.opening_bytes(name) / 1e12:.1f} TB "
            f"of footers for each stage that reads `{name}`"
            for name in (FRONTIER.name, DOCUMENTS.name)
        ],
        ranked=any(stage.name == RANKED.name for stage in stages),
        requests=extrapolation.requests(),
        crawl_delay=CRAWL_DELAY,
        archived=extrapolation.common_crawl(),
        archive_rate=CommonCrawlSettings().requests_per_second,
        prices=prices,
        paragraphs=ARTICLE_PARAGRAPHS,
        record_bytes=RECORD_BYTES,
    )
