"""Make one shard or directory: load its inputs, compute, write file and record. Runs in any process or machine."""

import os
import resource
import sys
import time
from typing import Any

import pyarrow as pa

from storage.directories import DirectoryRecord, discard_snapshot, kept_on_store, publish_directory, working_directory
from storage.recipes import DropCount, ShardRecord, save_record, shard_path
from storage.schemas import DATASETS
from storage.store import Store
from storage.writing import naming_a_full_disk
from tasks.engine.failure_logs import naming_what_failed
from tasks.engine.job import Job, Scratch, call
from tasks.engine.provenance import running_code

MACHINES = "TORCHELASTIC_RUN_ID"  # the environment has it in a command that `torchrun` started


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

    The function gets `directory` and returns its metrics; their field `published` names the files that readers load. An
    interrupted run finds the same local path again; with an object store also a run on another machine. Raises
    CorruptShardError: an input is damaged; StorageFullError: the disk of the local folder is full; complete files are
    kept for the next run; StorageError: the directory could not be written."""
    store = Store(job.root, job.lease)
    folder = working_directory(store, job.stage, job.key)
    started = time.monotonic()
    if job.recipe.together and MACHINES in os.environ:
        from tasks.engine.torchrun import hand_out  # here, because it loads torch

        hand_out(job)
    location = str(folder) if store.is_local else f"{folder}, where {job.stage} is gathered (TMPDIR decides)"
    with naming_a_full_disk(location), kept_on_store(store, folder, job.stage, job.key):
        metrics = call(job, store, directory=folder)
    fields = {"inputs": job.digests, "metrics": metrics, "seconds": round(time.monotonic() - started, 3)}
    fields |= {**_of_recipe(job), "published": metrics.pop("published")}
    record = publish_directory(store, folder, name=job.stage, key=job.key, **fields)
    discard_snapshot(store, job.stage, job.key)
    return record


def _of_recipe(job: Job) -> dict[str, Any]:
    """Return the fields that every record has of the recipe, and of the code that ran."""
    recipe = job.recipe
    version = recipe.made_version
    return {"settings": recipe.fields(job.shard), "version": version, "notes": recipe.notes, "code": running_code()}
