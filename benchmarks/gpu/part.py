"""The parts of `benchmarks.gpu`: what measures a system, and which systems are measured."""

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.gpu import decoding, machine, precision, training
from benchmarks.gpu.workload import SCALES, SYSTEMS, BenchmarkedSystem
from models.training.distributed import find_device

Measure = Callable[[BenchmarkedSystem, torch.device], dict[str, Any]]
PARTS: dict[str, tuple[Measure, tuple[str, ...]]] = {
    "training": (training.compare, tuple(SYSTEMS)),
    "memory": (training.largest_batch, ("PHT", "FT-1600")),
    "decoding": (decoding.compare, decoding.SYSTEMS),
    "precision": (precision.compare, tuple(SYSTEMS)),
    "compile": (training.compare_compiled, ("FT-1600", "HT", "PHT")),  # last: compiling may take minutes
}


def describe(device: str) -> dict[str, object]:
    """Return what the device of this process is (`machine.describe`)."""
    return machine.describe(_place(device))


def measure(part: str, system: str, device: str, scale: str) -> dict[str, Any]:
    """Measure a part for a system in this process."""
    return PARTS[part][0](BenchmarkedSystem(system, SCALES[scale]), _place(device))


def _place(device: str) -> torch.device:
    place = find_device(device)
    if place.type == "cpu":
        torch.set_num_threads(1)
    return place
