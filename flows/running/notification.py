"""Telling somebody that a run failed: a POST of JSON to any webhook, from Prefect's hooks."""

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
_MESSAGE_CHARACTERS = 2000  # chat services refuse long ones


def notify(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Tell the webhook of the run's settings, or of the environment, that a run failed; a hook of Prefect's.

    A run within another one says nothing, for the outer one fails as well. A webhook that cannot be reached is
    logged and changes nothing; its URL, which may be a secret, is not.
    """
    url = _webhook(flow_run.parameters)
    if url is None or flow_run.parent_task_run_id is not None:
        return
    message = (state.message or "")[:_MESSAGE_CHARACTERS]
    link = url_for(flow_run)
    told = {
        "text": f"{flow.name}: run {flow_run.name} is {state.name}. {message}{f' {link}' if link else ''}",
        "flow": flow.name,
        "run": flow_run.name,
        "state": state.name,
        "message": message,
        "url": link,
    }
    log = flow_run_logger(flow_run, flow)
    try:
        requests.post(url, json=told, timeout=_SECONDS).raise_for_status()
    except requests.RequestException as error:
        answer = error.response.status_code if error.response is not None else type(error).__name__
        log.warning("the webhook at %s was not told: %s", urlsplit(url).hostname, answer)
    else:
        log.info("told the webhook at %s", urlsplit(url).hostname)


def _webhook(parameters: dict[str, Any]) -> str | None:
    """Return the URL of the parameter `config` (JSON where the run came from a server), or the environment's."""
    config = parameters.get("config")
    section = config.get("notification") if isinstance(config, dict) else getattr(config, "notification", None)
    given = section.get("webhook") if isinstance(section, dict) else getattr(section, "webhook", None)
    return given or os.environ.get(WEBHOOK) or None
