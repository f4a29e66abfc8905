"""What a Prefect server needs before it can run builds: a work pool, the deployments, and an eye on dead runs."""

import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from prefect.automations import Automation
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound

PROJECT = Path(__file__).parents[2]
ZOMBIES = "Mark runs that went silent as crashed"
HEARTBEAT_SECONDS = 30  # the most often Prefect sends them
_LAPSE = timedelta(seconds=120)  # a process that swaps or pickles a large table can miss two


def create_work_pool(name: str, kind: str) -> None:
    """Create a work pool unless there is one.

    Raises:
        ValueError: there is one of another kind.
    """
    with get_client(sync_client=True) as client:
        try:
            found = client.read_work_pool(name)
        except ObjectNotFound:
            client.create_work_pool(WorkPoolCreate(name=name, type=kind))
            return
    if found.type != kind:
        raise ValueError(f"work pool {name!r} is of type {found.type}, expected {kind}: give another --pool")


def deploy(environment: Mapping[str, str]) -> None:
    """Create or renew every deployment of prefect.yaml.

    Raises:
        RuntimeError: Prefect refuses one; its output says why.
    """
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"`prefect deploy --all` failed:\n{(done.stdout + done.stderr)[-4000:]}")


def create_zombie_automation() -> None:
    """Have runs marked crashed whose heartbeats lapse: the machine or its worker died without a word.

    Else such a run stays Running for ever and keeps its deployment's only slot. Prefect's documentation of zombie
    flows has the trigger; a server of one's own does not come with it.
    """
    ends = ("Completed", "Failed", "Cancelled", "Crashed")
    automation = Automation(
        name=ZOMBIES,
        description=f"A run sends a heartbeat every {HEARTBEAT_SECONDS} s; none in {_LAPSE.seconds} s: it is gone.",
        trigger=EventTrigger(
            after={"prefect.flow-run.heartbeat"},
            expect={"prefect.flow-run.heartbeat", *(f"prefect.flow-run.{state}" for state in ends)},
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=_LAPSE,
        ),
        actions=[
            ChangeFlowRunState(
                state=StateType.CRASHED,
                name="Crashed",
                message="No heartbeat: its process or machine is gone. Run it again: it computes only what is missing.",
            )
        ],
    )
    with get_client(sync_client=True) as client:
        for found in client.read_automations_by_name(ZOMBIES):
            client.delete_automation(found.id)
    automation.create()
