"""Candidates: which there are, their features, their order by score."""

import numpy as np
import pytest

from tasks.ranking.candidates import candidates, features_of, place_in_run
from tests.tasks.ranking.ranker_world import articles, features, paragraphs

ARTICLES = articles(
    {"article_id": "b", "split": "valid", "title": "B"},
    {"article_id": "a", "title": "A"},
    {"article_id": "c", "drop_reason": "empty lead"},
    {"article_id": "d", "title": None},
)
PARAGRAPHS = paragraphs(
    ("b", 1, "b one", None),
    ("b", 0, "b zero", None),
    ("a", 2, "a two", None),
    ("a", 1, "a one", "clone"),
    ("c", 0, "c zero", None),
    ("x", 0, "of no article", None),
    ("a", 0, "a zero", None),
)


def test_candidates_are_kept_paragraphs_of_kept_articles_in_order() -> None:
    found = candidates(ARTICLES, PARAGRAPHS)
    assert found.ids == ["a", "b", "d"]
    assert found.titles == ["A", "B", ""]
    assert found.column("text").to_pylist() == ["a zero", "a two", "b zero", "b one"]
    assert list(found.texts()) == [found.column("text").to_pylist()]
    assert found.article.tolist() == [0, 0, 1, 1]
    assert found.number.tolist() == [0, 2, 0, 1]
    assert candidates(ARTICLES, PARAGRAPHS, "valid").column("text").to_pylist() == ["b zero", "b one"]
    assert len(candidates(ARTICLES, PARAGRAPHS, "test")) == 0


def test_features_find_their_paragraph_in_any_order() -> None:
    found = candidates(ARTICLES, PARAGRAPHS)
    rows = [("b", 1, 0.1, 0.9), ("a", 0, 0.2, 0.8), ("zz", 0, 1.0, 1.0), ("b", 0, 0.3, 0.7), ("a", 2, 0.4, 0.6)]
    expected = np.array([0.2, 0.4, 0.3, 0.1], dtype=np.float32)
    assert (features_of(found, features(*rows), "rouge2_recall") == expected).all()
    assert (features_of(found, features(*reversed(rows)), "rouge2_recall") == expected).all()


@pytest.mark.parametrize("rows", [[("a", 0, 0.2, 0.8), ("b", 0, 0.3, 0.7), ("b", 1, 0.1, 0.9)], [("z", 0, 0.0, 0.0)]])
def test_a_paragraph_without_features_is_an_error(rows: list[tuple[str, int, float, float]]) -> None:
    lost = "2 of article a" if len(rows) > 1 else "0 of article a"
    with pytest.raises(ValueError, match=f"paragraph {lost} has no features"):
        features_of(candidates(ARTICLES, PARAGRAPHS), features(*rows), "rouge2_recall")


def test_best_breaks_ties_by_number() -> None:
    found = candidates(ARTICLES, PARAGRAPHS)
    assert found.best(np.array([0.1, 0.9, 0.5, 0.5], dtype=np.float32), 2).tolist() == [1, 0, 2, 3]
    assert found.best(np.array([0.1, 0.9, 0.5, 0.6], dtype=np.float32), 1).tolist() == [1, 3]


def test_a_draw_hangs_on_article_and_number_alone() -> None:
    keys = candidates(ARTICLES, PARAGRAPHS).draw(1, "epoch", 0)
    alone = candidates(ARTICLES, PARAGRAPHS, "valid").draw(1, "epoch", 0)
    assert keys[2:].tolist() == alone.tolist()
    assert len(set(keys.tolist())) == 4
    assert not set(keys.tolist()) & set(candidates(ARTICLES, PARAGRAPHS).draw(1, "epoch", 1).tolist())


def test_places_in_runs() -> None:
    assert place_in_run(np.array([4, 4, 4, 7, 2, 2])).tolist() == [0, 1, 2, 0, 0, 1]
    assert place_in_run(np.array([], dtype=np.int64)).tolist() == []
