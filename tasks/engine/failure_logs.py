"""How failures are logged: one line if the error says what to do, a traceback if it is a bug. Prefect logs every
exception of a flow or task with its traceback, which pushes the line that a person needs off the screen. The errors
that this project raises on purpose have that line as message; only for others is the traceback useful."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import httpx

_LOGGERS = ("prefect.flow_runs", "prefect.task_runs")
_PROJECT = Path(__file__).parents[2]
_ROOMS = ("storage", "models", "tasks", "flows")
_OF_THE_WORLD = (ConnectionError, TimeoutError, FileNotFoundError, httpx.HTTPError)  # the last: of Prefect's server
_log = logging.getLogger(__name__)
_current: ContextVar[str | None] = ContextVar("worked on", default=None)


def working_on(item: str) -> None:
    """Set the item being worked on from here, such as `page http://a/b`; an exception will name it."""
    _current.set(item)


@contextmanager
def naming_what_failed() -> Iterator[None]:
    """Add a note to exceptions of the block, or as a decorator of the function, that names the item being worked on."""
    token = _current.set(None)
    try:
        yield
    except Exception as error:
        item = _current.get()
        if item is not None:
            error.add_note(f"while working on {item}")
        raise
    finally:
        _current.reset(token)


@contextmanager
def unless_prefect_is_away(item: str) -> Iterator[None]:
    """Ignore errors of the Prefect server in the block, with a warning: it only shows things to people."""
    try:
        yield
    except httpx.HTTPError as error:
        _log.warning("the Prefect server did not take %s: %s: %s", item, type(error).__name__, error)


def log_expected_failures_in_one_line() -> None:
    """Make Prefect's loggers in this process omit the traceback of expected errors; may be called again."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_one_line)


def describe(error: BaseException) -> str:
    """Return an error as logs and reports show it: its type, its message, and what was being worked on (its notes)."""
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error}{notes}"


def is_expected(error: BaseException) -> bool:
    """Whether an error was raised on purpose: our own types, errors of system and server, or a ValueError of ours."""
    if type(error).__module__.partition(".")[0] in _ROOMS or isinstance(error, _OF_THE_WORLD):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_here = trace is not None and Path(trace.tb_frame.f_code.co_filename).parent.is_relative_to(_PROJECT)
    return isinstance(error, ValueError) and raised_here


def _one_line(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and is_expected(error):
        record.msg, record.args = f"stopped: {describe(error)}", ()
        record.exc_info = record.exc_text = None
    return True
