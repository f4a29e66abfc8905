"""Make one shard or directory: load its inputs, compute, write file and record. Runs in any process or machine."""

import functools
import os
import resource
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from storage.directories import DirectoryRecord, discard_snapshot, kept_on_store, publish_directory, working_directory
from storage.leases import Lease
from storage.recipes import DropCount, ShardRecord, save_record, shard_path
from storage.schemas import DATASETS
from storage.store import Store
from storage.writing import naming_a_full_disk
from tasks.engine.failure_logs import naming_what_failed
from tasks.engine.provenance import running_code
from tasks.engine.recipe import Load, Recipe

MACHINES = "TORCHELASTIC_RUN_ID"  # the environment has it in a command that `torchrun` started


@dataclass(frozen=True)
class Scratch:
    """A folder for one shard that survives an interrupted run; removed once the shard is done."""

    filesystem: pafs.FileSystem  # where it is
    path: str  # the folder on that filesystem; it need not exist yet


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything needed to make one shard or directory; small and picklable."""

    root: str  # the store's root
    recipe: Recipe  # of this shard alone
    shard: int  # shard number; 0 for a directory
    key: str  # the recipe's key
    inputs: Mapping[str, Load]  # argument name -> function that loads it
    digests: Mapping[str, list[str]]  # argument name -> digests, for the record
    context: Mapping[str, Any] = field(default_factory=dict)  # arguments that are not part of the recipe
    scratch: str | None = None  # argument that takes a `Scratch`, for work that survives an interruption
    lasting: str | None = None  # key of a scratch that outlives its shard, for what no other recipe should pay again
    title: str = ""  # name of the stage for people, if several stages share a dataset; "" = `stage`
    lease: Lease | None = None  # what its run holds of a root on an object store

    @property
    def stage(self) -> str:
        """Name of the dataset or directory."""
        return self.recipe.name

    @property
    def called(self) -> str:
        """Name of its stage in logs and the UI."""
        return self.title or self.stage

    @property
    def name(self) -> str:
        """Name of the job in logs and the UI."""
        return f"{self.called}-{self.shard:05d}" if self.stage in DATASETS else self.called


@naming_what_failed()
def make_shard(job: Job) -> ShardRecord:
    """Compute a shard, write file and record, return the record; raises CorruptShardError for a damaged input."""
    store = Store(job.root, job.lease)
    started = time.monotonic()
    scratch = f"{job.stage}/.scratch-{job.shard:05d}.{job.lasting or job.key}"
    scratch_argument = {job.scratch: Scratch(store.filesystem, store.path(scratch))} if job.scratch else {}
    drops = DropCount(DATASETS[job.stage])
    rows = call(job, store, **scratch_argument)
    counted = drops.table(rows) if isinstance(rows, pa.Table) else drops.batches(rows)
    written = store.write_table(shard_path(job.stage, job.shard, job.key), counted, DATASETS[job.stage])
    record = ShardRecord(
        stage=job.stage,
        shard=job.shard,
        key=job.key,
        written=written,
        drops=drops.by_reason(),
        inputs=job.digests,
        seconds=round(time.monotonic() - started, 3),
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        worst=drops.worst(),
        title=job.called,
        **_of_recipe(job),
        tally=drops.tally(),
    )
    save_record(store, record)
    if job.scratch and not job.lasting:
        store.delete_folder(scratch)
    return record


@naming_what_failed()
def make_directory(job: Job) -> DirectoryRecord:
    """Fill a directory (train a model, write a report), publish it, and return its record.

    The function gets `directory` (a local path that an interrupted run finds again; with an object store also a run on
    another machine) and returns its metrics; their field `published` names the files that readers load. Raises
    CorruptShardError: an input is damaged; StorageFullError: the disk of the local folder is full; complete files are
    kept for the next run; StorageError: the directory could not be written."""
    store = Store(job.root, job.lease)
    folder = working_directory(store, job.stage, job.key)
    started = time.monotonic()
    if job.recipe.together and MACHINES in os.environ:
        from tasks.engine.together import hand_out  # here, because it loads torch

        hand_out(job)
    location = str(folder) if store.is_local else f"{folder}, where {job.stage} is gathered (TMPDIR decides)"
    with naming_a_full_disk(location), kept_on_store(store, folder, job.stage, job.key):
        metrics = call(job, store, directory=folder)
    fields = {"inputs": job.digests, "metrics": metrics, "seconds": round(time.monotonic() - started, 3)}
    fields |= {**_of_recipe(job), "published": metrics.pop("published")}
    record = publish_directory(store, folder, name=job.stage, key=job.key, **fields)
    discard_snapshot(store, job.stage, job.key)
    return record


def call(job: Job, store: Store, **more: Any) -> Any:
    """Load the inputs of a job from the store and call its function."""
    recipe = job.recipe
    function = resolve_name(recipe.function) if isinstance(recipe.function, str) else recipe.function
    loaded = {name: load(store) for name, load in job.inputs.items()}
    settings = {} if recipe.settings is None else {"settings": recipe.settings}
    return functools.partial(function, **loaded, **settings, **recipe.arguments, **job.context, **more)()


def _of_recipe(job: Job) -> dict[str, Any]:
    """Return the fields that every record has of the recipe, and of the code that ran."""
    recipe = job.recipe
    version = recipe.made_version
    return {"settings": recipe.fields(job.shard), "version": version, "notes": recipe.notes, "code": running_code()}
