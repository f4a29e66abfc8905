"""Compare the scores of two versions: one finding for each metric on each test split, as input of the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.evaluation.significance import Significance, bootstrap, signed_randomisation_test
from tasks.retraining.splits import POOLED


@dataclass(frozen=True)
class Finding:
    """Champion and challenger under one metric on one test split.

    Attributes:
        split: which test split; `pooled` is all of them together.
        metric: as in the `scores` dataset.
        articles: number of articles on which both were scored.
        champion: its mean score, 0-1.
        challenger: likewise.
        low: lower end of the paired bootstrap interval of challenger minus champion, 0-1.
        high: upper end.
        p_better: one-sided p-value of the challenger being no better, by approximate randomisation.
        p_worse: likewise of its being no worse.
    """

    split: str
    metric: str
    articles: int
    champion: float
    challenger: float
    low: float
    high: float
    p_better: float
    p_worse: float

    @property
    def points(self) -> float:
        """The challenger's gain, points of 100."""
        return 100 * (self.challenger - self.champion)


def find_all_evidence(
    champion: Mapping[str, pa.Table],
    challenger: Mapping[str, pa.Table],
    metrics: Sequence[str],
    settings: Significance,
    *,
    flips: int,
    seed: int,
) -> list[Finding]:
    """Compare two versions on each test split, and on the articles of all together where there are several.

    A gain on old and new articles alike may be too small to be significant on either split.

    Args:
        champion: test split -> SCORES rows.
        challenger: likewise.
        metrics: which metrics.
        settings: of the intervals.
        flips: random sign flips of the test.
        seed: decides resamples and flips.
    """

    def compared(split: str, before: pa.Table, after: pa.Table) -> list[Finding]:
        return find_evidence(split, before, after, metrics, settings, flips=flips, seed=seed)

    found = {split: compared(split, champion[split], challenger[split]) for split in champion}
    several = [split for split, findings in found.items() if findings]
    if len(several) > 1:
        found[POOLED] = compared(
            POOLED, *(pa.concat_tables([side[split] for split in several]) for side in (champion, challenger))
        )
    return [finding for findings in found.values() for finding in findings]


def find_evidence(
    split: str,
    champion: pa.Table,
    challenger: pa.Table,
    metrics: Sequence[str],
    settings: Significance,
    *,
    flips: int,
    seed: int,
) -> list[Finding]:
    """Compare two versions on the articles on which both were scored; a metric without such articles has no finding.

    Args:
        split: name of the test split.
        champion: SCORES rows of the split.
        challenger: likewise.
        metrics: which metrics.
        settings: of the intervals.
        flips: random sign flips of the test.
        seed: decides resamples and flips.
    """
    findings = []
    for metric in metrics:
        before, after = _values(champion, metric), _values(challenger, metric)
        both = sorted(before.keys() & after.keys())
        if not both:
            continue
        scores = np.array([[before[article], after[article], after[article] - before[article]] for article in both])
        means = [float(mean) for mean in scores.mean(axis=0)]
        (gap,) = bootstrap(scores[:, 2:], settings, seed)
        ((better, worse),) = signed_randomisation_test(scores[:, 2:], flips, seed)
        findings.append(Finding(split, metric, len(both), means[0], means[1], gap.low, gap.high, better, worse))
    return findings


def _values(scores: pa.Table, metric: str) -> dict[str, float]:
    chosen = scores.filter(pc.equal(scores["metric"], metric))
    return dict(zip(chosen["article_id"].to_pylist(), chosen["value"].to_pylist(), strict=True))
