"""The measured figures of the systems, computed before tables are laid out; among them how well attention to paragraphs
agrees with the gold summary (Ma & Zong 2022, 7.1.1). T tokens, P paragraphs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.schemas import RANKING_SCORES, SCORES
from tasks.engine.grouping import join_by_article
from tasks.evaluation.significance import SIGNIFICANCE, Comparison, SystemScore, compare_systems, summarise_scores
from tasks.reporting.scores import Table1, table1
from tasks.text.ngrams import rule_for, split_words
from tasks.text.tfidf import TfIdf

Floats = NDArray[np.float64]
METRIC = "attention"


@dataclass(frozen=True)
class TableFigures:
    """All figures of this corpus that the tables show."""

    # SCORES rows of all systems, the metric `attention` among them
    scored: pa.Table = field(default_factory=SCORES.schema.empty_table)
    # (system, metric) -> means with intervals
    scores: Mapping[tuple[str, str], SystemScore] = field(default_factory=dict)
    table1: Table1 = field(default_factory=Table1)  # Liu & Lapata 2019
    parameters: Mapping[str, int] = field(default_factory=dict)  # trained system -> number of weights
    # trained system -> seconds and articles of one pass over the validation articles
    validation: Mapping[str, Sequence[float]] = field(default_factory=dict)
    # trained system -> examples of the largest batch that fits the memory limit, and how it was found
    batches: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)  # system -> why it was not run
    headline: str = "rougeL"  # metric by which systems are compared
    seed: int = 0  # of the resamples

    def compare(self, systems: Sequence[str], metric: str) -> list[Comparison]:
        """Test every pair of some systems under a metric, corrected for the number of these pairs."""
        chosen = pc.and_(
            pc.equal(self.scored["metric"], metric), pc.is_in(self.scored["system"], pa.array(systems, pa.string()))
        )
        return compare_systems(self.scored.filter(chosen), SIGNIFICANCE, self.seed)


def measure(scores: Iterable[tuple[pa.Table, ...]], attention: pa.Table, known: TableFigures) -> TableFigures:
    """Return the figures of all measures, from (RANKING_SCORES, SCORES...) of each shard, and a scored headline."""
    rankings, tables = [RANKING_SCORES.schema.empty_table()], [SCORES.schema.empty_table(), attention]
    for ranking, *scored in scores:
        rankings.append(ranking)
        tables += scored
    every = pa.concat_tables(tables)
    summaries = summarise_scores(every, SIGNIFICANCE, known.seed)
    metrics = [score.metric for score in summaries]
    return replace(
        known,
        scored=every,
        scores={(score.system, score.metric): score for score in summaries},
        table1=table1(pa.concat_tables(rankings)),
        headline=known.headline if known.headline in metrics or not metrics else metrics[0],
    )


def gold_attention(lead: str, paragraphs: Sequence[str]) -> Floats:
    """Return the tf-idf similarities of a gold summary and P paragraphs, normalised: [P], sum 1, or all zero."""
    rule = rule_for(lead)
    similarities = TfIdf([split_words(text, rule) for text in paragraphs]).similarity(split_words(lead, rule))
    total = similarities.sum()
    return np.asarray(similarities / total if total else similarities, dtype=np.float64)


def mean_attention(attention: Sequence[Sequence[float]], paragraphs: int) -> Floats:
    """Return the mean over tokens of attention [T, P'] as [P], 0 for paragraphs that the system did not read."""
    mean = np.zeros(paragraphs)
    if len(attention):
        shares = np.asarray(attention, dtype=np.float64).mean(axis=0)[:paragraphs]
        mean[: len(shares)] = shares
    return mean


def lead_attention(title: str, summary: str, paragraphs: Sequence[str]) -> Floats:
    """Return the words that Lead's summary took from each paragraph, [P]; the paper does not define its attention."""
    left = len(summary.split()) - len(title.split())
    taken = np.zeros(len(paragraphs))
    for index, text in enumerate(paragraphs):
        taken[index] = max(0, min(left, len(text.split())))
        left -= len(text.split())
    return taken


def attention_cosine(attention: Floats, gold: Floats) -> float | None:
    """Return the cosine of two [P] distributions, 0-1; None if one of them is all zero."""
    length = float(np.linalg.norm(attention) * np.linalg.norm(gold))
    return min(1.0, float(attention @ gold) / length) if length else None


def score_attention(shards: Iterable[tuple[pa.Table, ...]], systems: Sequence[str], paragraphs: int) -> pa.Table:
    """Return SCORES rows of the metric `attention`, a cosine that has neither precision nor recall. `shards`:
    (ARTICLES, RANKED, PREDICTIONS...) of each. The gold attention is over at most so many ranked `paragraphs`."""
    rows = []
    for articles, ranked, *predictions in shards:
        test = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], "test")))
        asked = [table.filter(pc.is_in(table["system"], pa.array(systems, pa.string()))) for table in predictions]
        for article_id, article, best, *written in join_by_article(test, ranked, *asked):
            texts = best.sort_by("rank")["text"].to_pylist()[:paragraphs]
            gold = gold_attention(article["lead"][0].as_py(), texts) if texts else np.zeros(0)
            for row in (row for table in written for row in table.to_pylist()):
                if row["system"] == "lead":
                    paid = lead_attention(article["title"][0].as_py(), row["summary"], texts)
                else:
                    paid = mean_attention(row["attention"], len(texts))
                cosine = attention_cosine(paid, gold)
                if cosine is not None:
                    rows.append({"article_id": article_id, "system": row["system"], "metric": METRIC, "value": cosine})
    return pa.Table.from_pylist(rows, SCORES.schema)
