"""Base class of objects that keep files, connections or processes open until a `with` block ends."""

from abc import ABC, abstractmethod
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
