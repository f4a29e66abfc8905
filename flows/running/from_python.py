"""Builds from a Python program, and their progress. A build is the command `wikisum` in its own process. So its workers
do not import the program again, and signals, event loop and Prefect settings of the program do not change."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from flows.config import BuildConfig
from flows.running.child_processes import stop
from flows.running.command_line import explain
from tasks.engine.progress import Progress

Report = Callable[[Progress], None]
_PACKAGES = str(Path(__file__).parents[2])
_SAVE_SECONDS = 90.0  # for a training that is interrupted to save its state
_KEPT_LINES = 30  # of the command's output, for the error
_LEFT = re.compile(r"(\d{1,6}) of \d{1,6} stages are left to compute")
_LOGGED = re.compile(r"\| INFO +\| (?:Flow|Task) run '[^']*' - (\S{1,100}: .*)")


def run_command(command: str, settings: Mapping[str, Any], report: Report) -> None:
    """Run a command that builds, under settings by their names. Raises ValueError: settings are wrong; RuntimeError:
    the command failed, with what it said."""
    try:
        BuildConfig.model_validate(dict(settings))
    except ValidationError as error:
        raise ValueError(explain(error)) from error
    paths = filter(None, [_PACKAGES, os.environ.get("PYTHONPATH")])
    last = deque[str](maxlen=_KEPT_LINES)
    with TemporaryDirectory(prefix="wikisum-") as folder:
        file = Path(folder) / "settings.yaml"
        file.write_text(json.dumps(settings, default=str), encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "flows", command, "--config", str(file)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C reaches the program, which stops the command once
        ) as process:
            try:
                assert process.stdout is not None
                for now in progress_of(_kept(process.stdout, last)):
                    report(now)
                code = process.wait()
            finally:
                if process.poll() is None:
                    stop(process, _SAVE_SECONDS)
    if code:
        raise RuntimeError(_failure(command, list(last)))


def progress_of(lines: Iterable[str]) -> Iterator[Progress]:
    """Yield the progress in the output of a build: the present work, and the share of stages that are done."""
    left, begun = 0, 0
    for line in lines:
        if match := _LEFT.search(line):
            left = int(match[1])
        elif match := _LOGGED.search(line):
            begun += ": computing " in match[1]
            yield Progress(match[1], max(0, begun - 1) / max(left, begun, 1))


def _kept(lines: Iterable[bytes], last: deque[str]) -> Iterator[str]:
    """Yield lines as text, the last of which are kept."""
    for line in lines:
        last.append(line.decode(errors="replace").rstrip("\n"))
        yield last[-1]


def _failure(command: str, last: list[str]) -> str:
    """Return the command's message when it stopped, or its last lines if it gave none."""
    mark = f"wikisum {command} stopped: "
    begins = [number for number, line in enumerate(last) if line.startswith(mark)]
    lines = last[begins[-1] :] if begins else [f"wikisum {command} ended early; its last lines:", *last]
    return "\n".join(lines).removeprefix(mark)


@contextmanager
def shown_progress(given: Report | None) -> Iterator[Report]:
    """Yield the receiver of progress: `given`, else one line on standard error in a terminal or a notebook, else
    nothing."""
    if given is not None or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield given or (lambda now: None)
        return
    shown = 0

    def show(line: str) -> None:
        nonlocal shown
        sys.stderr.write(f"\r{line:<{shown}}")
        sys.stderr.flush()
        shown = len(line)

    most = shutil.get_terminal_size().columns - 1
    try:
        yield lambda now: show(f"{100 * now.share:3.0f} %  {now.text}"[:most])
    finally:
        show("")
        sys.stderr.write("\r")
