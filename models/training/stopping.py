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
    main = threading.current_thread() is threading.main_thread()  # no other may handle signals
    before = signal.signal(signal.SIGTERM, lambda number, frame: stop.set()) if main else None
    try:
        yield stop
    finally:
        _under_way.discard(stop)
        if main:
            signal.signal(signal.SIGTERM, before)


def stop_trainings() -> None:
    """Make every training of this process save a checkpoint after its current step and end, as on SIGTERM."""
    for stop in tuple(_under_way):
        stop.set()
