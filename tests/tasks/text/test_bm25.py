"""BM25 against its formula by hand."""

from math import log

import pytest

from tasks.text.tfidf import BM25


def test_scores_are_those_of_the_formula() -> None:
    paragraphs = [["river", "mill", "river", "old"], ["mill", "town"], ["sea", "salt", "boat", "sand", "wind", "sun"]]
    # Lengths 4, 2 and 6, their mean 4; "river" is in one of three paragraphs, "mill" in two.
    river, mill = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)
    first = river * 2 * 2.2 / (2 + 1.2) + mill * 2.2 / (1 + 1.2)
    second = mill * 2.2 / (1 + 1.2 * (0.25 + 0.75 / 2))
    assert BM25(paragraphs).scores(["river", "mill", "nowhere"]) == pytest.approx([first, second, 0.0])
    assert BM25(paragraphs).scores(["mill", "mill"])[1] == pytest.approx(2 * second)


def test_nothing_scores_nothing() -> None:
    assert BM25([]).scores(["river"]).tolist() == []
    assert BM25([[]]).scores(["river"]).tolist() == [0.0]
    assert BM25([["river"]]).scores([]).tolist() == [0.0]
    assert BM25([["river"]]).scores(["river"])[0] > 0  # also where a paragraph is alone, unlike tf-idf
