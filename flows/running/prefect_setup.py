"""Prepare a Prefect server for builds: a work pool, the deployments, and an automation for dead runs."""

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

from flows.running.command_line import Stopped

DEPLOYMENTS = Path(__file__).parents[1] / "prefect.yaml"
ZOMBIES = "Mark runs that went silent as crashed"
HEARTBEAT_SECONDS = 30  # the shortest interval that Prefect allows
_LAPSE = timedelta(seconds=120)  # a process that swaps or pickles a large table can miss two


def create_work_pool(name: str, kind: str) -> None:
    """Create a work pool if it does not exist. Raises ValueError: it exists with another kind."""
    with get_client(sync_client=True) as client:
        try:
            pool = client.read_work_pool(name)
        except ObjectNotFound:
            client.create_work_pool(WorkPoolCreate(name=name, type=kind))
            return
    if pool.type != kind:
        raise ValueError(f"work pool {name!r} is of type {pool.type}, expected {kind}: give another --pool")


def deploy(environment: Mapping[str, str]) -> None:
    """Create or renew every deployment of prefect.yaml, to run in this folder; Stopped if Prefect rejects one."""
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(DEPLOYMENTS)]
    done = subprocess.run(
        command, env={**environment, "PWD": str(Path.cwd())}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Stopped(f"`prefect deploy --all` failed:\n{(done.stdout + done.stderr)[-4000:]}")


def create_zombie_automation() -> None:
    """Mark runs without heartbeats as crashed: else a dead worker's run keeps its deployment's only slot for ever."""
    ends = ("Completed", "Failed", "Cancelled", "Crashed")
    automation = Automation(
        name=ZOMBIES,
        description=f"A run whose last heartbeat (every {HEARTBEAT_SECONDS} s) is {_LAPSE.seconds} s old is dead.",
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
        for existing in client.read_automations_by_name(ZOMBIES):
            client.delete_automation(existing.id)
    automation.create()
