"""A command that `torchrun` started on several machines: rank 0 runs it, and hands its trainings out to the others,
which read the inputs from the root themselves and write nothing there."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import cloudpickle

from models.training.distributed import TRAININGS, shared_store
from storage.store import Store
from tasks.engine.shard import Job, call

_POLL_SECONDS = 1.0  # in which a signal can end a process that waits


def run_on_machines(command: Callable[[], int]) -> int:
    """Run a command on rank 0 and let the other processes train what it hands out; return the exit code."""
    if int(os.environ["RANK"]):
        _take_part()
        return 0
    try:
        return command()
    finally:
        _tell(b"")


def hand_out(job: Job) -> None:
    """Let the other processes begin the training of a job."""
    _tell(cloudpickle.dumps(replace(job, context={**job.context, "progress": None})))


def _take_part() -> None:
    """Train with rank 0 what it hands out, until it has nothing more."""
    store = shared_store()
    for number in count(1):
        while not store.check([_key(number)]):
            time.sleep(_POLL_SECONDS)
        told = store.get(_key(number))
        if not told:
            return
        job: Job = cloudpickle.loads(told)
        with TemporaryDirectory(prefix="together-") as folder:
            call(job, Store(job.root), directory=Path(folder))


def _tell(what: bytes) -> None:
    store = shared_store()
    store.set(_key(store.add(TRAININGS, 1)), what)  # type: ignore[arg-type]  # the stub knows no bytes


def _key(number: int) -> str:
    return f"job-{number}"
