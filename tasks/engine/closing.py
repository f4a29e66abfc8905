"""Base class of objects that keep files or processes open until a `with` block ends; and what a job does on SIGTERM."""

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that closes itself at the end of the block, also after an error."""

    @abstractmethod
    def close(self) -> None:
        """Release everything held open; may be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
