"""What a shard reads of the stages above it: whole shards, or its row group of every shard."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from storage.recipes import ShardRecord
from storage.schemas import DATASETS
from storage.store import RowGroup, Store


@dataclass(frozen=True, slots=True)
class Part:
    """A reference to a whole shard or one of its row groups; small enough to send thousands to another process."""

    stage: str
    path: str  # the file, relative to the root
    sha256: str  # digest of the file's bytes
    group: RowGroup | None  # the row group to read, or None for the whole file
    digest: str  # digest of the stable columns of what is read; part of the reader's key
    rows: int  # rows that will be read

    def read(self, store: Store) -> pa.Table:
        """Return the rows after checking them. Raises CorruptShardError: the file is gone, cut short or changed."""
        if self.group is None:
            return store.read_table(self.path, self.sha256)
        return store.read_group(self.path, self.group, DATASETS[self.stage])

    def batches(self, store: Store) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a whole shard after checking its bytes, one row group in memory at a time. Raises
        CorruptShardError: the file is gone, cut short or changed."""
        assert self.group is None
        return store.read_batches(self.path, self.sha256)


def whole(record: ShardRecord) -> Part:
    """Return all of a shard."""
    written = record.written
    return Part(record.stage, record.path, written.sha256, None, written.digest, written.rows)


def gather(records: Iterable[ShardRecord], destination: int) -> list[Part]:
    """Return the row groups that shards of a grouped stage hold for one destination shard."""
    groups = ((record, record.written.groups.get(destination)) for record in records)
    return [
        Part(record.stage, record.path, record.written.sha256, group, group.digest, group.rows)
        for record, group in groups
        if group is not None
    ]


def gathered_digests(records: Iterable[ShardRecord], destination: int) -> list[str]:
    """Return the digests of `gather`'s row groups without building parts: a plan asks for millions."""
    groups = (record.written.groups.get(destination) for record in records)
    return [group.digest for group in groups if group is not None]


def read_parts(store: Store, stage: str, parts: Iterable[Part]) -> pa.Table:
    """Return the rows of several parts of one stage, in order; no parts give an empty table of its schema. Raises
    CorruptShardError: a file is gone, cut short or changed."""
    tables = [part.read(store) for part in parts]
    return pa.concat_tables(tables) if tables else DATASETS[stage].schema.empty_table()
