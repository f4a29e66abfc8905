"""Rows of Parquet for the sources that read it; not in `files.py`, since settings import that without pyarrow."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa


def parquet_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Yield rows one by one: as Python objects, those of a whole batch would take too much memory."""
    for batch in batches:
        for number in range(batch.num_rows):
            yield batch.slice(number, 1).to_pylist()[0]
