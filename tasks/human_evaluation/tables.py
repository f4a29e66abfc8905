"""Tables as CSV that spreadsheets open, and read back when people have edited them."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a head of column names."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def numbered_rows(text: str, name: str, columns: Sequence[str] = ()) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and row of a table that must have some columns, with a mark of its encoding or without. Raises
    ValueError: a column is missing."""
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    if not set(columns) <= set(rows.fieldnames or ()):
        raise ValueError(f"{name} has the columns {', '.join(rows.fieldnames or ())}: expected {', '.join(columns)}")
    yield from enumerate(rows, start=2)
