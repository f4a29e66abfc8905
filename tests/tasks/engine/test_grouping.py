"""Slices of sorted tables by article, and groups of a limited size."""

from collections.abc import Iterator
from itertools import groupby

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.engine.grouping import by_article, join_by_article, packed


def rows(*pairs: tuple[str, int]) -> pa.Table:
    return pa.table(
        {
            "article_id": pa.array([article for article, _ in pairs], pa.string()),
            "value": pa.array([value for _, value in pairs], pa.int64()),
        }
    )


def test_articles_come_as_slices_in_order():
    found = [(article, part["value"].to_pylist()) for article, part in by_article(rows(("a", 1), ("a", 2), ("c", 3)))]
    assert found == [("a", [1, 2]), ("c", [3])]


def test_an_empty_table_has_no_articles():
    assert list(by_article(rows())) == []
    assert list(by_article(rows().schema.empty_table())) == []


def test_an_article_that_spans_chunks_is_one_slice():
    table = pa.concat_tables([rows(("a", 1)), rows(("a", 2), ("b", 3))])
    assert [(article, part["value"].to_pylist()) for article, part in by_article(table)] == [("a", [1, 2]), ("b", [3])]


def test_the_articles_of_a_reader_come_while_it_is_read():
    taken = []

    def batches() -> Iterator[pa.RecordBatch]:
        for number, pairs in enumerate([[("a", 1)], [("a", 2), ("b", 3)], [], [("c", 4)], [("c", 5), ("d", 6)]]):
            taken.append(number)
            yield from rows(*pairs).to_batches(max_chunksize=9) or [pa.RecordBatch.from_pylist([], rows().schema)]

    reader = pa.RecordBatchReader.from_batches(rows().schema, batches())
    found = [(article, part["value"].to_pylist(), max(taken)) for article, part in by_article(reader)]
    assert found == [("a", [1, 2], 1), ("b", [3], 3), ("c", [4, 5], 4), ("d", [6], 4)]


def test_a_join_reads_an_empty_reader():
    nothing = pa.RecordBatchReader.from_batches(rows().schema, [])
    assert [(article, part["value"].to_pylist()) for article, _, part in join_by_article(rows(("a", 1)), nothing)] == [
        ("a", [])
    ]


def test_unsorted_rows_are_refused_by_name():
    with pytest.raises(ValueError, match=r"article a follows b: expected rows sorted"):
        list(by_article(rows(("b", 1), ("a", 2))))


def test_a_row_without_an_article_is_refused():
    with pytest.raises(ValueError, match="article_id is null"):
        list(by_article(pa.table({"article_id": pa.array([None], pa.string())})))


def test_a_join_follows_the_left_table():
    left, other, third = rows(("a", 1), ("c", 2)), rows(("b", 3), ("c", 4), ("c", 5), ("d", 6)), rows(("a", 7))
    found = [
        (article, *(part["value"].to_pylist() for part in parts))
        for article, *parts in join_by_article(left, other, third)
    ]
    assert found == [("a", [1], [], [7]), ("c", [2], [4, 5], [])]


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 99))),
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 99))),
)
def test_a_join_gives_what_a_dictionary_gives(left, other):
    left, other = sorted(left), sorted(other)
    expected = [
        (article, [value for _, value in group], [value for name, value in other if name == article])
        for article, group in groupby(left, key=lambda pair: pair[0])
    ]
    found = [
        (article, mine["value"].to_pylist(), theirs["value"].to_pylist())
        for article, mine, theirs in join_by_article(rows(*left), rows(*other))
    ]
    assert found == expected


def test_items_are_packed_by_size_and_number():
    assert list(packed([], len, 5)) == []
    words = ["ab", "cd", "e", "fghijkl", "m", "n", "o", "p"]
    assert list(packed(words, len, 5)) == [["ab", "cd", "e"], ["fghijkl"], ["m", "n", "o", "p"]]
    assert list(packed(words, len, 5, 2)) == [["ab", "cd"], ["e"], ["fghijkl"], ["m", "n"], ["o", "p"]]
