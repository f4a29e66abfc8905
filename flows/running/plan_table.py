"""The output of `--dry-run`: stages, their finished and missing shards, and why and at what cost these are computed."""

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from flows.config import BuildConfig
from flows.running.estimates import (
    ARTICLE_PARAGRAPHS,
    CORPUS_ARTICLES,
    Estimate,
    archive_line,
    corpus_hours,
    estimate,
    host_lines,
    label_rate,
    queries,
    writer_requests,
)
from flows.running.session import Session, planning_session
from flows.running.spending import month_line
from tasks.engine.stage import Run
from tasks.ranking.folders import read_ranking_folder
from tasks.ranking.settings import RankingSettings
from tasks.search.settings import WebSearchSettings

_HEADINGS = ("stage", "shards", "done", "would run", "waits for a stage above", "s per shard", "hours left")


def show_plan(config: BuildConfig, wiring: Callable[[Session], Any], console: Console) -> None:
    """Print the finished shards of a build, those it would compute, and their cost."""
    session = planning_session(config)
    session.once(wiring)
    run, estimates = session.run, estimate(session.run)
    table = Table(title=escape(f"plan for root {config.root!r}, preset {config.preset}"), title_justify="left")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for plan in run.plans:
        counts = [str(count) if count else "-" for count in (plan.shards, plan.done, plan.missing, plan.waiting)]
        costs = estimates[plan.stage]
        table.add_row(plan.stage, *counts, _number(costs.shard_seconds, 1), _number(costs.hours, 2))
    console.width = max(console.width, 110)
    console.print(table)
    reasons: dict[str, list[str]] = {}  # to compute, of the first shard of each stage
    for plan in run.plans:
        if plan.reason:
            reasons.setdefault(plan.reason, []).append(plan.stage)
    for reason, stages in reasons.items():
        console.print(escape(f"{', '.join(stages)}: {reason}"), highlight=False, soft_wrap=True)
    lines = [
        *(_ranking_line(config.ranking), _hours_line(estimates), _search_line(run, config.search)),
        *(archive_line(run, config.crawl.common_crawl), writer_line(run, config), month_line(run, config)),
        *(_labels_line(run), *host_lines(run, config.crawl)),
    ]
    for line in lines:
        if line is not None:
            console.print(escape(line), highlight=False, style="dim", soft_wrap=True)


def _hours_line(estimates: Mapping[str, Estimate]) -> str:
    hours = [stage_estimate.hours for stage_estimate in estimates.values() if stage_estimate.hours is not None]
    unknown = len(estimates) - len(hours)
    if not hours:
        return "Times are known once a shard of each stage has been made on this root."
    unmeasured = f", without {unknown} stages not measured here yet" if unknown else ""
    return (
        f"{sum(hours):,.2f} worker-hours are left at the rates of this root's records{unmeasured}. A waiting shard may "
        "turn out to be done: its key is known once the stage above it is done."
    )


def _search_line(run: Run, settings: WebSearchSettings) -> str:
    asked, price = queries(run, settings), settings.query_price
    if settings.provider == "none":
        return "Search: off."
    price_each = f"at ${1000 * price:g} per thousand" if price else "for free"
    if price is None:
        price_each = "at an unknown price (search.price_per_thousand)"
    if asked is None:
        return (
            f"Search: one query per article to {settings.provider} {price_each}; their number is known once articles "
            "are read."
        )
    cost = "" if not price else f", ${asked * price:,.2f}"
    return f"Search: at most {asked:,} queries to {settings.provider} {price_each}{cost}."


def _ranking_line(settings: RankingSettings) -> str | None:
    described = read_ranking_folder(settings)
    if described is None:
        return None
    what = described.architecture if described.classifies else f"{described.architecture}, {described.pooling} pooling"
    return f"Ranking: {settings.method} of {settings.folder} ({what}, {described.sizes})."


def writer_line(run: Run, config: BuildConfig) -> str | None:
    """Return what a language model would be asked for what is missing, as the texts are; None where none is asked."""
    most = writer_requests(run, config)
    if most is None:
        return None
    if not most:
        return "Writer: requests, tokens and money are known once paragraphs are ranked."
    assert config.writer is not None
    requests, read, made = most
    dollars = config.writer.price.of(read, made)
    cost = f"${dollars:,.2f}" if dollars else "at an unknown price (writer.price-read, writer.price-written)"
    return (
        f"Writer: {config.writer.model}, at most {requests:,} requests, {read:,} tokens read, {made:,} written, {cost}."
    )


def _labels_line(run: Run) -> str:
    rate = label_rate(run)
    measured = "by benchmarks/labels.py" if rate is None else f"on this root, {rate:,.0f} paragraphs per second"
    return (
        f"For comparison: clones, labels and tf-idf of the whole WikiSum, {CORPUS_ARTICLES:,} articles of "
        f"{ARTICLE_PARAGRAPHS} paragraphs, take {corpus_hours(rate):,.0f} core-hours at the rate measured {measured}."
    )


def _number(value: float | None, decimals: int) -> str:
    return "?" if value is None else f"{value:,.{decimals}f}" if value else "-"
