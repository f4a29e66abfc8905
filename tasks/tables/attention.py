"""How well attention to paragraphs agrees with the gold summary (Ma & Zong 2022, 7.1.1). T tokens, P paragraphs."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.schemas import SCORES
from tasks.engine.grouping import join_by_article
from tasks.text.ngrams import split_words
from tasks.text.tfidf import TfIdf

Floats = NDArray[np.float64]
METRIC = "attention"
_LEAD = "lead"


def gold_attention(lead: str, paragraphs: Sequence[str]) -> Floats:
    """Return the tf-idf similarities of a gold summary and P paragraphs, normalised: [P], sum 1, or all zero."""
    similarities = TfIdf([split_words(text) for text in paragraphs]).similarity(split_words(lead))
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
    (ARTICLES, RANKED, PREDICTIONS of some systems, PREDICTIONS of others and so on) of each. The gold attention is over
    at most so many ranked `paragraphs`."""
    rows = []
    for articles, ranked, *predictions in shards:
        test = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], "test")))
        asked = [table.filter(pc.is_in(table["system"], pa.array(systems, pa.string()))) for table in predictions]
        for article_id, article, best, *written in join_by_article(test, ranked, *asked):
            texts = best.sort_by("rank")["text"].to_pylist()[:paragraphs]
            gold = gold_attention(article["lead"][0].as_py(), texts) if texts else np.zeros(0)
            for row in (row for table in written for row in table.to_pylist()):
                if row["system"] == _LEAD:
                    paid = lead_attention(article["title"][0].as_py(), row["summary"], texts)
                else:
                    paid = mean_attention(row["attention"], len(texts))
                cosine = attention_cosine(paid, gold)
                if cosine is not None:
                    rows.append({"article_id": article_id, "system": row["system"], "metric": METRIC, "value": cosine})
    return pa.Table.from_pylist(rows, SCORES.schema)
