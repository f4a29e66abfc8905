"""The graph of a flow run in the UI: each stage after the stages that it reads, finished ones as cached.

Prefect draws an edge for every id among the inputs of a task run. To avoid an edge for each pair of shards in a
shuffle, a stage of several shards is represented by one extra task run: its shards come after that one, and so do the
stages that read it. In the opposite order, with shards before the task run that joins them, the server's query would
list each parent of a reader once per shard."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID, uuid4

from prefect import Flow, tags, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRunResult, RunInput, State, StateDetails, TaskRunResult
from prefect.context import FlowRunContext
from prefect.states import Completed

from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.recipe import DirectoryResult, StageResult

C = TypeVar("C")
T = TypeVar("T")


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
    for one in shown:
        if one is not None:
            edges.add(TaskRunResult(id=one.task_run) if one.flow_run == current else FlowRunResult(id=one.flow_run))
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
