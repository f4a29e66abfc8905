"""What an operator has changed of the deployments, in one file (`wikisum serve --config FILE`).

The server keeps deployments too, and people can change them there. The file is what counts: `serve` writes it over them
at every start, and says what it has overwritten."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.schedules import CronSchedule
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.config import BuildConfig
from flows.running.prefect_setup import DEPLOYMENTS
from flows.running.settings_file import read_settings
from tasks.engine.settings import message_of

USUAL_ROOT = "data"  # of the deployments in prefect.yaml, below the folder of `serve`
_SLUG = "weekly"  # of the schedules in prefect.yaml; a schedule of another slug would be a second one
_Deployment = dict[str, Any]


class Schedule(BaseModel):
    """When a deployment runs."""

    model_config = ConfigDict(extra="forbid")

    cron: str
    """five fields of cron, such as "30 4 * * 1"""
    timezone: str = "Etc/UTC"
    """name of the time zone that these are in"""


class Operator(BaseModel):
    """The file of an operator; what it leaves out stays as prefect.yaml has it."""

    model_config = ConfigDict(extra="forbid")

    root: str = USUAL_ROOT
    """folder or URI that every deployment reads and writes"""
    config: dict[str, Any] = Field(default_factory=dict)
    """settings of every deployment that builds, by their full names or in sections"""
    schedules: dict[str, Schedule | Literal[False]] = Field(default_factory=dict)
    """deployment -> when it runs; false = only when it is asked for"""
    parameters: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """deployment -> other parameters of it"""

    @property
    def place(self) -> str:
        """The root as every folder names it."""
        return self.root if "://" in self.root else str(Path(self.root).absolute())


def read_operator(file: str | None, root: str | None) -> Operator:
    """Return what a file says, with the root of the command line over its own. Raises ValueError: it has an unknown
    name, a value of another kind, a deployment that prefect.yaml does not have, or settings that do not go together."""
    values = read_settings(file).values if file is not None else {}
    try:
        operator = Operator.model_validate({**values, **({} if root is None else {"root": root})})
        BuildConfig.model_validate({**operator.config, "root": operator.place})
        for schedule in operator.schedules.values():
            if schedule is not False:
                CronSchedule(cron=schedule.cron, timezone=schedule.timezone)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{file}: {'.'.join(map(str, first['loc']))}: {message_of(first)}") from error
    known = {item["name"] for item in _written()["deployments"]}
    for name in (*operator.schedules, *operator.parameters):
        if name not in known:
            raise ValueError(f"{file}: there is no deployment {name!r}, expected one of {', '.join(sorted(known))}")
    return operator


def deployments_of(operator: Operator) -> str:
    """Return prefect.yaml with what the operator has changed, as YAML."""
    written = _written()
    for deployment in written["deployments"]:
        _change(deployment, operator)
    return yaml.safe_dump(written, sort_keys=False)


def _written() -> dict[str, Any]:
    written: dict[str, Any] = yaml.safe_load(DEPLOYMENTS.read_text(encoding="utf-8"))
    return written


def _change(deployment: _Deployment, operator: Operator) -> None:
    name = deployment["name"]
    parameters = {**deployment["parameters"], **operator.parameters.get(name, {})}
    if "root" in parameters:
        parameters["root"] = operator.place
    if "config" in parameters:
        of_its_own = {} if name != "pretrain" else parameters["config"]  # it trains another model than builds do
        usual = {} if operator.config else parameters["config"]
        parameters["config"] = {**usual, **operator.config, **of_its_own, "root": operator.place}
    deployment["parameters"] = parameters
    schedule = operator.schedules.get(name)
    if schedule is not None:
        before = deployment.get("schedules") or [{"slug": _SLUG}]
        when = {"active": False} if schedule is False else {**schedule.model_dump(), "active": True}
        deployment["schedules"] = [{**item, **when} for item in before if schedule or "cron" in item]


def on_the_server() -> dict[str, dict[str, Any]]:
    """Return deployment -> name of a parameter, or of a schedule's field -> its value, as the server has them."""
    with get_client(sync_client=True) as client:
        result = client.read_deployments()
    known = {item["name"] for item in _written()["deployments"]}
    return {
        item.name: dict(_flat("", item.parameters))
        | {
            f"schedule {schedule.slug or 'without a slug'}": " ".join(
                [
                    *(str(getattr(schedule.schedule, field, "")) for field in ("cron", "timezone")),
                    "on" if schedule.active else "off",
                ]
            )
            for schedule in item.schedules
        }
        for item in result
        if item.name in known
    }


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else key, inner)
    else:
        yield name, value


def overwritten(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a line for each value of the server that was overwritten."""
    lines = []
    for deployment, values in before.items():
        now = after.get(deployment, {})
        for name, value in values.items():
            if now.get(name) != value:
                becomes = repr(now[name]) if name in now else "nothing"
                lines.append(f"overwritten    {deployment}: {name} {value!r} on the server becomes {becomes}")
    return lines
