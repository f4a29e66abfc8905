"""Prepare a Prefect server for builds: a work pool and the deployments."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectNotFound

from flows.running.command_line import Stopped

DEPLOYMENTS = Path(__file__).parents[1] / "prefect.yaml"


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


def resume_schedules(names: Sequence[str]) -> None:
    """Switch on the schedules of deployments, which are off after `deploy`."""
    with get_client(sync_client=True) as client:
        for name in names:
            deployment = client.read_deployment_by_name(f"{name}/{name}")
            for schedule in deployment.schedules:
                client.update_deployment_schedule(deployment.id, schedule.id, active=True)
