"""Uncertainty of scores: bootstrap intervals of a system's mean, and paired tests between systems.

Articles are the unit of resampling: a test split is a sample of the articles one could have tested on. Two systems
are compared on the articles both summarized, so that the difficulty of an article cancels out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Result = TypeVar("Result")
_MEASURES = ("value", "precision", "recall")
_CELLS = 4_000_000  # resampled weights held at once: 32 MB
_ROUNDING = 1e-12  # sums that differ by less are equal: they were added in another order


@dataclass(frozen=True)
class Significance:
    """How uncertainty is estimated.

    Attributes:
        resamples: bootstrap resamples and random sign flips (ROUGE-1.5.5 draws 1,000 too).
        confidence: probability an interval is to cover, 0-1.
    """

    resamples: int = 1000
    confidence: float = 0.95


SIGNIFICANCE = Significance()


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class SystemScore:
    """One system under one metric.

    Attributes:
        system: name of the summarizer.
        metric: as in the `scores` dataset.
        articles: number of articles on which it was scored.
        value: mean of the metric's figure over the articles it is defined for, with its interval.
        precision: likewise, None for a metric that has none.
        recall: likewise.
    """

    system: str
    metric: str
    articles: int
    value: Interval
    precision: Interval | None
    recall: Interval | None


@dataclass(frozen=True)
class Comparison:
    """Two systems under one metric, on the articles both have.

    Attributes:
        better: the system with the higher mean figure (on a tie the first by name).
        worse: the other.
        metric: as in the `scores` dataset.
        articles: number of articles on which both were scored.
        difference: mean figure of `better` minus that of `worse`, with its paired bootstrap interval.
        p_value: two-sided, by approximate randomisation.
        p_adjusted: the same after Holm's correction for all pairs of systems under this metric.
    """

    better: str
    worse: str
    metric: str
    articles: int
    difference: Interval
    p_value: float
    p_adjusted: float


def summarise_scores(scores: pa.Table, settings: Significance, seed: int) -> list[SystemScore]:
    """Return mean and interval of every system and metric, in order of metric and system as they first appear.

    Args:
        scores: table of the `scores` dataset, in any order.
        settings: resamples and confidence.
        seed: decides the resamples.

    Raises:
        ValueError: an article has two scores of one system and metric.
    """
    cells = [
        (system, metric, values) for metric, systems in _by_metric(scores).items() for system, values in systems.items()
    ]
    samples = [tuple(sorted(values)) for _, _, values in cells]
    columns = [np.array([cell[2][a] for a in sample]) for cell, sample in zip(cells, samples, strict=True)]
    intervals = _together(samples, columns, lambda stacked: _triples(bootstrap(stacked, settings, seed)))
    return [
        SystemScore(system, metric, len(values), triple[0], *map(_defined, triple[1:]))
        for (system, metric, values), triple in zip(cells, intervals, strict=True)
    ]


def compare_systems(scores: pa.Table, settings: Significance, seed: int) -> list[Comparison]:
    """Test every pair of systems under every metric, by its figure; pairs without a common article are left out.

    Args:
        scores: table of the `scores` dataset, in any order.
        settings: resamples and confidence.
        seed: decides resamples and sign flips.

    Raises:
        ValueError: an article has two scores of one system and metric.
    """
    pairs = []
    samples = []
    columns = []
    for metric, systems in _by_metric(scores).items():
        for pair in combinations(sorted(systems), 2):
            first, second = (systems[system] for system in pair)
            both = tuple(sorted(first.keys() & second.keys()))
            if both:
                differences = np.array([[first[article][0] - second[article][0]] for article in both])
                swap = differences.mean() < -_ROUNDING
                pairs.append((metric, *(reversed(pair) if swap else pair)))
                samples.append(both)
                columns.append(-differences if swap else differences)
    intervals = _together(samples, columns, lambda stacked: bootstrap(stacked, settings, seed))
    p_values = _together(samples, columns, lambda stacked: randomisation_test(stacked, settings, seed))
    adjusted = _adjusted([metric for metric, _, _ in pairs], p_values)
    return [
        Comparison(better, worse, metric, len(sample), interval, p, p_adjusted)
        for (metric, better, worse), sample, interval, p, p_adjusted in zip(
            pairs, samples, intervals, p_values, adjusted, strict=True
        )
    ]


def bootstrap(values: Floats, settings: Significance, seed: int) -> list[Interval]:
    """Return the mean of each column and its percentile bootstrap interval (Efron 1979).

    Args:
        values: [N, K] one row per article; the K columns are resampled together.
        settings: resamples and confidence.
        seed: decides the resamples.

    Raises:
        ValueError: there is no row.
    """
    articles = len(values)
    if articles == 0:
        raise ValueError("expected at least 1 article for an interval, got 0")
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            random.multinomial(articles, np.full(articles, 1 / articles), size=size) @ values / articles
            for size in _chunks(settings.resamples, articles)
        ]
    )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(values.mean(axis=0), low, high, strict=True)]


def randomisation_test(differences: Floats, settings: Significance, seed: int) -> list[float]:
    """Return the two-sided p-value of each mean paired difference (approximate randomisation, Noreen 1989).

    If two systems were equal, either could have produced either summary, so the signs of the differences would be coin
    flips. p is the share of flips whose mean is at least as far from 0, counting the data as one of them.

    Args:
        differences: [N, K] score of one system minus score of another on each article, for K pairs.
        settings: number of flips.
        seed: decides the flips, which are the same for all pairs.

    Raises:
        ValueError: there is no article.
    """
    extreme = np.zeros(differences.shape[1], dtype=np.int64)
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING * len(differences)
    for sums in _flipped_sums(differences, settings.resamples, seed):
        extreme += (np.abs(sums) >= observed).sum(axis=0)
    return [float(p) for p in (extreme + 1) / (settings.resamples + 1)]


def _flipped_sums(differences: Floats, flips: int, seed: int) -> Iterator[Floats]:
    """Yield the sums of the differences under random signs, [F, K], until the F add up to `flips`."""
    articles = len(differences)
    if articles == 0:
        raise ValueError("expected at least 1 article for a test, got 0")
    random = np.random.default_rng(seed)
    for size in _chunks(flips, articles):
        yield np.where(random.random((size, articles)) < 0.5, -1.0, 1.0) @ differences


def signed_randomisation_test(differences: Floats, flips: int, seed: int) -> list[tuple[float, float]]:
    """Return the two one-sided p-values of each mean paired difference (see `randomisation_test`).

    Args:
        differences: [N, K] score of one system minus score of another on each article, for K pairs.
        flips: random sign flips.
        seed: decides the flips, which are the same for all pairs.

    Returns:
        For each pair the p-value of the first system being no better than the second, and of its being no worse.

    Raises:
        ValueError: there is no article.
    """
    observed, rounding = differences.sum(axis=0), _ROUNDING * len(differences)
    above, below = np.zeros((2, differences.shape[1]), dtype=np.int64)
    for sums in _flipped_sums(differences, flips, seed):
        above += (sums >= observed - rounding).sum(axis=0)
        below += (sums <= observed + rounding).sum(axis=0)
    return [(float(a + 1) / (flips + 1), float(b + 1) / (flips + 1)) for a, b in zip(above, below, strict=True)]


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979): a level then bounds the chance of any false positive."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _adjusted(metrics: list[str], p_values: list[float]) -> list[float]:
    """Correct the p-values of each metric for the number of pairs under it."""
    adjusted = [0.0] * len(p_values)
    for metric in set(metrics):
        indices = [index for index, name in enumerate(metrics) if name == metric]
        for index, p in zip(indices, holm([p_values[index] for index in indices]), strict=True):
            adjusted[index] = p
    return adjusted


def _together(
    samples: list[tuple[str, ...]], columns: list[Floats], work: Callable[[Floats], Sequence[Result]]
) -> list[Result]:
    """Run `work` once for all columns over the same articles, and return the results in the order of the columns.

    Resampling costs far more than another column, and most systems are scored on the same articles.

    Args:
        samples: articles of each column, [N_i] ids.
        columns: [N_i, C] values, the same C for all; `work` returns one result for every C columns.
        work: turns [N, C * K] values into K results.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault(sample, []).append(index)
    results: dict[int, Result] = {}
    for indices in groups.values():
        group_results = work(np.concatenate([columns[index] for index in indices], axis=1))
        results.update(zip(indices, group_results, strict=True))
    return [results[index] for index in range(len(samples))]


def _triples(intervals: list[Interval]) -> list[tuple[Interval, ...]]:
    return [tuple(intervals[start : start + 3]) for start in range(0, len(intervals), 3)]


def _defined(interval: Interval) -> Interval | None:
    return None if np.isnan(interval.mean) else interval


def _chunks(resamples: int, articles: int) -> Iterator[int]:
    size = max(1, _CELLS // articles)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _by_metric(scores: pa.Table) -> dict[str, dict[str, dict[str, tuple[float, ...]]]]:
    """Return metric -> system -> article -> (value, precision, recall); NaN for figures that a metric does not have."""
    tree: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {}
    columns = [scores[name].to_pylist() for name in ("metric", "system", "article_id", *_MEASURES)]
    for metric, system, article, *values in zip(*columns, strict=True):
        articles = tree.setdefault(metric, {}).setdefault(system, {})
        if article in articles:
            raise ValueError(f"article {article} has two scores of {system} under {metric}: expected one")
        articles[article] = tuple(np.nan if value is None else value for value in values)
    return tree
