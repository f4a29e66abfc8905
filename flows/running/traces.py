"""Traces of OpenTelemetry: a run, in it its stages, in these their shards.

Only the API is used, which without an SDK does nothing. `opentelemetry-instrument` (opentelemetry-distro) starts a
command with one that sends spans where the OTEL_ variables say."""

import time
from contextlib import AbstractContextManager

from opentelemetry import trace

from tasks.engine.stage import Outcome

_tracer = trace.get_tracer("wikisum")


def span(name: str) -> AbstractContextManager[trace.Span]:
    """Return the span of a run or a stage, to be entered."""
    return _tracer.start_as_current_span(name)


def add_shard(name: str, outcome: Outcome) -> None:
    """Add a span that has just ended to that of its stage. Where a job ran does not matter: its record has the time."""
    now = time.time_ns()
    seconds = getattr(outcome, "seconds", 0.0)  # an exception has none
    shard = _tracer.start_span(name, start_time=now - int(seconds * 1e9))
    if isinstance(outcome, BaseException):
        shard.record_exception(outcome)
        shard.set_status(trace.StatusCode.ERROR)
    shard.end(now)
