"""Table 1 of Liu & Lapata 2019: recall of the best paragraphs, for both orders."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from storage.schemas import ARTICLES, FEATURES, PARAGRAPHS, RANKED, RANKING_SCORES
from tasks.ranking.features import LENGTHS, recalls, score_rankings

TEXT = st.lists(st.sampled_from(["the", "rivers", "river", "ran", "running", "a", "b."]), max_size=12).map(" ".join)


def tables(
    articles: dict[str, tuple[str, str]],
    candidates: dict[str, list[tuple[int, str, float]]],
    ranks: dict[str, list[int]],
) -> tuple[pa.Table, ...]:
    """articles: id -> (split, lead); candidates: id -> (paragraph id, text, similarity); ranks: id -> paragraph ids."""
    texts = {(a, p): text for a, rows in candidates.items() for p, text, _ in rows}
    rows: list[list[dict[str, Any]]] = [
        [{"article_id": a, "split": split, "lead": lead, "drop_reason": None} for a, (split, lead) in articles.items()],
        [{"article_id": a, "paragraph_id": p, "text": text} for (a, p), text in texts.items()],
        [{"article_id": a, "paragraph_id": p, "title_similarity": s} for a, c in candidates.items() for p, _, s in c],
        [
            {"article_id": a, "rank": rank, "paragraph_id": p, "text": texts[a, p]}
            for a, ids in ranks.items()
            for rank, p in enumerate(ids)
        ],
    ]
    datasets = (ARTICLES, PARAGRAPHS, FEATURES, RANKED)
    return tuple(pa.Table.from_pylist(r, d.schema) for r, d in zip(rows, datasets, strict=True))


def scores(inputs: tuple[pa.Table, ...], *lengths: int) -> list[tuple[Any, ...]]:
    table = score_rankings(*inputs, lengths=lengths)
    assert table.schema.equals(RANKING_SCORES.schema)
    return [tuple(row.values()) for row in table.to_pylist()]


def test_both_orders_by_hand() -> None:
    inputs = tables(
        {"a": ("train", "x"), "b": ("test", "one two three four"), "c": ("valid", "no source")},
        {"a": [(0, "x", 1.0)], "b": [(0, "zero", 0.5), (1, "four", 0.1), (2, "one two", 0.1), (3, "three nine", 0.2)]},
        {"a": [0], "b": [2, 3, 1, 0]},
    )
    # Similarity: zero, three nine, four (a tie: the lower id), one two. Ranking: one two, three nine, four, zero.
    assert scores(inputs, 1, 3, 40) == [
        ("b", "test", "similarity", 1, 0.0),
        ("b", "test", "similarity", 3, 0.5),
        ("b", "test", "similarity", 40, 0.5),
        ("b", "test", "ranking", 1, 0.5),
        ("b", "test", "ranking", 3, 1.0),
        ("b", "test", "ranking", 40, 1.0),
    ]


def test_the_order_goes_by_the_name_of_what_made_it() -> None:
    inputs = tables({"b": ("test", "one two")}, {"b": [(0, "one", 0.1), (1, "none", 0.2)]}, {"b": [0, 1]})
    found = score_rankings(*inputs, lengths=(1,), method="found")
    assert found.select(["method", "rouge_l_recall"]).to_pylist() == [
        {"method": "similarity", "rouge_l_recall": 0.0},
        {"method": "found", "rouge_l_recall": 0.5},
    ]
    assert score_rankings(*inputs, lengths=(1,), method="similarity")["method"].to_pylist() == ["similarity"]


def test_words_are_stemmed() -> None:
    inputs = tables({"b": ("valid", "rivers rising")}, {"b": [(4, "the river rises", 0.0)]}, {"b": [4]})
    assert [row[4] for row in scores(inputs, 1)] == [1.0, 1.0]


def test_articles_of_the_training_split_are_not_scored() -> None:
    inputs = tables(
        {"a": ("train", "x"), "b": ("test", "x")}, {"a": [(0, "x", 0.0)], "b": [(0, "x", 0.0)]}, {"a": [0], "b": [0]}
    )
    assert {row[0] for row in scores(inputs, *LENGTHS)} == {"b"}


def test_defaults_are_those_of_the_table() -> None:
    assert LENGTHS == (5, 10, 20, 40)


@settings(max_examples=150)
@given(TEXT, st.lists(TEXT, min_size=1, max_size=6))
def test_recall_is_that_of_rouge_score(lead: str, texts: list[str]) -> None:
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    expected = [(n, scorer.score(lead, " ".join(texts[:n]))["rougeL"].recall) for n in (1, 2, 4)]
    assert list(recalls(lead, texts, (1, 2, 4))) == expected


def test_errors() -> None:
    inputs = tables({"b": ("test", "x")}, {"b": [(0, "x", 0.0)]}, {"b": [0]})
    with pytest.raises(ValueError, match="L' of 0"):
        score_rankings(*inputs, lengths=(0, 5))
    articles, paragraphs, features, ranked = inputs
    with pytest.raises(ValueError, match=r"article b has features of paragraphs \[0\]"):
        score_rankings(articles, paragraphs.slice(0, 0), features, ranked)
