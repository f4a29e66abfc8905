"""Features of the kept paragraphs: the ranker's label, and tf-idf similarity, its baseline; and how much of the lead
the best paragraphs contain (Liu & Lapata 2019, Table 1): ranked + features -> ranking_scores. The L' best paragraphs
are joined and their ROUGE-L recall against the lead is computed. This is done once in ranked order, usually that of the
learned ranker, and once by tf-idf similarity with the title (the baseline of Liu & Lapata 2019, sec. 4)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from storage.schemas import FEATURES, RANKING_SCORES
from tasks.engine.grouping import join_by_article
from tasks.text.ngrams import TargetNgrams, WordRule, lcs_length, rule_for, split_words, stem
from tasks.text.tfidf import TfIdf


def rouge2_recalls(lead: Sequence[str], paragraphs: Iterable[Sequence[str]]) -> NDArray[np.float64]:
    """Return the ROUGE-2 recall of each paragraph against the lead, [P] in 0-1 (Liu & Lapata 2019, sec. 3.1, y_i).
    Words are those of `tasks.text.ngrams.split_words`, by one rule; with `rouge` a recall equals rouge-score's
    unstemmed `rouge2` recall to the last bit. Every recall is 0 if the lead has fewer than two words."""
    return np.array(list(map(TargetNgrams(lead, 2).recall, paragraphs)), dtype=np.float64)


def compute_features(
    articles: pa.Table, paragraphs: pa.Table | pa.RecordBatchReader, words: WordRule = "rouge"
) -> Iterator[pa.RecordBatch]:
    """Yield FEATURES of every kept paragraph of every kept article, in the order of the sorted `paragraphs`."""
    kept = articles.filter(pc.is_null(articles["drop_reason"])).select(["article_id", "title", "lead"])
    for article, rows, candidates in join_by_article(kept, paragraphs):
        chosen = candidates.filter(pc.is_null(candidates["drop_reason"]))
        title, lead = (rows[name][0].as_py() or "" for name in ("title", "lead"))
        rule = rule_for(lead, words)
        texts = [split_words(text, rule) for text in chosen["text"].to_pylist()]
        columns = {
            "article_id": [article] * len(texts),
            "paragraph_id": chosen["paragraph_id"].to_pylist(),
            "rouge2_recall": rouge2_recalls(split_words(lead, rule), texts),
            "title_similarity": TfIdf(texts).similarity(split_words(title, rule)),
        }
        yield pa.RecordBatch.from_pydict(columns, schema=FEATURES.schema)


LENGTHS = (5, 10, 20, 40)  # L': how many best paragraphs are joined (Liu & Lapata 2019, Table 1)
SPLITS = ("valid", "test")  # the ranker has learned from the others


def score_rankings(
    articles: pa.Table,
    paragraphs: pa.Table,
    features: pa.Table,
    ranked: pa.Table,
    method: str = "ranking",
    lengths: Sequence[int] = LENGTHS,
) -> pa.Table:
    """Return RANKING_SCORES rows for articles of the splits valid and test: each by similarity, then by `method`, at
    every L'. An article without a kept paragraph has no row. One with fewer than L' paragraphs is scored on those it
    has. All four tables are sorted by article; similarity is descending `title_similarity`, ties by `paragraph_id`, and
    is scored once if `method`, by which `ranked` was made, is similarity. Words are stemmed before they are compared,
    as the papers' ROUGE does (-m). Raises ValueError: an L' is below 1, or a feature's paragraph is missing."""
    if min(lengths) < 1:
        raise ValueError(f"L' of {min(lengths)} paragraphs: expected at least 1")
    wanted = articles.filter(
        pc.and_(pc.is_null(articles["drop_reason"]), pc.is_in(articles["split"], pa.array(SPLITS)))
    )
    columns: dict[str, list[Any]] = {name: [] for name in RANKING_SCORES.schema.names}
    for article_id, article, candidates, labels, best in join_by_article(wanted, paragraphs, features, ranked):
        lead = article["lead"][0].as_py()
        texts = best.sort_by("rank")["text"].to_pylist()
        orders = {"similarity": _by_similarity(article_id, candidates, labels), method: texts}
        for name, order in orders.items():
            for length, recall in recalls(lead, order, lengths):
                row = (article_id, article["split"][0].as_py(), name, length, recall)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    return pa.table(columns, schema=RANKING_SCORES.schema)


def recalls(lead: str, texts: Sequence[str], lengths: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Yield each L' and the ROUGE-L recall, 0-1, of the first L' texts joined, by stems."""
    if not texts:
        return
    rule = rule_for(lead)
    target, *words = (list(map(stem, split_words(text, rule))) for text in (lead, *texts[: max(lengths)]))
    for length in lengths:
        joined = list(chain.from_iterable(words[:length]))
        yield length, lcs_length(target, joined) / len(target) if target else 0.0


def _by_similarity(article_id: str, candidates: pa.Table, labels: pa.Table) -> list[str]:
    texts = dict(zip(candidates["paragraph_id"].to_pylist(), candidates["text"].to_pylist(), strict=True))
    order = labels.sort_by([("title_similarity", "descending"), ("paragraph_id", "ascending")])
    ids = order["paragraph_id"].to_pylist()
    if not texts.keys() >= set(ids):
        missing = sorted(set(ids) - texts.keys())
        raise ValueError(f"article {article_id} has features of paragraphs {missing[:3]} that are not in `paragraphs`")
    return [texts[id_] for id_ in ids]
