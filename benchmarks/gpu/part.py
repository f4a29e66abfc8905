"""One part of `benchmarks.gpu` in its own process: a line of JSON for each measurement, as soon as it is made.

    python -m benchmarks.gpu.part PART --on DEVICE --scale NAME --systems NAME ...

A measurement that fails is a line with its reason, and the next one is made.
"""

import gc
import json
from collections.abc import Callable
from typing import Any

import torch

from benchmarks.frame import command
from benchmarks.gpu import decoding, precision, training
from benchmarks.gpu.machine import describe
from benchmarks.gpu.workload import SCALES, SYSTEMS, BenchmarkedSystem
from models.training.distributed import find_device

Measure = Callable[[BenchmarkedSystem, torch.device], dict[str, Any]]
PARTS: dict[str, tuple[Measure, tuple[str, ...]]] = {
    "training": (training.compare, tuple(SYSTEMS)),
    "memory": (training.largest_batch, ("PHT", "FT-1600")),
    "decoding": (decoding.compare, tuple(decoding.RELEASED)),
    "precision": (precision.compare, tuple(SYSTEMS)),
    "compile": (training.compare_compiled, ("FT-1600", "HT", "PHT")),  # last: compiling may take minutes
}


def main(part: str, on: str = "auto", scale: str = "full", systems: tuple[str, ...] = ()) -> None:
    """Print the device and then a line for each measurement."""
    device = find_device(on)
    if device.type == "cpu":
        torch.set_num_threads(1)
    print(json.dumps(describe(device)), flush=True)
    measure, _ = PARTS[part]
    for name in systems:
        try:
            found = measure(BenchmarkedSystem(name, SCALES[scale]), device)
        except Exception as error:  # noqa: BLE001 - becomes the measurement's line
            found = {"failed": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
        print(json.dumps({"part": part, "system": name, **found}), flush=True)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    command(main, __doc__)
