"""What each job of a run takes: time, processor time and memory of its process and of the processes it starts.

A worker process keeps its modules from job to job, so that of a thousand shards one pays for loading them: they are
loaded before a job is measured."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import psutil

from benchmarks.frame import processor_seconds
from flows.running.display import StageTaskRun
from flows.running.execution import PrefectExecutor
from flows.running.settings import EngineSettings
from tasks.engine.job import Job
from tasks.engine.stage import Executor, Outcome

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")  # Linux


@dataclass
class JobCost:
    """What a job took."""

    stage: str
    seconds: float = 0.0  # time from its start to its end
    processor: float = 0.0  # seconds of processor time, of its process and of those that it started and that have ended
    peak_bytes: int = 0  # highest resident memory of its process during the job, and of those that it started


@contextmanager
def measured(stage: str) -> Iterator[JobCost]:
    """Measure the block; the result is complete after it."""
    taken = JobCost(stage)
    _CLEAR.write_text("5")  # the highest memory is counted from here on: proc(5)
    started, used = time.perf_counter(), processor_seconds()
    try:
        with _children() as children:
            yield taken
    finally:
        taken.seconds = time.perf_counter() - started
        taken.processor = processor_seconds() - used
        taken.peak_bytes = _peak_bytes() + max(children)


@contextmanager
def _children() -> Iterator[list[int]]:
    """Note every half second how much memory the processes take that this one has started, in bytes.

    What the kernel reports of an ended process (`ru_maxrss`) includes what its parent had when it was started."""
    noted, ended = [0], threading.Event()

    def note() -> None:
        while not ended.wait(0.5):
            with suppress(psutil.NoSuchProcess):
                noted.append(sum(child.memory_info().rss for child in psutil.Process().children(recursive=True)))

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        yield noted
    finally:
        ended.set()
        thread.join()


def _peak_bytes() -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


@dataclass(frozen=True)
class MeasuredJob:
    """Makes a job and leaves what it took in a file, wherever the job runs."""

    make: Callable[[Job], Any]
    folder: str

    def __call__(self, job: Job) -> Any:
        """Return the outcome of the job."""
        if isinstance(job.recipe.function, str):
            resolve_name(job.recipe.function)
        with measured(job.called) as taken:
            outcome = self.make(job)
        (Path(self.folder) / f"{job.name.replace('/', '.')}.json").write_text(json.dumps(asdict(taken)))
        return outcome


class MeasuringExecutor(PrefectExecutor):
    """Runs jobs as every build does, and measures each."""

    def __init__(self, settings: EngineSettings, corpus: str, folder: Path) -> None:
        """Take the settings, the name of the corpus and the folder of the measurements, on a disk of all workers."""
        super().__init__(settings, corpus)
        self._folder = str(folder)

    def run(
        self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[StageTaskRun] = ()
    ) -> dict[str, Outcome]:
        """Submit every job (`PrefectExecutor.run`)."""
        return super().run(MeasuredJob(make, self._folder), jobs, after)


class PlainPool(Executor):
    """Runs jobs on processes and nothing else, without Prefect, and measures each."""

    def __init__(self, workers: int, folder: Path, *, fresh: bool = False) -> None:
        """Take the number of processes and the folder of the measurements; `fresh`: each job has one of its own."""
        self._folder = str(folder)
        self._pool = ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), max_tasks_per_child=1 if fresh else None
        )

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep the processes until the block ends."""
        with self._pool:
            yield

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Outcome]:
        """Return job name -> record."""
        return dict(zip([job.name for job in jobs], self._pool.map(MeasuredJob(make, self._folder), jobs), strict=True))


def read_measured(folder: Path) -> list[JobCost]:
    """Return what the jobs of a folder took."""
    return [JobCost(**json.loads(file.read_text())) for file in sorted(folder.glob("*.json"))]
