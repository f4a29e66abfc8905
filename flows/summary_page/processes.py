"""Summaries in processes of their own, one of them loaded and waiting: cancelling one ends all that it started."""

import multiprocessing
import os
import sys
from queue import SimpleQueue
from typing import Any

from flows.running.child_processes import start, stop
from flows.summary_page.jobs import SummaryJob
from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import Report, SourcePage
from tasks.engine.closing import Closing
from tasks.engine.progress import Progress

_POLL_SECONDS = 0.1  # between looks at whether a summary was cancelled
_END_SECONDS = 10.0  # for a process to remove its temporary files; it is killed after that


class Processes(Closing):
    """Makes as many summaries at once as it has processes; usable as the work of `Jobs` from many threads."""

    def __init__(self, model: str | None, number: int) -> None:
        """Start so many processes; each summarizes with the champion of the moment of `model`; None = extractive."""
        self._model = model
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for _ in range(number):
            self._idle.put(_Process(model))

    def __call__(self, job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        """Make a summary, or raise what `report` raises; ValueError, for people: it cannot be made."""
        process = self._idle.get()
        try:
            made = process.ask((*job.topic, job.given, job.choice, job.settings), report)
        except BaseException:
            process.close()
            process = _Process(self._model)
            raise
        finally:
            self._idle.put(process)
        if isinstance(made, Exception):
            raise made
        summary, pages = made
        return summary, pages

    def close(self) -> None:
        """End the processes; none of them may be at work."""
        while not self._idle.empty():
            self._idle.get().close()


class _Process(Closing):
    """One process and the pipe to it."""

    def __init__(self, model: str | None) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, "-m", "flows.summary_page.worker", str(number), str(os.getpid())]
            self._process = start(command, inherited=[number])
        self._pipe.send(model)

    def ask(self, request: Any, report: Report) -> Any:
        """Return what the process answers, passing on its reports; what `report` raises ends the wait."""
        last = Progress("starting", 0.0)
        try:
            self._pipe.send(request)
            while True:
                report(last)
                if self._pipe.poll(_POLL_SECONDS):
                    received = self._pipe.recv()
                    if not isinstance(received, Progress):
                        return received
                    last = received
        except (EOFError, ConnectionError) as error:
            raise ValueError(
                f"the process that made it ended with {self._process.wait()}: the machine may lack memory"
            ) from error

    def close(self) -> None:
        """End the process and everything that it started."""
        self._pipe.close()
        stop(self._process, _END_SECONDS)
