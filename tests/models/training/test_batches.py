"""Layout of examples, and the stream of batches: everything once an epoch, within budget, resumable anywhere."""

from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.training.batches import Batch, BatchStream, Position, plan_batches, sweep
from models.training.layout import ExampleTable, Layout, source_batch, target_batch

PAD, MARK = 0, 4
EDGES = pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())]))


def _table(rows: list[tuple[list[int], list[list[int]], list[int]]], graphs=None) -> pa.Table:
    title, source, target = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    tokens = pa.list_(pa.int32())
    columns = {
        "title": pa.array(title, tokens),
        "source": pa.array(source, pa.list_(tokens)),
        "target": pa.array(target, tokens),
    }
    if graphs is not None:
        columns["graph"] = pa.array(graphs, EDGES)
    return pa.table(columns)


def _layout(**changes) -> Layout:
    return Layout(**{"pad": PAD, "title_mark": MARK, "length_multiple": 1} | changes)


def test_the_first_paragraph_begins_with_the_title_and_lengths_are_cut_and_rounded() -> None:
    table = _table(
        [([50, 51], [[10, 11, 12, 13], [20, 21, 22, 23, 24, 25], [30]], [2, 60, 61, 62, 3]), ([52], [], [2, 70, 3])]
    )
    layout = _layout(max_paragraphs=2, max_paragraph_tokens=5, max_target_tokens=4, length_multiple=4)
    rows = ExampleTable(table, layout)
    examples = [rows.example(0), rows.example(1)]
    source = source_batch(examples, layout)
    assert source.tokens.tolist() == [
        [[50, 51, MARK, 10, 11, 0, 0, 0], [20, 21, 22, 23, 24, 0, 0, 0]],
        [[52, MARK, 0, 0, 0, 0, 0, 0], [0] * 8],
    ]
    assert source.ranks.tolist() == [[0, 1], [0, 0]]
    assert source.title.tolist() == [[50, 51], [52, 0]]
    assert source.paragraph_mask.tolist() == [[True, True], [True, False]]
    assert source.graph is None
    # T - 1 = 4 rounded up; a lead that is cut has no end token.
    assert target_batch(examples, layout).tolist() == [[2, 60, 61, 62, 0], [2, 70, 3, 0, 0]]
    assert rows.shapes().tolist() == [[2, 5, 4], [1, 2, 3]]


def test_an_empty_paragraph_does_not_exist_and_the_others_keep_their_ranks() -> None:
    table = _table([([50], [[], [], [30, 31], [40]], [2, 3])], [[{"i": 0, "j": 2, "weight": 0.5}]])
    layout = _layout(max_paragraphs=4, graph=True)
    example = ExampleTable(table, layout).example(0)
    batch = source_batch([example], layout)
    assert batch.tokens.tolist() == [[[50, MARK], [30, 31], [40, 0]]]
    assert batch.ranks.tolist() == [[0, 2, 3]]
    assert batch.graph is not None
    assert batch.graph.tolist() == [[[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]]


def test_source_tokens_are_limited_in_order() -> None:
    layout = _layout(max_source_tokens=5)
    example = ExampleTable(_table([([50], [[10], [20, 21, 22], [30]], [2, 3])]), layout).example(0)
    assert [p.tolist() for p in example.paragraphs] == [[50, MARK, 10], [20, 21]]


MARKED = {"source_begin": 7, "source_end": 8}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [[7, 50, MARK, 10], [20, 21, 22], [30, 8]]),
        ({"begins_each": True}, [[7, 50, MARK, 10], [7, 20, 21, 22], [7, 30, 8]]),
        ({"begins_each": True, "separator": 9}, [[7, 50, MARK, 10], [9, 20, 21, 22], [9, 30, 8]]),
        ({"separator": 9}, [[7, 50, MARK, 10], [20, 21, 22], [30, 8]]),
        ({"max_paragraph_tokens": 2}, [[7, 50], [20, 21], [30, 8]]),
        ({"max_source_tokens": 5}, [[7, 50, MARK, 10], [8]]),  # the mark takes the place of the last token
        ({"max_source_tokens": 6, "begins_each": True}, [[7, 50, MARK, 10], [7, 8]]),
        ({"max_source_tokens": 5, "begins_each": True}, [[7, 50, MARK, 10, 8]]),  # a paragraph is not its mark alone
        ({"max_source_tokens": 9, "begins_each": True, "shared_limit": True}, [[7, 50, MARK], [7, 20, 21], [7, 30, 8]]),
        ({"max_source_tokens": 6, "shared_limit": True}, [[7, 50], [20, 21], [30, 8]]),
        ({"title_mark": None}, [[7, 10], [20, 21, 22], [30, 8]]),
        ({"max_paragraphs": 1}, [[7, 50, MARK, 10, 8]]),
    ],
)
def test_marks_are_around_the_source_whatever_is_cut(changes: dict[str, int], expected: list[list[int]]) -> None:
    rows = ExampleTable(_table([([50], [[10], [20, 21, 22], [], [30]], [2, 3])]), _layout(**MARKED, **changes))
    example = rows.example(0)
    assert [p.tolist() for p in example.paragraphs] == expected
    assert rows.shapes()[0, :2].tolist() == [len(expected), max(map(len, expected))]
    assert example.ranks.tolist() == [0, 1, 3][: len(expected)]


def test_an_edge_to_a_paragraph_not_read_is_left_out() -> None:
    edges = [{"i": 0, "j": 1, "weight": 0.3}, {"i": 1, "j": 2, "weight": 0.9}]
    layout = _layout(max_paragraphs=2, graph=True)
    rows = ExampleTable(_table([([], [[1], [1], [1]], [2, 3]), ([], [[1]], [2, 3])], [edges, []]), layout)
    batch = source_batch([rows.example(0), rows.example(1)], layout)
    assert batch.graph is not None
    third = torch.tensor(0.3).item()
    assert batch.graph.tolist() == [[[1.0, third], [third, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]


def test_slices_and_chunks_of_tables_are_read_where_they_stand() -> None:
    rows = [([50 + n], [[10 + n], [20 + n, 21]], [2, 30 + n, 3]) for n in range(6)]
    table = pa.concat_tables([_table(rows[:3]), _table([]), _table(rows[3:])]).slice(2, 3)
    read = ExampleTable(table, _layout())
    assert len(read) == 3
    assert [read.example(n).target.tolist() for n in range(3)] == [[2, 32, 3], [2, 33, 3], [2, 34, 3]]
    assert [p.tolist() for p in read.example(2).paragraphs] == [[54, MARK, 14], [24, 21]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_paragraphs": 0}, "expected max_paragraphs of at least 1, got 0"),
        ({"max_target_tokens": 1}, "expected max_target_tokens of at least 2, got 1"),
        ({"max_source_tokens": 0}, "max_source_tokens of at least 1"),
        ({"max_paragraph_tokens": 1, "source_end": 8}, "max_paragraph_tokens of at least 2 where marks are around"),
    ],
)
def test_impossible_layouts_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _layout(**changes)


def test_bad_tables_are_named() -> None:
    with pytest.raises(ValueError, match=r"at least 2 tokens \(begin and end\), row 1 has fewer"):
        ExampleTable(_table([([], [[1]], [2, 3]), ([], [[1]], [2])]), _layout())
    with pytest.raises(ValueError, match="no nulls in the examples' column 'title', found 1"):
        ExampleTable(_table([(None, [[1]], [2, 3])]), _layout())  # type: ignore[list-item]
    with pytest.raises(ValueError, match="found no 'graph'"):
        next(sweep([_table([([], [[1]], [2, 3])])], _layout(graph=True), batch_tokens=9999))
    with pytest.raises(ValueError, match=r"batch_tokens of 100 .* 24 paragraphs x 104 tokens = 2496"):
        BatchStream([], _layout(length_multiple=8), batch_tokens=100, window=1, seed=0)


def test_batches_are_cut_by_padded_source_and_by_padded_target() -> None:
    layout = _layout(max_paragraphs=2, max_paragraph_tokens=8, max_target_tokens=9, length_multiple=4)
    # Padded sources: 1x4, 1x4, 2x4, 1x8, and a target of 9 tokens (as are 6 to 9) that only goes alone with 2 more.
    shapes = np.array([[1, 3, 2], [1, 4, 2], [2, 2, 2], [1, 5, 3], [1, 1, 6]])
    # Longest 4 first, fewest paragraphs first: rows 0, 1 (T=5), 4 (T=9), 2 (P=2); then longest 8: row 3.
    plans = [plan.tolist() for plan in plan_batches(shapes, layout, 18)]
    assert plans == [[0, 1], [4, 2], [3]]
    assert plan_batches(np.zeros((0, 3), dtype=np.int64), layout, 16) == []


tables = st.lists(
    st.lists(
        st.tuples(
            st.lists(st.just(9), max_size=2),
            st.lists(st.lists(st.just(8), max_size=6), max_size=4),
            st.lists(st.just(7), min_size=2, max_size=6),
        ),
        max_size=5,
    ),
    min_size=1,
    max_size=5,
).filter(lambda shards: any(shards))


def _numbered(shards) -> list[pa.Table]:
    """Give every example a target whose second token is its number, from 100."""
    number, tables = 100, []
    for shard in shards:
        rows = []
        for title, source, target in shard:
            rows.append((title, source, [2, number, *target]))
            number += 1
        tables.append(_table(rows))
    return tables


def _stream(shards: list[pa.Table], **changes) -> BatchStream:
    layout = _layout(max_paragraphs=3, max_paragraph_tokens=5, max_target_tokens=6, length_multiple=2)
    return BatchStream(shards, layout, **{"batch_tokens": 40, "window": 6, "seed": 3} | changes)


@settings(max_examples=60)
@given(tables, st.integers(1, 20))
def test_an_epoch_holds_every_example_once_within_the_budget(shards, window: int) -> None:
    numbered = _numbered(shards)
    stream = _stream(numbered, window=window)
    everything = list(range(100, 100 + sum(map(len, shards))))
    stream_of_batches = stream.batches()
    for _ in range(2):
        batches: list[Batch] = []
        while sum(batch.examples for batch in batches) < len(everything):
            batches.append(next(stream_of_batches))
        assert sorted(int(number) for batch in batches for number in batch.target[:, 1]) == everything
        for batch in batches:
            assert batch.padded_tokens == batch.source.tokens.numel() <= 40
            assert batch.target.numel() <= 40
            assert batch.source_tokens == int(batch.source.token_mask.sum())
            assert batch.examples == len(batch.target)


@settings(max_examples=40)
@given(tables, st.integers(0, 12), st.integers(1, 3))
def test_a_stream_taken_up_anywhere_goes_on_the_same_and_ranks_share_it(shards, read: int, world: int) -> None:
    numbered = _numbered(shards)
    whole = list(islice(_stream(numbered).batches(), read + 3 * world + 1))
    start = whole[read - 1].following if read else Position()
    per_rank = [list(islice(_stream(numbered, rank=r, world=world).batches(start), 3)) for r in range(world)]
    interleaved = [per_rank[r][n] for n in range(3) for r in range(world)]
    for expected, found in zip(whole[read:], interleaved, strict=False):
        assert torch.equal(expected.target, found.target)
        assert torch.equal(expected.source.tokens, found.source.tokens)
    for n in range(3):
        assert {batches[n].following for batches in per_rank} == {whole[read + (n + 1) * world - 1].following}


def test_epochs_and_seeds_differ_in_order_and_equal_seeds_do_not() -> None:
    shards = _numbered([[([9], [[8]], [7, 7])] * 10] * 3)

    def order(seed: int, epoch: int) -> list[int]:
        batches = islice(_stream(shards, seed=seed).batches(Position(epoch)), 6)
        return [int(number) for batch in batches for number in batch.target[:, 1]]

    assert order(3, 0) == order(3, 0)
    assert order(3, 0) != order(3, 1)
    assert order(3, 0) != order(4, 0)


def test_a_sweep_gives_each_example_to_one_rank() -> None:
    shards = _numbered([[([9], [[8] * n], [7, 7]) for n in range(7)], [], [([9], [[8]], [7])] * 4])
    layout = _stream(shards).layout
    seen = [
        int(number)
        for rank in range(3)
        for batch in sweep(shards, layout, batch_tokens=40, rank=rank, world=3)
        for number in batch.target[:, 1]
    ]
    assert sorted(seen) == list(range(100, 111))


def test_no_examples_and_foreign_positions_are_errors() -> None:
    with pytest.raises(ValueError, match="expected training examples, found none in 2 shards"):
        next(_stream([_table([]), _table([])]).batches())
    with pytest.raises(ValueError, match="does not exist in these examples"):
        next(_stream(_numbered([[([9], [[8]], [7])]])).batches(Position(0, 0, 5)))
