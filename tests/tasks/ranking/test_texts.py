"""Batches of encoded texts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.ranking.batches import Texts, batches_by_length, shuffled_batches
from tests.tasks.ranking.ranker_world import vocabulary


def test_texts_are_cut_and_padded_to_a_multiple_of_eight() -> None:
    pieces = vocabulary()
    river = pieces.encode("river")
    texts = Texts([["river", ""], ["river river river"]], pieces, 2 * len(river))
    assert texts.lengths.tolist() == [len(river), 0, 2 * len(river)]
    padded = texts.padded(np.array([2, 1, 0]))
    width = -(-2 * len(river) // 8) * 8
    assert padded.tolist() == [row + [pieces.pad] * (width - len(row)) for row in (river + river, [], river)]
    assert texts.padded(np.array([1])).shape == (1, 8)


lengths = st.lists(st.integers(0, 40), max_size=60).map(np.array).map(lambda each: each.astype(np.int64))


@given(lengths, st.integers(1, 200))
def test_batches_by_length_hold_each_text_once_within_the_budget(each: np.ndarray, tokens: int) -> None:
    batches = list(batches_by_length(each, tokens))
    assert sorted(place for batch in batches for place in batch.tolist()) == list(range(len(each)))
    for batch in batches:
        width = max(-(-int(each[batch].max()) // 8) * 8, 8)
        assert len(batch) == 1 or len(batch) * width <= tokens


@given(lengths, st.integers(1, 7), st.integers(1, 4), st.integers(0, 2**32))
def test_shuffled_batches_hold_each_text_once(each: np.ndarray, size: int, window: int, seed: int) -> None:
    keys = np.random.default_rng(seed).integers(0, 2**63, len(each)).astype(np.uint64)
    batches = shuffled_batches(each, keys, size, window)
    assert sorted(place for batch in batches for place in batch.tolist()) == list(range(len(each)))
    assert sum(len(batch) < size for batch in batches) <= 1


def test_shuffled_batches_hold_texts_of_like_length_in_an_order_of_the_keys() -> None:
    each = np.array([1, 9, 1, 9, 1, 9, 1, 9])
    keys = np.array([50, 40, 60, 80, 70, 10, 20, 30], dtype=np.uint64)
    assert [sorted(batch.tolist()) for batch in shuffled_batches(each, keys, 4)] == [[1, 3, 5, 7], [0, 2, 4, 6]]
