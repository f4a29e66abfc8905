"""How many bytes of tensors live at once while a piece of PyTorch code runs on the CPU.

Unlike the memory of the process, which allocators and libraries share in, it is the same at every run: it is what the
computation itself needs. Buffers that a kernel takes and gives back before it returns are not seen.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A context that follows every storage from the operation that returns it to the last tensor that holds it.

    Attributes:
        now: bytes that live.
        peak: the most that lived at once.
    """

    def __init__(self, known: Iterable[Tensor] = ()) -> None:
        """Count tensors that live already, such as the weights of a model; each storage counts once."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.now: int = 0
        self.peak: int = 0
        self._living: set[int] = set()
        for tensor in known:
            self._note(tensor)

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run an operation and note what it returns."""
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._note(leaf)
        return result

    def _note(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        place = storage._cdata
        if place in self._living:
            return
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        self._living.add(place)
        weakref.finalize(storage, self._end, place, size).atexit = False

    def _end(self, place: int, size: int) -> None:
        self.now -= size
        self._living.remove(place)
