"""Training on several processes: the rank of this process, and what all of them share. A process started by `torchrun`
reads its rank from the variables that `torchrun` sets (WORLD_SIZE, RANK, LOCAL_RANK). A process started alone has a
world of 1, and nothing here costs anything."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, Store, rendezvous  # type: ignore[attr-defined]

_log = logging.getLogger(__name__)

# Long, because rank 0 decodes validation articles while the others wait for it in a sum.
TIMEOUT = timedelta(hours=2)
TRAININGS = "trainings"  # in the shared store: how many were handed out to other machines


@dataclass(frozen=True)
class Ranks:
    """This process and the number of processes that train together."""

    device: torch.device  # where this process computes
    rank: int = 0  # number of this process; 0 writes files and reports
    world: int = 1  # number of processes

    def sum(self, values: Sequence[float]) -> list[float]:
        """Return the sums of each value over all processes, in float64; every process must call it."""
        if self.world == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        result: list[float] = tensor.tolist()
        return result

    def share_folder(self, parent: Path, name: str = "") -> None:
        """Copy the folder `parent / name` of rank 0, which alone has to know the name ("" = none), to the processes
        whose disk lacks it, as those of other machines; every process must call it."""
        if self.world == 1:
            return
        files = [(path.name, path.stat().st_size) for path in sorted((parent / name).iterdir())] if name else []
        said: list[Any] = [name, files]
        dist.broadcast_object_list(said, device=self.device)
        name, files = said
        lacking, arriving = bool(name) and not (parent / name).exists(), parent / f".writing-{name}"
        if not self.sum([lacking])[0]:
            return
        if lacking:
            arriving.mkdir(parents=True)
        for file, size in files:
            if self.rank == 0:
                content = torch.from_file(str(parent / name / file), size=size, dtype=torch.uint8).to(self.device)
            else:
                content = torch.empty(size, dtype=torch.uint8, device=self.device)
            dist.broadcast(content, 0)
            if lacking:
                content.cpu().numpy().tofile(arriving / file)
        if lacking:
            arriving.rename(parent / name)


@contextmanager
def process_group(device: str = "auto") -> Iterator[Ranks]:
    """Join the processes that `torchrun` started, for the duration of the context; devices are those of `find_device`.
    Raises ValueError: the device is not available."""
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    resolved = find_device(device, local)
    if world == 1:
        yield Ranks(resolved)
        return
    if resolved.type == "cuda":
        torch.cuda.set_device(resolved)
    store = shared_store()
    # Of this training alone: an earlier one left the addresses of connections there that are closed.
    own = PrefixStore(f"{TRAININGS}-{store.add(TRAININGS, 0)}", store)
    backend = "nccl" if resolved.type == "cuda" else "gloo"
    dist.init_process_group(backend, store=own, rank=rank, world_size=world, timeout=TIMEOUT)
    try:
        yield Ranks(resolved, rank, world)
    finally:
        dist.destroy_process_group()


def shared_store() -> Store:
    """Return the keys and values that all processes of a `torchrun` share; those of an earlier try are not among
    them."""
    store, _, _ = next(rendezvous("env://", timeout=TIMEOUT))
    return PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)


def process_count(processes: int | None, accumulation: int, device: str) -> int:
    """Return how many processes to start that train together and share an update's batches equally; 1 = none but this
    one, as where `torchrun` started it among others. The default is one for each GPU, and 1 on a CPU.
    Device "auto" accepts fewer GPUs than processes. Raises ValueError: another device has fewer
    GPUs."""
    if "WORLD_SIZE" in os.environ:
        return 1
    if find_device(device).type != "cuda":
        return processes or 1
    gpus = torch.cuda.device_count() if device in ("auto", "cuda") else 1
    if processes is not None and processes > gpus and device != "auto":
        raise ValueError(
            f"training.processes is {processes}: expected at most {gpus}, the GPUs that device {device!r} means here"
        )
    most = min(gpus, processes or gpus)
    chosen = max(number for number in range(1, most + 1) if accumulation % number == 0)
    if chosen < gpus and processes is None:
        _log.warning(
            "training on %d of %d GPUs: an update has %d batches (training.accumulation)", chosen, gpus, accumulation
        )
    elif processes is not None and chosen < processes:
        _log.warning("training on %d GPUs of this machine, not in %d processes (training.processes)", chosen, processes)
    return chosen


def find_device(device: str, local: int = 0) -> torch.device:
    """Return a device; "cuda" means the `local`-th CUDA device, "auto" the same or, without CUDA, the CPU. Raises
    ValueError: it is not available."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        result = torch.device("cuda", local) if device == "cuda" else torch.device(device)
        torch.empty(0, device=result)
    except (RuntimeError, AssertionError) as error:  # AssertionError: PyTorch was built without CUDA
        raise ValueError(
            f"device {device!r} is not available with PyTorch {torch.__version__}: expected auto, cpu, cuda or cuda:N"
        ) from error
    return result
