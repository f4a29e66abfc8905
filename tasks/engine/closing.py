"""The base of what holds files, connections or processes open until a `with` block ends."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager of itself, closed at the end of the block, however that ends."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held open; may be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
