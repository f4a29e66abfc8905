"""What the graph of a flow run shows: each stage after those that it reads, and as cached what was found done.

Prefect draws an edge for every id among the inputs of a task run. So that a shuffle does not draw one for each pair of
shards, a stage of several shards has a task run that stands for it: its shards come after that one, and so does the one
that stands for a stage which reads it. The other way round, shards before what joins them, the server's query would
name each parent of a reader as often as there are shards.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from uuid import UUID, uuid4

from prefect import Flow, task
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRunResult, RunInput, State, StateDetails, TaskRunResult
from prefect.context import FlowRunContext
from prefect.states import Completed

from tasks.engine.inputs import DirectoryResult, StageResult

C = TypeVar("C")
T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """The task run that stands for a stage or directory, and the flow run that it belongs to."""

    task_run: UUID
    flow_run: UUID


def current_flow_run() -> UUID | None:
    """Return the id of the flow run that this is called in."""
    context = FlowRunContext.get()
    return None if context is None or context.flow_run is None else context.flow_run.id


def edges_from(shown: Iterable[Shown | None]) -> set[RunInput]:
    """Return the task inputs that draw edges from stages; the graph of a run has one node for each of its sub-flows."""
    here = current_flow_run()
    found: set[RunInput] = set()
    for one in shown:
        if one is not None:
            found.add(TaskRunResult(id=one.task_run) if one.flow_run == here else FlowRunResult(id=one.flow_run))
    return found


def show(name: str, state: State[Any], parents: Iterable[RunInput]) -> Shown | None:
    """Show a task run that nothing ran; None outside a flow run.

    Args:
        name: what people call it.
        state: in which it is.
        parents: what it comes after.
    """
    flow_run = current_flow_run()
    if flow_run is None:
        return None
    with get_client(sync_client=True) as client:
        inputs: dict[str, list[Any]] = {"after": list(parents)}
        made = client.create_task_run(
            task(name=name)(_nothing), flow_run, str(uuid4()), name=name, state=state, task_inputs=inputs
        )
    return Shown(made.id, flow_run)


def finish(shown: Shown, state: State[Any]) -> None:
    """Set the state of a task run that nothing ran."""
    with get_client(sync_client=True) as client:
        client.set_task_run_state(shown.task_run, state, force=True)


def run_within(flow: Flow[[C], T], config: C, *reads: StageResult | DirectoryResult | None) -> T:
    """Run a flow within this one, shown after what it reads."""
    edges = edges_from(result.shown for result in reads if result is not None)
    ids = [edge.id for edge in edges if isinstance(edge, TaskRunResult | FlowRunResult)]
    after: list[State[Any]] = [Completed(data=True, state_details=StateDetails(task_run_id=id_)) for id_ in ids]
    return cast(Callable[..., T], flow)(config, wait_for=after)  # a keyword of Prefect's, which the flow's type lacks


def _nothing() -> None:
    """Stand for work that was done before, or elsewhere."""
