"""Scores of systems from judgements: means with intervals, tests between systems, agreement of the raters, and which
text raters prefer. A system's score is the mean of all its judgements, which in best-worst scaling is the share of
choices as best minus that as worst (Liu & Lapata 2019, sec. 5). Articles are resampled, because the judgements of one
depend on each other.

Preferences are wins between systems, and strengths by the model of Bradley & Terry (1952). Under it the chance that
system i is preferred to j is s_i / (s_i + s_j). Strengths are fitted by Hunter's (2004) MM iterations and given as
logarithms with mean 0, so a difference of 1.1 means odds of 3 to 1.

Agreement of raters is Krippendorff's alpha = 1 - observed disagreement / disagreement expected by chance (Krippendorff
2011, *Computing Krippendorff's Alpha-Reliability*). Values are compared as ranks (its ordinal metric), because neither
ratings nor choices have equal steps. Raters need not judge the same units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr, tukey_hsd

from storage.schemas import SCORES
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, Interval, compare_systems
from tasks.human_evaluation.answers import Judgement, Measure

Floats = NDArray[np.float64]
# Wins that each side of a compared pair gets in advance: without them, a system that never wins has no finite strength.
_PRIOR = 0.5
_ITERATIONS, _CLOSE = 2000, 1e-7
Unit = tuple[str, str, str]  # article, system, question


@dataclass(frozen=True)
class RaterFinding:
    """A rater compared with the others."""

    rater: int  # number
    judgements: int  # how many
    # by how much the rater's values are below what article, system and the other raters let expect (least squares);
    # None if every rater's values must have the same mean, as in best-worst scaling
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
    for judgement in judgements:
        units[judgement.article, judgement.system, judgement.unit][judgement.rater] = judgement.value
    return units


def rater_findings(judgements: Sequence[Judgement]) -> list[RaterFinding]:
    """Return every rater's severity and agreement with the others, under one measure."""
    units = by_unit(judgements)
    severity = _severity(judgements)
    findings = []
    for rater in sorted({judgement.rater for judgement in judgements}):
        pairs = [
            (values[rater], float(np.mean([value for other, value in values.items() if other != rater])))
            for values in units.values()
            if rater in values and len(values) > 1
        ]
        varied = all(len(set(column)) > 1 for column in zip(*pairs, strict=True)) if pairs else False
        agreement = float(spearmanr(*zip(*pairs, strict=True)).statistic) if varied else None
        count = sum(judgement.rater == rater for judgement in judgements)
        findings.append(RaterFinding(rater, count, severity.get(rater), agreement))
    return findings


def _severity(judgements: Sequence[Judgement]) -> Mapping[int, float]:
    """Fit value = article and question + system - severity of the rater; severities add up to 0."""
    raters = sorted({judgement.rater for judgement in judgements})
    if len(raters) < 2 or len({judgement.value for judgement in judgements}) < 2 or _balanced(judgements):
        return {}
    about = [
        (("unit", judgement.article, judgement.unit), ("system", judgement.system), ("rater", judgement.rater))
        for judgement in judgements
    ]
    names = [name for part in zip(*about, strict=True) for name in sorted(set(part))]
    design = np.array([[name in row for name in names] for row in about], np.float64)
    fitted, *_ = np.linalg.lstsq(design, np.array([judgement.value for judgement in judgements]), rcond=None)
    effects = fitted[-len(raters) :]
    return {rater: float(effects.mean() - effect) for rater, effect in zip(raters, effects, strict=True)}


def _balanced(judgements: Sequence[Judgement]) -> bool:
    """Whether a rater's values on every article have the same sum, as a best and a worst choice have."""
    sums: dict[tuple[int, str], float] = defaultdict(float)
    for judgement in judgements:
        sums[judgement.rater, judgement.article] += judgement.value
    return len(set(sums.values())) == 1


def wins(judgements: Sequence[Judgement], systems: Sequence[str]) -> Floats:
    """Return [A, S, S]: for each article how often raters preferred system i to j; a tie is half a win for each. Two
    texts are compared if a rater judged both on an article: with the best and the worst of three, all three pairs."""
    index = {system: number for number, system in enumerate(systems)}
    shown: dict[tuple[str, int, str], list[Judgement]] = defaultdict(list)
    for item in judgements:
        shown[item.article, item.rater, item.unit].append(item)
    articles = {
        article: number for number, article in enumerate(sorted({judgement.article for judgement in judgements}))
    }
    result = np.zeros((len(articles), len(systems), len(systems)))
    for (article, *_), together in shown.items():
        for first, second in combinations(together, 2):
            i, j = index[first.system], index[second.system]
            share = 0.5 if first.value == second.value else float(first.value > second.value)
            result[articles[article], i, j] += share
            result[articles[article], j, i] += 1 - share
    return result


def strengths(found: Floats, seed: int) -> list[Interval] | None:
    """Return each system's strength by [A, S, S] `wins` with its interval over articles; None if systems never met."""
    total = found.sum(axis=0)
    met = total + total.T > 0
    if connected_components(met, return_labels=False) > 1:
        return None
    weights = _resamples(len(found), seed)
    fitted = _fit(np.concatenate([total[None], np.einsum("ra,aij->rij", weights, found)]), met)
    return _intervals(fitted[0], fitted[1:])


def _resamples(articles: int, seed: int) -> NDArray[np.int64]:
    """Return how often each article is drawn in each resample: [R, A]."""
    random = np.random.default_rng(seed)
    return random.multinomial(articles, np.full(articles, 1 / articles), size=SIGNIFICANCE.resamples)


def _intervals(values: Floats, resampled: Floats) -> list[Interval]:
    """Return each system's value with its percentile interval; NaN of a resample is left out."""
    tail = (1 - SIGNIFICANCE.confidence) / 2
    low, high = np.nanquantile(resampled, [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(values, low, high, strict=True)]


def _fit(found: Floats, met: NDArray[np.bool_]) -> Floats:
    """Return log strengths [R, S] of win counts [R, S, S]."""
    found = found + _PRIOR * met
    games, won = found + found.transpose(0, 2, 1), found.sum(axis=2)
    strength = np.ones(won.shape)
    for _ in range(_ITERATIONS):
        renewed = won / (games / (strength[:, :, None] + strength[:, None, :])).sum(axis=2)
        renewed /= np.exp(np.log(renewed).mean(axis=1, keepdims=True))
        change = np.abs(np.log(renewed) - np.log(strength)).max()
        strength = renewed
        if change < _CLOSE:
            break
    return np.log(strength)


@dataclass(frozen=True)
class MeasureScores:
    """The systems under one measure."""

    measure: Measure  # overall, a criterion, or questions
    systems: Sequence[str]  # best first
    articles: int  # number of articles
    means: dict[str, Interval]  # each system's mean judgement with its interval
    judged: dict[str, int]  # number of its judgements
    strengths: dict[str, Interval] | None  # of Bradley and Terry; None if no rater compared two systems
    # (system, other) -> share of their comparisons in which it was preferred, ties as half (Shen et al. 2023, app. E)
    preferred: dict[tuple[str, str], float]
    # Tests of each pair, on the articles on which both were judged: p by approximate randomisation and after Holm's
    # correction
    comparisons: Sequence[Comparison]
    # Pair of systems -> p of Tukey's test, as in Liu & Lapata 2019, which takes all judgements as independent
    tukey: dict[frozenset[str], float]
    alpha: float | None  # agreement of the raters
    raters: Sequence[RaterFinding]  # each of them compared with the others

    def significant(self, pair: Comparison) -> bool:
        """Whether two systems differ after Holm's correction."""
        return pair.p_adjusted <= SIGNIFICANCE.level


def score_judgements(judgements: Sequence[Judgement], seed: int) -> list[MeasureScores]:
    """Return the scores under every measure, in order of first appearance. Raises ValueError: no judgement is given."""
    if not judgements:
        raise ValueError("expected at least 1 judgement to score, got 0")
    measures: dict[Measure, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        measures[judgement.measure].append(judgement)
    return [_score(measure, result, seed) for measure, result in measures.items()]


def _score(measure: Measure, judgements: Sequence[Judgement], seed: int) -> MeasureScores:
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in judgements:
        values[item.system][item.article].append(item.value)
    means = _means(values, seed)
    systems = sorted(means, key=lambda system: (-means[system].mean, system))
    result = wins(judgements, systems)
    total = result.sum(axis=0)
    met = total + total.T
    fitted = strengths(result, seed)
    table = pa.Table.from_pylist(
        [
            {"article_id": article, "system": system, "metric": measure, "value": float(np.mean(given))}
            for system, articles in values.items()
            for article, given in articles.items()
        ],
        SCORES.schema,
    )
    return MeasureScores(
        measure=measure,
        systems=systems,
        articles=len({judgement.article for judgement in judgements}),
        means=means,
        judged={system: sum(map(len, values[system].values())) for system in systems},
        strengths=None if fitted is None else dict(zip(systems, fitted, strict=True)),
        preferred={(systems[i], systems[j]): float(total[i, j] / met[i, j]) for i, j in np.argwhere(met)},
        comparisons=compare_systems(table, SIGNIFICANCE, seed),
        tukey=_tukey(values, systems),
        alpha=krippendorff_alpha([list(raters.values()) for raters in by_unit(judgements).values()]),
        raters=rater_findings(judgements),
    )


def _means(values: dict[str, dict[str, list[float]]], seed: int) -> dict[str, Interval]:
    """Return the mean of all judgements of each system, and its percentile bootstrap interval over articles."""
    articles = sorted({article for by_article in values.values() for article in by_article})
    sums = np.array([[sum(by_article.get(article, ())) for by_article in values.values()] for article in articles])
    counts = np.array([[len(by_article.get(article, ())) for by_article in values.values()] for article in articles])
    weights = _resamples(len(articles), seed)
    drawn = weights @ counts
    # A resample without any article of a system says nothing of it.
    means = np.where(drawn > 0, (weights @ sums) / np.maximum(drawn, 1), np.nan)
    return dict(zip(values, _intervals(sums.sum(axis=0) / counts.sum(axis=0), means), strict=True))


def _tukey(values: dict[str, dict[str, list[float]]], systems: Sequence[str]) -> dict[frozenset[str], float]:
    samples = [[value for given in values[system].values() for value in given] for system in systems]
    if min(map(len, samples)) < 2 or all(len(set(sample)) < 2 for sample in samples):
        return {}  # without any spread the test is not defined
    p_values = tukey_hsd(*samples).pvalue
    return {frozenset((systems[i], systems[j])): float(p_values[i, j]) for i, j in combinations(range(len(systems)), 2)}
