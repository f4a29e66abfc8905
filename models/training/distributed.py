"""Training on several processes: who this one is, and sums over all of them.

Started by `torchrun`, a process finds its place in the variables that it sets (WORLD_SIZE, RANK, LOCAL_RANK); started
alone, it is the whole world and nothing here costs anything.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

# Rank 0 decodes validation articles while the others wait for it in a sum.
TIMEOUT = timedelta(hours=2)


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together.

    Attributes:
        device: where this process computes.
        rank: number of this process; 0 writes files and reports.
        world: number of processes.
    """

    device: torch.device
    rank: int = 0
    world: int = 1

    def sum(self, values: Sequence[float]) -> list[float]:
        """Return the sums of each value over all processes, in float64; every process must call it."""
        if self.world == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        result: list[float] = tensor.tolist()
        return result


@contextmanager
def process_group(device: str = "auto") -> Iterator[Ranks]:
    """Join the processes that `torchrun` started, for the length of the context.

    Args:
        device: "auto" (CUDA where there is one), "cpu", "cuda" or a device's name.

    Raises:
        ValueError: the device is not at hand.
    """
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    place = find_device(device, local)
    if world == 1:
        yield Ranks(place)
        return
    if place.type == "cuda":
        torch.cuda.set_device(place)
    dist.init_process_group("nccl" if place.type == "cuda" else "gloo", timeout=TIMEOUT)
    try:
        yield Ranks(place, rank, world)
    finally:
        dist.destroy_process_group()


def find_device(device: str, local: int = 0) -> torch.device:
    """Return the device called `device`; "auto" and "cuda" mean the `local`-th CUDA device, "auto" else the CPU.

    Raises:
        ValueError: it is not at hand.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device("cuda", local) if device == "cuda" else torch.device(device)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError) as error:  # the latter from a PyTorch that was built without CUDA
        raise ValueError(
            f"device {device!r} is not to be had here with PyTorch {torch.__version__}: expected auto, cpu, cuda or "
            "cuda:N"
        ) from error
    return place
