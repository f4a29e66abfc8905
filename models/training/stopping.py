"""Stop a training between two steps: by SIGTERM in the main thread, by `stop_trainings` in any thread."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_under_way: set[threading.Event] = set()  # global, because a signal reaches a process, not the thread that trains


@contextmanager
def stop_on_sigterm() -> Iterator[threading.Event]:
    """Return an event that `stop_trainings` sets and, in the main thread, SIGTERM too."""
    stop = threading.Event()
    _under_way.add(stop)
    try:
        if threading.current_thread() is not threading.main_thread():
            yield stop
            return

        def note(number: int, frame: object) -> None:
            stop.set()

        before = signal.signal(signal.SIGTERM, note)
        try:
            yield stop
        finally:
            signal.signal(signal.SIGTERM, before)
    finally:
        _under_way.discard(stop)


def stop_trainings() -> None:
    """Make every training of this process save a checkpoint after its current step and end, as on SIGTERM."""
    for stop in tuple(_under_way):
        stop.set()
