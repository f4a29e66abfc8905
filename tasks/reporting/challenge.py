"""Champion against challenger: two models on the same test articles, as numbers, a verdict and an artifact. It does not
depend on the registry: it takes two tables of scores and two of predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.evaluation.metrics import METRICS, metric_name
from tasks.evaluation.significance import (
    SIGNIFICANCE,
    Comparison,
    Interval,
    SystemScore,
    compare_systems,
    summarise_scores,
    too_few_articles,
)
from tasks.reporting import plots
from tasks.reporting.blocks import Block, Cell, Heading, Picture, Quote, Row, Table, Text, section, table_of
from tasks.reporting.samples import shorten
from tasks.reporting.scores import COVERED, counted_articles, few_articles
from tasks.reporting.settings import ReportSettings

_CHAMPION, _CHALLENGER = "champion", "challenger"
_SHOWN_CHARACTERS = 1200  # of each text of an example, because three of them are shown side by side


@dataclass(frozen=True)
class Contender:
    """A model and its results on the test articles."""

    name: str  # its name for people, such as `version 7`
    scores: pa.Table  # SCORES rows of one system
    predictions: pa.Table  # PREDICTIONS rows of one system


@dataclass(frozen=True)
class ContenderScores:
    """Both contenders under one metric, on the articles on which both were scored."""

    metric: str  # as in the `scores` dataset
    champion: SystemScore  # its score with intervals
    challenger: SystemScore  # likewise
    difference: Interval  # mean figure of the challenger minus that of the champion, with its paired bootstrap interval
    test: Comparison  # whether they differ; each metric is tested separately


@dataclass(frozen=True)
class SummaryPair:
    """A test article with both summaries."""

    why: str
    title: str  # of the article
    lead: str  # the target
    summaries: tuple[str, str]  # of the champion and of the challenger
    figures: tuple[float, float]  # of both in the headline metric, 0-1


@dataclass(frozen=True)
class Challenge:
    """The result of comparing two models."""

    champion: str  # name of the model in use
    challenger: str  # name of the model that may replace it
    headline: str  # the metric that decides
    articles: int  # number of test articles on which both were scored
    left_out: int  # number of test articles on which only one of them was scored
    measures: Sequence[ContenderScores]  # one per metric, in their usual order
    # The challenger's figure minus the champion's in the headline metric, per article, ascending
    differences: Sequence[float]
    # The article where the challenger does best, the middle one, and the one where it does worst
    examples: Sequence[SummaryPair]

    @property
    def decisive(self) -> ContenderScores:
        """Both under the headline metric."""
        return next(measure for measure in self.measures if measure.metric == self.headline)

    @property
    def significant(self) -> bool:
        """Whether they differ significantly in the headline metric."""
        return self.decisive.test.p_value <= SIGNIFICANCE.level


def compare_contenders(
    champion: Contender, challenger: Contender, articles: pa.Table, settings: ReportSettings, seed: int
) -> Challenge:
    """Compare two models on the test articles on which both were scored. `articles` are ARTICLES rows, at least of
    those that were scored. Raises ValueError: a table has no system or several, an article is scored twice, the
    headline metric was not scored for both on a common article, or an example's article or summary is missing."""
    tables = {_CHAMPION: _one_system(champion), _CHALLENGER: _one_system(challenger)}
    ids = {side: set(scores["article_id"].to_pylist()) for side, scores in tables.items()}
    both = ids[_CHAMPION] & ids[_CHALLENGER]
    common = pa.array(sorted(both), pa.string())
    scores = pa.concat_tables(
        _as_system(table.filter(pc.is_in(table["article_id"], common)), side) for side, table in tables.items()
    )
    measures = _measures(scores, settings, seed)
    if settings.headline not in {measure.metric for measure in measures}:
        raise ValueError(
            f"{champion.name} and {challenger.name} have no common test article scored in {settings.headline}: "
            "expected at least one"
        )
    differences = _differences(scores, settings.headline)
    return Challenge(
        champion=champion.name,
        challenger=challenger.name,
        headline=settings.headline,
        articles=len(both),
        left_out=len(ids[_CHAMPION] ^ ids[_CHALLENGER]),
        measures=measures,
        differences=[after - before for _, before, after in differences],
        examples=_examples(differences, champion, challenger, articles),
    )


def verdict(challenge: Challenge) -> str:
    """Return a sentence that compares challenger and champion in the headline metric."""
    decisive = challenge.decisive
    low, mean, high = (100 * x for x in (decisive.difference.low, decisive.difference.mean, decisive.difference.high))
    side = "above" if mean >= 0 else "below"
    why = too_few_articles([decisive.test], SIGNIFICANCE.level)
    return (
        f"The challenger ({challenge.challenger}) is {abs(mean):.2f} points of {metric_name(challenge.headline)} "
        f"{side} the champion ({challenge.champion}); {COVERED} interval of the difference "
        f"{low:+.2f} to {high:+.2f}: {'significant' if challenge.significant else 'not significant'} "
        f"(p = {decisive.test.p_value:.3f}{f'; {why}' if why else ''}).{few_articles(challenge.articles)}"
    )


@section("challenge", "Champion and challenger")
def challenge_section(challenge: Challenge, decision: str = "") -> Iterator[Block]:
    """What was decided, in a sentence, if given; means with intervals, the paired verdict, and examples."""
    if decision:
        yield Text(decision)
    yield Text(verdict(challenge))
    yield _measure_table(challenge)
    name = metric_name(challenge.headline)
    png = plots.differences([100 * x for x in challenge.differences], f"difference in {name} (points)")
    yield Picture(f"Difference in {name} of each test article: above 0 the challenger is better", png)
    if challenge.left_out:
        yield Text(f"{challenge.left_out:,} test articles on which only one of them was scored are left out.")
    for example in challenge.examples:
        yield from _shown(example, challenge)


def _one_system(contender: Contender) -> pa.Table:
    for what, table in (("scores", contender.scores), ("predictions", contender.predictions)):
        systems = sorted(pc.unique(table["system"]).to_pylist())
        if len(systems) != 1:
            raise ValueError(f"the {what} of {contender.name} are of the systems {systems}: expected one system")
    return contender.scores


def _as_system(scores: pa.Table, name: str) -> pa.Table:
    column = scores.schema.get_field_index("system")
    return scores.set_column(column, scores.schema.field(column), pa.array([name] * scores.num_rows, pa.string()))


def _measures(scores: pa.Table, settings: ReportSettings, seed: int) -> list[ContenderScores]:
    scored = {(score.system, score.metric): score for score in summarise_scores(scores, SIGNIFICANCE, seed)}
    pairs = {pair.metric: pair for pair in compare_systems(scores, SIGNIFICANCE, seed)}
    measures = []
    for metric in METRICS:
        if (pair := pairs.get(metric)) is not None:
            gap = pair.difference
            # 0 - x rather than -x: no minus stands before a 0 then.
            signed = gap if pair.better == _CHALLENGER else Interval(0 - gap.mean, 0 - gap.high, 0 - gap.low)
            both = (scored[_CHAMPION, metric], scored[_CHALLENGER, metric])
            measures.append(ContenderScores(metric, *both, signed, pair))
    return measures


def _differences(scores: pa.Table, metric: str) -> list[tuple[str, float, float]]:
    """Return (article, figure of the champion, figure of the challenger), by ascending gain of the challenger."""
    chosen = scores.filter(pc.equal(scores["metric"], metric)).select(["article_id", "system", "value"]).to_pylist()
    before, after = (
        {row["article_id"]: row["value"] for row in chosen if row["system"] == side}
        for side in (_CHAMPION, _CHALLENGER)
    )
    both = [(article, before[article], after[article]) for article in sorted(before.keys() & after.keys())]
    return sorted(both, key=lambda row: row[2] - row[1])


def _examples(
    differences: Sequence[tuple[str, float, float]], champion: Contender, challenger: Contender, articles: pa.Table
) -> list[SummaryPair]:
    last = len(differences) - 1
    # In this order, because with only one or two articles later keys replace earlier ones.
    picks = {last: "where the challenger does best", last // 2: "the middle one", 0: "where it does worst"}
    wanted = pa.array([differences[index][0] for index in picks], pa.string())
    texts = _texts(articles, wanted, ["title", "lead"], "articles")
    before = _texts(champion.predictions, wanted, ["summary"], f"predictions of {champion.name}")
    after = _texts(challenger.predictions, wanted, ["summary"], f"predictions of {challenger.name}")
    examples = []
    for index, why in picks.items():
        article, *figures = differences[index]
        summaries = (before[article]["summary"], after[article]["summary"])
        examples.append(
            SummaryPair(why, texts[article]["title"], texts[article]["lead"], summaries, (figures[0], figures[1]))
        )
    return examples


def _texts(table: pa.Table, wanted: pa.Array, columns: list[str], description: str) -> Mapping[str, Mapping[str, Any]]:
    chosen = table.filter(pc.is_in(table["article_id"], wanted)).select(["article_id", *columns]).to_pylist()
    texts = {row["article_id"]: row for row in chosen}
    if missing := [article for article in wanted.to_pylist() if article not in texts]:
        raise ValueError(f"the {description} lack the scored articles {missing}: expected one row for each")
    return texts


def _measure_table(challenge: Challenge) -> Table:
    rows: list[Row] = []
    for measure in challenge.measures:
        deciding = measure.metric == challenge.headline
        before, after, metric = measure.champion.value, measure.challenger.value, METRICS[measure.metric]
        best = metric.best((before.mean, after.mean)) if before.mean != after.mean else None
        means = [_mean(value, metric.scale, value.mean == best) for value in (before, after)]
        difference = _mean(measure.difference, metric.scale, deciding, "+")
        name = Cell(metric_name(measure.metric), strong=deciding)
        rows.append([name, *means, difference, f"{measure.test.p_value:.3f}"])
    articles = counted_articles(challenge.articles)
    caption = f"Figures and difference in points, %, ratios as numbers, with intervals; {articles}"
    return table_of(caption, ["metric", *_names(challenge), "difference", "p"], rows)


def _names(challenge: Challenge) -> tuple[str, str]:
    return f"champion: {challenge.champion}", f"challenger: {challenge.challenger}"


def _mean(value: Interval, scale: int, strong: bool, sign: str = "") -> Cell:
    mean, low, high = (f"{scale * x:{sign}.2f}" for x in (value.mean, value.low, value.high))
    return Cell(mean, f"{low} to {high}", strong=strong)


def _shown(example: SummaryPair, challenge: Challenge) -> Iterator[Block]:
    columns, cells = [], []
    for name, summary, figure in zip(_names(challenge), example.summaries, example.figures, strict=True):
        text, rest = shorten(summary, _SHOWN_CHARACTERS)
        columns.append(f"{name}, {100 * figure:.2f}")
        cells.append(Cell(text or "an empty summary", f"{rest:,} more characters" if rest else ""))
    yield Heading(f"{example.title}: {example.why}")
    yield Heading("Lead section (the target)", 4)
    yield Quote(*shorten(example.lead, _SHOWN_CHARACTERS))
    yield Table(f"What both wrote; {metric_name(challenge.headline)}", columns, [cells])
