"""Running jobs as Prefect tasks, on threads, processes or Dask, and showing people what became of them."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Literal

import cloudpickle
from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.exceptions import TerminationSignal
from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import Task, exponential_backoff

from storage.directories import DirectoryRecord
from storage.errors import CorruptShardError, RootBusyError, StorageError, StorageFullError
from storage.store import Store
from tasks.failure_logs import describe, log_expected_failures_in_one_line, unless_prefect_is_away
from tasks.inputs import StageResult
from tasks.publishing import publish_stage, publish_training
from tasks.settings import Settings, tuning
from tasks.shard import Job, make_directory
from tasks.stage import Outcome, StagePlan

_HEARTBEAT_SECONDS = 15.0
_WATCH_SECONDS = 1.0
_SAVE_SECONDS = 60
_SERVER_WAITS = (5.0, 10.0, 20.0, 40.0, 60.0)  # seconds: a server that is started again takes a while


class EngineSettings(Settings):
    """Where shards are computed. Nothing here changes what they hold."""

    kind: Literal["threads", "processes", "dask"] = tuning(
        "processes", "task runner of the flow: threads | processes | dask"
    )
    workers: int = tuning(0, "shards computed at the same time; 0 = one a core", ge=0)
    dask_address: str | None = tuning(None, "Dask scheduler, such as tcp://10.0.0.1:8786; null = start one here")
    retries: int = tuning(3, "how often a shard is tried again after a transient failure (network, storage)", ge=0)
    retry_seconds: float = tuning(2.0, "wait before the first retry in seconds; doubles each time", ge=0)

    @property
    def parallel(self) -> int:
        """How many shards are computed at the same time."""
        return self.workers or self.cores

    @property
    def cores(self) -> int:
        """Cores of this machine that this process may use."""
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    @property
    def threads_a_shard(self) -> int:
        """Threads of torch for each of the shards that are computed at the same time."""
        return max(1, self.cores // self.parallel)


def task_runner(settings: EngineSettings) -> TaskRunner[Any]:
    """Return the Prefect task runner the settings ask for.

    Raises:
        ValueError: Dask is asked for and not installed.
    """
    if settings.kind == "threads":
        return ThreadPoolTaskRunner(max_workers=settings.parallel)
    if settings.kind == "processes":
        return ProcessPoolTaskRunner(max_workers=settings.parallel, initializer=end_with_parent)
    try:
        from prefect_dask import DaskTaskRunner
    except ImportError as error:
        raise ValueError(
            "engine.kind is 'dask', but prefect-dask is not installed: pip install prefect-dask"
        ) from error
    if settings.dask_address:
        return DaskTaskRunner(address=settings.dask_address)  # type: ignore[no-any-return]
    return DaskTaskRunner(  # type: ignore[no-any-return]
        cluster_kwargs={"n_workers": settings.parallel, "threads_per_worker": 1, "dashboard_address": None}
    )


def end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended.

    Otherwise a killed build would go on computing, and training, beside the one that was started in its place.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


def _stop_children() -> None:
    """Let the jobs of this process finish, or save what they have, for a minute at most; the runner waits for them.

    SIGTERM is sent again and again: a job that handles it returns to a pool whose other workers are gone, and would
    wait there for ever.
    """
    children = multiprocessing.active_children()
    for _ in range(_SAVE_SECONDS):
        for child in children:
            child.terminate()
        time.sleep(1)
    for child in children:
        child.kill()


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help: the network or the storage failed, not the work."""
    if isinstance(error, CorruptShardError | RootBusyError | StorageFullError):
        return False
    if isinstance(error, StorageError):
        return not isinstance(error.__cause__, PermissionError | FileNotFoundError | NotADirectoryError)
    return isinstance(error, ConnectionError | TimeoutError)


def _retry(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    error = state.result(raise_on_failure=False)
    return isinstance(error, BaseException) and is_transient(error)


@task(persist_result=False, cache_policy=NO_CACHE, log_prints=False)
def compute(pickled: bytes) -> Any:
    """Make one shard or directory (`tasks.shard`) from a pickled (make, job, threads).

    As bytes, because Prefect and Dask look through every parameter for futures, and a job can name thousands of parts.
    """
    log_expected_failures_in_one_line()
    make, job, threads = cloudpickle.loads(pickled)
    if "torch" in sys.modules:  # loaded with the job's function, where that computes with torch
        sys.modules["torch"].set_num_threads(threads)
    with _finished_before_sigterm(job):
        return make(job)


@contextmanager
def _finished_before_sigterm(job: Job) -> Iterator[None]:
    """Let SIGTERM wait until the job is done; what can be resumed, and who handles it otherwise, sees to it itself.

    A process that was told to stop then ends at once, since the pool has handed out the next job already.
    """
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not ours or job.scratch:
        yield
        return
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stopping.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if stopping.is_set():
            os._exit(1)  # the shard is recorded; the pool would hand out another one


def _outcome(future: PrefectFuture[Any]) -> Outcome:
    """Return what a task returned or raised; also where its process died under it."""
    try:
        outcome: Outcome = future.result(raise_on_failure=False)
    except BrokenProcessPool:
        return RuntimeError(
            "its process was killed, or did not start and said why above. If the machine ran out of memory, lower "
            "engine.workers, the number of articles a shard (raise shards.articles), or batch_tokens of the stage"
        )
    except ConcurrencySlotAcquisitionError as error:  # asked of the server for the task's tag
        return error
    return outcome


class PrefectExecutor:
    """Runs jobs as tasks of the flow run it is used in, on a runner of its own.

    The flow's own runner is fixed when the module is imported; this one follows the settings of the run.
    """

    def __init__(self, settings: EngineSettings) -> None:
        """Take the kind of runner, its size and the retries."""
        self.settings = settings
        self._runner: TaskRunner[Any] | None = None

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the flow run that this is called in until the block ends; flows may be nested."""
        log_expected_failures_in_one_line()
        outer = self._runner
        with task_runner(self.settings) as self._runner:
            try:
                yield
            except (KeyboardInterrupt, SystemExit, TerminationSignal):
                threading.Thread(target=_stop_children, name="stop-children", daemon=True).start()
                raise
            finally:
                self._runner = outer

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Submit every job and wait for all; an exception is an outcome, never raised.

        What was not started because the Prefect server was away is submitted again: only people need the server.
        """
        outcomes = self._submit(make, jobs)
        for seconds in _SERVER_WAITS:
            lost = [job for job in jobs if isinstance(outcomes[job.name], ConcurrencySlotAcquisitionError)]
            if not lost:
                break
            get_run_logger().warning("the Prefect server is away; trying again in %.0f s", seconds)
            time.sleep(seconds)
            outcomes.update(self._submit(make, lost))
        return outcomes

    def _submit(self, make: Callable[[Job], Any], jobs: Sequence[Job]) -> dict[str, Outcome]:
        assert self._runner is not None, "jobs run inside `serving`"
        log = get_run_logger()
        stage, started = jobs[0].stage, time.monotonic()
        log.info("%s: computing %d", stage, len(jobs))
        # The same for every shard of a stage, however many are missing: sums, and so bytes, depend on it.
        threads = self.settings.cores if make is make_directory else self.settings.threads_a_shard
        names: dict[Any, str] = {}
        futures: list[PrefectFuture[Any]] = []
        for job in jobs:
            shard_task = compute.with_options(
                name=stage,
                task_run_name=job.name,
                tags=[stage],
                retries=self.settings.retries,
                retry_delay_seconds=exponential_backoff(self.settings.retry_seconds),
                retry_jitter_factor=0.5,
                retry_condition_fn=_retry,
            )
            future = self._runner.submit(shard_task, {"pickled": cloudpickle.dumps((make, job, threads))})
            names[future.task_run_id] = job.name
            futures.append(future)
        outcomes: dict[str, Outcome] = {}
        said = started
        for future in as_completed(futures):
            name = names[future.task_run_id]
            outcome = outcomes[name] = _outcome(future)
            if isinstance(outcome, BaseException):
                log.error("%s failed: %s", name, describe(outcome))
            elif isinstance(outcome, DirectoryRecord):
                with unless_prefect_is_away(f"the artifact of {name}"):
                    publish_training(Store(jobs[0].root), outcome)
            if time.monotonic() - said > _HEARTBEAT_SECONDS and len(outcomes) < len(jobs):
                said = time.monotonic()
                remaining = (said - started) / len(outcomes) * (len(jobs) - len(outcomes))
                log.info("%s: %d of %d, about %.0f s left", stage, len(outcomes), len(jobs), remaining)
        return outcomes

    def publish(self, result: StageResult, planned: StagePlan) -> None:
        """Log a stage's counts and keep them as an artifact."""
        with unless_prefect_is_away(f"the artifact of stage {planned.stage}"):
            get_run_logger().info("%s", publish_stage(result, planned))
