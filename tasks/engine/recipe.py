"""What a stage makes, what it reads, and everything else that decides the content of its shards.

A flow writes `same(articles)` for the shard of the same number, and `gathered(documents)` for the reader's row group of
every shard. It writes `only(vocabulary)` for the single shard of a stage, `every(articles, paragraphs)` for lazy access
to all shards, and `contents(ranker)` for the directory of a model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow as pa

from storage.builds import Build, latest_build, read_build
from storage.directories import DirectoryRecord, fetch_directory
from storage.errors import StorageError
from storage.recipes import Part, ShardRecord, gather, gathered_digests, read_parts, read_record, recipe_key, whole
from storage.root import check_root
from storage.schemas import Dataset
from storage.store import Store
from tasks.engine.settings import Settings

Load = Callable[[Store], Any]  # loads one argument of one shard; small and picklable


@dataclass(frozen=True)
class Recipe:
    """How a stage or directory is made: with its inputs the key of each shard. The function is in no key."""

    made: Dataset | str  # the dataset, or the name of a directory, such as models/ranker
    # pure; gets inputs, settings, arguments and context by keyword, and returns a table or its batches in order.
    # The function of a directory returns metrics (`tasks.engine.shard.make_directory`). The flows name it
    # "module:function", so that only a process that calls it imports its module: a plan loads no torch, and a
    # worker that crawls no spaCy.
    function: Callable[..., Any] | str
    settings: Settings | None = None  # the stage's section, passed as `settings`; None if it takes none
    arguments: Mapping[str, Any] = field(default_factory=dict)  # further arguments
    per_shard: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # further arguments -> value for each shard
    notes: Mapping[str, str] = field(default_factory=dict)  # other facts, for the records, as a model's version
    version: int = 0  # of a directory; a dataset has its own version
    together: bool = False  # whether all processes that `torchrun` started make the directory

    @property
    def name(self) -> str:
        """Name of the dataset or directory."""
        return self.made if isinstance(self.made, str) else self.made.name

    @property
    def made_version(self) -> int:
        """The version in the keys."""
        return self.version if isinstance(self.made, str) else self.made.version

    def of(self, shard: int) -> "Recipe":
        """Return the recipe of one shard alone."""
        own = {name: values[shard] for name, values in self.per_shard.items()}
        return replace(self, arguments={**self.arguments, **own}, per_shard={})

    def key(self, shard: int, digests: Mapping[str, list[str]]) -> str:
        """Return the key of a shard, given argument name -> digests of its inputs."""
        return recipe_key(self.name, self.made_version, {**self.fields(shard), **self.notes}, shard, digests)

    def fields(self, shard: int) -> dict[str, Any]:
        """Return the settings and arguments of a shard, JSON-able."""
        fields = self.settings.recipe() if self.settings is not None else {}
        given = self.of(shard).arguments
        return fields | {name: value.recipe() if hasattr(value, "recipe") else value for name, value in given.items()}


@dataclass(frozen=True)
class StageResult:
    """The shards of a stage."""

    stage: str  # stage name
    shards: Sequence[int]  # all shard numbers of the stage
    records: Mapping[int, ShardRecord]  # shard number -> record, for finished shards
    shown: Any = field(default=None, compare=False, repr=False)  # its reference in the UI, for its readers
    title: str = field(default="", compare=False)  # distinguishes stages of the same dataset; empty = as the dataset

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
    """A trained model or a report, made or still planned."""

    name: str  # its name, such as models/ranker
    record: DirectoryRecord | None  # its record, or None if it is not made yet
    shown: Any = field(default=None, compare=False, repr=False)  # its reference in the UI, as for a stage

    @property
    def complete(self) -> bool:
        """Whether it is made."""
        return self.record is not None


@dataclass(frozen=True)
class Input:
    """One argument of a stage's function."""

    results: tuple[StageResult | DirectoryResult, ...]  # the stages and directories that it reads
    digests: Callable[[int], list[str] | None]  # shard -> digests for its key; None while unknown
    loading: Callable[[int], Load]  # shard -> what loads it, once the digests are known


Inputs = Mapping[str, Input]  # argument name -> input


@dataclass(frozen=True)
class Shards:
    """All shards of one or more stages with the same sharding, each read on request."""

    store: Store = field(compare=False)  # where they are
    parts: tuple[tuple[Part, ...], ...]  # for each shard, one part per stage

    def __len__(self) -> int:
        return len(self.parts)

    def read(self, shard: int) -> tuple[pa.Table, ...]:
        """Return the tables of one shard, one per stage. Raises CorruptShardError: a file is gone or changed."""
        return tuple(part.read(self.store) for part in self.parts[shard])

    def __iter__(self) -> Iterator[tuple[pa.Table, ...]]:
        return (self.read(shard) for shard in range(len(self)))


def same(result: StageResult, *, batches: bool = False) -> Input:
    """Return the shard of the same number as a table, or in `batches` if it may be too large for memory."""

    def digests(shard: int) -> list[str] | None:
        record = result.records.get(shard)
        return None if record is None else [record.written.digest]

    def loading(shard: int) -> Load:
        part = whole(result.records[shard])
        return part.batches if batches else partial(read_parts, stage=result.stage, parts=(part,))

    return Input((result,), digests, loading)


def only(result: StageResult) -> Input:
    """Return the single shard of a stage with one shard as a table, for every shard of the reader."""
    first = same(result)
    return Input((result,), lambda _: first.digests(0), lambda _: first.loading(0))


def gathered(*results: StageResult) -> Input:
    """Return the row groups for this shard in every shard of a grouped stage (the shuffle), or of several of the same
    dataset, as a table."""

    def digests(shard: int) -> list[str] | None:
        if not all(result.complete for result in results):
            return None
        return [digest for result in results for digest in gathered_digests(result.in_order, shard)]

    def loading(shard: int) -> Load:
        parts = tuple(part for result in results for part in gather(result.in_order, shard))
        return partial(read_parts, stage=results[0].stage, parts=parts)

    return Input(results, digests, loading)


def every(*results: StageResult) -> Input:
    """Return all shards of some stages as `Shards`: tuples of tables, one a stage, read when asked for."""

    def digests(_: int) -> list[str] | None:
        if not all(result.complete for result in results):
            return None
        return [record.written.digest for result in results for record in result.in_order]

    def loading(_: int) -> Load:
        columns = [[whole(record) for record in result.in_order] for result in results]
        return partial(Shards, parts=tuple(zip(*columns, strict=True)))

    return Input(results, digests, loading)


def contents(result: DirectoryResult) -> Input:
    """Return a directory as a path on local disk."""

    def loading(_: int) -> Load:
        assert result.record is not None
        return partial(fetch_directory, record=result.record)

    return Input((result,), lambda _: None if result.record is None else [result.record.digest], loading)


def finished_build(store: Store, name: str | None, having: str | None = None) -> Build:
    """Return a build by name, or the latest, or if that lacks it the newest `having` a stage or model, if there is one.
    Raises StorageError: there is none, or no root of a format read here."""
    check_root(store)
    build = read_build(store, name) if name else latest_build(store, having) or latest_build(store)
    if build is None:
        raise StorageError(f"root {store.root!r} has no build: expected the root of a finished build or import")
    return build


def finished_stage(store: Store, build: Build, stage: str) -> StageResult:
    """Return a stage of a build. Raises ValueError: it has none of that name; StorageError: a record is damaged."""
    if stage not in build.stages:
        raise ValueError(f"build {build.name} has no stage {stage}, only {', '.join(sorted(build.stages))}")
    records = {}
    for shard, path in build.stages[stage].items():
        sidecar = path.removesuffix(".parquet") + ".json"
        try:
            records[int(shard)] = read_record(store, sidecar)
        except FileNotFoundError:
            raise StorageError(f"{sidecar}, which build {build.name} names, is missing below {store.root}") from None
        except ValueError as error:
            raise StorageError(f"{sidecar}, which build {build.name} names, cannot be read: {error}") from error
    return StageResult(stage, range(len(records)), dict(sorted(records.items())))
