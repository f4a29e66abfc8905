"""Compare the scores of two versions: one finding for each metric on each test split, as input of the verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.engine.recipe import StageResult
from tasks.evaluation.metrics import metric_name
from tasks.evaluation.significance import Significance, bootstrap, signed_randomisation_test
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
    def figures(self) -> tuple[float, ...]:
        """Everything measured."""
        return self.champion, self.challenger, self.low, self.high, self.p_better, self.p_worse

    @property
    def points(self) -> float:
        """The challenger's gain, points of 100."""
        return 100 * (self.challenger - self.champion)


@dataclass(frozen=True)
class Evidence:
    """What is known of champion and challenger."""

    # one for each metric on each test split, and on all together where there are several
    findings: Sequence[MetricComparison]
    # why something that should be known is not, in words: a metric that one of them lacks, or a score that is no finite
    # number. Without flaws every finding is finite
    flaws: Sequence[str] = ()


def find_all_evidence(
    champion: Mapping[str, pa.Table],
    challenger: Mapping[str, pa.Table],
    metrics: Sequence[str],
    settings: Significance,
    *,
    flips: int,
    seed: int,
) -> Evidence:
    """Compare two versions on each test split, and on the articles of all together where there are several. A gain on
    old and new articles alike may be too small to be significant on either split. Each side has its SCORES rows by test
    split; `flips` are the random sign flips of the test."""

    def compared(split: str, before: pa.Table, after: pa.Table) -> Evidence:
        return find_evidence(split, before, after, metrics, settings, flips=flips, seed=seed)

    found = {split: compared(split, champion[split], challenger[split]) for split in champion}
    several = [split for split, evidence in found.items() if evidence.findings]
    flaws = [flaw for evidence in found.values() for flaw in evidence.flaws]
    if len(several) > 1:
        found[POOLED] = compared(
            POOLED, *(pa.concat_tables([side[split] for split in several]) for side in (champion, challenger))
        )
    return Evidence([finding for evidence in found.values() for finding in evidence.findings], flaws)


def find_evidence(
    split: str,
    champion: pa.Table,
    challenger: pa.Table,
    metrics: Sequence[str],
    settings: Significance,
    *,
    flips: int,
    seed: int,
) -> Evidence:
    """Compare two versions on the articles on which both were scored. A metric that neither has on this test split has
    no finding: no summary of either has anything to measure."""
    findings: list[MetricComparison] = []
    flaws: list[str] = []
    for metric in metrics:
        before, after = _values(champion, metric), _values(challenger, metric)
        both = sorted(before.keys() & after.keys())
        if found := _flaws(f"{metric_name(metric)} on the {split} test split", before, after, len(both)):
            flaws += found
        elif both:
            scores = np.array([[before[article], after[article], after[article] - before[article]] for article in both])
            means = [float(mean) for mean in scores.mean(axis=0)]
            (gap,) = bootstrap(scores[:, 2:], settings, seed)
            ((better, worse),) = signed_randomisation_test(scores[:, 2:], flips, seed)
            findings.append(
                MetricComparison(split, metric, len(both), means[0], means[1], gap.low, gap.high, better, worse)
            )
    return Evidence(findings, flaws)


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
