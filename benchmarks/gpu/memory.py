"""The largest batch of equal articles whose update fits a fixed memory."""

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.gpu.machine import peak_bytes
from benchmarks.gpu.training import Side, held, update
from benchmarks.gpu.workload import BenchmarkedSystem
from models.training.state import TrainingError


def largest_batch(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return the number of articles of the largest batch, and the memory that it is for."""

    def fits(articles: int) -> bool:
        updater, batch = Side(system, device).updater(), system.equal_articles(articles)
        update(updater, system.equal_articles(1), 1)  # the optimizer's state is part of the memory
        try:
            return peak_bytes(device, held(updater), lambda: update(updater, batch, 1)) <= system.scale.memory
        except (torch.OutOfMemoryError, TrainingError):
            return False

    return {"articles": largest(fits), "memory_bytes": system.scale.memory}


def largest(fits: Callable[[int], bool]) -> int:
    """Return the largest number that fits, 0 if not even 1 does, where all smaller numbers fit too."""
    above = 1
    while fits(above):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if fits(middle) else (below, middle)
    return below
