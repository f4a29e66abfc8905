"""tf-idf vectors against Liu & Lapata 2019, eq. 25 written out word by word."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.tfidf import TfIdf, tfidf_matrix

WORDS = st.lists(st.sampled_from("abcdef"), max_size=12)


def cosine_by_hand(one: list[str], two: list[str], paragraphs: list[list[str]]) -> float:
    """Cosine of two texts' tf-idf vectors, with dictionaries."""

    def weights(words: list[str]) -> dict[str, float]:
        holding = {word: sum(word in paragraph for paragraph in paragraphs) for word in set(words)}
        return {word: words.count(word) * log(len(paragraphs) / holding[word]) for word in set(words) if holding[word]}

    def norm(vector: dict[str, float]) -> float:
        return sqrt(sum(weight**2 for weight in vector.values()))

    v, w = weights(one), weights(two)
    if norm(v) == 0 or norm(w) == 0:
        return 0.0
    return sum(weight * w.get(word, 0.0) for word, weight in v.items()) / (norm(v) * norm(w))


def test_weights_by_hand():
    tfidf = TfIdf([["a", "a", "b"], ["a", "c"], ["c"], ["d"]])
    assert tfidf.vocabulary == {"a": 0, "b": 1, "c": 2, "d": 3}
    np.testing.assert_allclose(tfidf.idf, np.log([2, 4, 2, 4]))
    # first paragraph: a twice at log 2, b once at log 4 = 2 log 2: equal weights
    np.testing.assert_allclose(tfidf.paragraphs.toarray()[0], [sqrt(0.5), sqrt(0.5), 0, 0])
    np.testing.assert_allclose(tfidf.similarity(["b", "unseen"]), [sqrt(0.5), 0, 0, 0])


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_cosines_are_those_of_the_equation(paragraphs, title):
    tfidf = TfIdf(paragraphs)
    cosines = (tfidf.paragraphs @ tfidf.paragraphs.T).toarray()
    expected = [[cosine_by_hand(one, two, paragraphs) for two in paragraphs] for one in paragraphs]
    np.testing.assert_allclose(cosines, expected, atol=1e-12)
    similarity = tfidf.similarity(title)
    np.testing.assert_allclose(similarity, [cosine_by_hand(p, title, paragraphs) for p in paragraphs], atol=1e-12)
    assert (similarity <= 1).all()


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_rows_have_length_one_or_zero_and_store_no_zeros(paragraphs):
    matrix = TfIdf(paragraphs).paragraphs
    lengths = np.sqrt((matrix.toarray() ** 2).sum(axis=1))
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))
    assert (matrix.data > 0).all()


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["", ""], ["one lone paragraph"], ["same words", "same words"], ["Привет", "мир"]],
    ids=["none", "one empty", "all empty", "one paragraph", "every word everywhere", "no words by the rule"],
)
def test_texts_that_nothing_tells_apart_are_zero(texts):
    matrix = tfidf_matrix(texts)
    assert matrix.shape[0] == len(texts)
    assert matrix.nnz == 0


def test_a_lone_paragraph_is_not_similar_to_its_title():
    assert TfIdf([["river"]]).similarity(["river"]).tolist() == [0.0]


def test_no_paragraphs_no_similarities():
    assert TfIdf([]).similarity(["river"]).tolist() == []


def test_words_beyond_ascii_need_the_unicode_rule():
    texts = ["Привет мир", "мир труд", "май"]
    assert tfidf_matrix(texts).nnz == 0
    assert tfidf_matrix(texts, "unicode").nnz == 5
