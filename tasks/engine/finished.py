"""The stages of a finished build, for code that reads an existing corpus."""

from storage.builds import Build, latest_build, read_build
from storage.errors import StorageError
from storage.recipes import read_record
from storage.store import Store
from tasks.engine.inputs import StageResult


def finished_build(store: Store, name: str | None) -> Build:
    """Return a build by name, or the latest one. Raises StorageError: there is none."""
    build = read_build(store, name) if name else latest_build(store)
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
