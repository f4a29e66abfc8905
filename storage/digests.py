"""Content digests of Arrow tables: equal values give equal digests, however the table was made."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from hashlib import _Hash


_OF_BYTES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
_BLOCK_ROWS = 1024
BLOCK_BYTES = 16 << 20  # of text and bodies: 1,024 large pages would take too much memory


class TableDigest:
    """Digests a table that comes in pieces; how it is cut into pieces does not matter. Rows are digested in blocks of a
    fixed number of rows or bytes, so where a block ends depends on the values alone."""

    def __init__(self, columns: Sequence[str], block_bytes: int = BLOCK_BYTES) -> None:
        """Take the columns to digest, and the bytes that end a block."""
        self._block_bytes = block_bytes
        self._columns = list(columns)
        self._digest = hashlib.sha256()
        self._pending: list[pa.Table] = []
        self._rows = 0
        self._bytes = 0

    def update(self, piece: pa.Table) -> None:
        """Add rows. Raises TypeError: a column's type is not one that the schemas use."""
        rows = piece.select(self._columns)
        ends = np.cumsum(_row_bytes(rows))
        start = 0
        while start < rows.num_rows:
            before = int(ends[start - 1]) if start else 0
            full = (
                int(np.searchsorted(ends, before + self._block_bytes - self._bytes)) + 1
            )  # rows until the bytes are full
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
    """Return 32 hex digits that depend on the values, order, types and names of `columns`, and on nothing else.
    Chunking, slicing and a trip through Parquet leave it unchanged. Raises TypeError: a column's type is not one that
    the schemas use."""
    digest = TableDigest(columns)
    digest.update(table)
    return digest.hexdigest()


def _row_bytes(rows: pa.Table) -> np.ndarray:
    """Return for each row the bytes of its strings and bodies; those in lists are not counted."""
    total = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        kind = column.type
        if any(is_kind(kind) for is_kind in _OF_BYTES):
            total += pc.fill_null(pc.binary_length(column), 0).to_numpy().astype(np.int64)
    return total


def _feed(digest: "_Hash", array: pa.Array) -> None:
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
    elif pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        digest.update(_lengths(pc.binary_length(array)))
        _feed_bytes(digest, array.drop_null(), np.int64)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        digest.update(_lengths(pc.binary_length(array)))
        _feed_bytes(digest, array.drop_null(), np.int32)
    elif pa.types.is_primitive(kind):
        digest.update(array.drop_null().to_numpy(zero_copy_only=False).tobytes())
    else:
        raise TypeError(f"cannot digest a column of type {kind}")


def _lengths(lengths: pa.Array) -> bytes:
    numbers: bytes = pc.fill_null(lengths, 0).to_numpy(zero_copy_only=False).astype(np.int64).tobytes()
    return numbers


def _feed_bytes(digest: "_Hash", array: pa.Array, offset_type: type[np.integer]) -> None:
    _, offsets, data = array.buffers()
    if not len(array) or data is None:
        return
    bounds = np.frombuffer(offsets, offset_type)[array.offset : array.offset + len(array) + 1]
    digest.update(memoryview(data)[int(bounds[0]) : int(bounds[-1])])
