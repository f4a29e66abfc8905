"""What people see of a run: its graph in the UI, the logs and progress of long tasks, and traces of OpenTelemetry.

The graph shows each stage after the stages that it reads, and finished ones as cached.

Prefect draws an edge for every id among the inputs of a task run. An edge for each pair of shards in a shuffle would be
too many, so a stage of several shards has one extra task run. Its shards come after that one, and so do the stages that
read it. In the opposite order, with shards before the task run that joins them, the server's query would list each
parent of a reader once per shard.

Traces have a run, in it its stages, in these their shards. Only the API is used, which without an SDK does nothing;
`opentelemetry-instrument` (opentelemetry-distro) starts one that sends spans where OTEL_ variables say."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast
from uuid import UUID, uuid4

from opentelemetry import trace
from prefect import Flow, get_run_logger, tags, task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRunResult, RunInput, State, StateDetails, TaskRunResult
from prefect.context import FlowRunContext
from prefect.exceptions import MissingContextError
from prefect.states import Completed

from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.recipe import DirectoryResult, StageResult
from tasks.engine.stage import Outcome
from tasks.reporting.publishing import artifact_key

C = TypeVar("C")
T = TypeVar("T")
_TRAININGS = "tasks.engine.torchrun"  # not imported: it loads torch, which a plan does not need
_LOG_SECONDS = 10.0
_ARTIFACT_SECONDS = 3.0
_tracer = trace.get_tracer("wikisum")


@dataclass(frozen=True)
class StageTaskRun:
    """The task run that represents a stage or directory, and its flow run."""

    task_run: UUID
    flow_run: UUID


def current_flow_run() -> UUID | None:
    """Return the id of the current flow run."""
    context = FlowRunContext.get()
    return None if context is None or context.flow_run is None else context.flow_run.id


def edges_from(shown: Iterable[StageTaskRun | None]) -> set[RunInput]:
    """Return the task inputs that draw edges from stages; a sub-flow is one node in the graph of its parent."""
    current = current_flow_run()
    edges: set[RunInput] = set()
    for item in shown:
        if item is not None:
            edges.add(TaskRunResult(id=item.task_run) if item.flow_run == current else FlowRunResult(id=item.flow_run))
    return edges


def show(name: str, state: State[Any], parents: Iterable[RunInput]) -> StageTaskRun | None:
    """Create a task run only for display, after its `parents`; None outside a flow run."""
    flow_run = current_flow_run()
    if flow_run is None:
        return None
    with get_client(sync_client=True) as client:
        inputs: dict[str, list[Any]] = {"after": list(parents)}
        task_run = client.create_task_run(
            task(name=name)(lambda: None), flow_run, str(uuid4()), name=name, state=state, task_inputs=inputs
        )
    return StageTaskRun(task_run.id, flow_run)


def finish(shown: StageTaskRun, state: State[Any]) -> None:
    """Set the state of a task run created by `show`."""
    with get_client(sync_client=True) as client:
        client.set_task_run_state(shown.task_run, state, force=True)


def run_within(flow: Flow[[C], T], config: C, *reads: StageResult | DirectoryResult | None) -> T:
    """Run a flow within this one, shown after its inputs; outside a flow run call its function alone."""
    if current_flow_run() is None:
        return flow.fn(config)
    edges = edges_from(result.shown for result in reads if result is not None)
    ids = [edge.id for edge in edges if isinstance(edge, TaskRunResult | FlowRunResult)]
    after: list[State[Any]] = [Completed(data=True, state_details=StateDetails(task_run_id=id_)) for id_ in ids]
    return cast(Callable[..., T], flow)(config, wait_for=after)  # a keyword of Prefect's, which the flow's type lacks


@contextmanager
def tagged(name: str) -> Iterator[None]:
    """Tag the current flow run, and all runs that begin in the block, with a name, by which the UI can filter."""
    current = current_flow_run()
    if current is not None:
        with unless_prefect_is_away(f"the tag {name}"), get_client(sync_client=True) as client:
            before = client.read_flow_run(current).tags
            if name not in before:
                client.update_flow_run(current, tags=[*before, name])
    with tags(name):
        yield


class _RunLog(logging.Handler):
    """Hands lines to the log of the Prefect run in which they arise; outside a run they are not shown."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            get_run_logger().log(record.levelno, "%s", record.getMessage())
        except MissingContextError:
            return


_RUN_LOG = _RunLog()


def show_logs_of_trainings() -> None:
    """Show what the processes of a training log in the run of its task; may be called again."""
    log = logging.getLogger(_TRAININGS)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(_RUN_LOG)


class Reported(Protocol):
    """What a task reports while it runs: any frozen dataclass with these."""

    @property
    def share(self) -> float:
        """Done, 0-1."""

    def __str__(self) -> str:
        """One line for people: numbers with their units."""


class ProgressLog:
    """Passes on a task's progress; picklable, so that it can be sent with a job to another process."""

    def __init__(self, name: str, corpus: str = "") -> None:
        """Set the name that people know the task by, and the name of its corpus, which is empty outside a build."""
        self.name, self.corpus = name, corpus
        self._logged = self._published = 0.0
        self._artifact: UUID | None = None
        self._outside = False  # of any Prefect run: then an artifact would start a server for itself

    def __call__(self, progress: Reported) -> None:
        """Log at most every ten seconds and update the artifact at most every three."""
        if self._outside:
            return
        now = time.monotonic()
        finished = progress.share >= 1
        try:
            if finished or now - self._logged >= _LOG_SECONDS:
                self._logged = now
                get_run_logger().info("%s: %s", self.name, progress)
            if finished or now - self._published >= _ARTIFACT_SECONDS:
                self._published = now
                percent, text = round(100 * progress.share, 1), str(progress)
                with unless_prefect_is_away(f"the progress of {self.name}"):
                    if self._artifact is None:
                        key = artifact_key(self.corpus, f"progress-{self.name}")
                        self._artifact = create_progress_artifact(percent, key=key, description=text)  # type: ignore[assignment]
                    else:
                        update_progress_artifact(self._artifact, percent, description=text)
        except MissingContextError:
            self._outside = True  # used as a library


def span(name: str) -> AbstractContextManager[trace.Span]:
    """Return the span of a run or a stage, to be entered."""
    return _tracer.start_as_current_span(name)


def add_shard(name: str, outcome: Outcome) -> None:
    """Add a span that has just ended to that of its stage. The machine of a job does not matter: its record has the
    time."""
    now = time.time_ns()
    seconds = getattr(outcome, "seconds", 0.0)  # an exception has none
    shard = _tracer.start_span(name, start_time=now - int(seconds * 1e9))
    if isinstance(outcome, BaseException):
        shard.record_exception(outcome)
        shard.set_status(trace.StatusCode.ERROR)
    shard.end(now)
