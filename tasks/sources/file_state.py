"""What tells that a file is the one that was read before, so that a process digests it once."""

import time
from pathlib import Path

_SETTLED_NS = 2_000_000_000  # file systems' clocks tick in milliseconds, some in seconds


def file_state(path: Path) -> tuple[int, int, int]:
    """Return what changes when the file does: its size, the time of its last change, and a number.

    The number is 0 for a file that has lain still for a while; one that was written a moment ago can change again
    within the same tick of its clock, so that it is new each time.
    """
    found = path.stat()
    settled = time.time_ns() - found.st_mtime_ns > _SETTLED_NS
    return found.st_size, found.st_mtime_ns, 0 if settled else time.monotonic_ns()
