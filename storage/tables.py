"""Arrow tables in Parquet files: digests of their content, and cuts into row groups, by size or by reader."""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import Dataset

ROW_GROUP_BYTES = 64 << 20  # of Arrow data: rows of pages and of labels differ a thousandfold in size
# A batch of pages takes 12 kB besides its values (17 columns of padded buffers), so 1,024 small ones take 12 MB.
_JOINED = 1_024
_SMALL_BYTES = 64 << 10

_OF_BYTES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
_BLOCK_ROWS = 1024
BLOCK_BYTES = 16 << 20  # of text and bodies: 1,024 large pages would take too much memory


class TableDigest:
    """Digests a table that comes in pieces; how it is cut into pieces does not matter. Rows are digested in blocks of a
    fixed number of rows or bytes, so where a block ends depends on the values alone."""

    def __init__(self, columns: Sequence[str], block_bytes: int = BLOCK_BYTES) -> None:
        """Take the columns to digest, and the bytes that end a block."""
        self._columns, self._block_bytes = list(columns), block_bytes
        self._digest = hashlib.sha256()
        self._pending: list[pa.Table] = []
        self._rows = self._bytes = 0

    def update(self, piece: pa.Table) -> None:
        """Add rows. Raises TypeError: a column's type is not one that the schemas use."""
        rows = piece.select(self._columns)
        sizes = np.zeros(rows.num_rows, np.int64)  # of strings and bodies; those in lists are not counted
        for column in rows.columns:
            if any(is_kind(column.type) for is_kind in _OF_BYTES):
                sizes += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
        ends = np.cumsum(sizes)
        start = 0
        while start < rows.num_rows:
            before = int(ends[start - 1]) if start else 0
            # rows until the bytes are full
            full = int(np.searchsorted(ends, before + self._block_bytes - self._bytes)) + 1
            stop = min(full, start + _BLOCK_ROWS - self._rows, rows.num_rows)
            self._pending.append(rows.slice(start, stop - start))
            self._rows += stop - start
            self._bytes += int(ends[stop - 1]) - before
            start = stop
            if self._rows >= _BLOCK_ROWS or self._bytes >= self._block_bytes:
                self._add_block(pa.concat_tables(self._pending))
                self._pending, self._rows, self._bytes = [], 0, 0

    def hexdigest(self) -> str:
        """Return 32 hex digits; call it once, at the end."""
        if self._rows:
            self._add_block(pa.concat_tables(self._pending))
        return self._digest.hexdigest()[:32]

    def _add_block(self, rows: pa.Table) -> None:
        for name in self._columns:
            self._digest.update(f"{name}\0{rows.num_rows}\0".encode())
            _feed(self._digest, pa.concat_arrays(rows.column(name).chunks))


def table_digest(table: pa.Table, columns: Sequence[str]) -> str:
    """Return 32 hex digits of the values, order, types and names of `columns`, which chunking, slicing and a trip
    through Parquet leave unchanged. Raises TypeError: a column's type is not one that the schemas use."""
    digest = TableDigest(columns)
    digest.update(table)
    return digest.hexdigest()


def _feed(digest: "hashlib._Hash", array: pa.Array) -> None:
    """Hash an array level by level: validity, then lengths, then the values below, slots under a null left out."""
    digest.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    kind = array.type
    # Not str(kind): Parquet renames the child field of a list.
    digest.update(f"{'nested' if pa.types.is_nested(kind) else kind}\0".encode())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        digest.update(_lengths(pc.list_value_length(array)))
        _feed(digest, array.flatten())
    elif pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            _feed(digest, pc.struct_field(array, index))
    elif any(is_kind(kind) for is_kind in _OF_BYTES):
        digest.update(_lengths(pc.binary_length(array)))
        _feed_bytes(digest, array.drop_null())
    elif pa.types.is_primitive(kind):
        digest.update(array.drop_null().to_numpy(zero_copy_only=False).tobytes())
    else:
        raise TypeError(f"cannot digest a column of type {kind}")


def _lengths(lengths: pa.Array) -> bytes:
    numbers: bytes = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64).tobytes()
    return numbers


def _feed_bytes(digest: "hashlib._Hash", array: pa.Array) -> None:
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        return
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    digest.update(memoryview(data)[int(bounds[0]) : int(bounds[-1])])


def with_values(table: pa.Table, name: str, values: Sequence[object]) -> pa.Table:
    """Return a table with other values in a column, whose type stays."""
    column = table.schema.get_field_index(name)
    field = table.schema.field(column)
    return table.set_column(column, field, pa.array(values, field.type))


def check_schema(schema: pa.Schema, dataset: Dataset) -> None:
    """Raise TypeError unless the columns are those of the dataset."""
    if not schema.equals(dataset.schema):
        raise TypeError(f"stage {dataset.name} made columns\n{schema}\nexpected\n{dataset.schema}")


def by_size(
    rows: pa.Table | Iterable[pa.RecordBatch], dataset: Dataset, *, group_bytes: int = ROW_GROUP_BYTES
) -> Iterator[pa.Table]:
    """Yield the rows in tables of about `group_bytes`; an empty shard gives one empty table. Small batches are copied
    together as they arrive: each takes far more memory than its values, and a slice of a larger batch keeps all of that
    batch in memory."""
    pending = _Pending()
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
    """Batches gathered for the next table; runs of small ones are copied together."""

    def __init__(self) -> None:
        self.bytes = 0  # of their values
        self._whole: list[pa.RecordBatch] = []
        self._small: list[pa.RecordBatch] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self.bytes += batch.nbytes
        if batch.nbytes < _SMALL_BYTES:
            self._small.append(batch)
            if len(self._small) >= _JOINED:
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
