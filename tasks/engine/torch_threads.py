"""How many threads torch computes with: never what the machine has, since sums, and so bytes, depend on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Compute with so many threads of torch in this thread of Python; usable as a decorator."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
