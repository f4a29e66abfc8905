"""Stopping a training between two steps: on SIGTERM where it runs in the main thread, and when told in any other."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_under_way: set[threading.Event] = set()  # of this process; signals reach a process, not the thread that trains


@contextmanager
def stop_on_sigterm() -> Iterator[threading.Event]:
    """Give an event that SIGTERM sets, in the main thread, and `stop_trainings` in every one."""
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
    """Have every training of this process save a checkpoint after its step and end, as SIGTERM has it."""
    for stop in tuple(_under_way):
        stop.set()
