"""The stages of a build in the report: what their rows are, how many were refused and why, what they cost, and which
hosts failed most."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from storage.recipes import most_first
from tasks.engine.reasons import Reason
from tasks.extraction.reasons import DocumentReason
from tasks.fetching.reasons import CaptureReason, FrontierReason, PageReason
from tasks.near_duplicates.refusals import AcrossReason
from tasks.paragraphs.filter import ParagraphReason
from tasks.reporting.blocks import NONE, WORDS, Block, Cell, Row, Text, section, share_cell, table_of
from tasks.rights.conditions import ConditionReason
from tasks.search.search import SearchReason
from tasks.sources.source import ArticleReason, GivenReason


@dataclass(frozen=True)
class ReportedStage:
    """The report's words for a stage of the corpus."""

    heading: str | None  # what its rows are; None for a stage that is not in the table of rows
    kinds: tuple[type[Reason], ...] = ()  # the reasons for refusing one of them
    listed: str = ""  # the explorer's list that has its refused rows; "" where none has

    @property
    def reasons(self) -> dict[str, str]:
        """Each reason with its meaning."""
        return {reason: reason.meaning for reason in chain.from_iterable(self.kinds)}


_PARAGRAPHS = (ConditionReason, ParagraphReason)
# In the order of the pipeline.
REPORTED_STAGES: Mapping[str, ReportedStage] = {
    "intake": ReportedStage(None, (ArticleReason,)),
    "articles": ReportedStage("articles", (ArticleReason,), "articles"),
    "search": ReportedStage("search results", (FrontierReason, SearchReason)),
    "captures": ReportedStage("archived captures", (CaptureReason,)),
    "captures-indexed": ReportedStage("captures an index names", (CaptureReason,)),
    "frontier": ReportedStage("URLs of articles", (FrontierReason,)),
    "pages": ReportedStage("pages", (PageReason,), "documents"),
    "documents": ReportedStage("documents", (PageReason, DocumentReason), "documents"),
    "given": ReportedStage("documents the source gives", (GivenReason,)),
    "paragraphs": ReportedStage("paragraphs", _PARAGRAPHS, "paragraphs"),
    "compared": ReportedStage("paragraphs, compared across articles", (*_PARAGRAPHS, AcrossReason), "paragraphs"),
    "features": ReportedStage("labelled paragraphs"),
    "ranked": ReportedStage("ranked paragraphs"),
    "graphs": ReportedStage("articles with a graph"),
    "examples": ReportedStage("examples"),
    "sentence-examples": ReportedStage("examples"),
}
# The kept rows of the first stage are the rows of the second; if a stage has two sources, the last one is read.
_HANDED_ON = {"frontier": "documents", "paragraphs": "features", "compared": "features"}


def meaning(stage: str, reason: str) -> str:
    """Return what a reason of a stage means, or an empty string for an unknown reason."""
    text = REPORTED_STAGES[stage].reasons.get(reason) if stage in REPORTED_STAGES else None
    if text is None and reason.startswith("http_"):
        return f"the server answered with status {reason.removeprefix('http_')}"
    return text or ""


@dataclass(frozen=True)
class RowCounts:
    """How many rows of a stage, or URLs of a host, were refused."""

    name: str  # of the stage or host
    heading: str  # what the rows are, for people
    rows: int  # all rows
    drops: Mapping[str, int]  # refused rows by reason, most frequent first

    @property
    def refused(self) -> int:
        """Rows with a reason."""
        return sum(self.drops.values())

    @property
    def kept(self) -> int:
        """Rows without a reason."""
        return self.rows - self.refused


def funnel(counts: Mapping[str, Mapping[str, Any]]) -> list[RowCounts]:
    """Return the stages of the corpus in order of the pipeline, from the counts of `storage.builds.summarise`."""
    return [
        RowCounts(stage, reported.heading, counts[stage]["rows"], most_first(counts[stage]["drops"]))
        for stage, reported in REPORTED_STAGES.items()
        if reported.heading is not None and stage in counts
    ]


def failing_hosts(counts: Mapping[str, Mapping[str, Any]]) -> list[RowCounts]:
    """Return the hosts with the most failures, worst first; empty if no record of a crawl names any."""
    worst = counts.get("pages", {}).get("worst", {})
    rows = [RowCounts(host, "URLs", its["rows"], most_first(its["drops"])) for host, its in worst.items()]
    return sorted(rows, key=lambda row: (-row.refused, row.name))


def imbalances(rows: Iterable[RowCounts]) -> list[str]:
    """Return a sentence for each inconsistency in the counts; normally none."""
    by_stage = {row.name: row for row in rows}
    problems = [
        f"{row.name} has {row.rows:,} rows, but {row.refused:,} refused rows."
        for row in by_stage.values()
        if row.refused > row.rows
    ]
    for taker, giver in {taker: giver for giver, taker in _HANDED_ON.items() if giver in by_stage}.items():
        if taker in by_stage and by_stage[giver].kept != by_stage[taker].rows:
            problems.append(f"{giver} keeps {by_stage[giver].kept:,} rows, but {taker} has {by_stage[taker].rows:,}.")
    return problems


def tallies(counts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each stage of the corpus that counted more than rows: the numbers, highest first."""
    counted = ((stage, most_first(counts[stage].get("tally", {}))) for stage in REPORTED_STAGES if stage in counts)
    return [
        f"Also counted in {stage}: {'; '.join(f'{name} {count:,}' for name, count in tally.items())}."
        for stage, tally in counted
        if tally
    ]


@section("funnel", "From articles to examples")
def funnel_section(rows: Sequence[RowCounts], counted: Sequence[str] = ()) -> Iterator[Block]:
    """Counts along the pipeline, and all refused rows by reason; `counted`: the sentences of `tallies`."""
    if not rows:
        yield Text("No stage was counted.")
        return
    yield Text(WORDS["legends"]["funnel"])
    yield table_of(
        "Rows of each stage",
        ["stage", "rows", "kept", "refused", "kept, %"],
        (
            [row.heading, row.rows, Cell(f"{row.kept:,}", strong=True), row.refused, share_cell(row.kept, row.rows)]
            for row in rows
        ),
    )
    yield from (Text(f"The counts are inconsistent: {sentence}") for sentence in imbalances(rows))
    yield from map(Text, counted)
    reasons: list[Row] = []
    for row in rows:
        kind = REPORTED_STAGES[row.name].listed
        for reason, count in row.drops.items():
            listed = urlencode({"of": kind, "reason": reason}) if kind else ""
            number = Cell(f"{count:,}", rows=listed)
            reasons.append([row.heading, reason, number, share_cell(count, row.rows), meaning(row.name, reason)])
    columns = ["stage", "reason", "rows", "of the stage, %", "meaning"]
    yield table_of("Why rows were refused", columns, reasons, range(2, 4)) if reasons else Text("Nothing was refused.")


@section("hosts", "Hosts with the most failures")
def hosts_section(hosts: Sequence[RowCounts]) -> Iterator[Block]:
    """The hosts whose pages failed most."""
    if not hosts:
        yield Text("No fetch of a page failed.")
        return
    rows: list[Row] = []
    for row in hosts:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in row.drops.items())
        rows.append([row.name, row.rows, row.refused, share_cell(row.refused, row.rows), reasons])
    caption = f"The {len(rows):,} hosts with the most URLs without a usable page"
    yield table_of(caption, ["host", "URLs", "without a page", "failed, %", "reasons"], rows, range(1, 4))


@section("costs", "Time and space")
def costs_section(counts: Mapping[str, Mapping[str, Any]]) -> Iterator[Block]:
    """Time, disk and memory of every counted stage, model or report; cells without a record are empty."""
    if not counts:
        yield Text("No stage was counted.")
        return

    def costs(cost: Mapping[str, Any]) -> list[str]:
        size, peak = cost.get("bytes"), cost.get("peak_bytes") or None  # in bytes
        return [_number(size, 2, 1e6), _number(cost.get("seconds"), 1), _number(peak, 0, 1e6)]

    rows: list[Row] = [[stage, _number(cost.get("rows"), 0), *costs(cost)] for stage, cost in counts.items()]
    every = {name: [cost.get(name) or 0 for cost in counts.values()] for name in ("bytes", "seconds", "peak_bytes")}
    together = {"bytes": sum(every["bytes"]), "seconds": sum(every["seconds"]), "peak_bytes": max(every["peak_bytes"])}
    rows.append([Cell("together", strong=True), "", *costs(together)])
    yield table_of("Cost of each stage", ["stage", "rows", "MB on disk", "work, s", "peak memory, MB"], rows)
    yield Text(WORDS["legends"]["costs"])


def _number(value: float | None, digits: int, unit: float = 1) -> str:
    return NONE if value is None else f"{value / unit:,.{digits}f}"
