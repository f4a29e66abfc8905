import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.digests import TableDigest, table_digest

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("text", pa.large_string()),
        ("count", pa.int32()),
        ("edges", pa.list_(pa.struct([("i", pa.int32()), ("w", pa.float32())]))),
        ("tokens", pa.list_(pa.list_(pa.int32()))),
    ]
)
_integers = st.integers(-(2**31), 2**31 - 1)
_floats = st.floats(width=32, allow_nan=False).map(lambda value: value + 0.0)  # no -0.0: it equals 0.0
_rows = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.none() | st.text(max_size=5),
            "text": st.none() | st.text(max_size=5),
            "count": st.none() | _integers,
            "edges": st.none() | st.lists(st.none() | st.fixed_dictionaries({"i": _integers, "w": _floats})),
            "tokens": st.none() | st.lists(st.none() | st.lists(_integers, max_size=3), max_size=3),
        }
    ),
    max_size=6,
)


def digest(table: pa.Table) -> str:
    return table_digest(table, SCHEMA.names)


@given(_rows, st.integers(0, 6))
def test_digest_survives_parquet_chunks_and_slices(rows: list[dict[str, object]], cut: int) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    expected = digest(table)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    assert digest(pq.read_table(pa.BufferReader(sink.getvalue()))) == expected
    assert digest(pa.concat_tables([table[:cut], table[cut:]])) == expected
    padded = pa.concat_tables([table, table, table]).combine_chunks()
    assert digest(padded[len(rows) : 2 * len(rows)]) == expected


@given(_rows, _rows)
def test_digest_tells_different_tables_apart(left: list[dict[str, object]], right: list[dict[str, object]]) -> None:
    a, b = (pa.Table.from_pylist(rows, schema=SCHEMA) for rows in (left, right))
    assert (digest(a) == digest(b)) == (a.to_pylist() == b.to_pylist())


def test_digest_sees_only_the_columns_asked_for() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    assert table_digest(table, ["a"]) == table_digest(table.set_column(1, "b", pa.array(["p", "q"])), ["a"])
    assert table_digest(table, ["a"]) != table_digest(table, ["a", "b"])


def test_a_digest_in_pieces_is_the_digest_of_the_whole() -> None:
    table = pa.table({"a": list(range(5000)), "b": [str(i) for i in range(5000)]})
    expected = table_digest(table, ["a", "b"])
    for size in (1, 700, 1024, 4999):
        digest = TableDigest(["a", "b"])
        for start in range(0, 5000, size):
            digest.update(table.slice(start, size))
        assert digest.hexdigest() == expected


def test_large_values_end_a_block_wherever_the_pieces_end(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [None if i % 7 == 0 else bytes(i % 90) for i in range(300)]
    table = pa.table({"a": list(range(300)), "b": pa.array(values, pa.large_binary())})
    of_rows = table_digest(table, ["a", "b"])
    monkeypatch.setattr("storage.digests._BLOCK_BYTES", 200)
    expected = table_digest(table, ["a", "b"])
    assert expected != of_rows  # more blocks than one
    for size in (1, 3, 10, 299):
        digest = TableDigest(["a", "b"])
        for start in range(0, 300, size):
            digest.update(table.slice(start, size))
        assert digest.hexdigest() == expected
