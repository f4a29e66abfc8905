"""Prepare a Prefect server: work pool, deployments, and the alarms that a dead process cannot send itself."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from prefect.automations import Automation
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ActionTypes, ChangeFlowRunState, SendNotification
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.types import SecretDict

from flows.running.command_line import Stopped
from flows.running.faults import KINDS

DEPLOYMENTS = Path(__file__).parents[1] / "prefect.yaml"
ZOMBIES = "Mark runs that went silent as crashed"
LATE, LONGEST = timedelta(hours=1), timedelta(hours=48)
SILENCE = timedelta(seconds=120)  # a process that swaps or pickles a large table can miss two heartbeats
# SQLite: a heartbeat waits for other writes, for up to a minute each time that the database is locked.
SILENCE_ON_SQLITE = timedelta(seconds=300)
_SOON = timedelta(minutes=1)
_BLOCK = "wikisum-alarms"
_ENDS = ("Completed", "Failed", "TimedOut", "Cancelled", "Crashed")
_RUN = "{{ flow.name }}: run {{ flow_run.name }}"
_LINK = "{{ (flow_run|ui_url) or '' }}"


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


def deploy(environment: Mapping[str, str], deployments: str | None = None) -> None:
    """Create or renew every deployment of a prefect.yaml, given as text, None for the project's, to run in this folder;
    Stopped if Prefect rejects one."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "prefect.yaml")
        file.write_text(deployments or DEPLOYMENTS.read_text(encoding="utf-8"), encoding="utf-8")
        command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
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


def create_automations(
    to: str | None, late: timedelta = LATE, longest: timedelta = LONGEST, silence: timedelta = SILENCE
) -> list[str]:
    """Renew on the server what marks dead runs as crashed and, if `to` names a receiver, the alarms; return the names
    of these. `to` is a URL that gets a POST of JSON with `text`, or a notification block of the server as TYPE/NAME;
    without it earlier alarms are removed. A planned run may start so `late`, and a run take the `longest`; one without
    a heartbeat for the time of `silence` counts as dead. Raises ValueError: `to` is neither, or the server has no such
    block."""
    block = _block_to(to) if to else None
    # Else a dead worker's run keeps its deployment's only slot for ever.
    crashed = "No heartbeat: its process or machine is gone. Run it again: it computes only what is missing."
    silent = _of_runs(after=("heartbeat",), expect=("heartbeat", *_ENDS), within=silence, deployed=False)
    _renew(ZOMBIES, silent, ChangeFlowRunState(state=StateType.CRASHED, name="Crashed", message=crashed))
    alarms = _alarms(late, longest)
    for name, (trigger, subject, body) in alarms.items():
        told = SendNotification(block_document_id=block, subject=subject, body=body) if block else None
        _renew(name, trigger, told)
    return list(alarms) if block else []


def _alarms(late: timedelta, longest: timedelta) -> dict[str, tuple[EventTrigger, str, str]]:
    """Return name -> (trigger, subject, text) of every alarm. It is raised once for a run; for a fault it is repeated
    while this lasts."""
    message = f"{{{{ flow_run.state.message or '' }}}} {_LINK}"
    failed = _of_runs(expect=("Failed", "TimedOut", "Crashed"), within=_SOON)
    delayed = _of_runs(after=("Late",), expect=("Pending", "Running", "AwaitingConcurrencySlot", *_ENDS), within=late)
    endless = _of_runs(after=("Running",), expect=_ENDS, within=longest)
    slow = f"{_RUN} has not started {late} after its time"
    return {
        "wikisum: a run failed or crashed": (failed, f"{_RUN} is {{{{ flow_run.state.name }}}}", message),
        "wikisum: a run did not start in time": (delayed, slow, f"Is a worker running? {_LINK}"),
        "wikisum: a run takes too long": (endless, f"{_RUN} takes longer than {longest}", _LINK),
        **{
            f"wikisum: {kind.alarm}": (_of_ours(kind.event, kind.again), kind.subject, "{{ event.payload.text }}")
            for kind in KINDS
        },
    }


def _of_runs(
    *, expect: tuple[str, ...], within: timedelta, after: tuple[str, ...] = (), deployed: bool = True
) -> EventTrigger:
    """Return a trigger of runs, on these states, or where `after` others none of them came in time: of those of a
    deployment, not of those within another, which fails as well, or of all."""
    roles: list[dict[str, str | list[str]]] = [
        {"prefect.resource.role": "deployment"},
        {"prefect.resource.role": "tag", "prefect.resource.id": "prefect.tag.wikisum"},
    ]
    return EventTrigger(
        after={f"prefect.flow-run.{state}" for state in after},
        expect={f"prefect.flow-run.{state}" for state in expect},
        match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
        match_related=[ResourceSpecification(role) for role in roles] if deployed else ResourceSpecification({}),
        for_each={"prefect.resource.id"},
        posture=Posture.Proactive if after else Posture.Reactive,
        threshold=1,
        within=within,
    )


def _of_ours(event: str, within: timedelta) -> EventTrigger:
    return EventTrigger(
        expect={event}, for_each={"prefect.resource.id"}, posture=Posture.Reactive, threshold=1, within=within
    )


def _renew(name: str, trigger: EventTrigger, action: ActionTypes | None) -> None:
    """Create, replace or delete an automation. One that is as it shall be stays: what it waits for, such as the next
    sign of life of a run on a machine that has died meanwhile, would go with it."""
    wanted = None if action is None else Automation(name=name, trigger=trigger, actions=[action])
    with get_client(sync_client=True) as client:
        for existing in client.read_automations_by_name(name):
            if wanted is not None and _content(existing) == _content(wanted):
                wanted = None
            else:
                client.delete_automation(existing.id)
    if wanted is not None:
        wanted.create()


def _content(automation: AutomationCore) -> dict[str, Any]:
    return automation.model_dump(include={"trigger", "actions"}, exclude={"trigger": {"id"}})


def _block_to(to: str) -> UUID:
    """Return the id of a notification block, made for a URL, which may be a secret."""
    if urlsplit(to).scheme in ("http", "https"):
        text = {"text": "{{subject}}. {{body}}"}
        secret = SecretDict({"address": to})
        block = CustomWebhookNotificationBlock(name=_BLOCK, url="{{address}}", json_data=text, secrets=secret)
        return UUID(str(block.save(_BLOCK, overwrite=True)))
    kind, _, name = to.partition("/")
    try:
        with get_client(sync_client=True) as client:
            return client.read_block_document_by_name(name, kind).id
    except ObjectNotFound:
        raise ValueError(
            f"alarms go to {to!r}: expected a URL, or a notification block of the server such as slack-webhook/ops"
        ) from None
