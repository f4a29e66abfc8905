"""Champion against challenger: two models on the same test articles, as numbers, a verdict and an artifact. It does not
depend on the registry: it takes two tables of scores and two of predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storage.tables import with_values
from tasks.evaluation.metrics import METRICS, metric_name
from tasks.evaluation.significance import (
    SIGNIFICANCE,
    Comparison,
    Interval,
    compare_systems,
    summarise_scores,
    too_few_articles,
)
from tasks.reporting import plots
from tasks.reporting.blocks import Block, Cell, Heading, Picture, Quote, Row, Table, Text, section, table_of
from tasks.reporting.samples import shorten
from tasks.reporting.scores import COVERED, counted_articles, few_articles

_CHAMPION, _CHALLENGER = "champion", "challenger"
_SHOWN_CHARACTERS = 1200  # of each text of an example, because three of them are shown side by side


@dataclass(frozen=True)
class Contender:
    """A model and its results on the test articles."""

    name: str  # its name for people, such as `version 7`
    scores: pa.Table  # SCORES rows of one system
    predictions: pa.Table  # PREDICTIONS rows of one system


@section("challenge", "Champion and challenger")
def challenge_section(
    champion: Contender, challenger: Contender, articles: pa.Table, headline: str, seed: int
) -> Iterator[Block]:
    """Two models on the test articles on which both were scored: the paired verdict by the `headline` metric, means
    with intervals, and the articles where the challenger is best, in the middle and worst. `articles` are ARTICLES
    rows, at least of those that were scored. Raises ValueError: a table has no system or several, an article is scored
    twice, the headline metric was not scored for both on a common article, or an example's article or summary is
    missing."""
    tables = [_scores(champion, _CHAMPION), _scores(challenger, _CHALLENGER)]
    before, after = (set(table["article_id"].to_pylist()) for table in tables)
    scores = pa.concat_tables(tables)
    scores = scores.filter(pc.is_in(scores["article_id"], pa.array(sorted(before & after), pa.string())))
    pairs = {pair.metric: pair for pair in compare_systems(scores, SIGNIFICANCE, seed)}
    if headline not in pairs:
        raise ValueError(
            f"{champion.name} and {challenger.name} have no common test article scored in {headline}: "
            "expected at least one"
        )
    names = [f"{_CHAMPION}: {champion.name}", f"{_CHALLENGER}: {challenger.name}"]
    yield Text(_verdict(champion.name, challenger.name, pairs[headline], len(before & after)))
    yield _measure_table(scores, pairs, names, headline, len(before & after), seed)
    gains = gains_by_article(scores, headline)
    name = metric_name(headline)
    png = plots.differences([100 * (after - before) for _, before, after in gains], f"difference in {name} (points)")
    yield Picture(f"Difference in {name} of each test article: above 0 the challenger is better", png)
    if left_out := len(before ^ after):
        yield Text(f"{left_out:,} test articles on which only one of them was scored are left out.")
    yield from _examples(gains, (champion, challenger), articles, names, name)


def _examples(
    gains: Sequence[tuple[str, float, float]],
    sides: Sequence[Contender],
    articles: pa.Table,
    names: Sequence[str],
    headline: str,
) -> Iterator[Block]:
    last = len(gains) - 1
    # In this order, because with only one or two articles later keys replace earlier ones.
    picks = {last: "where the challenger does best", last // 2: "the middle one", 0: "where it does worst"}
    wanted = pa.array([gains[index][0] for index in picks], pa.string())
    about = _rows(articles, wanted, "articles")
    written = [_rows(side.predictions, wanted, f"predictions of {side.name}") for side in sides]
    for index, why in picks.items():
        article, *figures = gains[index]
        yield Heading(f"{about[article]['title']}: {why}")
        yield Heading("Lead section (the target)", 4)
        yield Quote(*shorten(about[article]["lead"], _SHOWN_CHARACTERS))
        shown = [shorten(rows[article]["summary"], _SHOWN_CHARACTERS) for rows in written]
        cells = [Cell(text or "an empty summary", f"{rest:,} more characters" if rest else "") for text, rest in shown]
        columns = [f"{side}, {100 * figure:.2f}" for side, figure in zip(names, figures, strict=True)]
        yield Table(f"What both wrote; {headline}", columns, [cells])


def _scores(contender: Contender, side: str) -> pa.Table:
    """Return a contender's scores with its side as the name of the system."""
    for what, table in (("scores", contender.scores), ("predictions", contender.predictions)):
        systems = sorted(pc.unique(table["system"]).to_pylist())
        if len(systems) != 1:
            raise ValueError(f"the {what} of {contender.name} are of the systems {systems}: expected one system")
    return with_values(contender.scores, "system", [side] * contender.scores.num_rows)


def _verdict(champion: str, challenger: str, pair: Comparison, articles: int) -> str:
    """Return a sentence that compares challenger and champion in the headline metric."""
    gain = _gain(pair)
    low, mean, high = (100 * x for x in (gain.low, gain.mean, gain.high))
    why = too_few_articles([pair], SIGNIFICANCE.level)
    return (
        f"The challenger ({challenger}) is {abs(mean):.2f} points of {metric_name(pair.metric)} "
        f"{'above' if mean >= 0 else 'below'} the champion ({champion}); {COVERED} interval of the difference "
        f"{low:+.2f} to {high:+.2f}: {'significant' if pair.p_value <= SIGNIFICANCE.level else 'not significant'} "
        f"(p = {pair.p_value:.3f}{f'; {why}' if why else ''}).{few_articles(articles)}"
    )


def _gain(pair: Comparison) -> Interval:
    """Return the mean figure of the challenger minus that of the champion, with its paired bootstrap interval."""
    gap = pair.difference
    # 0 - x rather than -x: then a 0 never gets a minus.
    return gap if pair.better == _CHALLENGER else Interval(0 - gap.mean, 0 - gap.high, 0 - gap.low)


def gains_by_article(scores: pa.Table, metric: str) -> list[tuple[str, float, float]]:
    """Return (article, figure of the champion, figure of the challenger), by ascending gain of the challenger."""
    chosen = scores.filter(pc.equal(scores["metric"], metric)).select(["article_id", "system", "value"]).to_pylist()
    before, after = (
        {row["article_id"]: row["value"] for row in chosen if row["system"] == side}
        for side in (_CHAMPION, _CHALLENGER)
    )
    both = [(article, before[article], after[article]) for article in sorted(before.keys() & after.keys())]
    return sorted(both, key=lambda row: row[2] - row[1])


def _rows(table: pa.Table, wanted: pa.Array, description: str) -> Mapping[str, Mapping[str, Any]]:
    """Return article -> row of a table. Raises ValueError: one of those wanted is missing."""
    rows = {row["article_id"]: row for row in table.filter(pc.is_in(table["article_id"], wanted)).to_pylist()}
    if missing := [article for article in wanted.to_pylist() if article not in rows]:
        raise ValueError(f"the {description} lack the scored articles {missing}: expected one row for each")
    return rows


def _measure_table(
    scores: pa.Table, pairs: Mapping[str, Comparison], names: Sequence[str], headline: str, articles: int, seed: int
) -> Table:
    scored = {(score.metric, score.system): score.value for score in summarise_scores(scores, SIGNIFICANCE, seed)}
    rows: list[Row] = []
    for name, metric in METRICS.items():
        if name in pairs:
            before, after = scored[name, _CHAMPION], scored[name, _CHALLENGER]
            best = metric.best((before.mean, after.mean)) if before.mean != after.mean else None
            means = [_mean(value, metric.scale, value.mean == best) for value in (before, after)]
            difference = _mean(_gain(pairs[name]), metric.scale, name == headline, "+")
            label = Cell(metric_name(name), strong=name == headline)
            rows.append([label, *means, difference, f"{pairs[name].p_value:.3f}"])
    caption = f"Figures and difference in points, %, ratios as numbers, with intervals; {counted_articles(articles)}"
    return table_of(caption, ["metric", *names, "difference", "p"], rows)


def _mean(value: Interval, scale: int, strong: bool, sign: str = "") -> Cell:
    mean, low, high = (f"{scale * x:{sign}.2f}" for x in (value.mean, value.low, value.high))
    return Cell(mean, f"{low} to {high}", strong=strong)
