"""Scores of systems from judgements: means with intervals, tests between systems, agreement of the raters.

Articles are the unit of resampling, as in `tasks.evaluation.significance`: the judgements of one article depend on each
other. A system's score is the mean of all its judgements, which in best-worst scaling is the share of choices as best
minus that as worst (Liu & Lapata 2019, sec. 5), and of questions the mean of their marks.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.stats import tukey_hsd

from storage.schemas import SCORES
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, Interval, compare_systems
from tasks.human_evaluation.agreement import RaterFinding, by_unit, krippendorff_alpha, rater_findings
from tasks.human_evaluation.answers import Judgement, Measure
from tasks.human_evaluation.preferences import strengths, wins


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
