"""The numbers of a report, computed from the stages' counts and tables before anything is drawn or written."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.recipes import most_first
from storage.schemas import RANKING_SCORES, SCORES
from tasks.evaluation.metrics import METRICS
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, SystemScore, compare_systems, summarise_scores
from tasks.reporting.corpus_statistics import CorpusCounter, CorpusStatistics, Words, count_words
from tasks.reporting.reasons import REPORTED_STAGES
from tasks.reporting.settings import ReportSettings

# Liu & Lapata 2019, Table 1: ROUGE-L recall of the L' best paragraphs of WikiSum against the target, in percent.
PUBLISHED_TABLE1: Mapping[str, Mapping[int, float]] = {
    "similarity": {5: 24.86, 10: 32.43, 20: 40.87, 40: 49.49},
    "ranking": {5: 39.38, 10: 46.74, 20: 53.84, 40: 60.42},
}

# The rows that the first stage keeps are the rows of the second; of two givers of one reader the last is read.
_HANDED_ON = {"frontier": "documents", "paragraphs": "features", "compared": "features"}


@dataclass(frozen=True)
class FunnelRow:
    """A stage in the funnel."""

    stage: str
    heading: str  # what its rows are, for people
    rows: int  # all rows
    drops: Mapping[str, int]  # refused rows by reason, most frequent first

    @property
    def refused(self) -> int:
        """Rows with a reason."""
        return sum(self.drops.values())

    @property
    def kept(self) -> int:
        """Rows without a reason."""
        return self.rows - self.refused


@dataclass(frozen=True)
class HostRow:
    """A host in the table of those with the most failures."""

    host: str
    urls: int  # number of its URLs
    drops: Mapping[str, int]  # number of URLs without a usable page by reason, most frequent first

    @property
    def failed(self) -> int:
        """URLs without a usable page."""
        return sum(self.drops.values())


@dataclass(frozen=True)
class Table1Row:
    """One ranking method, as in Liu & Lapata 2019, Table 1."""

    method: str  # of `ranking.method`
    measured: Mapping[int, float]  # L' -> ROUGE-L recall of the test split, percent
    # L' -> the figure of Liu & Lapata 2019 for WikiSum, percent; empty for a method that is not in their table
    published: Mapping[int, float]


@dataclass(frozen=True)
class Table1:
    """Liu & Lapata 2019, Table 1 on this corpus; without rows if no article of the test split was ranked."""

    articles: int = 0  # number of articles of the test split
    cutoffs: Sequence[int] = ()  # the values of L', ascending
    rows: Sequence[Table1Row] = ()  # one per method


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
    confidence: float = 0.95  # coverage probability of the intervals, 0-1

    @property
    def metrics(self) -> list[str]:
        """The scored metrics, in their usual order."""
        scored = {metric for _, metric in self.scores}
        return [metric for metric in METRICS if metric in scored]


@dataclass(frozen=True)
class Distributions:
    """Lengths in words (separated by spaces) and labels, from the first shards."""

    shards: int  # number of shards read, out of `of`
    of: int
    paragraph_words: Words  # words of each kept paragraph
    lead_words: Words  # words of each used lead section
    labels: NDArray[np.float32]  # ROUGE-2 recall of each kept paragraph, 0-1
    statistics: CorpusStatistics  # size of sources and targets


def funnel(counts: Mapping[str, Mapping[str, Any]]) -> list[FunnelRow]:
    """Return the stages of the corpus in order of the pipeline, from the counts of `storage.builds.summarise`."""
    rows = []
    for stage, reported in REPORTED_STAGES.items():
        if reported.heading is not None and (count := counts.get(stage)) is not None:
            rows.append(FunnelRow(stage, reported.heading, count["rows"], most_first(count["drops"])))
    return rows


def failing_hosts(counts: Mapping[str, Mapping[str, Any]]) -> list[HostRow]:
    """Return the hosts with the most failures, worst first; empty if no record of a crawl names any."""
    worst = counts.get("pages", {}).get("worst", {})
    rows = [HostRow(host, its["rows"], most_first(its["drops"])) for host, its in worst.items()]
    return sorted(rows, key=lambda row: (-row.failed, row.host))


def imbalances(rows: Iterable[FunnelRow]) -> list[str]:
    """Return a sentence for each inconsistency in the counts; normally none."""
    by_stage = {row.stage: row for row in rows}
    problems = [
        f"{row.stage} has {row.rows:,} rows, but {row.refused:,} refused rows."
        for row in by_stage.values()
        if row.refused > row.rows
    ]
    read = {taker: giver for giver, taker in _HANDED_ON.items() if giver in by_stage}
    for taker, giver in read.items():
        source, reader = by_stage.get(giver), by_stage.get(taker)
        if source and reader and source.kept != reader.rows:
            problems.append(f"{giver} keeps {source.kept:,} rows, but {taker} has {reader.rows:,}.")
    return problems


def table1(ranking_scores: pa.Table) -> Table1:
    """Return Liu & Lapata 2019, Table 1 on the test split."""
    test = ranking_scores.filter(pc.equal(ranking_scores["split"], "test"))
    if not test.num_rows:
        return Table1()
    means = test.group_by(["method", "paragraphs"]).aggregate([("rouge_l_recall", "mean")]).to_pylist()
    measured: dict[str, dict[int, float]] = {method: {} for method in PUBLISHED_TABLE1}
    for row in means:
        measured.setdefault(row["method"], {})[row["paragraphs"]] = 100 * row["rouge_l_recall_mean"]
    cutoffs = sorted({cutoff for by_cutoff in measured.values() for cutoff in by_cutoff})
    rows = [
        Table1Row(
            method, by_cutoff, {c: value for c, value in PUBLISHED_TABLE1.get(method, {}).items() if c in cutoffs}
        )
        for method, by_cutoff in measured.items()
        if by_cutoff
    ]
    return Table1(pc.count_distinct(test["article_id"]).as_py(), cutoffs, rows)


def rank_systems(baselines: pa.Table, trained: pa.Table, settings: ReportSettings, seed: int) -> Ranking:
    """Return every system's scores, and the comparison of each pair under the headline metric. `baselines` are SCORES
    of the systems without training, `trained` of those trained here."""
    scores = pa.concat_tables([baselines, trained])
    confidence = SIGNIFICANCE.confidence
    summaries = summarise_scores(scores, SIGNIFICANCE, seed) if scores.num_rows else []
    if not summaries:
        return Ranking(settings.headline, confidence=confidence)
    by_cell = {(score.system, score.metric): score for score in summaries}
    scored = {score.metric for score in summaries}
    headline = settings.headline if settings.headline in scored else summaries[0].metric
    names = {score.system for score in summaries}

    def order(system: str) -> tuple[float, str]:
        score = by_cell.get((system, headline))
        return (-score.value.mean if score else math.inf, system)

    systems = sorted(names, key=order)
    index_of = {system: number for number, system in enumerate(systems)}
    compared = compare_systems(scores.filter(pc.equal(scores["metric"], headline)), SIGNIFICANCE, seed)
    return Ranking(
        headline=headline,
        articles=max(score.articles for score in summaries),
        systems=systems,
        trained=frozenset(pc.unique(trained["system"]).to_pylist()),
        scores=by_cell,
        comparisons=sorted(compared, key=lambda pair: (index_of[pair.better], index_of[pair.worse])),
        confidence=confidence,
    )


def read_scores(shards: Iterable[tuple[pa.Table, ...]], further: int = 0) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Return the scores of systems not trained here, of those trained here, and the ranking scores of all shards. A
    shard is (baselines, trained, ranking, so many further ones that are trained[, written by a language model])."""
    untrained, trained, ranking = [SCORES.schema.empty_table()], [SCORES.schema.empty_table()], []
    for baselines, own, ranks, *more in shards:
        untrained += [baselines, *more[further:]]
        trained += [own, *more[:further]]
        ranking.append(ranks)
    every = pa.concat_tables(ranking) if ranking else RANKING_SCORES.schema.empty_table()
    return pa.concat_tables(untrained), pa.concat_tables(trained), every


def distributions(texts: Iterable[tuple[pa.Table, ...]], total: int, shards: int) -> Distributions:
    """Return lengths and labels of the first shards of (articles, paragraphs, features); the rest is never read.
    `total` is the number of all shards, each of which is read on request."""
    words: list[Words] = []
    leads: list[Words] = []
    labels: list[NDArray[np.float32]] = []
    counter = CorpusCounter()
    for articles, paragraphs, features in islice(texts, shards):
        # Words are counted before rows are selected, because selecting rows would copy their texts.
        counts = count_words(paragraphs["text"])
        counter.add(articles, paragraphs, counts)
        words.append(counts[pc.is_null(paragraphs["drop_reason"]).to_numpy()])
        leads.append(count_words(articles["lead"])[pc.is_null(articles["drop_reason"]).to_numpy()])
        labels.append(features["rouge2_recall"].to_numpy())
    return Distributions(
        shards=min(shards, total),
        of=total,
        paragraph_words=np.concatenate([np.zeros(0, np.int64), *words]),
        lead_words=np.concatenate([np.zeros(0, np.int64), *leads]),
        labels=np.concatenate([np.zeros(0, np.float32), *labels]),
        statistics=counter.statistics(),
    )
