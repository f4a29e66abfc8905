"""The tables stage: the papers' tables of a corpus, for the browser, the Prefect UI and the terminal, and whether the
measured order of systems is the one that the papers expect."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.engine.recipe import Shards
from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, too_few_articles
from tasks.reporting.blocks import ReportSection, Text, percent
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary, write_texts
from tasks.reporting.settings import ReportSettings
from tasks.tables.figures import METRIC, TableFigures, measure, score_attention
from tasks.tables.layout import section
from tasks.tables.plan import PAGE
from tasks.tables.published import PAPERS, PUBLISHED, SYSTEMS, Measure
from tasks.tables.settings import TableSettings

_SUMMARY = "summary.txt"
PLAIN, ALIGNED = "pht", "pht-attalign"
_EQUAL = 1e-9  # means that differ by less are equal
_PARAGRAPHS = 30  # of Ma & Zong 2020 and 2022, before `source_scale`


def write_tables(
    *,
    scores: Shards,
    attention: Shards,
    settings: TableSettings,
    reporting: ReportSettings,
    parameters: Mapping[str, int],
    validation: Mapping[str, Sequence[float]],
    batches: Mapping[str, Sequence[Any]],
    reasons: Mapping[str, str],
    steps: int,
    seed: int,
    directory: Path,
) -> dict[str, Any]:
    """Write `tables.html`, `summary.txt` and `artifacts/table-*.md`; equal inputs give equal bytes.

    All scores are in memory, and the predictions of one article shard at a time. `scores`: (RANKING_SCORES, SCORES of
    the baselines, SCORES of each system) of each shard; `attention`: (ARTICLES, RANKED, PREDICTIONS of the baselines,
    PREDICTIONS of each system whose attention a table shows) of each. Other mappings are as in `TableFigures`; each
    system was trained for `steps`.

    Return `published`, the files, and the headline metric in percent by system. Raises CorruptShardError: a shard is
    damaged; ValueError: an article has two scores of one system."""
    wanted = [table for table in PUBLISHED if table.name in settings.tables]
    looked_at = sorted({row.system for table in wanted if table.measure is Measure.ATTENTION for row in table.rows})
    run = [system for system in looked_at if system not in reasons]
    known = TableFigures(
        parameters=parameters,
        validation=validation,
        batches=batches,
        reasons=reasons,
        headline=reporting.headline,
        seed=seed,
    )
    measured = measure(scores, score_attention(attention, run, settings.scaled(_PARAGRAPHS)), known)
    sections = [section(table, measured) for table in wanted]
    sentence = expected_order(measured, source_scale=settings.source_scale, steps=steps)
    scope = Text(_scope(settings, measured, steps))
    head = ReportSection("order", "What was found", [Text(sentence), scope])
    blocks = [block for part in sections for block in part.blocks]
    files = {
        PAGE: page("The papers' tables on this corpus", [head, *sections]),
        _SUMMARY: summary([*blocks, scope, Text(sentence)]),
        **{f"artifacts/{part.key}.md": artifact([part]) for part in sections},
    }
    write_texts(directory, files)
    f1 = {
        system: round(100 * score.value.mean, 4)
        for (system, metric), score in measured.scores.items()
        if metric == measured.headline
    }
    return {"published": list(files), "headline": measured.headline, "f1": f1, "order": sentence}


def _scope(settings: TableSettings, measured: TableFigures, steps: int) -> str:
    articles = max((score.articles for (_, metric), score in measured.scores.items() if metric != METRIC), default=0)
    return (
        f"Measured on {articles:,} test articles of this corpus with presets of size “{settings.size}”, sources "
        f"{settings.source_scale:g} times the papers' lengths and {steps:,} training steps a system; published figures "
        "are from another corpus, so compare the order of rows."
    )


def expected_order(measured: TableFigures, *, source_scale: float, steps: int) -> str:
    """Return whether the best hierarchical systems are as good as the best flat ones of each paper, in one sentence."""
    parts = []
    for paper, tables in PAPERS.items():
        pair, hierarchical = _best_pair(measured, tables)
        if pair is not None:
            holds, why = _holds(pair, hierarchical), _why(measured, pair, source_scale, steps)
            parts.append(
                f"that hierarchical systems are at least as good as flat ones {holds} for {paper}: "
                f"{_difference(measured, pair)}{why}"
            )
    if not parts:
        parts.append("hierarchical and flat systems of one paper were not both run, so that their order is unknown")
    aligned = _pair(measured, ALIGNED, PLAIN, [ALIGNED, PLAIN])
    if aligned is None:
        parts.append(f"alignment and plain beam search were not both run ({_reason(measured)})")
    else:
        parts.append(
            f"that attention alignment is at least as good as plain beam search {_holds(aligned, ALIGNED)}: "
            f"{_difference(measured, aligned)}"
        )
    return f"Of the order the papers expect, {'; '.join(parts)}."


def _best_pair(measured: TableFigures, tables: Sequence[str]) -> tuple[Comparison | None, str]:
    """Return the comparison of the best systems of both kinds in some tables, and which is the hierarchical one."""
    flat, hierarchical = (_by_mean(measured, kind, tables) for kind in ("flat", "hierarchical"))
    if not flat or not hierarchical:
        return None, ""
    # The pair was chosen as the best of many, so its test is corrected for all of these pairs.
    return _pair(measured, hierarchical[0], flat[0], [*flat, *hierarchical]), hierarchical[0]


def _by_mean(measured: TableFigures, kind: str, tables: Sequence[str]) -> list[str]:
    """Return the systems of a kind that represent it in some tables, best first."""
    shown = {row.system for table in PUBLISHED if table.name in tables for row in table.rows}
    means = {
        system: score.value.mean
        for (system, metric), score in measured.scores.items()
        if metric == measured.headline
        and system in shown
        and SYSTEMS[system].kind == kind
        and SYSTEMS[system].stands_for_its_kind
    }
    return sorted(means, key=lambda system: (-means[system], system))


def _pair(measured: TableFigures, first: str, second: str, among: Sequence[str]) -> Comparison | None:
    pairs = measured.compare(among, measured.headline)
    return next((pair for pair in pairs if {pair.better, pair.worse} == {first, second}), None)


def _holds(pair: Comparison, expected: str) -> str:
    return "holds" if pair.better == expected or abs(pair.difference.mean) < _EQUAL else "does not hold"


def _difference(measured: TableFigures, pair: Comparison) -> str:
    if abs(pair.difference.mean) < _EQUAL:
        name = metric_name(measured.headline)
        return f"{pair.better} and {pair.worse} are level in {name} on {pair.articles:,} articles"
    low, high = 100 * pair.difference.low, 100 * pair.difference.high
    why = too_few_articles([pair], SIGNIFICANCE.level)
    return (
        f"{pair.better} is {100 * pair.difference.mean:.2f} points of {metric_name(measured.headline)} above "
        f"{pair.worse} ({percent(SIGNIFICANCE.confidence)} interval {low:.2f} to {high:.2f}, "
        f"{'significant' if pair.p_adjusted <= SIGNIFICANCE.level else 'not significant'} on {pair.articles:,} articles"
        f"{f'; {why}' if why else ''})"
    )


def _why(measured: TableFigures, pair: Comparison, source_scale: float, steps: int) -> str:
    if abs(pair.difference.mean) < _EQUAL:
        return ""
    if pair.p_adjusted > SIGNIFICANCE.level:
        return ", a difference that could be reversed on other test articles"
    if source_scale < 1:
        return (
            f", where sources are {source_scale:g} times as long as the papers' and training took {steps:,} steps: "
            "the advantage of a hierarchy on long input is smaller here"
        )
    return f", after {steps:,} steps of training for each"


def _reason(measured: TableFigures) -> str:
    for system in (ALIGNED, PLAIN):
        if reason := measured.reasons.get(system):
            return reason
    scored = {system for system, _ in measured.scores}
    return "no common article" if {ALIGNED, PLAIN} <= scored else "the chosen tables have not both"
