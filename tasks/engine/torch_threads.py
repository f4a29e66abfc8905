"""Number of threads of torch: always that of the setting, because sums, and so the bytes of a result, depend on it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Set the number of torch threads for the block or, as a decorator, for the function."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
