import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.tables import BLOCK_BYTES, TableDigest, table_digest

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


def test_large_values_end_a_block_wherever_the_pieces_end() -> None:
    values = [None if i % 7 == 0 else bytes(i % 90) for i in range(300)]
    table = pa.table({"a": list(range(300)), "b": pa.array(values, pa.large_binary())})
    of_rows = table_digest(table, ["a", "b"])
    found = set()
    for size in (1, 3, 10, 299, 300):
        digest = TableDigest(["a", "b"], block_bytes=200)
        for start in range(0, 300, size):
            digest.update(table.slice(start, size))
        found.add(digest.hexdigest())
    assert len(found) == 1
    assert found != {of_rows}  # more blocks than one


def literal_digest(blocks: list[list[int]]) -> str:
    """The digest of an int64 column `a` without nulls, cut into these blocks, byte by byte."""
    found = hashlib.sha256()
    for block in blocks:
        found.update(b"a\0" + str(len(block)).encode() + b"\0")
        present = "".join("1" for _ in block)
        present += "0" * (-len(block) % 8)
        found.update(bytes(int(present[at : at + 8], 2) for at in range(0, len(present), 8)))
        found.update(b"int64\0")
        found.update(b"".join(value.to_bytes(8, "little") for value in block))
    return found.hexdigest()[:32]


def test_blocks_end_after_1024_rows_each() -> None:
    # Records keep digests: another cut into blocks would recompute every corpus there is.
    values = list(range(2500))
    expected = literal_digest([values[:1024], values[1024:2048], values[2048:]])
    assert table_digest(pa.table({"a": values}), ["a"]) == expected
    assert table_digest(pa.table({"a": values[:1024]}), ["a"]) == literal_digest([values[:1024]])


def test_blocks_end_with_the_row_that_fills_their_bytes() -> None:
    blocks: list[list[bytes]] = []

    class Recording(TableDigest):
        def _add_block(self, rows: pa.Table) -> None:
            blocks.append(rows.column("b").to_pylist())

    digest = Recording(["b"], block_bytes=10)
    values = [b"12345", b"12345", b"", b"123456789", b"1", b"12345678901", b"1234", b"12345", b"1", b"rest"]
    digest.update(pa.table({"b": values}))
    digest.hexdigest()
    assert blocks == [values[:2], values[2:5], values[5:6], values[6:9], values[9:]]


def test_large_bodies_end_a_block_at_16_mib() -> None:
    assert BLOCK_BYTES == 16 * 1024 * 1024


def test_a_type_that_no_schema_uses_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot digest a column of type"):
        table_digest(pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))}), ["a"])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()], ids=str)
def test_every_byte_of_a_text_counts_and_none_beside_it(kind: pa.DataType) -> None:
    def of(values: list[str | None]) -> str:
        return table_digest(pa.table({"a": pa.array(values, kind)}), ["a"])

    texts: list[str | None] = ["ab", None, "", "cde"]
    expected = of(texts)
    for row, place in ((0, 0), (0, 1), (3, 0), (3, 1), (3, 2)):
        changed = list(texts)
        text = changed[row] or ""
        changed[row] = f"{text[:place]}x{text[place + 1 :]}"
        assert of(changed) != expected, changed
    assert of(["a", None, "b", "cde"]) != expected  # the same bytes, cut elsewhere
    assert of(["ab", "", None, "cde"]) != expected
    around = pa.table({"a": pa.array(["before", *texts, "after"], kind)})
    assert table_digest(around.slice(1, 4), ["a"]) == expected
