"""Measure how many bytes of tensors exist at once while PyTorch code runs on the CPU. Unlike the memory of the process,
which depends on allocators and libraries, this is the same in every run. Buffers that a kernel allocates and frees
before it returns are not counted."""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A context that counts every storage from the operation that returns it until its last tensor is freed."""

    def __init__(self, existing: Iterable[Tensor] = ()) -> None:
        """Count existing tensors, such as the weights of a model; each storage counts once."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.now: int = 0  # bytes that exist now
        self.peak: int = 0  # maximum number of bytes that existed at once
        self._living: set[int] = set()
        for tensor in existing:
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
        address = storage._cdata
        if address in self._living:
            return
        size = storage.nbytes()
        self.now += size
        self.peak = max(self.peak, self.now)
        self._living.add(address)
        weakref.finalize(storage, self._end, address, size).atexit = False

    def _end(self, address: int, size: int) -> None:
        self.now -= size
        self._living.remove(address)
