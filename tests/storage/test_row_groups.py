"""Row groups of rows that come one at a time."""

import pyarrow as pa
import pytest

from storage.row_groups import by_size
from storage.schemas import PAGES


def row(number: int, body: bytes | None = None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"url": f"http://a.test/{number}", "body": body}], schema=PAGES.schema)


def test_small_batches_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.row_groups._JOINED", 10)
    held: list[int] = []

    def batches() -> object:
        for number in range(95):
            yield row(number)
            held.append(number)

    (table,) = by_size(batches(), PAGES)  # type: ignore[arg-type]
    assert table.column("url").to_pylist() == [f"http://a.test/{number}" for number in range(95)]
    assert table.column("url").num_chunks == 10


def test_order_stays_where_small_and_large_batches_mix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.row_groups.ROW_GROUP_BYTES", 300_000)
    batches = [row(number, b"x" * (100_000 if number % 3 == 0 else 10)) for number in range(12)]
    tables = list(by_size(iter(batches), PAGES))
    assert [table.num_rows for table in tables] == [7, 5]
    assert [url for table in tables for url in table.column("url").to_pylist()] == [
        f"http://a.test/{number}" for number in range(12)
    ]
