"""Scores of systems from judgements: means with intervals, tests between systems, agreement of the raters, and which
text raters prefer.

Articles are the unit of resampling, as in `tasks.evaluation.significance`: the judgements of one article depend on each
other. A system's score is the mean of all its judgements, which in best-worst scaling is the share of choices as best
minus that as worst (Liu & Lapata 2019, sec. 5), and of questions the mean of their marks.

Preferences are wins between systems, and strengths by the model of Bradley & Terry (1952). Under it the chance that
system i is preferred to j is s_i / (s_i + s_j). Strengths are fitted by Hunter's (2004) MM iterations and given as
logarithms with mean 0, so a difference of 1.1 means odds of 3 to 1."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import tukey_hsd

from storage.schemas import SCORES
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, Interval, compare_systems
from tasks.human_evaluation.agreement import RaterFinding, by_unit, krippendorff_alpha, rater_findings
from tasks.human_evaluation.answers import Judgement, Measure

Floats = NDArray[np.float64]
_PRIOR = 0.5  # wins of each side that every pair that met has in advance: without, a system that never wins has no
# finite strength
_ITERATIONS, _CLOSE = 2000, 1e-7


def wins(judgements: Sequence[Judgement], systems: Sequence[str]) -> Floats:
    """Return [A, S, S]: for each article how often raters preferred system i to j; a tie is half a win for each. Two
    texts are compared if a rater judged both on an article: with the best and the worst of three, all three pairs."""
    index = {system: number for number, system in enumerate(systems)}
    shown: dict[tuple[str, int, str], list[Judgement]] = defaultdict(list)
    for one in judgements:
        shown[one.article, one.rater, one.unit].append(one)
    articles = {article: number for number, article in enumerate(sorted({one.article for one in judgements}))}
    found = np.zeros((len(articles), len(systems), len(systems)))
    for (article, *_), together in shown.items():
        for first, second in combinations(together, 2):
            i, j = index[first.system], index[second.system]
            share = 0.5 if first.value == second.value else float(first.value > second.value)
            found[articles[article], i, j] += share
            found[articles[article], j, i] += 1 - share
    return found


def strengths(found: Floats, seed: int) -> list[Interval] | None:
    """Return each system's strength with its bootstrap interval over articles; None where the systems never met.
    `found` are the [A, S, S] `wins`."""
    total = found.sum(axis=0)
    if not _connected(total + total.T > 0):
        return None
    random, articles = np.random.default_rng(seed), len(found)
    weights = random.multinomial(articles, np.full(articles, 1 / articles), size=SIGNIFICANCE.resamples)
    fitted = _fit(np.concatenate([total[None], np.einsum("ra,aij->rij", weights, found)]), total + total.T > 0)
    tail = (1 - SIGNIFICANCE.confidence) / 2
    low, high = np.quantile(fitted[1:], [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(fitted[0], low, high, strict=True)]


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


def _connected(met: NDArray[np.bool_]) -> bool:
    """Whether every system can be compared with every other, over others if need be."""
    reached = np.eye(len(met), dtype=bool)[0]
    for _ in met:
        reached = reached | met[reached].any(axis=0)
    return bool(reached.all())


@dataclass(frozen=True)
class MeasureScores:
    """The systems under one measure."""

    measure: Measure  # overall, a criterion, or questions
    systems: Sequence[str]  # best first
    articles: int  # number of articles
    means: dict[str, Interval]  # each system's mean judgement with its interval
    judged: dict[str, int]  # number of its judgements
    strengths: dict[str, Interval] | None  # of Bradley and Terry; None where no rater compared two systems
    # [S, S] share of the comparisons in which a system was preferred to another, ties as half (Shen et al. 2023, app.
    # E); NaN where they were not compared
    preferred: dict[tuple[str, str], float]
    # Of each pair, on the articles on which both were judged: p by approximate randomisation and after Holm's
    # correction
    comparisons: Sequence[Comparison]
    # Pair of systems -> p of Tukey's test, as in Liu & Lapata 2019, which takes all judgements as independent
    tukey: dict[frozenset[str], float]
    alpha: float | None  # agreement of the raters
    raters: Sequence[RaterFinding]  # each of them beside the others

    def significant(self, pair: Comparison) -> bool:
        """Whether two systems differ after Holm's correction."""
        return pair.p_adjusted <= SIGNIFICANCE.level


def score_judgements(judgements: Sequence[Judgement], seed: int) -> list[MeasureScores]:
    """Return the scores under every measure, in order of first appearance. Raises ValueError: there is no judgement."""
    if not judgements:
        raise ValueError("expected at least 1 judgement to score, got 0")
    measures: dict[Measure, list[Judgement]] = defaultdict(list)
    for one in judgements:
        measures[one.measure].append(one)
    return [_score(measure, found, seed) for measure, found in measures.items()]


def _score(measure: Measure, judgements: Sequence[Judgement], seed: int) -> MeasureScores:
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in judgements:
        values[one.system][one.article].append(one.value)
    means = _means(values, seed)
    systems = sorted(means, key=lambda system: (-means[system].mean, system))
    found = wins(judgements, systems)
    met, total = found.sum(axis=0) + found.sum(axis=0).T, found.sum(axis=0)
    fitted = strengths(found, seed)
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
        articles=len({one.article for one in judgements}),
        means=means,
        judged={system: sum(map(len, values[system].values())) for system in systems},
        strengths=None if fitted is None else dict(zip(systems, fitted, strict=True)),
        preferred={
            (first, second): float(total[i, j] / met[i, j])
            for i, first in enumerate(systems)
            for j, second in enumerate(systems)
            if met[i, j]
        },
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
    random = np.random.default_rng(seed)
    size = len(articles)
    weights = random.multinomial(size, np.full(size, 1 / size), size=SIGNIFICANCE.resamples)
    drawn, tail = weights @ counts, (1 - SIGNIFICANCE.confidence) / 2
    # A resample without any article of a system says nothing of it.
    means = np.where(drawn > 0, (weights @ sums) / np.maximum(drawn, 1), np.nan)
    low, high = np.nanquantile(means, [tail, 1 - tail], axis=0)
    columns = zip(sums.sum(axis=0) / counts.sum(axis=0), low, high, strict=True)
    return {system: Interval(*map(float, column)) for system, column in zip(values, columns, strict=True)}


def _tukey(values: dict[str, dict[str, list[float]]], systems: Sequence[str]) -> dict[frozenset[str], float]:
    samples = [[value for given in values[system].values() for value in given] for system in systems]
    if min(map(len, samples)) < 2 or all(len(set(sample)) < 2 for sample in samples):
        return {}  # without any spread the test is not defined
    p_values = tukey_hsd(*samples).pvalue
    return {
        frozenset((first, second)): float(p_values[i, j])
        for i, first in enumerate(systems)
        for j, second in enumerate(systems)
        if i < j
    }
