"""Notify people that a run failed: Prefect's hooks POST JSON to a webhook."""

import os
from typing import Any
from urllib.parse import urlsplit

import requests
from prefect import Flow
from prefect.client.schemas.objects import FlowRun, State
from prefect.logging.loggers import flow_run_logger
from prefect.utilities.urls import url_for

from flows.running.settings import WEBHOOK

_SECONDS = 10.0
_MESSAGE_CHARACTERS = 2000  # chat services reject long ones


def notify(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Send a failed run to the webhook of its settings or of the environment; a hook for Prefect. A run within another
    one sends nothing, because the outer one fails as well. An unreachable webhook is logged and has no other effect;
    its URL, which may be a secret, is not logged."""
    url = _webhook(flow_run.parameters)
    if url is None or flow_run.parent_task_run_id is not None:
        return
    message = (state.message or "")[:_MESSAGE_CHARACTERS]
    link = url_for(flow_run)
    payload = {
        "text": f"{flow.name}: run {flow_run.name} is {state.name}. {message}{f' {link}' if link else ''}",
        "flow": flow.name,
        "run": flow_run.name,
        "state": state.name,
        "message": message,
        "url": link,
    }
    log = flow_run_logger(flow_run, flow)
    try:
        requests.post(url, json=payload, timeout=_SECONDS).raise_for_status()
    except requests.RequestException as error:
        answer = error.response.status_code if error.response is not None else type(error).__name__
        log.warning("notifying the webhook at %s failed: %s", urlsplit(url).hostname, answer)
    else:
        log.info("notified the webhook at %s", urlsplit(url).hostname)


def _webhook(parameters: dict[str, Any]) -> str | None:
    """Return the URL in the parameter `config` (JSON if the run came from a server), or the environment's."""
    config = parameters.get("config")
    section = config.get("notification") if isinstance(config, dict) else getattr(config, "notification", None)
    url = section.get("webhook") if isinstance(section, dict) else getattr(section, "webhook", None)
    return url or os.environ.get(WEBHOOK) or None
