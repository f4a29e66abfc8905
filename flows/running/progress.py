"""What a long task shows while it runs: log lines, a progress artifact, the log of a training's processes; and traces
of OpenTelemetry: a run, in it its stages, in these their shards.

Of OpenTelemetry only the API is used, which without an SDK does nothing. `opentelemetry-instrument`
(opentelemetry-distro) starts a command with one that sends spans where the OTEL_ variables say."""

import logging
import time
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from opentelemetry import trace
from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.exceptions import MissingContextError

from tasks.engine.artifact_keys import artifact_key
from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.stage import Outcome

_TRAININGS = "tasks.engine.together"  # not imported: it loads torch, which a plan does not need
_LOG_SECONDS = 10.0
_ARTIFACT_SECONDS = 3.0
_tracer = trace.get_tracer("wikisum")


class _RunLog(logging.Handler):
    """Hands lines to the log of the Prefect run in which they arise; outside a run they are not shown."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            get_run_logger().log(record.levelno, "%s", record.getMessage())
        except MissingContextError:
            return


_RUN_LOG = _RunLog()


def show_logs_of_trainings() -> None:
    """Show what the processes of a training log in the run of its task; may be called again."""
    log = logging.getLogger(_TRAININGS)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(_RUN_LOG)


class Progress(Protocol):
    """What a task reports while it runs: any frozen dataclass with these."""

    @property
    def share(self) -> float:
        """Done, 0-1."""

    def __str__(self) -> str:
        """One line for people: numbers with their units."""


class ProgressLog:
    """Passes on a task's progress; picklable, so that it can be sent with a job to another process."""

    def __init__(self, name: str, corpus: str = "") -> None:
        """Set the name that people know the task by, and the name of its corpus, which is empty outside a build."""
        self.name, self.corpus = name, corpus
        self._logged = self._published = 0.0
        self._artifact: UUID | None = None
        self._outside = False  # of any Prefect run: then an artifact would start a server for itself

    def __call__(self, progress: Progress) -> None:
        """Log at most every ten seconds and update the artifact at most every three."""
        if self._outside:
            return
        now = time.monotonic()
        finished = progress.share >= 1
        try:
            if finished or now - self._logged >= _LOG_SECONDS:
                self._logged = now
                get_run_logger().info("%s: %s", self.name, progress)
            if finished or now - self._published >= _ARTIFACT_SECONDS:
                self._published = now
                percent, text = round(100 * progress.share, 1), str(progress)
                with unless_prefect_is_away(f"the progress of {self.name}"):
                    if self._artifact is None:
                        key = artifact_key(self.corpus, f"progress-{self.name}")
                        self._artifact = create_progress_artifact(percent, key=key, description=text)  # type: ignore[assignment]
                    else:
                        update_progress_artifact(self._artifact, percent, description=text)
        except MissingContextError:
            self._outside = True  # used as a library


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
