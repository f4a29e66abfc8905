"""One request at a time to a service, whatever number of shards and processes of this machine want it.

The URLs of a host are in one shard, which paces them (a redirect to another host is paced by the shard it came from),
so that needs no shared state. An archive serves all shards: what it sees is this machine's address, so the machine's
processes take turns by a locked file that holds the earliest next start.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LONGEST_WAIT = 900.0  # seconds; a later time in the file is of a clock that was put right


class Turn:
    """A request's turn.

    Attributes:
        pause: seconds for which the service wants no further request, from now on.
    """

    def __init__(self) -> None:
        self.pause = 0.0


@contextmanager
def turn(service: str, delay: float) -> Iterator[Turn]:
    """Wait for the turn at a service and hold it while the block runs.

    Args:
        service: name of the service, such as its host.
        delay: seconds between the starts of two turns, at most `LONGEST_WAIT`, as a pause is.

    Raises:
        PermissionError: another user owns the folder of the turns.
    """
    import fcntl  # only where there are local POSIX disks; nothing else here needs it

    with _file(service).open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        wait = _read(file) - time.time()
        if 0 < wait <= LONGEST_WAIT:
            time.sleep(wait)
        taken = Turn()
        following = time.time() + delay
        try:
            yield taken
        finally:
            file.truncate(0)
            file.write(f"{max(following, time.time() + taken.pause):.3f}".encode())
            file.flush()


class OwnTurns:
    """The same for the requests of one client, sent by one thread."""

    def __init__(self, delay: float) -> None:
        """Take the delay, in seconds between the starts of two turns."""
        self._delay = delay
        self._next_start = 0.0

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Wait for the next turn and hold it while the block runs."""
        time.sleep(max(0.0, self._next_start - time.monotonic()))
        taken, following = Turn(), time.monotonic() + self._delay
        try:
            yield taken
        finally:
            self._next_start = max(following, time.monotonic() + taken.pause)


def _file(service: str) -> Path:
    folder = Path(tempfile.gettempdir()) / f"wikisum-turns-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user; expected a folder of our own")
    return folder / hashlib.sha256(service.encode()).hexdigest()[:16]


def _read(file: BinaryIO) -> float:
    file.seek(0)
    try:
        return float(file.read(64) or b"0")
    except ValueError:
        return 0.0
