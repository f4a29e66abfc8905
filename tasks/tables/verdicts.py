"""Compare the measured order of systems with the order the papers expect, in a sentence."""

from collections.abc import Mapping, Sequence

from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import Comparison, too_few_articles
from tasks.reporting.blocks import percent
from tasks.tables.measures import TableFigures
from tasks.tables.published import PUBLISHED
from tasks.tables.systems import SYSTEMS

# Papers whose systems were trained and decoded alike, and their ROUGE tables.
_PAPERS: Mapping[str, tuple[str, ...]] = {
    "Liu & Lapata 2019": ("000-2",),
    "Ma & Zong 2020 and 2022": ("001-2", "002-1"),
    "Shen et al. 2023": ("003-2",),
    "Akiyama et al. 2021": ("004-1",),
}
PLAIN, ALIGNED = "pht", "pht-attalign"
_EQUAL = 1e-9  # means that differ by less are equal


def expected_order(measured: TableFigures, *, source_scale: float, steps: int) -> str:
    """Return whether the best hierarchical systems are as good as the best flat ones of each paper, in one sentence."""
    parts = []
    for paper, tables in _PAPERS.items():
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
    why = too_few_articles([pair], measured.significance.level)
    return (
        f"{pair.better} is {100 * pair.difference.mean:.2f} points of {metric_name(measured.headline)} above "
        f"{pair.worse} ({percent(measured.significance.confidence)} interval {low:.2f} to {high:.2f}, "
        f"{'significant' if measured.is_significant(pair) else 'not significant'} on {pair.articles:,} articles"
        f"{f'; {why}' if why else ''})"
    )


def _why(measured: TableFigures, pair: Comparison, source_scale: float, steps: int) -> str:
    if abs(pair.difference.mean) < _EQUAL:
        return ""
    if not measured.is_significant(pair):
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
