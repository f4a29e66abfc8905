"""What a stage reads of the stages above it, said once in a flow and loaded where the shard is computed.

An input answers two questions for a shard: which digests does it bring to the shard's key (None while the stage above
is not done), and what is to be loaded. The flow says `same(articles)` for the shard of the same number (`streamed` for
its batches),
`gathered(documents)` for its row group of every shard, `every(articles, paragraphs)` for a lazy walk over all shards,
and `contents(ranker)` for the directory of a model.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from storage.directories import DirectoryRecord, fetch_directory
from storage.parts import Part, gather, gathered_digests, read_parts, whole
from storage.recipes import ShardRecord
from storage.store import Store


@dataclass(frozen=True)
class StageResult:
    """The shards of a stage.

    Attributes:
        stage: stage name.
        shards: all shard numbers of the stage.
        records: shard number -> record, for those that are done.
    """

    stage: str
    shards: Sequence[int]
    records: Mapping[int, ShardRecord]

    @property
    def complete(self) -> bool:
        """Whether every shard is done."""
        return len(self.records) == len(self.shards)

    @property
    def in_order(self) -> list[ShardRecord]:
        """The records of a complete stage, by shard number."""
        assert self.complete, f"{self.stage} is not complete"
        return [self.records[shard] for shard in self.shards]


@dataclass(frozen=True)
class DirectoryResult:
    """A trained model or a report, or the promise of one.

    Attributes:
        name: what it is, such as models/ranker.
        record: its record, or None while it is not made.
    """

    name: str
    record: DirectoryRecord | None


class Reference(ABC):
    """What a job loads for one argument; small and picklable."""

    @abstractmethod
    def load(self, store: Store) -> Any:
        """Return the argument.

        Raises:
            CorruptShardError: a file is gone, cut short or changed.
        """


class Input(ABC):
    """One argument of a stage's function."""

    @abstractmethod
    def digests(self, shard: int) -> list[str] | None:
        """Return what the argument brings to the key of `shard`; None while it is not known."""

    @abstractmethod
    def reference(self, shard: int) -> Reference:
        """Return what the job of `shard` loads; asked only when the digests are known."""


@dataclass(frozen=True)
class TableReference(Reference):
    """The rows of some parts, as one table."""

    stage: str
    parts: tuple[Part, ...]

    def load(self, store: Store) -> pa.Table:
        """Return the rows."""
        return read_parts(store, self.stage, self.parts)


@dataclass(frozen=True)
class BatchesReference(Reference):
    """The rows of a part, as record batches."""

    part: Part

    def load(self, store: Store) -> Iterator[pa.RecordBatch]:
        """Return the batches; asking for the first one can raise CorruptShardError."""
        return self.part.batches(store)


@dataclass(frozen=True)
class Shards:
    """All shards of one or more stages that share their sharding, each read when asked for.

    Attributes:
        store: where they are.
        parts: for each shard, one part a stage.
    """

    store: Store
    parts: tuple[tuple[Part, ...], ...]

    def __len__(self) -> int:
        return len(self.parts)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        """Return the tables of one shard, one a stage.

        Raises:
            CorruptShardError: a file is gone, cut short or changed.
        """
        return tuple(part.read(self.store) for part in self.parts[shard])

    def __iter__(self) -> Iterator[tuple[pa.Table, ...]]:
        return (self.read(shard) for shard in range(len(self)))


@dataclass(frozen=True)
class ShardsReference(Reference):
    """All shards of some stages, read lazily."""

    parts: tuple[tuple[Part, ...], ...]

    def load(self, store: Store) -> Shards:
        """Return the lazy sequence; its reads can raise CorruptShardError."""
        return Shards(store, self.parts)


@dataclass(frozen=True)
class DirectoryReference(Reference):
    """A directory on local disk."""

    record: DirectoryRecord

    def load(self, store: Store) -> Path:
        """Return the directory on local disk, downloaded if the root is elsewhere."""
        return fetch_directory(store, self.record)


@dataclass(frozen=True)
class same(Input):  # noqa: N801 - reads as a word of the flow's wiring
    """The shard of the same number."""

    result: StageResult

    def digests(self, shard: int) -> list[str] | None:
        """Return the digest of that shard."""
        record = self.result.records.get(shard)
        return None if record is None else [record.written.digest]

    def reference(self, shard: int) -> Reference:
        """Return that shard."""
        return TableReference(self.result.stage, (whole(self.result.records[shard]),))


@dataclass(frozen=True)
class streamed(Input):  # noqa: N801
    """The shard of the same number in record batches, for stages whose shards are larger than memory should be."""

    result: StageResult

    def digests(self, shard: int) -> list[str] | None:
        """Return the digest of that shard."""
        return same(self.result).digests(shard)

    def reference(self, shard: int) -> Reference:
        """Return that shard's batches."""
        return BatchesReference(whole(self.result.records[shard]))


@dataclass(frozen=True)
class gathered(Input):  # noqa: N801
    """The row groups for this shard in every shard of a grouped stage (the shuffle)."""

    result: StageResult

    def digests(self, shard: int) -> list[str] | None:
        """Return the digests of those row groups."""
        return gathered_digests(self.result.in_order, shard) if self.result.complete else None

    def reference(self, shard: int) -> Reference:
        """Return those row groups."""
        return TableReference(self.result.stage, tuple(gather(self.result.in_order, shard)))


@dataclass(frozen=True)
class only(Input):  # noqa: N801
    """The single shard of a stage that has one, whatever the reader's shard."""

    result: StageResult

    def digests(self, shard: int) -> list[str] | None:
        """Return the digest of that shard."""
        return same(self.result).digests(0)

    def reference(self, shard: int) -> Reference:
        """Return that shard."""
        return same(self.result).reference(0)


@dataclass(frozen=True)
class every(Input):  # noqa: N801
    """All shards of some stages, lazily, as tuples of tables."""

    results: tuple[StageResult, ...] = field(default=())

    def __init__(self, *results: StageResult) -> None:
        """Take the stages in the order of the tuples."""
        object.__setattr__(self, "results", results)

    def digests(self, shard: int) -> list[str] | None:
        """Return the digests of all their shards."""
        if not all(result.complete for result in self.results):
            return None
        return [record.written.digest for result in self.results for record in result.in_order]

    def reference(self, shard: int) -> Reference:
        """Return all their shards."""
        columns = [[whole(record) for record in result.in_order] for result in self.results]
        return ShardsReference(tuple(zip(*columns, strict=True)))


@dataclass(frozen=True)
class contents(Input):  # noqa: N801
    """A directory on local disk."""

    result: DirectoryResult

    def digests(self, shard: int) -> list[str] | None:
        """Return the digest of its published files."""
        return None if self.result.record is None else [self.result.record.digest]

    def reference(self, shard: int) -> Reference:
        """Return the directory."""
        assert self.result.record is not None
        return DirectoryReference(self.result.record)
