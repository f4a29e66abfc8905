"""Tables cut into Parquet row groups: by size, or by the shard that will read them."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from storage.schemas import Dataset

ROW_GROUP_BYTES = 64 << 20  # of Arrow data: rows of pages and of labels differ a thousandfold in size
# A batch of pages takes 12 kB besides its values (17 columns of padded buffers), so 1,024 small ones take 12 MB.
JOINED = 1_024
_SMALL_BYTES = 64 << 10


def check_schema(schema: pa.Schema, dataset: Dataset) -> None:
    """Raise TypeError unless the columns are those of the dataset."""
    if not schema.equals(dataset.schema):
        raise TypeError(f"stage {dataset.name} made columns\n{schema}\nexpected\n{dataset.schema}")


def by_size(
    rows: pa.Table | Iterable[pa.RecordBatch],
    dataset: Dataset,
    *,
    group_bytes: int = ROW_GROUP_BYTES,
    joined: int = JOINED,
) -> Iterator[pa.Table]:
    """Yield the rows in tables of about `group_bytes`; an empty shard gives one empty table. Small batches are copied
    together as they arrive: each takes far more memory than its values, and a slice of a larger batch keeps all of that
    batch in memory."""
    pending = _Pending(joined)
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else rows:
        check_schema(batch.schema, dataset)
        start = 0
        while start < batch.num_rows:
            room = (group_bytes - pending.bytes) * batch.num_rows // max(1, batch.nbytes)
            count = min(max(1, room), batch.num_rows - start)
            pending.add(batch.slice(start, count))
            start += count
            if pending.bytes >= group_bytes:
                yield pending.table(dataset.schema)
        del batch  # else it would stay in memory while the next one is made
    yield pending.table(dataset.schema)


class _Pending:
    """Batches gathered for the next table; runs of small ones are copied together.

    Attributes:
        bytes: bytes of their values."""

    def __init__(self, joined: int = JOINED) -> None:
        self.bytes = 0
        self._joined = joined
        self._whole: list[pa.RecordBatch] = []
        self._small: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self.bytes += batch.nbytes
        if batch.nbytes < _SMALL_BYTES:
            self._small.append(batch)
            if len(self._small) >= self._joined:
                self._join()
        else:
            self._join()
            self._whole.append(batch)

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return the gathered batches as a table, and forget them."""
        self._join()
        whole, self._whole, self.bytes = self._whole, [], 0
        return pa.Table.from_batches(whole, schema=schema)

    def _join(self) -> None:
        if self._small:
            self._whole.append(pa.concat_batches(self._small))
            self._small = []


def by_destination(table: pa.Table, column: str) -> Iterator[tuple[int, pa.Table]]:
    """Yield (destination, rows) in order of destination; rows keep their order."""
    destinations = table.column(column).to_numpy()
    order = np.argsort(destinations, kind="stable")
    sorted_destinations = destinations[order]
    bounds = [*np.flatnonzero(np.diff(sorted_destinations, prepend=-1)), len(order)]
    for start, stop in itertools.pairwise(bounds):
        yield int(sorted_destinations[start]), table.take(order[start:stop])


def by_run(rows: Iterable[pa.RecordBatch], dataset: Dataset, column: str) -> Iterator[tuple[int, pa.Table]]:
    """Yield (destination, rows) of batches that come in order of destination; those of one are in memory at a time.
    Raises ValueError: batches are not in order of destination."""
    pending, current = _Pending(), -1
    for batch in rows:
        check_schema(batch.schema, dataset)
        destinations = batch.column(column).to_numpy(zero_copy_only=False)
        bounds = [*np.flatnonzero(np.diff(destinations, prepend=-1)), len(destinations)]
        for start, stop in itertools.pairwise(bounds):
            destination = int(destinations[start])
            if destination < current:
                raise ValueError(f"{dataset.name}: {column} {destination} came after {current}, expected rising values")
            if destination > current >= 0:
                yield current, pending.table(dataset.schema)
            current = destination
            pending.add(batch.slice(start, stop - start))
    if current >= 0:
        yield current, pending.table(dataset.schema)
