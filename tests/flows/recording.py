"""A walk over a flow's wiring in which nothing is computed and every job is remembered with its key."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flows.config import BuildConfig
from flows.running.session import Session
from storage.directories import DirectoryRecord
from storage.recipes import ShardRecord
from storage.store import Store, WrittenTable
from tasks.engine.job import Job
from tasks.engine.shard import make_shard
from tasks.engine.stage import Executor, Run

METRICS = {
    "parameters": 7,
    "seconds": 1.0,
    "articles": 2,
    "batch": 3,
    "way": "recorded",
    "validation_loss_floor": 0.1,
    "initial_loss": 0.3,
    "validation_loss": 0.2,
}


class RecordingExecutor(Executor):
    """Says of every job that it is done; what it made is named after its key.

    Attributes:
        jobs: all jobs, in order.
    """

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Any]:
        self.jobs += jobs
        return recorded(make, jobs)


def recorded(make: Callable[[Job], Any], jobs: Sequence[Job]) -> dict[str, Any]:
    """Return job name -> record of what it would have made."""
    return {job.name: _shard(job) if make is make_shard else _directory(job) for job in jobs}


def walked(config: BuildConfig, wiring: Callable[[Session], Any], root: Path) -> tuple[Session, list[Job]]:
    """Return the session after walking `wiring` on an empty root, and its jobs."""
    executor = RecordingExecutor()
    session = Session(config, executor, Run(Store(str(root)), executor))  # type: ignore[arg-type]
    session.once(wiring)
    return session, executor.jobs


def keys(jobs: Sequence[Job]) -> set[str]:
    return {f"{job.name}.{job.key}" for job in jobs}


def _shard(job: Job) -> ShardRecord:
    digest = hashlib.sha256(job.key.encode()).hexdigest()
    written = WrittenTable(rows=1, bytes=1, sha256=digest, digest=digest[:32])
    return ShardRecord(
        job.stage,
        job.shard,
        job.key,
        written,
        {},
        job.digests,
        job.recipe.fields(0),
        job.recipe.made_version,
        0.0,
        0,
        job.recipe.notes,
    )


def _directory(job: Job) -> DirectoryRecord:
    digest = hashlib.sha256(job.key.encode()).hexdigest()[:32]
    return DirectoryRecord(job.stage, job.key, {}, digest, job.recipe.fields(0), job.digests, METRICS, 0.0)
