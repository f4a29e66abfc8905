"""The verdict: is the challenger significantly better than the champion, and worse in no metric?

One metric must improve, and none of some others may get worse. A challenger is promoted if two conditions hold. On one
of the test splits, or on both together, it gains significantly and at least the margin in the first metric. No metric
gets significantly worse on any of them.

There is a challenger every week, and each has another chance to be promoted by luck. So the number of false promotions
per year is bounded: each week has an equal share of it (alpha spending in equal parts). This is Bonferroni over weeks
and test splits, which is valid however the weeks depend on each other.

The evidence is one comparison for each metric on each test split."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.engine.recipe import StageResult
from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import SIGNIFICANCE, bootstrap, signed_randomisation_test
from tasks.retraining.settings import WEEKS, RetrainingSettings
from tasks.retraining.splits import POOLED

_LEAST_COMMON = 0.5  # of the articles that either was scored on; with fewer, what was left out may decide


@dataclass(frozen=True)
class MetricComparison:
    """Champion and challenger under one metric on one test split."""

    split: str  # which test split; `pooled` is all of them together
    metric: str  # as in the `scores` dataset
    articles: int  # number of articles on which both were scored
    champion: float  # its mean score, 0-1
    challenger: float  # likewise
    low: float  # lower end of the paired bootstrap interval of challenger minus champion, 0-1
    high: float  # upper end
    p_better: float  # one-sided p-value of the challenger being no better, by approximate randomisation
    p_worse: float  # likewise of its being no worse

    @property
    def points(self) -> float:
        """The challenger's gain, points of 100."""
        return 100 * (self.challenger - self.champion)


def find_all_evidence(
    champion: Mapping[str, pa.Table], challenger: Mapping[str, pa.Table], metrics: Sequence[str], flips: int, seed: int
) -> tuple[list[MetricComparison], list[str]]:
    """Compare two versions on each test split, and on all together if there are several: a gain on old and new articles
    alike may be too small to be significant on either split. Each side has its SCORES rows by test split; `flips` are
    the random sign flips of the test. Return a finding for each metric and split, and the flaws, which say why a
    comparison is missing; without flaws every finding is finite."""
    findings: list[MetricComparison] = []
    flaws: list[str] = []
    for split in champion:
        result, wrong = find_evidence(split, champion[split], challenger[split], metrics, flips, seed)
        findings += result
        flaws += wrong
    several = list(dict.fromkeys(finding.split for finding in findings))
    if len(several) > 1:
        before, after = (pa.concat_tables([side[split] for split in several]) for side in (champion, challenger))
        findings += find_evidence(POOLED, before, after, metrics, flips, seed)[0]
    return findings, flaws


def find_evidence(
    split: str, champion: pa.Table, challenger: pa.Table, metrics: Sequence[str], flips: int, seed: int
) -> tuple[list[MetricComparison], list[str]]:
    """Compare two versions on the articles on which both were scored. A metric that neither has on this test split has
    no finding: no summary of either has anything to measure."""
    findings: list[MetricComparison] = []
    flaws: list[str] = []
    for metric in metrics:
        before, after = _values(champion, metric), _values(challenger, metric)
        both = sorted(before.keys() & after.keys())
        if result := _flaws(f"{metric_name(metric)} on the {split} test split", before, after, len(both)):
            flaws += result
        elif both:
            scores = np.array([[before[article], after[article], after[article] - before[article]] for article in both])
            means = [float(mean) for mean in scores.mean(axis=0)]
            (gap,) = bootstrap(scores[:, 2:], SIGNIFICANCE, seed)
            ((better, worse),) = signed_randomisation_test(scores[:, 2:], flips, seed)
            findings.append(
                MetricComparison(split, metric, len(both), means[0], means[1], gap.low, gap.high, better, worse)
            )
    return findings, flaws


def scored_otherwise(champion: StageResult, challenger: StageResult) -> list[str]:
    """Return that two versions were not scored by the same version of the metrics and the same judges, or nothing."""
    before, after = (
        sorted(
            {f"version {record.version} {dict(sorted(record.notes.items())) or ''}".strip() for record in side.in_order}
        )
        for side in (champion, challenger)
    )
    if before == after:
        return []
    return [f"the metrics are of {' and '.join(before)} for the champion, of {' and '.join(after)} for the challenger"]


def _flaws(what: str, before: Mapping[str, float], after: Mapping[str, float], both: int) -> list[str]:
    """Return what is wrong with the scores of champion and challenger, in words."""
    flaws = []
    for side, own, other in (("champion", before, after), ("challenger", after, before)):
        if not own and other:
            flaws.append(f"the {side} lacks {what}")
        if wrong := sum(not math.isfinite(value) for value in own.values()):
            flaws.append(f"{wrong:,} of {len(own):,} scores of the {side} in {what} are not finite")
    if not flaws and both < _LEAST_COMMON * max(len(before), len(after)):
        flaws.append(f"of {len(before):,} and {len(after):,} scores in {what}, {both:,} are of common articles")
    return flaws


def _values(scores: pa.Table, metric: str) -> dict[str, float]:
    """Return article -> score; NaN for one that is null."""
    chosen = scores.filter(pc.equal(scores["metric"], metric))
    values = pc.fill_null(chosen["value"], math.nan).to_pylist()
    return dict(zip(chosen["article_id"].to_pylist(), values, strict=True))


_TOLERANCE = 0.2  # points of 100: a smaller loss on a test split does not count as worse
_HARM = 0.05  # largest p-value (one-sided) of a loss that counts as worse


@dataclass(frozen=True)
class Criterion:
    """The role of a metric."""

    metric: str  # as in the `scores` dataset
    role: Literal["improve", "hold"]  # whether it must improve, or only must not get worse


@dataclass(frozen=True)
class Verdict:
    """The result of comparing a challenger with the champion."""

    promoted: bool  # whether the challenger becomes the champion
    reason: str  # why, in a few words
    level: float | None = None  # largest p-value at which a metric counts as improved; None before the first champion
    criteria: Sequence[Criterion] = field(default_factory=tuple)  # the role of each metric
    findings: Sequence[MetricComparison] = field(default_factory=tuple)  # the comparisons, on each test split
    guarded: bool = False  # whether it was better and a guard refused it, or it could not be judged


def criteria_of(settings: RetrainingSettings) -> list[Criterion]:
    """Return the role of each metric."""
    guards = [metric for metric in settings.guards if metric != settings.metric]
    return [Criterion(settings.metric, "improve"), *(Criterion(metric, "hold") for metric in guards)]


def decide(findings: Sequence[MetricComparison], flaws: Sequence[str], settings: RetrainingSettings) -> Verdict:
    """Promote the challenger if it is better on a test split and worse on none, and if nothing is missing: findings and
    flaws are those of `find_all_evidence`, on every metric of `criteria_of`."""
    criteria = tuple(criteria_of(settings))
    if flaws := flaws or _unknown(findings, criteria):
        return Verdict(False, f"not comparable with the champion: {'; '.join(flaws)}", None, criteria, guarded=True)
    level, able = _level(findings, settings)
    sought = [
        (finding, _lacking(finding, able, level, settings)) for finding in findings if finding.metric == settings.metric
    ]
    gained = [_gains([item]) for item, lack in sought if not lack]
    if not gained:
        reason = min((item.p_better, lack) for item, lack in sought)[1]
        return Verdict(False, reason, level, criteria, tuple(findings))
    harmed = [finding for finding in findings if finding.points < -_TOLERANCE and finding.p_worse <= _HARM]
    if harmed:
        reason = f"{gained[0]}, but worse than the champion: {_gains(harmed)}"
        return Verdict(False, reason, level, criteria, tuple(findings), guarded=True)
    return Verdict(True, f"better than the champion: {gained[0]}", level, criteria, tuple(findings))


def _level(findings: Sequence[MetricComparison], settings: RetrainingSettings) -> tuple[float, list[str]]:
    """Return the largest p-value of an improvement this week, and the test splits that share it. A split with so few
    articles that nothing can be significant takes no share of the level from the others."""
    splits = {finding.split: finding.articles for finding in findings}
    share = settings.false_promotions / WEEKS
    able = [split for split, articles in splits.items() if 0.5**articles <= share / len(splits)]
    return share / (len(able) or 1), able


def _unknown(findings: Sequence[MetricComparison], criteria: Sequence[Criterion]) -> list[str]:
    """Return which metrics have no finding on any test split, and which findings are not finite, in words. Comparisons
    with NaN are false, so without this check a NaN would pass every test for a loss."""
    known = {finding.metric for finding in findings}
    missing = [criterion.metric for criterion in criteria if criterion.metric not in known]
    return [
        *(f"{metric_name(metric)} was scored on no test split" for metric in missing),
        *(
            f"{metric_name(finding.metric)} on the {finding.split} test split is not finite"
            for finding in findings
            if not all(math.isfinite(figure) for figure in vars(finding).values() if isinstance(figure, float))
        ),
    ]


def _lacking(finding: MetricComparison, able: Sequence[str], level: float, settings: RetrainingSettings) -> str:
    """Return why a finding is not an improvement; an empty string if it is one."""
    gain = _gains([finding])
    if finding.points <= 0:
        return f"not better than the champion: {gain}"
    if finding.points < settings.margin:
        return f"{gain}, below the margin of {settings.margin:.2f} points"
    if finding.split not in able:
        return f"{gain}, but {finding.articles} articles are too few for significance at p = {level:.2g}"
    return "" if finding.p_better <= level else f"{gain}, not significant at {level:.2g}"


def _gains(findings: Sequence[MetricComparison]) -> str:
    parts = []
    for finding in findings:
        p = finding.p_better if finding.points > 0 else finding.p_worse
        name = metric_name(finding.metric)
        parts.append(f"{finding.points:+.2f} points of {name} on the {finding.split} test split (p = {p:.2g})")
    return "; ".join(parts)
