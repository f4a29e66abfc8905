"""Extractive baselines on the test split: Lead, LexRank and the oracle (Liu & Lapata 2019, sec. 4) -> predictions."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from models.extractive import best_first, greedy_oracle, lead, lexrank_scores, take_until
from storage.schemas import PREDICTIONS
from tasks.engine.grouping import join_by_article
from tasks.evaluation.settings import Baseline, BaselineSettings
from tasks.text.ngrams import TargetNgrams, WordRule, split_words
from tasks.text.tfidf import tfidf_matrix


def predict_baselines(
    articles: pa.Table, ranked: pa.Table, settings: BaselineSettings, words: WordRule = "rouge"
) -> pa.Table:
    """Summarize every article that has a paragraph with each system of the settings, in their order.

    Args:
        articles: table of the `articles` dataset, sorted by article.
        ranked: table of the `ranked` dataset, sorted by article and rank; `paragraphs` does as well for LexRank and
            the oracle, which then see all candidates (its refused rows are passed over).
        settings: systems, split, and how LexRank is run.
        words: how paragraphs are cut into words for tf-idf.

    Returns:
        Table of the `predictions` dataset; `tokens` and `attention` are empty.
    """
    rows = []
    for article_id, title, target, texts in _articles(articles, ranked, settings.split):
        for system in settings.systems:
            summary = _SYSTEMS[system](title, target, texts, settings, words)
            rows.append(_row(article_id, system, summary))
    return pa.Table.from_pylist(rows, schema=PREDICTIONS.schema)


def _articles(articles: pa.Table, ranked: pa.Table, split: str) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield id, title, target and paragraph texts of each article of the split that has a paragraph."""
    wanted = articles.filter(pc.and_(pc.is_null(articles["drop_reason"]), pc.equal(articles["split"], split)))
    if "drop_reason" in ranked.column_names:
        ranked = ranked.filter(pc.is_null(ranked["drop_reason"]))
    for article_id, article, paragraphs in join_by_article(wanted, ranked):
        if paragraphs.num_rows:
            title, target = article["title"][0].as_py(), article["lead"][0].as_py()
            yield article_id, title, target, paragraphs["text"].to_pylist()


def _row(article_id: str, system: str, summary: str) -> dict[str, Any]:
    return {"article_id": article_id, "system": system, "summary": summary, "tokens": [], "attention": []}


def _lead(title: str, target: str, texts: Sequence[str], settings: BaselineSettings, rule: WordRule) -> str:
    return lead(title, texts, len(target.split()))


def _lexrank(title: str, target: str, texts: Sequence[str], settings: BaselineSettings, rule: WordRule) -> str:
    vectors = tfidf_matrix(texts, rule)
    similarity = (vectors @ vectors.T).toarray()
    scores = lexrank_scores(similarity)
    # Scores that differ in the last bits only are ties, which the rank of the paragraphs decides.
    order = best_first(scores.round(12)).tolist()
    return take_until(texts, order, len(target.split()), cut=settings.lexrank_cut)


def _oracle(title: str, target: str, texts: Sequence[str], settings: BaselineSettings, rule: WordRule) -> str:
    bigrams = TargetNgrams(split_words(target), 2)
    words = [split_words(text) for text in texts]

    def f1(chosen: Sequence[int]) -> float:
        joined = [word for index in chosen for word in words[index]]
        total = max(len(joined) - 1, 0) + bigrams.total
        return 2 * bigrams.matched(joined) / total if total else 0.0

    useful = [index for index, paragraph in enumerate(words) if bigrams.matched(paragraph)]
    return " ".join(" ".join(texts[index].split()) for index in sorted(greedy_oracle(useful, f1)))


_SYSTEMS: dict[Baseline, Callable[[str, str, Sequence[str], BaselineSettings, WordRule], str]] = {
    "lead": _lead,
    "lexrank": _lexrank,
    "oracle": _oracle,
}
