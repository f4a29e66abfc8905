"""Features of kept paragraphs, by hand."""

from math import log, sqrt

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, FEATURES, PARAGRAPHS
from tasks.ranking.features import compute_features


def articles(*rows: dict) -> pa.Table:
    return pa.Table.from_pylist([{"drop_reason": None, **row} for row in rows], schema=ARTICLES.schema)


def paragraphs(article: str, *texts: tuple[str, str | None]) -> list[dict]:
    return [
        {"article_id": article, "paragraph_id": place, "text": text, "drop_reason": reason}
        for place, (text, reason) in enumerate(texts)
    ]


def table(*rows: dict) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=PARAGRAPHS.schema)


SEVERN = {"article_id": "a1", "title": "Severn", "lead": "The Severn is a river."}


def test_features_of_kept_paragraphs():
    rows = paragraphs(
        "a1", ("Menu", "filtered"), ("the severn is wide", None), ("a river", None), ("trees", "clone"), ("wide", None)
    )
    (features,) = compute_features(articles(SEVERN), table(*rows))
    assert features.schema == FEATURES.schema
    assert features["paragraph_id"].to_pylist() == [1, 2, 4]
    assert features["rouge2_recall"].to_pylist() == [0.5, 0.25, 0.0]
    # Three paragraphs; `the`, `severn`, `is` occur in one (log 3), `wide` in two (log 1.5).
    severn = log(3) / sqrt(3 * log(3) ** 2 + log(1.5) ** 2)
    assert features["title_similarity"].to_pylist() == pytest.approx([severn, 0.0, 0.0])


def test_articles_do_not_mix():
    other = {"article_id": "a2", "title": "Wye", "lead": "The Wye is a river."}
    refused = {"article_id": "a3", "title": "Usk", "lead": "The Usk is a river.", "drop_reason": "no sources"}
    rows = [
        *paragraphs("a1", ("The Severn is.", None)),
        *paragraphs("a2", ("The Wye is.", None), ("The Severn is.", None)),
        *paragraphs("a3", ("The Usk is.", None)),
    ]
    batches = compute_features(articles(SEVERN, other, refused), table(*rows))
    features = pa.Table.from_batches(batches).to_pydict()
    assert features["article_id"] == ["a1", "a2", "a2"]
    assert features["paragraph_id"] == [0, 0, 1]
    assert features["rouge2_recall"] == [0.5, 0.5, 0.0]
    assert features["title_similarity"] == pytest.approx([0.0, 1.0, 0.0])  # one lone paragraph; `wye` alone weighs


def test_nothing_in_nothing_out():
    assert list(compute_features(articles(), table())) == []
    dropped = compute_features(articles(SEVERN), table(*paragraphs("a1", ("x", "clone"))))
    assert [batch.num_rows for batch in dropped] == [0]


def test_a_lead_in_another_alphabet_is_compared_by_the_words_of_unicode():
    russian = {"article_id": "a1", "title": "Москва", "lead": "Москва есть столица России."}
    rows = table(*paragraphs("a1", ("Москва есть город.", None), ("Она большая.", None)))
    (features,) = compute_features(articles(russian), rows)
    assert features["rouge2_recall"].to_pylist() == pytest.approx([1 / 3, 0.0])
    assert features["title_similarity"].to_pylist() == pytest.approx([1 / sqrt(3), 0.0])
