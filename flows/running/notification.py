"""Notify people: Prefect's hooks POST JSON to a webhook when a run fails."""

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlsplit

import prefect
import prefect.runtime
import requests
from prefect import Flow, get_client
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.logging.loggers import flow_run_logger
from prefect.utilities.urls import url_for

from flows.running.faults import MESSAGE_CHARACTERS
from flows.running.files import check_files
from flows.running.settings import WEBHOOK
from tasks.engine.failure_logs import log_expected_failures_in_one_line

P = ParamSpec("P")
R = TypeVar("R")
_SECONDS = 10.0


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
    because the outer one fails as well. A run that the server has marked as ended before sends nothing either, because
    its alarm was sent. An unreachable webhook is logged and has no other effect; its URL, which may be a secret, is not
    logged."""
    url = os.environ.get(WEBHOOK, "")
    # Else it is a notification block, which only the server can use.
    if urlsplit(url).scheme not in ("http", "https") or flow_run.parent_task_run_id is not None:
        return
    if _ended_before(flow_run):
        return
    message = (state.message or "")[:MESSAGE_CHARACTERS]
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


def _ended_before(flow_run: FlowRun) -> bool:
    """Tell whether a run has ended badly more often than it was started. The server marks one that sends no heartbeats,
    as while the clock goes back, although its process may be there and fail later."""
    try:
        with get_client(sync_client=True) as client:
            states = [state.type for state in client.read_flow_run_states(flow_run.id)]
    except Exception:  # noqa: BLE001  an alarm too many is better than none
        return False
    ended = states.count(StateType.CRASHED) + states.count(StateType.FAILED)
    return ended > max(1, states.count(StateType.PENDING))
