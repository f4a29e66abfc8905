"""The systems by their scores: read, ranked, compared, and shown in figures, tables and sentences. Also the ranking of
paragraphs, as in Liu & Lapata 2019, Table 1."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.compute as pc

from tasks.evaluation.metrics import METRICS, Group, metric_name
from tasks.evaluation.significance import (
    SIGNIFICANCE,
    Comparison,
    SystemScore,
    compare_systems,
    summarise_scores,
    too_few_articles,
)
from tasks.reporting import blocks, plots
from tasks.reporting.blocks import NONE, WORDS, Block, Cell, Row, percent, section, table_of
from tasks.reporting.settings import ReportSettings

# Liu & Lapata 2019, Table 1: ROUGE-L recall of the L' best paragraphs of WikiSum against the target, in percent.
PUBLISHED_TABLE1: Mapping[str, Mapping[int, float]] = {
    "similarity": {5: 24.86, 10: 32.43, 20: 40.87, 40: 49.49},
    "ranking": {5: 39.38, 10: 46.74, 20: 53.84, 40: 60.42},
}
COVERED = percent(SIGNIFICANCE.confidence)  # by the intervals
NOTHING_SCORED = "No summary of the test split was scored: there are no test articles with paragraphs."
SHOWN_THE_TARGET = ("greedy-rouge2", "ceiling", "reference")  # bounds, and no competitors
_FEW = 30  # articles below which percentile intervals are known to be too narrow
# What the headline shows: the first three that were scored, each with the best system without training; what is true
# where it is known, else what a source says.
_QUOTED = ("facts-sentences", "said", "values-right", "values-recalled", "values", "rouge1", "rouge2", "rougeL")
_FIGURES = 3


@dataclass(frozen=True)
class Table1:
    """Liu & Lapata 2019, Table 1 on this corpus; without figures if no article of the test split was ranked."""

    articles: int = 0  # number of articles of the test split
    # method of `ranking.method` -> L' -> ROUGE-L recall of the test split, percent
    measured: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    @property
    def cutoffs(self) -> list[int]:
        """The values of L', ascending."""
        return sorted({cutoff for by_cutoff in self.measured.values() for cutoff in by_cutoff})


@dataclass(frozen=True)
class Ranking:
    """The systems by the headline metric."""

    headline: str  # the metric; if that of the settings was not scored, another one
    articles: int = 0  # maximum number of articles of the test split on which a system was scored
    systems: Sequence[str] = ()  # names, best first
    trained: frozenset[str] = frozenset()  # those of them that were trained here
    scores: Mapping[tuple[str, str], SystemScore] = field(default_factory=dict)  # (system, metric) -> score
    # Of every pair of systems, under the headline metric, in order of the systems
    comparisons: Sequence[Comparison] = ()

    @property
    def metrics(self) -> list[str]:
        """The scored metrics, in their usual order."""
        scored = {metric for _, metric in self.scores}
        return [metric for metric in METRICS if metric in scored]


def read_rows(shards: Iterable[tuple[pa.Table, ...]], schema: pa.Schema) -> pa.Table:
    """Return the rows of all shards of some stages of one schema."""
    return pa.concat_tables([schema.empty_table(), *(table for tables in shards for table in tables)])


def rank_systems(baselines: pa.Table, trained: pa.Table, settings: ReportSettings, seed: int) -> Ranking:
    """Return every system's scores, and the comparison of each pair under the headline metric. `baselines` are SCORES
    of the systems without training, `trained` of those trained here."""
    scores = pa.concat_tables([baselines, trained])
    summaries = summarise_scores(scores, SIGNIFICANCE, seed) if scores.num_rows else []
    if not summaries:
        return Ranking(settings.headline)
    by_cell = {(score.system, score.metric): score for score in summaries}
    scored = {score.metric for score in summaries}
    headline = settings.headline if settings.headline in scored else summaries[0].metric

    def order(system: str) -> tuple[float, str]:
        score = by_cell.get((system, headline))
        return (-score.value.mean if score else math.inf, system)

    systems = sorted({score.system for score in summaries}, key=order)
    index_of = {system: number for number, system in enumerate(systems)}
    compared = compare_systems(scores.filter(pc.equal(scores["metric"], headline)), SIGNIFICANCE, seed)
    return Ranking(
        headline=headline,
        articles=max(score.articles for score in summaries),
        systems=systems,
        trained=frozenset(pc.unique(trained["system"]).to_pylist()),
        scores=by_cell,
        comparisons=sorted(compared, key=lambda pair: (index_of[pair.better], index_of[pair.worse])),
    )


def table1(ranking_scores: pa.Table) -> Table1:
    """Return Liu & Lapata 2019, Table 1 on the test split."""
    test = ranking_scores.filter(pc.equal(ranking_scores["split"], "test"))
    groups = test.group_by(["method", "paragraphs"], use_threads=False)  # a mean over threads rounds differently
    means = groups.aggregate([("rouge_l_recall", "mean")]).to_pylist()
    measured: dict[str, dict[int, float]] = {method: {} for method in PUBLISHED_TABLE1}
    for row in means:
        measured.setdefault(row["method"], {})[row["paragraphs"]] = 100 * row["rouge_l_recall_mean"]
    result = {method: by_cutoff for method, by_cutoff in measured.items() if by_cutoff}
    return Table1(pc.count_distinct(test["article_id"]).as_py(), result)


@section("table1", "Ranking paragraphs")
def table1_section(found: Table1) -> Iterator[Block]:
    """Liu & Lapata 2019, Table 1 on this corpus."""
    if not found.measured:
        yield blocks.Text("No article of the test split has ranked paragraphs: nothing to score.")
        return

    def row(method: str, corpus: str, recalls: Mapping[int, float], *, strong: bool) -> Row:
        cells = [Cell(f"{recalls[c]:.2f}", strong=strong) if c in recalls else NONE for c in found.cutoffs]
        return [WORDS["methods"].get(method, method), corpus, *cells]

    rows = []
    for method, measured in found.measured.items():
        rows.append(row(method, "this build", measured, strong=True))
        published = PUBLISHED_TABLE1.get(method, {})
        if not published.keys().isdisjoint(found.cutoffs):
            rows.append(row(method, "paper, WikiSum", published, strong=False))
    columns = ["paragraphs ranked by", "corpus", *[f"L' = {cutoff}" for cutoff in found.cutoffs]]
    caption = f"ROUGE-L recall of the L' best paragraphs against the lead, %; {counted_articles(found.articles)}"
    yield table_of(caption, columns, rows, range(2, len(columns)))
    yield blocks.Text(WORDS["legends"]["table1"])


@section("headline", "In short")
def headline_section(ranking: Ranking) -> Iterator[Block]:
    """Figures to quote: three of the best trained system, and how it compares."""
    scored = [metric for metric in _QUOTED if metric in ranking.metrics]
    metrics = [item for item in scored if not (item == "said" and "facts-sentences" in scored)][:_FIGURES]
    trained, baseline = _best_systems(ranking)
    system = trained or baseline
    if system is not None:
        figures = []
        for metric in metrics:
            cell = _score(ranking, system, metric)
            beside = f"; {baseline} {_score(ranking, baseline, metric).text}" if baseline not in (None, system) else ""
            unit = " %" if METRICS[metric].unit == "percent" else ""
            figures.append(
                blocks.Figure(f"{cell.text}{unit}", f"{metric_name(metric)}, {system}", f"{cell.note}{beside}")
            )
        yield blocks.Figures(figures)
    yield blocks.Text(headline_sentence(ranking))
    if system is not None:
        meanings = "; ".join(f"{metric_name(metric)}: {METRICS[metric].meaning}" for metric in metrics)
        yield blocks.Text(f"With each figure its {COVERED} interval. {meanings}.")


def headline_sentence(ranking: Ranking) -> str:
    """Return a sentence that compares the best trained system with the best baseline that does not read the target."""
    if not ranking.systems:
        return NOTHING_SCORED
    best_trained, best_baseline = _best_systems(ranking)
    if best_trained is None or best_baseline is None:
        lacking = "trained system" if best_trained is None else "baseline"
        return f"No {lacking} was scored: nothing to compare.{few_articles(ranking.articles)}"
    pair = next(
        (pair for pair in ranking.comparisons if {pair.better, pair.worse} == {best_trained, best_baseline}), None
    )
    if pair is None:
        return f"{best_trained} and {best_baseline} were not scored on a common article: nothing to compare."
    difference = pair.difference
    side = "above" if pair.better == best_trained else "below"
    low, high = 100 * difference.low, 100 * difference.high
    why = too_few_articles(ranking.comparisons, SIGNIFICANCE.level)
    return (
        f"{best_trained} is {100 * difference.mean:.2f} points of {metric_name(ranking.headline)} {side} "
        f"{best_baseline} ({COVERED} interval {low:.2f} to {high:.2f}): "
        f"{_significance(pair)} (p = {pair.p_adjusted:.3f} after Holm's correction"
        f"{f'; {why}' if why else ''}).{few_articles(pair.articles)}{_own_words(ranking, best_trained)}"
    )


def _own_words(ranking: Ranking, system: str) -> str:
    """Return a sentence on how much of a system's text is its own, by its bigrams; empty if that was not scored."""
    novel = ranking.scores.get((system, "novel-bigrams"))
    if novel is None:
        return ""
    own = round(100 * novel.value.mean)
    return f" The bigrams of {system}: {100 - own} % are quoted from its input, and {own} % are its own."


def _best_systems(ranking: Ranking) -> tuple[str | None, str | None]:
    """Return the best trained system and the best of the others that does not read the target; None: there is none."""
    trained = (system for system in ranking.systems if system in ranking.trained)
    others = (system for system in ranking.systems if system not in (*ranking.trained, *SHOWN_THE_TARGET))
    return next(trained, None), next(others, None)


def _significance(pair: Comparison) -> str:
    """Return whether a difference is significant after correction, in words."""
    return "significant" if pair.p_adjusted <= SIGNIFICANCE.level else "not significant"


def counted_articles(count: int) -> str:
    """Return a number of test articles in words."""
    return f"{count:,} test article{'s' if count != 1 else ''}"


def few_articles(articles: int) -> str:
    """Return a warning for few test articles, with a space before it; else an empty string."""
    return f" With only {articles:,} test articles these intervals are rough." if articles < _FEW else ""


@section("scores", "Summaries: scores")
def scores_section(
    ranking: Ranking, writer: Mapping[str, Any] | None = None, tally: Mapping[str, int] | None = None
) -> Iterator[Block]:
    """Scores of all systems with intervals, and the comparison of each pair; `writer` has the settings of a language
    model that is one of them, `tally` what was counted while it wrote."""
    if not ranking.systems:
        yield blocks.Text(NOTHING_SCORED)
        return
    yield blocks.Text(headline_sentence(ranking))
    yield _score_picture(ranking)
    for heading, chosen in _grouped(ranking.metrics):
        if chosen:
            yield _score_table(ranking, heading, chosen)
    known = [METRICS[metric] for metric in ranking.metrics]
    if meanings := [f"{metric.label}: {metric.meaning}" for metric in known if metric.group != "rouge"]:
        yield blocks.Text(f"{'; '.join(meanings)}.")
    if notes := [WORDS["baselines"][system] for system in ranking.systems if system in WORDS["baselines"]]:
        yield blocks.Text(f"Systems without training: {'; '.join(notes)}.")
    if writer is not None:
        counted = "; ".join(f"{name} {count:,}" for name, count in (tally or {}).items())
        about = {"model": writer["model"], "url": writer["url"], "counted": counted}
        yield blocks.Text(WORDS["legends"]["writer"].format_map(about))
    yield blocks.Text(WORDS["legends"]["scores"].format(covered=COVERED))
    yield blocks.Heading(f"Differences in {metric_name(ranking.headline)}")
    if ranking.comparisons:
        yield _comparison_table(ranking)
    else:
        yield blocks.Text("No two systems were scored on a common article: nothing to compare.")


def metric_picture(scores: pa.Table, metric: str, seed: int = 1) -> blocks.Picture:
    """Return a picture of SCORES: each system's mean under a metric, with its interval, the highest on top. Raises
    ValueError: no system was scored under it."""
    chosen = scores.filter(pc.equal(scores["metric"], metric))
    summaries = summarise_scores(chosen, SIGNIFICANCE, seed) if chosen.num_rows else []
    if not summaries:
        known = sorted(set(scores["metric"].to_pylist()))
        raise ValueError(f"no system was scored under {metric!r}: expected one of {', '.join(known) or 'none'}")
    summaries.sort(key=lambda score: (-score.value.mean, score.system))
    by_cell = {(score.system, metric): score for score in summaries}
    return _score_picture(Ranking(metric, systems=[score.system for score in summaries], scores=by_cell))


def short_score_table(ranking: Ranking) -> blocks.Table:
    """Return the table for the terminal: truth, ROUGE-1, -2 and -L, and the interval of the headline metric."""
    suffix = "-stem" if ranking.headline.endswith("-stem") else ""
    truth = ("values-input", "values-right", "values-recalled", "said", "copied", "facts-sentences", "subject-named")
    wanted = [*truth, *[f"{metric}{suffix}" for metric in ("rouge1", "rouge2", "rougeL")]]
    chosen = [metric for metric in wanted if metric in ranking.metrics]
    if ranking.headline not in chosen:
        chosen.append(ranking.headline)
    interval = f"{metric_name(ranking.headline)}, {COVERED} interval"
    rows = [
        [
            system,
            *[_score(ranking, system, metric).text for metric in chosen],
            _score(ranking, system, ranking.headline).note or NONE,
        ]
        for system in ranking.systems
    ]
    caption = f"Summaries: truth, and ROUGE F1, %; {counted_articles(ranking.articles)}"
    return table_of(caption, ["system", *map(metric_name, chosen), interval], rows)


def _grouped(metrics: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the tables of scores, truth first: heading and metrics of each."""
    groups: dict[str, list[str]] = {group: [] for group in get_args(Group)}
    for metric in metrics:
        groups[METRICS[metric].group].append(metric)
    truth, rouge = groups["truth"], groups["rouge"]
    judged = [metric for metric in truth if METRICS[metric].judge is not None]
    facts = [metric for metric in truth if metric.startswith("facts-")]
    values = [metric for metric in truth if metric.startswith("values")]
    groups["facts"], groups["values"], groups["judged"] = facts, values, judged
    groups["cited"] = [metric for metric in truth if metric not in (*judged, *facts, *values)]
    groups["plain"] = [metric for metric in rouge if not metric.endswith("-stem")]
    groups["stemmed"] = [metric for metric in rouge if metric.endswith("-stem")]
    return [(heading, groups[name]) for name, heading in WORDS["score_tables"].items()]


def _score_table(ranking: Ranking, heading: str, metrics: Sequence[str]) -> blocks.Table:
    rivals = [system for system in ranking.systems if system not in SHOWN_THE_TARGET]
    best = {}
    for metric in metrics:
        values = [ranking.scores[system, metric].value.mean for system in rivals if (system, metric) in ranking.scores]
        best[metric] = METRICS[metric].best(values)
    rows: list[Row] = [
        [system, *[_score(ranking, system, name, best[name] if system in rivals else None) for name in metrics]]
        for system in ranking.systems
    ]
    columns = ["system", *[metric_name(metric.removesuffix("-stem")) for metric in metrics]]
    return table_of(f"{heading}, with intervals; {counted_articles(ranking.articles)}", columns, rows)


def _score(ranking: Ranking, system: str, metric: str, best: float | None = None) -> Cell:
    score = ranking.scores.get((system, metric))
    if score is None:
        return Cell(NONE)
    value, scale = score.value, METRICS[metric].scale
    note = f"{scale * value.low:.2f} to {scale * value.high:.2f}"
    rows = urlencode({"of": "scores", "metric": metric, "system": system, "order": "value"})
    return Cell(f"{scale * value.mean:.2f}", note, strong=best is not None and value.mean == best, rows=rows)


def _score_picture(ranking: Ranking) -> blocks.Picture:
    name = metric_name(ranking.headline)
    values, scale = {}, METRICS[ranking.headline].scale
    for system in ranking.systems:
        if score := ranking.scores.get((system, ranking.headline)):
            values[system] = (scale * score.value.mean, scale * score.value.low, scale * score.value.high)
    caption = f"{name} of each system, with its {COVERED} interval"
    return blocks.Picture(caption, plots.bars(values, name))


def _comparison_table(ranking: Ranking) -> blocks.Table:
    rows: list[Row] = []
    for pair in ranking.comparisons:
        mean, low, high = (f"{100 * x:.2f}" for x in (pair.difference.mean, pair.difference.low, pair.difference.high))
        p_values = f"{pair.p_value:.3f}", f"{pair.p_adjusted:.3f}"
        rows.append([pair.better, pair.worse, Cell(mean, f"{low} to {high}"), *p_values, _significance(pair)])
    caption = "Each pair on the articles both summarized: points of 100, paired randomisation test, Holm's correction"
    return table_of(caption, ["higher", "lower", "difference", "p", "p, corrected", "verdict"], rows, range(2, 5))
