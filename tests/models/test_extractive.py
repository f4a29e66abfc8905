"""Lead, LexRank and the oracle."""

from collections.abc import Sequence

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from models.extractive import best_first, first_words, greedy_oracle, lexrank_scores

MATRICES = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.floats(0, 1)))


@pytest.mark.parametrize(
    ("texts", "length", "expected"),
    [
        (["The Ash", "one  two", "three\nfour five"], 5, "The Ash one two three"),
        (["The Ash", "one"], 10, "The Ash one"),
        (["The Ash"], 1, "The"),
        (["The Ash", "one"], 0, ""),
        (["", "c c", "a a"], 2, "c c"),
        ([], 3, ""),
        (["桥很长。", "它在南京。"], 6, "桥很长。 它在南"),  # characters count, and stay together
    ],
)
def test_first_words(texts: list[str], length: int, expected: str) -> None:
    assert first_words(texts, length) == expected


def test_first_words_are_all_that_is_read() -> None:
    def paragraphs():  # type: ignore[no-untyped-def]
        yield "T"
        yield "one two"
        raise AssertionError("read too far")

    assert first_words(paragraphs(), 3) == "T one two"


def test_a_negative_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="-1 words"):
        first_words([], -1)


def test_lexrank_of_a_star_by_hand() -> None:
    # Centre c and two leaves l: c = .05 + .85 * 2 l, l = .05 + .85 c / 2 and c + 2 l = 1: c = (.05 + .85) / 1.85.
    scores = lexrank_scores(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), tolerance=1e-12)
    assert scores == pytest.approx([0.9 / 1.85, 0.475 / 1.85, 0.475 / 1.85])


def test_lexrank_without_edges_is_uniform() -> None:
    assert lexrank_scores(np.zeros((4, 4))) == pytest.approx([0.25] * 4)
    assert lexrank_scores(np.zeros((0, 0))).shape == (0,)


@settings(max_examples=60)
@given(MATRICES, st.booleans())
def test_lexrank_equals_networkx(matrix: np.ndarray, symmetric: bool) -> None:
    weights = (matrix + matrix.T) / 2 if symmetric else matrix
    # Subnormal weights lose their digits when rows are divided by their sums, in both implementations differently.
    weights = np.where(weights < 1e-6, 0.0, weights)
    scores = lexrank_scores(weights, tolerance=1e-12, iterations=2000)
    expected = networkx.pagerank(
        networkx.from_numpy_array(weights, create_using=networkx.DiGraph), tol=1e-13, max_iter=2000
    )
    assert scores == pytest.approx([expected[i] for i in range(len(weights))], abs=1e-9)
    assert scores.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [(np.zeros((2, 3)), r"\(2, 3\)"), (np.full((2, 2), -1.0), "negative"), (np.full((2, 2), np.nan), "non-finite")],
)
def test_lexrank_refuses(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lexrank_scores(matrix)


def test_best_first_keeps_ties_in_order() -> None:
    assert best_first(np.array([0.1, 0.5, 0.1, 0.9, 0.5])).tolist() == [3, 1, 4, 0, 2]


def coverage(sets: Sequence[set[str]], target: set[str], chosen: Sequence[int]) -> float:
    have = set().union(*(sets[i] for i in chosen))
    return 2 * len(have & target) / (len(target) + sum(len(sets[i]) for i in chosen))


def test_oracle_adds_while_it_gains() -> None:
    sets, target = [{"x"}, {"a", "b"}, {"b", "c"}, {"c"}], {"a", "b", "c"}
    # {a b}: 4/5; with {b c}: 6/7; with {c}: 6/6.
    assert greedy_oracle(range(4), lambda chosen: coverage(sets, target, chosen)) == [1, 3]


def test_oracle_chooses_nothing_where_nothing_overlaps() -> None:
    assert greedy_oracle(range(3), lambda chosen: 0.0) == []
    assert greedy_oracle([], lambda chosen: 1.0) == []
