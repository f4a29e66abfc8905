"""Row groups of rows that come one at a time."""

import pyarrow as pa

from storage.schemas import PAGES
from storage.tables import by_size


def row(number: int, body: bytes | None = None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"url": f"http://a.test/{number}", "body": body}], schema=PAGES.schema)


def test_small_batches_are_joined() -> None:
    (table,) = by_size((row(number) for number in range(2100)), PAGES)
    assert table.column("url").to_pylist() == [f"http://a.test/{number}" for number in range(2100)]
    assert table.column("url").num_chunks == 3  # of 1,024 batches at most


def test_order_stays_where_small_and_large_batches_mix() -> None:
    batches = [row(number, b"x" * (100_000 if number % 3 == 0 else 10)) for number in range(12)]
    tables = list(by_size(iter(batches), PAGES, group_bytes=300_000))
    assert [table.num_rows for table in tables] == [7, 5]
    assert [url for table in tables for url in table.column("url").to_pylist()] == [
        f"http://a.test/{number}" for number in range(12)
    ]
