"""Notify people: Prefect's hooks POST JSON to a webhook when a run fails, and events raise the alarms of a server."""

import os
import shutil
import socket
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import prefect
import prefect.runtime
import requests
from prefect import Flow
from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event
from prefect.logging.loggers import flow_run_logger
from prefect.utilities.urls import url_for

from flows.running.files import check_files
from flows.running.settings import WEBHOOK
from storage.errors import DamagedFieldsError
from storage.registry import read_champion, read_version, version_numbers
from storage.store import Store
from tasks.engine.failure_logs import log_expected_failures_in_one_line

P = ParamSpec("P")
R = TypeVar("R")
FULL_DISK, UNPROMOTED = "wikisum.disk.full", "wikisum.retraining.unpromoted"
GUARDED = "wikisum.retraining.guarded"
_SECONDS = 10.0
_MESSAGE_CHARACTERS = 2000  # chat services reject long ones
_FULL = 0.9  # share of a disk


def notifying_flow(name: str, run_name: str = "") -> Callable[[Callable[P, R]], Flow[P, R]]:
    """Return the decorator of a flow that notifies people where it fails, its expected failures logged in one line;
    `run_name` may have parameters in braces. Those of a deployment's run name only files that it may use."""
    log_expected_failures_in_one_line()
    made = prefect.flow(name=name, flow_run_name=run_name or name, on_failure=[notify], on_crashed=[notify])

    def decorated(function: Callable[P, R]) -> Flow[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if prefect.runtime.deployment.id:
                check_files(signature(function).bind(*args, **kwargs).arguments, os.environ)
            return function(*args, **kwargs)

        return made(checked)

    return decorated


def notify(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Send a failed run to the webhook of the environment; a hook for Prefect. A run within another one sends nothing,
    because the outer one fails as well. An unreachable webhook is logged and has no other effect; its URL, which may be
    a secret, is not logged."""
    url = os.environ.get(WEBHOOK, "")
    # Else it is a notification block, which only the server can use.
    if urlsplit(url).scheme not in ("http", "https") or flow_run.parent_task_run_id is not None:
        return
    message = (state.message or "")[:_MESSAGE_CHARACTERS]
    link = url_for(flow_run)
    text = f"{flow.name}: run {flow_run.name} is {state.name}. {message}{f' {link}' if link else ''}"
    told = {"flow": flow.name, "run": flow_run.name, "state": state.name, "message": message, "url": link}
    payload = {"text": text, **told}
    log = flow_run_logger(flow_run, flow)
    try:
        requests.post(url, json=payload, timeout=_SECONDS).raise_for_status()
    except requests.RequestException as error:
        answer = error.response.status_code if error.response is not None else type(error).__name__
        log.warning("notifying the webhook at %s failed: %s", urlsplit(url).hostname, answer)
    else:
        log.info("notified the webhook at %s", urlsplit(url).hostname)


def report_full_disk(store: Store) -> None:
    """Emit an event if a local root's disk is nearly full, for the server's alarm."""
    if not store.is_local or not Path(store.base).exists():
        return
    disk = shutil.disk_usage(store.base)
    share = disk.used / (disk.used + disk.free)  # as `df`: space that is reserved for the system does not count
    if share > _FULL:
        host = socket.gethostname()
        text = f"the disk of {store.root} on {host} is {100 * share:.0f} % full, {disk.free / 1e9:,.1f} GB are left"
        _emit(FULL_DISK, f"wikisum.disk.{host}.{store.base}", text)


def report_refused(store: Store, weeks: int) -> None:
    """Emit events, for the server's alarms: the last `weeks` versions or more, one a week, were refused; the newest was
    refused by a guard though it was better, or could not be judged."""
    champion, refused = read_champion(store), []
    for number in reversed(version_numbers(store)):
        try:
            version = read_version(store, number)
        except DamagedFieldsError:  # retraining has warned of it
            continue
        if version.verdict["promoted"] or (champion is not None and number == champion.version):
            break
        refused.append(f"version {number}: {version.verdict['reason']}")
        if len(refused) == 1 and version.verdict.get("guarded"):
            text = f"a guard refused {refused[0]}, below {store.root}"
            _emit(GUARDED, f"wikisum.version.{store.base}.{number}", text)
    if len(refused) >= weeks:
        text = f"{len(refused)} weeks without a promotion below {store.root}. {'. '.join(refused)}"
        newest = max(version_numbers(store))
        _emit(UNPROMOTED, f"wikisum.version.{store.base}.{newest}", text)


def _emit(event: str, resource: str, text: str) -> None:
    emit_event(event, {"prefect.resource.id": resource}, payload={"text": text[:_MESSAGE_CHARACTERS]})
