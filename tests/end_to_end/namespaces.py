"""Machines that share no disk: processes in mount namespaces of their own."""

import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.tiny_runs import PROJECT
from tests.patience import running

TEMPORARY = tempfile.gettempdir()
# Every disk can only be read, but for a temporary folder that no other process sees.
_PRIVATE = f"""
mount -o remount,bind,ro / && mount -t tmpfs tmpfs {TEMPORARY} && mount -t tmpfs tmpfs /dev/shm && exec "$@"
"""


def private(*command: str) -> list[str]:
    """A command in a namespace of its own."""
    return ["unshare", "--mount", "--propagation=private", "sh", "-c", _PRIVATE, "sh", *command]


def why_not() -> str | None:
    """Why there can be no namespaces here, or None."""
    try:
        subprocess.run(private("true"), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"needs mount namespaces, which root may make on Linux: {getattr(error, 'stderr', error)!r}"
    return None


def machine(log: Path, environment: dict[str, str], *module: str) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """A Python module with its arguments on a machine of its own; it has ended when the block does."""
    return running(private(sys.executable, "-m", *module), log, PROJECT, environment)
