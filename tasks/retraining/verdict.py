"""The verdict: is the challenger significantly better than the champion, and nowhere worse?

Every metric has a role: it must improve, or it must not get worse. A challenger is promoted if, on one of the test
splits or on both together, all metrics of the first role gain at least the margin, significantly, and no metric of
either role gets significantly worse on any of them.

There is a challenger every week, and each has another chance to be promoted by luck. So the number of false promotions
per year is bounded: each week has an equal share of it (alpha spending in equal parts; Bonferroni over weeks and test
splits, which is valid however the weeks depend on each other)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tasks.evaluation.metrics import metric_name
from tasks.reporting.settings import ReportSettings
from tasks.retraining.evidence import Evidence, MetricComparison
from tasks.retraining.settings import WEEKS, RetrainingSettings

Role = Literal["improve", "hold"]
_TOLERANCE = 0.2  # points of 100: a smaller loss on a test split does not count as worse
_HARM = 0.05  # largest p-value (one-sided) of a loss that counts as worse


@dataclass(frozen=True)
class Criterion:
    """The role of a metric."""

    metric: str  # as in the `scores` dataset
    role: Role  # whether it must improve, or only must not get worse


@dataclass(frozen=True)
class Verdict:
    """The result of comparing a challenger with the champion."""

    promoted: bool  # whether the challenger becomes the champion
    reason: str  # why, in a few words
    level: float | None = None  # largest p-value at which a metric counts as improved; None before the first champion
    criteria: Sequence[Criterion] = field(default_factory=tuple)  # the role of each metric
    findings: Sequence[MetricComparison] = field(default_factory=tuple)  # the comparisons, on each test split
    guarded: bool = False  # whether it was better and a guard refused it, or it could not be judged


def judging(settings: RetrainingSettings) -> ReportSettings:
    """Return settings for showing two versions side by side (`tasks.reporting.challenge.compare_contenders`)."""
    return ReportSettings(headline=settings.metric)


def criteria_of(settings: RetrainingSettings) -> list[Criterion]:
    """Return the role of each metric."""
    guards = [metric for metric in settings.guards if metric != settings.metric]
    return [Criterion(settings.metric, "improve"), *(Criterion(metric, "hold") for metric in guards)]


def first_verdict() -> Verdict:
    """Promote the first version, which has no champion to beat."""
    return Verdict(True, "the first version")


def decide(evidence: Evidence, criteria: Sequence[Criterion], settings: RetrainingSettings) -> Verdict:
    """Promote the challenger if it is better on a test split and worse on none, and all of that is known. The evidence
    is on every metric of the criteria, of which at least one must improve. Raises ValueError: no metric must
    improve."""
    findings = evidence.findings
    needed = [criterion.metric for criterion in criteria if criterion.role == "improve"]
    if not needed:
        raise ValueError("no metric must improve: expected one at least")
    if flaws := evidence.flaws or _unknown(findings, criteria):
        return Verdict(
            False, f"not comparable with the champion: {'; '.join(flaws)}", None, tuple(criteria), guarded=True
        )
    level, able = _level(findings, settings)
    sought = _complete(findings, needed)
    if not sought:
        return Verdict(False, f"no test split has scores in all of {', '.join(needed)}", level, tuple(criteria))
    better, reason = _better(
        {split: [(one, _lacking(one, able, level, settings)) for one in of_split] for split, of_split in sought.items()}
    )
    harmed = [finding for finding in findings if better and _harmed(finding)]
    if harmed:
        reason = f"{reason}, but worse than the champion: {_gains(harmed)}"
    elif better:
        reason = f"better than the champion: {reason}"
    return Verdict(better and not harmed, reason, level, tuple(criteria), tuple(findings), guarded=bool(harmed))


def _better(sought: Mapping[str, Sequence[tuple[MetricComparison, str]]]) -> tuple[bool, str]:
    """Return whether all findings of some test split improve, and the gains there, or else what is lacking. `sought`
    has each split's findings that must improve, with what each lacks."""
    improved = [of_split for of_split in sought.values() if not any(lack for _, lack in of_split)]
    if not improved:
        return False, min((one.p_better, lack) for of_split in sought.values() for one, lack in of_split if lack)[1]
    return True, _gains([finding for finding, _ in improved[0]])


def _level(findings: Sequence[MetricComparison], settings: RetrainingSettings) -> tuple[float, list[str]]:
    """Return the largest p-value of an improvement this week, and the test splits that share it. A split with so few
    articles that nothing can be significant takes no share of the level from the others."""
    splits = {finding.split: finding.articles for finding in findings}
    share = settings.false_promotions / WEEKS
    able = [split for split, articles in splits.items() if 0.5**articles <= share / len(splits)]
    return share / (len(able) or 1), able


def _complete(findings: Sequence[MetricComparison], needed: Sequence[str]) -> dict[str, list[MetricComparison]]:
    """Return the findings that must improve on each test split that has all of them."""
    found: dict[str, list[MetricComparison]] = {finding.split: [] for finding in findings}
    for finding in findings:
        if finding.metric in needed:
            found[finding.split].append(finding)
    return {split: of_split for split, of_split in found.items() if len(of_split) == len(needed)}


def _unknown(findings: Sequence[MetricComparison], criteria: Sequence[Criterion]) -> list[str]:
    """Return which metrics have no finding on any test split, and which findings are not finite, in words. No
    comparison with NaN is true, so that without this a NaN would pass every test for being too bad."""
    known = {finding.metric for finding in findings}
    missing = [criterion.metric for criterion in criteria if criterion.metric not in known]
    return [
        *(f"{metric_name(metric)} was scored on no test split" for metric in missing),
        *(
            f"{metric_name(finding.metric)} on the {finding.split} test split is not finite"
            for finding in findings
            if not all(map(math.isfinite, finding.figures))
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


def _harmed(finding: MetricComparison) -> bool:
    return finding.points < -_TOLERANCE and finding.p_worse <= _HARM


def _gains(findings: Sequence[MetricComparison]) -> str:
    parts = []
    for finding in findings:
        p = finding.p_better if finding.points > 0 else finding.p_worse
        name = metric_name(finding.metric)
        parts.append(f"{finding.points:+.2f} points of {name} on the {finding.split} test split (p = {p:.2g})")
    return "; ".join(parts)
