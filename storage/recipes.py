"""Keys and records: what a shard was made from, and whether it is still valid. A shard's file name carries its key, a
hash of everything that decides its content. A changed setting, stage version or input gives another key, so its file
does not exist yet; an unchanged one finds its file. The files themselves say what is done, and nothing else does."""

import hashlib
import heapq
import json
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from storage.errors import CorruptShardError
from storage.schemas import DATASETS, Dataset
from storage.sealed import of_kind, seal, unseal
from storage.store import RowGroup, Store, WrittenTable

JSON = Mapping[str, Any]
_log = logging.getLogger(__name__)
TALLY = "tally"  # of the metadata of a stage's table
WORST = 20  # values of a blamed column that a record names
# Small parts are copied together: a thousand as they were read take twice the memory of their values.
_JOINED_BYTES = 32 << 20


def recipe_key(stage: str, version: int, settings: JSON, shard: int, inputs: JSON) -> str:
    """Return the 16 hex digits that name a shard; schema and code share a version, `inputs` are digests by name."""
    recipe = {"stage": stage, "version": version, "settings": settings, "shard": shard, "inputs": inputs}
    canonical = json.dumps(recipe, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class ShardRecord:
    """The sidecar of a shard's file."""

    stage: str
    shard: int
    key: str  # the recipe's key, part of the file name
    written: WrittenTable  # rows, bytes and digests of the file
    drops: Mapping[str, int]  # number of rows the stage refused, by reason
    inputs: JSON  # name of each input -> digests of what was read of it
    settings: JSON  # the fields of the recipe
    version: int
    seconds: float  # time the shard took
    peak_bytes: int  # highest resident memory of the process that made it
    notes: Mapping[str, str] = field(default_factory=dict)  # what else a reader should know, as a model's name
    worst: Mapping[str, JSON] = field(default_factory=dict)  # worst values of `blamed` -> their `rows` and `drops`
    code: Mapping[str, str] = field(default_factory=dict)  # versions of code and libraries, for people; in no key
    title: str = ""  # name of the stage, if several share a dataset
    tally: Mapping[str, int] = field(default_factory=dict)  # what the stage counted besides rows

    @property
    def path(self) -> str:
        """The file, relative to the root."""
        return shard_path(self.stage, self.shard, self.key)

    @classmethod
    def from_json(cls, data: bytes) -> "ShardRecord":
        """Read a stored record. Raises ValueError: it is not a record."""
        try:
            fields = unseal(data)
            written = fields["written"]
            groups = {int(shard): of_kind(RowGroup, group) for shard, group in written["groups"].items()}
            return of_kind(cls, {**fields, "written": of_kind(WrittenTable, {**written, "groups": groups})})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a shard record: {error}") from error


def shard_path(stage: str, shard: int, key: str) -> str:
    """Return the path of a shard's file, relative to the root."""
    return f"{stage}/part-{shard:05d}.{key}.parquet"


def record_path(stage: str, shard: int, key: str) -> str:
    """Return the path of a shard's sidecar record."""
    return f"{stage}/part-{shard:05d}.{key}.json"


def save_record(store: Store, record: ShardRecord) -> None:
    """Write a record. It marks the shard as done, so write the shard's file first."""
    store.write_bytes(record_path(record.stage, record.shard, record.key), seal(asdict(record)))


def find_record(store: Store, listing: Mapping[str, int], stage: str, shard: int, key: str) -> ShardRecord | None:
    """Return the record of a finished shard, or None: its file and record exist and agree on the size; its bytes are
    checked when it is read. `listing` has the sizes of the stage's files, fetched once for all shards."""
    path, sidecar = shard_path(stage, shard, key), record_path(stage, shard, key)
    size = listing.get(path.rpartition("/")[2])
    if size is None or sidecar.rpartition("/")[2] not in listing:
        return None
    try:
        record = read_record(store, sidecar)
    except ValueError as error:
        _log.warning("%s cannot be read (%s): its shard counts as missing", sidecar, error)
        return None
    return record if record.written.bytes == size else None


def newest_records(store: Store, infos: Mapping[str, pafs.FileInfo], stage: str, shard: int) -> Iterator[ShardRecord]:
    """Yield the records of a shard's finished files (`Store.infos`), of whatever recipe, newest first."""
    sizes = {name: info.size for name, info in infos.items()}
    names = [name for name in infos if re.fullmatch(rf"part-{shard:05d}\.[0-9a-f]+\.json", name)]
    for name in sorted(names, key=lambda name: (infos[name].mtime_ns, name), reverse=True):
        record = find_record(store, sizes, stage, shard, name.split(".")[1])
        if record is not None:
            yield record


def read_record(store: Store, sidecar: str) -> ShardRecord:
    """Return the record in a file. Raises ValueError: it is none, or another shard's; FileNotFoundError: no file."""
    record = ShardRecord.from_json(store.read_bytes(sidecar))
    if record_path(record.stage, record.shard, record.key) != sidecar:
        raise ValueError(f"it is the record of {record.path}")
    return record


def set_aside(store: Store, damage: CorruptShardError) -> None:
    """Rename a damaged shard, so that the next run computes it again and a person can still inspect it."""
    if store.exists(damage.path):
        store.rename(damage.path, f"{damage.path}.damaged")
    store.delete(damage.path.removesuffix(".parquet") + ".json")


class DropCount:
    """Counts the rows a stage refused, by reason and by value of the `blamed` column, as they are written, and adds up
    the tallies in the metadata of its tables or batches."""

    def __init__(self, dataset: Dataset) -> None:
        """Take the dataset whose reason column is counted."""
        self._column = dataset.reason
        self._blamed = dataset.blamed
        self._counts: Counter[str] = Counter()
        self._by_value: dict[str, Counter[str | None]] = {}
        self._tally: Counter[str] = Counter()

    def table(self, rows: pa.Table) -> pa.Table:
        """Count and return the rows of a table."""
        self._tally.update(json.loads((rows.schema.metadata or {}).get(TALLY.encode(), "{}")))
        if self._column is not None:
            for pair in pc.value_counts(rows.column(self._column).drop_null()).to_pylist():
                self._counts[pair["values"]] += pair["counts"]
            if self._blamed is not None:
                pairs = rows.select([self._blamed, self._column]).group_by([self._blamed, self._column])
                for value, reason, count in zip(
                    *pairs.aggregate([([], "count_all")]).to_pydict().values(), strict=True
                ):
                    self._by_value.setdefault(value, Counter())[reason] += count
        return rows

    def batches(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count and pass on batches."""
        for batch in rows:
            self.table(pa.Table.from_batches([batch]))
            yield batch

    def by_reason(self) -> dict[str, int]:
        """Return how many rows were refused, most frequent reason first; kept rows are not counted."""
        return most_first(self._counts)

    def tally(self) -> dict[str, int]:
        """Return what the stage counted besides rows."""
        return dict(self._tally)

    def worst(self) -> dict[str, JSON]:
        """Return the values of the blamed column with the most refused rows, worst first, as a record stores them."""
        values = {}
        for value, counts in self._by_value.items():
            drops = {reason: count for reason, count in counts.items() if reason is not None}
            if drops:
                values[value] = {"rows": counts.total(), "drops": dict(sorted(drops.items()))}
        return worst_of(values)


def most_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts by name, the highest first, equal ones in the order of their names."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def worst_of(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the `WORST` values with the most refused rows, worst first; ties are broken by name."""
    ordered = heapq.nsmallest(WORST, values.items(), key=lambda item: (-sum(item[1]["drops"].values()), item[0]))
    return dict(ordered)


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

    def batches(self, store: Store) -> pa.RecordBatchReader:
        """Return a reader of a whole shard, which has one row group in memory at a time. Its first batch raises
        CorruptShardError: the file is gone, cut short or changed."""
        assert self.group is None
        read = store.read_batches(self.path, self.sha256)
        return pa.RecordBatchReader.from_batches(DATASETS[self.stage].schema, read)


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
    """Return the rows of parts of a stage, in order; none give an empty table. CorruptShardError: a file is damaged."""
    tables, small, held = list[pa.Table](), list[pa.Table](), 0
    for part in parts:
        small.append(part.read(store))
        held += small[-1].nbytes
        if held >= _JOINED_BYTES:
            tables.append(pa.concat_tables(small).combine_chunks() if len(small) > 1 else small[0])
            small, held = [], 0
    tables += small
    return pa.concat_tables(tables) if tables else DATASETS[stage].schema.empty_table()
