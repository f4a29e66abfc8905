"""The cross-document standard deviation and the attention to one's own document, worked out by hand."""

import math

import numpy as np
import pytest

from tasks.evaluation.attention_metrics import cross_document_deviation, own_document, prepare
from tasks.evaluation.metrics import ArticleTexts, Floats, Score, Summary

ARTICLE = ArticleTexts("Tavil", "A river.", ["one", "two", "three"], [], pages=["a", "b", "a"])


def scored(attention: Floats | None, article: ArticleTexts = ARTICLE) -> dict[str, Score]:
    return prepare(article, ["cds"])(Summary("A river.", tokens=["A", "river."], attention=attention))


def test_attention_is_added_up_by_document_and_a_softmax_taken_for_each_token() -> None:
    """Token 1: sums .75 and .25, shares e^.5 : 1; token 2: sums .5 and .5. Of shares p and 1 - p it is p - 1/2."""
    first = math.exp(0.5) / (math.exp(0.5) + 1) - 0.5
    attention = np.array([[0.25, 0.25, 0.5], [0.4, 0.5, 0.1]])
    assert scored(attention)["cds"].value == pytest.approx(first / 2)


def test_all_attention_to_one_of_two_documents_is_the_most() -> None:
    assert cross_document_deviation(np.array([[1.0, 0.0]]), ["a", "b"]) == pytest.approx(0.2310586, abs=1e-7)
    assert cross_document_deviation(np.full((3, 4), 0.25), list("abcd")) == 0.0


def test_it_is_the_deviation_of_a_population() -> None:
    shares = np.exp([0.6, 0.3, 0.1]) / np.exp([0.6, 0.3, 0.1]).sum()
    expected = math.sqrt(sum((share - 1 / 3) ** 2 for share in shares) / 3)
    assert cross_document_deviation(np.array([[0.6, 0.3, 0.1]]), list("abc")) == pytest.approx(expected)


def test_only_what_was_read_counts() -> None:
    assert scored(np.array([[0.5, 0.5], [1.0, 0.0]])) == {"cds": Score(pytest.approx(0.2310586 / 2, abs=1e-7))}
    assert scored(np.array([[1.0]])) == {}  # one document alone


def test_what_has_no_attention_or_one_document_has_no_score() -> None:
    assert scored(None) == scored(np.zeros((0, 3))) == {}
    assert scored(np.ones((1, 3)) / 3, ArticleTexts("T", "L", ["one", "two"], [], pages=["a", "a"])) == {}
    assert scored(np.ones((1, 3)) / 3, ArticleTexts("T", "L", ["one", "two"], [])) == {}


def test_attention_within_a_document_is_that_between_its_paragraphs() -> None:
    """Paragraphs one and three are of document a: .1 + .05 + .1 + .2 of it, .2 of b."""
    looks = np.array([[0.1, 0.1, 0.05], [0.15, 0.2, 0.05], [0.1, 0.05, 0.2]])
    summary = Summary("A river.", source_attention=looks)
    assert prepare(ARTICLE, ["own-document"])(summary) == {"own-document": Score(pytest.approx(0.65))}
    assert prepare(ARTICLE, ["cds"])(summary) == {}
    assert own_document(looks, ["a", "b"]) == pytest.approx(0.3)  # the third is beyond the known pages
    alone = ArticleTexts("Tavil", "A river.", ["one", "two"], [], pages=["a", "a"])
    assert prepare(alone, ["own-document"])(summary) == {}
    assert prepare(ARTICLE, ["own-document"])(Summary("A river.")) == {}
