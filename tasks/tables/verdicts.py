"""The order the papers expect, and the one that was found, in a sentence: whichever way it falls."""

from collections.abc import Sequence

from tasks.reporting.blocks import percent
from tasks.reporting.verdicts import metric_name
from tasks.significance import Comparison
from tasks.tables.measures import Measured
from tasks.tables.published import PUBLISHED
from tasks.tables.systems import SYSTEMS

PLAIN, ALIGNED = "pht", "pht-attalign"
_EQUAL = 1e-9  # means that part by less are equal


def expected_order(measured: Measured, *, source_scale: float, steps: int) -> str:
    """Return in one sentence whether hierarchical systems are as good as flat ones, and alignment as beam search.

    The best system of each kind by the headline metric stands for it.

    Args:
        measured: what was measured.
        source_scale: of the lengths of sources, against the papers'.
        steps: training steps of each system.
    """
    flat, hierarchical = (_by_mean(measured, kind) for kind in ("flat", "hierarchical"))
    pair = None
    if flat and hierarchical:
        # Two that were chosen as the best of many are tested as one pair of all of these.
        pair = _pair(measured, hierarchical[0], flat[0], [*flat, *hierarchical])
    if pair is None:
        first = "hierarchical and flat systems were not both run, so that their order is not known"
        why = ""
    else:
        holds = _holds(pair, hierarchical[0])
        first = f"that hierarchical systems are at least as good as flat ones {holds}: {_difference(measured, pair)}"
        why = _why(measured, pair, source_scale, steps)
    aligned = _pair(measured, ALIGNED, PLAIN, [ALIGNED, PLAIN])
    if aligned is None:
        second = f"alignment beside plain beam search was not run ({_reason(measured)})"
    else:
        second = (
            f"that attention alignment is at least as good as plain beam search {_holds(aligned, ALIGNED)}: "
            f"{_difference(measured, aligned)}"
        )
    return f"Of the order the papers expect, {first}{why}; {second}."


def _by_mean(measured: Measured, kind: str) -> list[str]:
    """Return the systems of a kind that a table of ROUGE shows, best first."""
    shown = {row.system for table in PUBLISHED if table.measure == "rouge" for row in table.rows}
    means = {
        system: score.f1.mean
        for (system, metric), score in measured.scores.items()
        if metric == measured.headline and system in shown and SYSTEMS[system].kind == kind
    }
    return sorted(means, key=lambda system: (-means[system], system))


def _pair(measured: Measured, first: str, second: str, among: Sequence[str]) -> Comparison | None:
    pairs = measured.compare(among, measured.headline)
    return next((pair for pair in pairs if {pair.better, pair.worse} == {first, second}), None)


def _holds(pair: Comparison, expected: str) -> str:
    return "holds" if pair.better == expected or abs(pair.difference.mean) < _EQUAL else "does not hold"


def _difference(measured: Measured, pair: Comparison) -> str:
    if abs(pair.difference.mean) < _EQUAL:
        name = metric_name(measured.headline)
        return f"{pair.better} and {pair.worse} are level in {name} on {pair.articles:,} articles"
    low, high = 100 * pair.difference.low, 100 * pair.difference.high
    return (
        f"{pair.better} is {100 * pair.difference.mean:.2f} points of {metric_name(measured.headline)} above "
        f"{pair.worse} ({percent(measured.significance.confidence)} interval {low:.2f} to {high:.2f}, "
        f"{'significant' if measured.is_significant(pair) else 'not significant'} on {pair.articles:,} articles)"
    )


def _why(measured: Measured, pair: Comparison, source_scale: float, steps: int) -> str:
    if abs(pair.difference.mean) < _EQUAL:
        return ""
    if not measured.is_significant(pair):
        return ", a difference that other test articles of the same kind could turn round"
    if source_scale < 1:
        return (
            f", where sources are {source_scale:g} times as long as the papers' and training took {steps:,} steps: "
            "what a hierarchy gains on long input counts for less here"
        )
    return f", after {steps:,} steps of training for each"


def _reason(measured: Measured) -> str:
    return measured.reasons.get(ALIGNED) or measured.reasons.get(PLAIN) or "no common article"
