"""Run jobs as Prefect tasks, on threads, processes or Dask, and show their outcomes in the UI."""

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import cloudpickle
from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import RunInput, State, TaskRun
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.exceptions import TerminationSignal
from prefect.futures import PrefectFuture, as_completed
from prefect.states import Completed, Crashed, Failed, Running
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from prefect.tasks import Task, exponential_backoff

from flows.running import display
from flows.running.faults import report_full_disk
from flows.running.settings import EngineSettings
from flows.running.worker_processes import ProcessPool, end_when_output_is_lost, prefect_settings, start_worker
from models.training.stopping import stop_trainings
from storage.directories import DirectoryRecord
from storage.errors import BudgetSpentError, CorruptShardError, RootBusyError, StorageError, StorageFullError
from storage.store import Store
from tasks.engine.closing import on_sigterm
from tasks.engine.failure_logs import describe, log_expected_failures_in_one_line, unless_prefect_is_away
from tasks.engine.job import Job
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Outcome, StagePlan
from tasks.reporting.publishing import publish_stage, publish_training

_HEARTBEAT_SECONDS = 15.0
SAVE_SECONDS = 60
_KILL_SECONDS = 30  # time for a pool to notice that its processes were killed, and to close
_INTERRUPTED = 130  # exit code of the command line after a Ctrl-C
RETRIES = 3  # of a shard after a transient failure of network or storage
RETRY_SECONDS = 2.0  # before the first retry of a shard; doubles with each further one
_SERVER_WAITS = (5.0, 10.0, 20.0, 40.0, 60.0)  # seconds: restarting a server takes a while
_log = logging.getLogger(__name__)


def task_runner(settings: EngineSettings) -> TaskRunner[Any]:
    """Return the Prefect task runner of the settings; `check_machine` has checked that Dask is installed if they need
    it."""
    if settings.kind == "threads":
        return ThreadPoolTaskRunner(max_workers=settings.parallel)
    if settings.kind == "processes":
        prepared = (os.getpid(), prefect_settings())
        return ProcessPool(max_workers=settings.parallel, initializer=start_worker, initargs=prepared)
    from prefect_dask import DaskTaskRunner

    if settings.dask_address:
        return DaskTaskRunner(address=settings.dask_address)  # type: ignore[no-any-return]
    # A free port of this machine alone: without an address every cluster takes 8787, and warns if another has it.
    dashboard = {"dashboard_address": "127.0.0.1:0"}
    return DaskTaskRunner(  # type: ignore[no-any-return]
        cluster_kwargs={"n_workers": settings.parallel, "threads_per_worker": 1, **dashboard}
    )


def _stop_jobs(ended: threading.Event) -> None:
    """Give jobs a minute to finish or to save their state; the runner waits for them and then `ended` is set.

    All are asked repeatedly: a process that handles SIGTERM returns to a pool whose other workers have ended, where it
    would wait for ever, and a training may begin after the first time. A thread cannot be ended: trainings on threads
    are asked to stop, and whatever still runs after the minute, such as a long crawl, ends with the process. Finished
    work is kept in any case."""
    children = multiprocessing.active_children()
    for _ in range(SAVE_SECONDS):
        stop_trainings()
        for child in children:
            child.terminate()
        if ended.wait(1):
            return
    for child in children:
        child.kill()
    if not ended.wait(_KILL_SECONDS if children else 0):
        _log.warning("some jobs did not stop within %d s; finished work is kept", SAVE_SECONDS)
        os._exit(_INTERRUPTED)


def is_transient(error: BaseException) -> bool:
    """Whether a retry may help: the network or the storage failed, not the computation."""
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
    """Make one shard or directory from a pickled (make, job): Prefect and Dask would search thousands of parts."""
    log_expected_failures_in_one_line()
    display.show_logs_of_trainings()
    make, job = cloudpickle.loads(pickled)
    with _finished_before_sigterm(job):
        return make(job)


@contextmanager
def _finished_before_sigterm(job: Job) -> Iterator[None]:
    """Delay SIGTERM to the job's end, then exit, because the pool has assigned the next; some jobs handle it
    themselves."""
    if job.scratch:
        yield
        return
    stopping = threading.Event()
    try:
        with on_sigterm(stopping.set):
            yield
    finally:
        if stopping.is_set():
            os._exit(1)  # the shard is recorded; otherwise the pool would assign another one


def _outcome(future: PrefectFuture[Any]) -> Outcome:
    """Return what a task returned or raised, also if its process died."""
    try:
        outcome: Outcome = future.result(raise_on_failure=False)
    except BrokenProcessPool:
        return RuntimeError(
            "its process was killed, or did not start for the reason logged above. If the machine ran out of memory, "
            "lower engine.workers, the articles per shard (raise shards.articles), or the stage's batch_tokens"
        )
    except Exception as error:  # noqa: BLE001 - the task was ended from outside, or the server rejected its tag
        return error
    return outcome


class PrefectExecutor(Executor):
    """Runs jobs as tasks of the current flow run, on a runner of the run's settings, not of the imported flow's."""

    def __init__(self, settings: EngineSettings, corpus: str = "") -> None:
        """Take how jobs run, and the name of the corpus for what is published."""
        self.settings, self.corpus = settings, corpus
        self._runner: TaskRunner[Any] | None = None
        self._shown: display.StageTaskRun | None = None  # the task run that represents the last jobs

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep one task runner open during the block: starting processes costs more than a small sub-flow."""
        if self._runner is not None:
            self._serve_another_flow_run()
            try:
                yield
            finally:
                self._serve_another_flow_run()
            return
        end_when_output_is_lost()
        ended = threading.Event()
        try:
            with task_runner(self.settings) as self._runner:
                try:
                    yield
                except (KeyboardInterrupt, SystemExit, TerminationSignal, BudgetSpentError):
                    threading.Thread(target=_stop_jobs, args=(ended,), name="stop-jobs", daemon=True).start()
                    raise
                finally:
                    self._runner = None
        finally:
            ended.set()

    def _serve_another_flow_run(self) -> None:
        if isinstance(self._runner, ProcessPool):  # the other runners pass the context with every task
            self._runner.serve_another_flow_run()

    def run(
        self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[display.StageTaskRun] = ()
    ) -> dict[str, Outcome]:
        """Submit every job, shown as children of their stage, and wait for all; an exception is an outcome."""
        report_full_disk(Store(jobs[0].root))
        edges, stage = display.edges_from(after), jobs[0].called
        self._shown = None
        with display.span(stage):
            if len(jobs) == 1:
                return self._attempt(make, jobs, edges)
            with unless_prefect_is_away(f"stage {stage} in the graph of the run"):
                self._shown = display.show(stage, Running(), edges)
            end: State[Any] = Crashed(message="interrupted; finished shards are kept")
            try:
                outcomes = self._attempt(
                    make, jobs, edges if self._shown is None else display.edges_from([self._shown])
                )
                failed = sum(isinstance(outcome, BaseException) for outcome in outcomes.values())
                end = Failed(message=f"{failed} of {len(jobs)} failed") if failed else Completed()
            finally:
                if self._shown is not None:
                    with unless_prefect_is_away(f"the end of stage {stage}"):
                        display.finish(self._shown, end)
            return outcomes

    def _attempt(self, make: Callable[[Job], Any], jobs: Sequence[Job], edges: set[RunInput]) -> dict[str, Outcome]:
        """Submit jobs, and those again that did not start because the Prefect server did not answer."""
        outcomes = self._submit(make, jobs, edges)
        for seconds in _SERVER_WAITS:
            lost = [job for job in jobs if isinstance(outcomes[job.name], ConcurrencySlotAcquisitionError)]
            if not lost:
                break
            get_run_logger().warning("the Prefect server does not answer; trying again in %.0f s", seconds)
            time.sleep(seconds)
            outcomes.update(self._submit(make, lost, edges))
        return outcomes

    def _submit(self, make: Callable[[Job], Any], jobs: Sequence[Job], edges: set[RunInput]) -> dict[str, Outcome]:
        assert self._runner is not None, "jobs run inside `serving`"
        log = get_run_logger()
        stage, started = jobs[0].called, time.monotonic()
        names: dict[Any, str] = {}
        futures: list[PrefectFuture[Any]] = []
        for job in jobs:
            shard_task = compute.with_options(
                name=stage,
                task_run_name=job.name,
                tags=[job.stage],
                retries=RETRIES,
                retry_delay_seconds=exponential_backoff(RETRY_SECONDS),
                retry_jitter_factor=0.5,
                retry_condition_fn=_retry,
            )
            pickled = cloudpickle.dumps((make, job))
            futures.append(self._runner.submit(shard_task, {"pickled": pickled}, dependencies={"pickled": edges}))
            names[futures[-1].task_run_id] = job.name
        if self._shown is None and (flow_run := display.current_flow_run()) is not None:
            self._shown = display.StageTaskRun(futures[0].task_run_id, flow_run)
        outcomes: dict[str, Outcome] = {}
        logged = started
        for future in as_completed(list(futures)):
            name = names[future.task_run_id]
            outcome = outcomes[name] = _outcome(future)
            display.add_shard(name, outcome)
            if isinstance(outcome, BaseException):
                log.error("%s failed: %s", name, describe(outcome))
            elif isinstance(outcome, DirectoryRecord):
                with unless_prefect_is_away(f"the artifact of {name}"):
                    publish_training(Store(jobs[0].root), outcome, self.corpus)
            if time.monotonic() - logged > _HEARTBEAT_SECONDS and len(outcomes) < len(jobs):
                logged = time.monotonic()
                remaining = (logged - started) / len(outcomes) * (len(jobs) - len(outcomes))
                log.info("%s: %d of %d, about %.0f s left", stage, len(outcomes), len(jobs), remaining)
        return outcomes

    def begin(self, planned: StagePlan) -> None:
        """Log how many shards of a stage are computed now, and why; nothing outside a flow run."""
        if display.current_flow_run() is not None:
            missing, shards, why = planned.missing, planned.shards, planned.reason
            get_run_logger().info("%s: computing %d of %d: %s", planned.stage, missing, shards, why)

    def show(self, planned: StagePlan, after: Sequence[display.StageTaskRun]) -> display.StageTaskRun | None:
        """Show a finished stage as cached; return its task run, or that of the jobs that have just made it."""
        shown, self._shown = self._shown, None
        if planned.done == planned.shards:
            cached: State[Any] = Completed(name="Cached", message=f"all {planned.shards} were done before")
            with unless_prefect_is_away(f"stage {planned.stage} in the graph of the run"):
                shown = display.show(planned.stage, cached, display.edges_from(after))
        return shown

    def publish(self, result: StageResult, planned: StagePlan) -> None:
        """Log a stage's counts and publish them as an artifact; nothing outside a flow run."""
        if display.current_flow_run() is None:
            return
        with unless_prefect_is_away(f"the artifact of stage {planned.stage}"):
            get_run_logger().info("%s", publish_stage(result, planned, self.corpus))
