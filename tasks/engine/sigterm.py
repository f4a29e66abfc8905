"""What a job does on SIGTERM, in the process that runs it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_sigterm(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` on SIGTERM during the block, where the signal would end the process and nothing else handles it."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not ours:
        yield
        return
    signal.signal(signal.SIGTERM, lambda _number, _frame: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
