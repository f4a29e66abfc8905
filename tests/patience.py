"""How long tests wait for what is sure to come: so long that a slow machine gets there, and only a hang is cut off."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.waiting import PATIENCE, wait_until


def wait_for_file(path: Path, process: "subprocess.Popen[str]") -> None:
    """Wait for a file that a process is to make."""

    def there() -> bool:
        ended = not path.exists() and process.poll() is not None
        assert not ended, f"the process ended without {path}:\n{process.stdout.read() if process.stdout else ''}"
        return path.exists()

    wait_until(there, str(path))


def output_of(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """Wait for the end of a process and return its output and its errors; one that hangs is killed and told of.

    One that leads a group of processes is killed with all of them, or those that hold its output would be waited for.
    """
    try:
        return process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        output, errors = process.communicate()
        said = f"{output or ''}{errors or ''}"[-6000:]
        pytest.fail(f"waited {PATIENCE:.0f} s for the end of {process.args}, then killed it; it had said:\n{said}")


@contextmanager
def running(
    command: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """A command in a group of its own that writes to a log; it has ended when the block does."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)
