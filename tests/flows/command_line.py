"""The command line in the process of a test: starting Python and loading every library again takes seconds."""

import inspect
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from cyclopts import CycloptsError

from flows.running.command_line import CommandLine, what_is_wrong
from flows.running.commands import app, main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@contextmanager
def commands_in_this_process(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Yield what runs `wikisum` with these words."""
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["wikisum", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(int(end.value.code or 0), *capfd.readouterr())

    yield run
    signal.signal(signal.SIGTERM, handler)


def understood(*words: str) -> inspect.BoundArguments:
    """Return the arguments that words of the command line become; nothing is run.

    Raises:
        ValueError: they are not understood; with the message that people see.
    """
    try:
        return app.parse_args(words, exit_on_error=False, print_error=False)[1]
    except CycloptsError as error:
        raise ValueError(what_is_wrong(error)) from error


def settings_of(*options: str) -> CommandLine:
    """Return the settings that options of `wikisum build` become."""
    given: CommandLine = understood("build", *options).arguments["given"]
    return given
