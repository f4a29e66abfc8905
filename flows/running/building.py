"""Plan or run what a command asks for, without a running Prefect server; the plan is that of `--dry-run`."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import httpx
from prefect.exceptions import ObjectNotFound
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from flows.config import BuildConfig
from flows.running import estimates
from flows.running.command_line import CommandLine, Stopped
from flows.running.machine import check_machine, lacking
from flows.running.session import Session, holding, planning_session, walk_finished
from flows.running.temporary_server import check_prefect_api, has_prefect_api, use_prefect_api
from flows.running.writer_trial import try_writer
from flows.verify import verify_held
from storage.errors import BudgetSpentError, CorruptShardError
from storage.store import Store
from tasks.engine.libraries import key_libraries
from tasks.engine.provenance import LIBRARIES
from tasks.engine.stage import Run, StageFailedError
from tasks.ranking.folders import read_ranking_folder
from tasks.ranking.settings import RankingSettings
from tasks.search.settings import WebSearchSettings
from tasks.writing.writer import check_writer

T = TypeVar("T")

_UNKNOWN = (404, 409)  # a server's answers for an unknown run: it is not found, or breaks a foreign key
_NOTHING_TO_DO = "every stage is done; PREFECT_API_URL is not set, so no run is shown in a UI"
_HEADINGS = ("stage", "shards", "done", "would run", "waits for a stage above", "s per shard", "hours left")


def run_build(
    given: CommandLine, run: Callable[[BuildConfig], Any], wiring: Callable[[Session], Any], *, only_stages: bool = True
) -> int:
    """Plan or run what was asked for; return the exit code. `wiring` is the flow's walk, for the plan. `only_stages`:
    stages and a manifest are all that the flow makes, so that it needs no Prefect server if every stage is done.
    Raises Stopped: some shards of a stage could not be made; StorageError, ValueError, OSError: as `checked`."""
    errors, config = Console(stderr=True, soft_wrap=True), given.build
    recompute_on = LIBRARIES if given.recompute_changed_libraries else frozenset[str]()
    if given.dry_run:
        show_plan(config, wiring, Console(), recompute_on)
        lacks = lacking(config)
        for lack in lacks:
            errors.print(f"[red]this machine lacks[/red] {escape(lack)}", highlight=False)
        return 1 if lacks else 0
    check_prefect_api()
    with checked(config, wiring, recompute_on) as planned:
        if given.verify:
            _, summary = verify_held(planned.run.store, dry_run=False)
            errors.print(escape(summary), highlight=False)
            planned = _planned(config, wiring)
        if only_stages and planned.run.finished and not has_prefect_api():
            # A temporary server would take longer to start than the run takes, and nobody could look at the run.
            errors.print(_NOTHING_TO_DO, highlight=False)
            with suppress(CorruptShardError):
                return _show(walk_finished(config, wiring))
        errors.print(_left_line(planned.run), highlight=False)
        use_prefect_api()
        try:
            return _show(run_through_a_loss(run, config, errors))
        except StageFailedError as error:
            raise Stopped(str(error)) from error


def run_through_a_loss(run: Callable[[BuildConfig], T], config: BuildConfig, errors: Console) -> T:
    """Run a flow. If the server no longer knows the run, because another server with an empty database has replaced it,
    run it once more as a new one, which computes only what is missing."""
    try:
        return run(config)
    except (httpx.HTTPStatusError, ObjectNotFound) as error:
        status = error.response.status_code if isinstance(error, httpx.HTTPStatusError) else _UNKNOWN[0]
        if status not in _UNKNOWN:
            raise
    errors.print("the Prefect server no longer knows this run, which goes on as a new one; what is finished is kept")
    return run(config)


@contextmanager
def checked(
    config: BuildConfig, wiring: Callable[[Session], Any], recompute_on: Collection[str] = ()
) -> Iterator[Session]:
    """Check machine, root and inputs before a server starts, ask the language model that is to write once, and hold the
    root; the session is that of the plan. Raises ChatError, a ValueError: it gave no answer; BudgetSpentError."""
    check_machine(config)
    store = Store(config.root)
    with holding(store):
        key_libraries(store, recompute_on)
        planned = _planned(config, wiring)
        if (tried := try_writer(planned.run, config)) is not None:
            Console(stderr=True, soft_wrap=True).print(escape(tried), highlight=False)
        yield planned


def _planned(config: BuildConfig, wiring: Callable[[Session], Any]) -> Session:
    planned = planning_session(config, keeps_answers=True)
    try:
        planned.once(wiring)
    except CorruptShardError:  # the run repairs what is damaged
        planned.forget()
    written = planned.run.stages.get("written")
    if config.writer is not None and written is not None and not written.complete:
        check_writer(config.writer, config.writer.words)
    estimates.check_budget(planned.run, config)
    return planned


def _left_line(run: Run) -> str:
    """Return how many stages are not finished; of some the shards are known only once the stage above is done."""
    left = sum(plan.done < plan.shards or not plan.shards for plan in run.plans)
    return f"{left} of {len(run.plans)} stages are left to compute"


def _show(result: Any) -> int:
    """Print what a flow returns, if it is a text; return the exit code."""
    if isinstance(result, str):
        Console(soft_wrap=True).print(result, highlight=False, markup=False)
    return 0


def show_plan(
    config: BuildConfig, wiring: Callable[[Session], Any], console: Console, recompute_on: Collection[str] = ()
) -> None:
    """Print the finished shards of a build, those it would compute, and their cost; `recompute_on` is that of
    `planning_session`."""
    session = planning_session(config, recompute_on=recompute_on)
    session.once(wiring)
    run, costs_of = session.run, estimates.estimate(session.run)
    table = Table(title=escape(f"plan for root {config.root!r}, preset {config.preset}"), title_justify="left")
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for plan in run.plans:
        counts = [str(count) if count else "-" for count in (plan.shards, plan.done, plan.missing, plan.waiting)]
        costs = costs_of[plan.stage]
        table.add_row(plan.stage, *counts, _number(costs.shard_seconds, 1), _number(costs.hours, 2))
    console.width = max(console.width, 110)
    console.print(table)
    reasons: dict[str, list[str]] = {}  # to compute, of the first shard of each stage
    for plan in run.plans:
        if plan.reason:
            reasons.setdefault(plan.reason, []).append(plan.stage)
    for reason, stages in reasons.items():
        console.print(escape(f"{', '.join(stages)}: {reason}"), highlight=False, soft_wrap=True)
    left = (
        *(_ranking_line(config.ranking), _hours_line(costs_of), _search_line(run, config.search)),
        *(estimates.archive_line(run, config.crawl.common_crawl), writer_line(run, config)),
    )
    lines = [
        *(("Every stage is done: nothing is left to compute.",) if run.finished else left),
        *(estimates.month_line(run, config), _refusal_line(run, config)),
        *(_labels_line(run), *estimates.host_lines(run, config.crawl)),
    ]
    for line in lines:
        if line is not None:
            console.print(escape(line), highlight=False, style="dim", soft_wrap=True)


def _refusal_line(run: Run, config: BuildConfig) -> str | None:
    try:
        estimates.check_budget(run, config)
    except BudgetSpentError as error:
        return f"This would not start: {error}"
    return None


def _hours_line(costs_of: Mapping[str, estimates.Estimate]) -> str:
    hours = [costs.hours for costs in costs_of.values() if costs.hours is not None]
    unknown = len(costs_of) - len(hours)
    if not hours:
        return "Times are known once a shard of each stage has been made on this root."
    unmeasured = f", without {unknown} stages not measured here yet" if unknown else ""
    return (
        f"{sum(hours):,.2f} worker-hours are left at the rates of this root's records{unmeasured}. A waiting shard may "
        "turn out to be done: its key is known once the stage above it is done."
    )


def _search_line(run: Run, settings: WebSearchSettings) -> str:
    asked, price = estimates.queries(run, settings), settings.query_price
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
    """Return the requests to a language model for missing shards, with the present texts; None without one."""
    most = estimates.writer_requests(run, config)
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
    rate = estimates.label_rate(run)
    measured = "by benchmarks/labels.py" if rate is None else f"on this root, {rate:,.0f} paragraphs per second"
    whole = f"{estimates.CORPUS_ARTICLES:,} articles of {estimates.ARTICLE_PARAGRAPHS} paragraphs"
    return (
        f"For comparison: clones, labels and tf-idf of the whole WikiSum, {whole}, take "
        f"{estimates.corpus_hours(rate):,.0f} core-hours at the rate measured {measured}."
    )


def _number(value: float | None, decimals: int) -> str:
    return "?" if value is None else f"{value:,.{decimals}f}" if value else "-"
