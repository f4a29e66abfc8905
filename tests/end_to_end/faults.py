"""Runs of a tiny build that are disturbed, and what their roots hold."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from benchmarks.tiny_runs import PROJECT, TINY, shards, small_disk
from tests.end_to_end.test_build import models
from tests.patience import PATIENCE, wait_until


@contextmanager
def running(root: object, environment: dict[str, str], log: Path, *more: str) -> Iterator["Build"]:
    """A build that is going on; it and all its processes are gone when the block ends."""
    command = [sys.executable, "-m", "flows", "build", "--root", str(root), *TINY, *more]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    going = Build(process, log)
    try:
        yield going
    finally:
        for member in going.members():
            member.kill()
        process.wait(PATIENCE)


def build(root: object, environment: dict[str, str], log: Path, *more: str) -> str:
    """Run a build to its end, on threads, which start faster and give the same, and return what it said."""
    with running(root, environment, log, "--engine.kind=threads", *more) as going:
        assert going.wait() == 0, going.said()[-6000:]
        return going.said()


# From its line to the next one with a time.
_SERVER_ERROR = re.compile(
    r"^[\d:.]+ \| ERROR +\| prefect\.server\..*?(?=^\d\d:\d\d:\d\d\.\d+ \| |\Z)", re.MULTILINE | re.DOTALL
)


class Build:
    """A build's process and what it says."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.process, self.log = process, log

    def said(self) -> str:
        """All that was printed, but for the errors of Prefect's server: SQLite may be locked, and it tries again."""
        return _SERVER_ERROR.sub("", self.log.read_text(errors="replace"))

    def wait(self) -> int:
        return self.process.wait(PATIENCE)

    def until(self, sign: Callable[[], object], what: str = "a sign of work") -> None:
        """Wait for a sign of work."""

        def seen() -> object:
            assert self.process.poll() is None, f"it ended before {what}:\n{self.said()[-6000:]}"
            return sign()

        wait_until(seen, what, self.said)

    def until_said(self, text: str) -> None:
        self.until(lambda: text in self.said(), repr(text))

    def workers(self) -> list[psutil.Process]:
        """The processes that compute shards."""
        children = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(_command(child))]

    def members(self) -> list[psutil.Process]:
        """Every process of the build that is still there, its server included."""
        found = []
        for process in psutil.process_iter():
            try:
                named = f"/{self.process.pid}/" in f"/{os.getsid(process.pid)}/{process.ppid()}/"
                if named and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
        return found

    def left_behind(self, seconds: float = PATIENCE / 6) -> list[list[str]]:
        """The command lines of its processes that are still there after a while."""
        _, left = psutil.wait_procs(self.members(), timeout=seconds)
        return [_command(one) for one in left]

    def kill_workers(self) -> None:
        for worker in self.workers():
            worker.send_signal(signal.SIGKILL)


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def without(finished: Path, root: Path, *stages: str) -> Path:
    """A copy of a finished root that lacks some stages, as if it had been interrupted before them."""
    shutil.copytree(finished, root)
    for stage in stages:
        shutil.rmtree(root / stage)
    return root


def content(root: Path) -> dict[str, str]:
    """What a root holds, so that two of them can be compared: data shards and models."""
    return {**shards(root), **models(root)}


@contextmanager
def limited_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """`small_disk`, where the machine may mount one."""
    with ExitStack() as stack:
        try:
            disk = stack.enter_context(small_disk(folder, megabytes))
        except PermissionError as error:
            pytest.skip(str(error))
        yield disk
