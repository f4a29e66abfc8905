"""Tables cut into Parquet row groups: by size, or by the shard that is to read them."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from storage.schemas import Dataset

ROW_GROUP_BYTES = 64 << 20  # of Arrow data: rows of pages and of labels differ a thousandfold in size


def check_schema(schema: pa.Schema, dataset: Dataset) -> None:
    """Raise TypeError unless a stage made the columns of its dataset."""
    if not schema.equals(dataset.schema):
        raise TypeError(f"stage {dataset.name} made columns\n{schema}\nexpected\n{dataset.schema}")


def by_size(rows: pa.Table | Iterable[pa.RecordBatch], dataset: Dataset) -> Iterator[pa.Table]:
    """Yield the rows in tables of about ROW_GROUP_BYTES; an empty shard gives one empty table."""
    pending: list[pa.RecordBatch] = []
    size = 0
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
        check_schema(batch.schema, dataset)
        start = 0
        while start < batch.num_rows:
            room = (ROW_GROUP_BYTES - size) * batch.num_rows // max(1, batch.nbytes)
            part = batch.slice(start, max(1, room))
            pending.append(part)
            size += part.nbytes
            start += part.num_rows
            if size >= ROW_GROUP_BYTES:
                yield pa.Table.from_batches(pending)
                pending, size = [], 0
    yield pa.Table.from_batches(pending, schema=dataset.schema)


def by_destination(table: pa.Table, column: str) -> Iterator[tuple[int, pa.Table]]:
    """Yield (destination, rows) in order of destination; rows keep their order."""
    destinations = table.column(column).to_numpy()
    order = np.argsort(destinations, kind="stable")
    sorted_destinations = destinations[order]
    bounds = [*np.flatnonzero(np.diff(sorted_destinations, prepend=-1)), len(order)]
    for start, stop in itertools.pairwise(bounds):
        yield int(sorted_destinations[start]), table.take(order[start:stop])
