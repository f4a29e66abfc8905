"""Agreement of raters: Krippendorff's alpha, and what each rater does differently.

alpha = 1 - observed disagreement / disagreement expected by chance (Krippendorff 2011, *Computing Krippendorff's
Alpha-Reliability*). Values are compared as ranks (its ordinal metric), because neither ratings nor choices have equal
steps. Raters need not judge the same units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from tasks.human_evaluation.answers import Judgement

Floats = NDArray[np.float64]
Unit = tuple[str, str, str]  # article, system, question


@dataclass(frozen=True)
class RaterFinding:
    """A rater beside the others."""

    rater: int  # number
    judgements: int  # how many
    # by how much the rater's values are below what article, system and the other raters let expect (least squares);
    # None where every rater's values must have the same mean, as in best-worst scaling
    severity: float | None
    # rank correlation with the mean of the other raters on the same units, -1 to 1; None without such units, or if all
    # values are equal
    agreement: float | None


def krippendorff_alpha(values: Sequence[Sequence[float]]) -> float | None:
    """Return ordinal alpha, at most 1; None if no unit was judged twice, or all values are equal. For each unit
    `values` has those that raters gave it, in any order."""
    paired = [unit for unit in values if len(unit) > 1]
    levels = sorted({value for unit in paired for value in unit})
    if len(levels) < 2:
        return None
    index = {level: number for number, level in enumerate(levels)}
    coincidences = np.zeros((len(levels), len(levels)))
    for unit in paired:
        counts = np.bincount([index[value] for value in unit], minlength=len(levels)).astype(np.float64)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    # The ordinal metric: all values between two, and half of each of the two themselves.
    middle = np.cumsum(totals) - totals / 2
    distance = (middle[:, None] - middle[None, :]) ** 2
    expected = (np.outer(totals, totals) * distance).sum() / (totals.sum() - 1)
    return float(1 - (coincidences * distance).sum() / expected)


def by_unit(judgements: Sequence[Judgement]) -> dict[Unit, dict[int, float]]:
    """Return unit -> rater -> value, of judgements under one measure."""
    units: dict[Unit, dict[int, float]] = defaultdict(dict)
    for one in judgements:
        units[one.article, one.system, one.unit][one.rater] = one.value
    return units


def rater_findings(judgements: Sequence[Judgement]) -> list[RaterFinding]:
    """Return every rater's severity and agreement with the others, under one measure."""
    units = by_unit(judgements)
    severity = _severity(judgements)
    findings = []
    for rater in sorted({one.rater for one in judgements}):
        pairs = [
            (values[rater], float(np.mean([value for other, value in values.items() if other != rater])))
            for values in units.values()
            if rater in values and len(values) > 1
        ]
        varied = all(len(set(column)) > 1 for column in zip(*pairs, strict=True)) if pairs else False
        agreement = float(spearmanr(*zip(*pairs, strict=True)).statistic) if varied else None
        count = sum(one.rater == rater for one in judgements)
        findings.append(RaterFinding(rater, count, severity.get(rater), agreement))
    return findings


def _severity(judgements: Sequence[Judgement]) -> Mapping[int, float]:
    """Fit value = article and question + system - severity of the rater; severities add up to 0."""
    raters = sorted({one.rater for one in judgements})
    if len(raters) < 2 or len({one.value for one in judgements}) < 2 or _balanced(judgements):
        return {}
    units = sorted({(one.article, one.unit) for one in judgements})
    systems = sorted({one.system for one in judgements})
    names = [
        *(("unit", *unit) for unit in units),
        *(("system", one) for one in systems),
        *(("rater", one) for one in raters),
    ]
    column = {name: number for number, name in enumerate(names)}
    design = np.zeros((len(judgements), len(names)))
    for row, one in enumerate(judgements):
        for name in (("unit", one.article, one.unit), ("system", one.system), ("rater", one.rater)):
            design[row, column[name]] = 1
    fitted, *_ = np.linalg.lstsq(design, np.array([one.value for one in judgements]), rcond=None)
    effects = fitted[-len(raters) :]
    return {rater: float(effects.mean() - effect) for rater, effect in zip(raters, effects, strict=True)}


def _balanced(judgements: Sequence[Judgement]) -> bool:
    """Whether a rater's values on every article have the same sum, as a best and a worst choice have."""
    sums: dict[tuple[int, str], float] = defaultdict(float)
    for one in judgements:
        sums[one.rater, one.article] += one.value
    return len(set(sums.values())) == 1
