"""Uncertainty of scores: bootstrap intervals of a system's mean, and paired tests between systems. Articles are the
unit of resampling: a test split is a sample of the articles one could have tested on. Two systems are compared on the
articles both summarized, so that the difficulty of an article cancels out."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import itemgetter
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Result = TypeVar("Result")
_MEASURES = ("value", "precision", "recall")
CELLS = 4_000_000  # resampled weights held at once: 32 MB
_ROUNDING = 1e-12  # sums that differ by less are equal: they were added in another order
_ENUMERATED = 16  # articles up to which all 2^N signs are tried
_FINE = 10  # how much smaller than the level the smallest p-value can be, after correction


@dataclass(frozen=True)
class Significance:
    """How uncertainty is estimated."""

    # bootstrap resamples (ROUGE-1.5.5 draws 1,000 too), and the least number of random sign flips
    resamples: int = 1000
    confidence: float = 0.95  # probability an interval is to cover, 0-1

    @property
    def level(self) -> float:
        """Largest p-value, after correction, of a difference that is significant."""
        return 1 - self.confidence

    def flips(self, pairs: int) -> int:
        """Return how many random sign flips tell whether one of so many pairs differs. F flips give no p-value below 1
        / (F + 1), and Holm's correction multiplies the smallest by the number of pairs: with 1,000 flips no p-value of
        55 pairs could be below .0549."""
        return max(self.resamples, math.ceil(_FINE * pairs / self.level))


SIGNIFICANCE = Significance()


@dataclass(frozen=True)
class Interval:
    """A mean and the ends of its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class SystemScore:
    """One system under one metric."""

    system: str  # name of the summarizer
    metric: str  # as in the `scores` dataset
    articles: int  # number of articles on which it was scored
    value: Interval  # mean of the metric's figure over the articles it is defined for, with its interval
    precision: Interval | None  # likewise, None for a metric that has none
    recall: Interval | None  # likewise


@dataclass(frozen=True)
class Comparison:
    """Two systems under one metric, on the articles both have."""

    better: str  # the system with the higher mean figure (on a tie the first by name)
    worse: str  # the other
    metric: str  # as in the `scores` dataset
    articles: int  # number of articles on which both were scored
    difference: Interval  # mean figure of `better` minus that of `worse`, with its paired bootstrap interval
    p_value: float  # two-sided, by randomisation
    p_adjusted: float  # the same after Holm's correction for all pairs of systems under this metric
    differing: int  # number of articles on which the two scores differ
    # lowest p_adjusted that so many differing articles and pairs allow, whatever the scores: of the 2^N signs of N
    # differences, at least the data's and the opposite ones are as far from 0
    p_least: float


def too_few_articles(pairs: Sequence[Comparison], level: float) -> str:
    """Return why none of some pairs can differ significantly, in words for a sentence; empty if one can. `pairs`:
    comparisons that were corrected together; `level`: largest p-value, after correction, of a significant
    difference."""
    least = min(pairs, key=lambda pair: pair.p_least, default=None)
    if least is None or least.p_least <= level:
        return ""
    most, among = ("at most ", f" among {len(pairs):,} pairs") if len(pairs) > 1 else ("", "")
    articles = f"{least.differing:,} article{'' if least.differing == 1 else 's'}"
    return f"scores that differ on {most}{articles} give no p below {least.p_least:.3f}{among}"


def summarise_scores(scores: pa.Table, settings: Significance, seed: int) -> list[SystemScore]:
    """Return mean and interval of every system and metric, in order of metric and system as they first appear.
    `scores`: table of the `scores` dataset, in any order; `settings`: resamples and confidence; `seed`: decides the
    resamples. Raises ValueError: an article has two scores of one system and metric."""
    cells = [
        (system, metric, values) for metric, systems in _by_metric(scores).items() for system, values in systems.items()
    ]
    samples = [tuple(sorted(values)) for _, _, values in cells]
    columns = [np.array([values[each] for each in sorted(values)]) for _, _, values in cells]

    def triples(stacked: Floats) -> list[tuple[Interval, ...]]:
        one = iter(bootstrap(stacked, settings, seed))
        return list(zip(one, one, one, strict=True))  # value, precision and recall of a cell

    intervals = _together(samples, columns, triples)
    return [
        SystemScore(system, metric, len(values), value, *(None if np.isnan(item.mean) else item for item in others))
        for (system, metric, values), (value, *others) in zip(cells, intervals, strict=True)
    ]


def compare_systems(scores: pa.Table, settings: Significance, seed: int) -> list[Comparison]:
    """Test every pair of systems under every metric, by its figure; pairs without a common article are left out.
    `scores`: table of the `scores` dataset, in any order; `settings`: resamples and confidence; `seed`: decides
    resamples and sign flips. Raises ValueError: an article has two scores of one system and metric."""
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
    metrics = [metric for metric, _, _ in pairs]
    flips = settings.flips(max(Counter(metrics).values(), default=1))
    p_values = _together(samples, columns, lambda stacked: randomisation_test(stacked, flips, seed))
    adjusted = _adjusted(metrics, p_values)
    differing = [int(np.count_nonzero(np.abs(column) > _ROUNDING)) for column in columns]
    lowest = _adjusted(metrics, [2.0 ** min(0, 1 - count) for count in differing])
    return [
        Comparison(better, worse, metric, len(sample), interval, p, p_adjusted, count, p_least)
        for (metric, better, worse), sample, interval, p, p_adjusted, count, p_least in zip(
            pairs, samples, intervals, p_values, adjusted, differing, lowest, strict=True
        )
    ]


def bootstrap(values: Floats, settings: Significance, seed: int) -> list[Interval]:
    """Return the mean of each column and its percentile bootstrap interval (Efron 1979). `values`: [N, K] one row per
    article; the K columns are resampled together; `settings`: resamples and confidence; `seed`: decides the resamples.
    Raises ValueError: no row is given."""
    articles = len(values)
    if articles == 0:
        raise ValueError("expected at least 1 article for an interval, got 0")
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            random.multinomial(articles, np.full(articles, 1 / articles), size=len(numbers)) @ values / articles
            for numbers in _chunks(settings.resamples, articles)
        ]
    )
    tail = (1 - settings.confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(values.mean(axis=0), low, high, strict=True)]


def randomisation_test(differences: Floats, flips: int, seed: int) -> list[float]:
    """Return the two-sided p-value of each mean paired difference (approximate randomisation, Noreen 1989).

    If two systems were equal, each could have produced each summary, and the signs of the differences would be coin
    flips. Then p is the share of flips whose mean is at least as far from 0, counting the data as one of them. If
    articles are few, all signs are tried, which makes p exact (Fisher 1935). `differences`: [N, K] score of one system
    minus score of another on each article, for K pairs. `flips`: random sign flips, where not all are tried. `seed`:
    decides the flips, which are the same for all pairs. Raises ValueError: no article is given."""
    # "not less" rather than "at least", here and below: a NaN, which compares with nothing, then has a p of 1.
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING * len(differences)
    (extreme,) = _shares_of_flips(differences, flips, seed, lambda sums: ~(np.abs(sums) < observed))
    return extreme


def signed_randomisation_test(differences: Floats, flips: int, seed: int) -> list[tuple[float, float]]:
    """Return the two one-sided p-values of each mean paired difference, given and tested as in `randomisation_test`:
    of the first system being no better than the second, and of its being no worse."""
    observed, rounding = differences.sum(axis=0), _ROUNDING * len(differences)
    above, below = _shares_of_flips(
        differences, flips, seed, lambda sums: ~(sums < observed - rounding), lambda sums: ~(sums > observed + rounding)
    )
    return list(zip(above, below, strict=True))


def _shares_of_flips(
    differences: Floats, flips: int, seed: int, *tests: Callable[[Floats], NDArray[np.bool_]]
) -> list[list[float]]:
    """Return for each test and pair the share of sign flips, the data among them, whose sum of differences passes.
    `tests`: get sums of the differences under F signs, [F, K], and return which pass."""
    articles, pairs = differences.shape
    if articles == 0:
        raise ValueError("expected at least 1 article for a test, got 0")
    exact = articles <= _ENUMERATED
    random = np.random.default_rng(seed)
    counts = np.full((len(tests), pairs), 0 if exact else 1)
    for numbers in _chunks(2**articles if exact else flips, articles):
        if exact:  # the bits of a number are the signs
            turned = (np.array(numbers)[:, None] >> np.arange(articles) & 1).astype(np.bool_)
        else:
            turned = random.random((len(numbers), articles)) < 0.5
        sums = np.where(turned, -1.0, 1.0) @ differences
        counts += [test(sums).sum(axis=0) for test in tests]
    shares = counts / (2**articles if exact else flips + 1)
    return [list(map(float, row)) for row in shares]


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979): a level then bounds the chance of any false positive."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _adjusted(metrics: list[str], p_values: list[float]) -> list[float]:
    """Correct the p-values of each metric, which are neighbours, for the number of pairs under it."""
    families = groupby(zip(metrics, p_values, strict=True), key=itemgetter(0))
    return [p for _, family in families for p in holm([value for _, value in family])]


def _together(
    samples: list[tuple[str, ...]], columns: list[Floats], work: Callable[[Floats], Sequence[Result]]
) -> list[Result]:
    """Run `work` once for all columns over the same articles, and return the results in the order of the columns.
    Resampling costs far more than another column, and most systems are scored on the same articles. `samples`: articles
    of each column, [N_i] ids; `columns`: [N_i, C] values, the same C for all; `work`: turns [N, C * K] values
    into K results."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, sample in enumerate(samples):
        groups.setdefault(sample, []).append(index)
    results: dict[int, Result] = {}
    for indices in groups.values():
        group_results = work(np.concatenate([columns[index] for index in indices], axis=1))
        results.update(zip(indices, group_results, strict=True))
    return [results[index] for index in range(len(samples))]


def _chunks(draws: int, articles: int) -> Iterator[range]:
    size = max(1, CELLS // articles)
    return (range(start, min(start + size, draws)) for start in range(0, draws, size))


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
