"""Run an iterator ahead of its reader in a thread, so that the next batch is prepared while this one is trained on."""

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")


class _Failure(Generic[Item]):
    """An exception to pass from the thread to the reader."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


@contextmanager
def prefetch(items: Iterator[Item], *, ahead: int = 4) -> Iterator[Iterator[Item]]:
    """Return an iterator over the same items in the same order, of which at most `ahead` wait in a queue. An exception
    of `items` is raised in place of the item. The thread ends with the context."""
    waiting: queue.Queue[Item | _Failure[Item]] = queue.Queue(maxsize=ahead)
    closed = threading.Event()

    def put(item: Item | _Failure[Item]) -> bool:
        while not closed.is_set():
            try:
                waiting.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def fill() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_Failure(StopIteration()))
        except BaseException as error:  # noqa: BLE001 - raised again in the reader
            put(_Failure(error))

    def read() -> Iterator[Item]:
        while True:
            item = waiting.get()
            if isinstance(item, _Failure):
                if isinstance(item.error, StopIteration):
                    return
                raise item.error
            yield item

    thread = threading.Thread(target=fill, name="prefetch", daemon=True)
    thread.start()
    try:
        yield read()
    finally:
        closed.set()
        thread.join()
