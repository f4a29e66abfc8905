"""Noise of denoising pre-training: how much is hidden, what stays in order, and that draws can be repeated."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.training.batches import BatchStream, Position
from models.training.layout import Layout
from tasks.pretraining.training import Denoising

MASK = 9
DENOISING = Denoising(MASK, begin=(2, 0), end=3, seed=1)


def passages(*rows: list[list[int]]) -> pa.Table:
    return pa.table({"sentences": pa.array(list(rows), pa.list_(pa.list_(pa.int32())))})


@given(st.integers(1, 200), st.floats(0.05, 0.9), st.floats(0.3, 6.0), st.integers(0, 1000))
def test_the_share_is_hidden_in_spans_and_the_rest_keeps_its_order(
    n: int, share: float, span: float, seed: int
) -> None:
    tokens = np.arange(100, 100 + n, dtype=np.int32)
    noisy = replace(DENOISING, share=share, span=span).infill(tokens, np.random.default_rng(seed))
    kept = noisy[noisy != MASK]
    assert noisy.dtype == np.int32
    assert len(kept) == n - round(share * n)
    assert np.all(np.diff(kept) > 0)
    assert set(kept.tolist()) <= set(tokens.tolist())


def test_spans_have_the_mean_of_the_distribution_and_lie_anywhere() -> None:
    tokens, rng = np.arange(100, 200, dtype=np.int32), np.random.default_rng(5)
    drawn = [DENOISING.infill(tokens, rng) for _ in range(2000)]
    masks = np.mean([np.sum(noisy == MASK) for noisy in drawn])
    # 30 tokens in spans of 3; the last one is cut, by about one and a half.
    assert masks == pytest.approx(30 / 3 + 0.4, abs=0.4)
    hidden = np.mean([~np.isin(tokens, noisy) for noisy in drawn], axis=0)
    assert hidden.mean() == pytest.approx(0.3)
    assert hidden[10:90].min() > 0.25
    assert hidden[10:90].max() < 0.35


def test_spans_of_length_nought_add_a_mask_where_nothing_is_missing() -> None:
    class Drawn(np.random.Generator):
        lengths = iter([0, 2])

        def poisson(self, lam: float) -> int:  # type: ignore[override]
            return next(self.lengths)

    noisy = replace(DENOISING, share=0.4).infill(np.array([1, 2, 3, 4, 5], np.int32), Drawn(np.random.PCG64(1)))
    assert np.sum(noisy == MASK) == 2
    assert len(noisy) == 3 + 2


def test_sentences_are_permuted_whole() -> None:
    rows = passages([[1, 2, 3], [4, 5], [6]])
    orders = set()
    for seed in range(50):
        ((noisy,),) = replace(DENOISING, share=0.01, seed=seed)(rows, 0, 0)["source"].to_pylist()
        assert sorted(noisy) == [1, 2, 3, 4, 5, 6]
        assert noisy.index(2) - noisy.index(1) == 1
        orders.add(tuple(noisy))
    assert len(orders) == 6


def test_noise_is_new_in_every_epoch_and_the_same_when_drawn_again() -> None:
    rows = passages([list(range(10, 40)), list(range(50, 80))], [list(range(20, 60))])
    first, again, later = (DENOISING(rows, epoch, 0) for epoch in (0, 0, 1))
    assert first == again
    assert first["source"] != later["source"] != DENOISING(rows, 1, 1)["source"]
    assert first["target"].to_pylist() == [[2, 0, *range(10, 40), *range(50, 80), 3], [2, 0, *range(20, 60), 3]]
    assert first["title"].to_pylist() == [[], []]


def test_a_stream_of_spoilt_passages_resumes_where_it_stopped() -> None:
    shards = [passages(*([list(range(10 * n, 10 * n + 30))] for n in range(1, 5))) for _ in range(2)]
    layout = Layout(
        pad=1,
        title_mark=None,
        max_paragraphs=1,
        max_paragraph_tokens=40,
        max_target_tokens=40,
        length_multiple=1,
        source_begin=0,
        source_end=2,
    )
    denoising = replace(DENOISING, end=2)
    stream = BatchStream(shards, layout, batch_tokens=80, window=4, seed=1, prepare=denoising)
    batches = stream.batches()
    taken = [next(batches) for _ in range(12)]
    assert len({batch.following.epoch for batch in taken}) > 1
    row = taken[0].source.tokens[0, 0]
    assert row[0] == 0
    assert row[row != 1][-1] == 2
    start = taken[6].following
    resumed = stream.batches(Position(start.epoch, start.shard, start.batch))
    for batch in taken[7:]:
        other = next(resumed)
        assert other.source.tokens.tolist() == batch.source.tokens.tolist()
        assert other.target.tolist() == batch.target.tolist()
