"""One request at a time to a service, however many shards and processes of this machine use it. An archive serves all
shards, and it sees only this machine's address; so the processes of the machine take turns by a locked file with the
earliest time of the next request. Turns at web sites are in `site_turns`."""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

LONGEST_WAIT = 900.0  # seconds; a later time in the file must be from a wrong clock and is ignored


class Turn:
    """A request's turn."""

    def __init__(self) -> None:
        self.pause = 0.0  # seconds from now during which the service wants no further request


@contextmanager
def turn(service: str, delay: float) -> Iterator[Turn]:
    """Wait for the turn at a service and hold it; `delay`: seconds between two starts, at most `LONGEST_WAIT`."""
    import fcntl  # here, because only POSIX systems have it

    with (turns_folder() / hashlib.sha256(service.encode()).hexdigest()[:16]).open("a+b") as file:
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
        """Set the delay: seconds between the starts of two turns."""
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


def turns_folder() -> Path:
    """Return the folder of all turns of this user on this machine. Raises PermissionError: another user owns it."""
    folder = Path(tempfile.gettempdir()) / f"wikisum-turns-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user; expected a folder of our own")
    return folder


def _read(file: BinaryIO) -> float:
    file.seek(0)
    try:
        return float(file.read(64) or b"0")
    except ValueError:
        return 0.0
