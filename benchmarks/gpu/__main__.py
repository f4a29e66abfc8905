"""Training, decoding and memory of the summarizers on a GPU, against straightforward peers, in one command.

    python -m benchmarks.gpu [--minutes N] [--json FILE] [--parts NAME ...] [--systems NAME ...]
    python -m benchmarks.gpu --device cpu --scale core --minutes 20     # on one core: the papers' sizes, few updates
    python -m benchmarks.gpu --device cpu --scale tiny        # whether everything runs; its figures mean nothing

Needs torch >= 2.6, numpy, pyarrow, sentencepiece and safetensors, and no network. Each measurement runs in a process of
its own; after `--minutes`, for all parts together, what is left is not measured, and the table says so. `--json` gets
all figures after every part. Progress goes to standard error. The peers are `benchmarks/peers/plain_design.py` in
training and `released_search.py` there in decoding; `MFU` is the share of the device's peak that the operations of the
tokens without padding take."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Literal

from benchmarks.frame import OptionError, apart, command
from benchmarks.gpu.part import PARTS, describe, measure
from benchmarks.gpu.table import render
from benchmarks.gpu.workload import SYSTEMS
from models.training.distributed import find_device


def measured(seconds: float, *arguments: str) -> dict[str, Any]:
    """Return the figures of `part.measure`, or why they `failed`: for one, after `seconds`."""
    try:
        return apart(measure, *arguments, seconds=seconds)
    except TimeoutError:
        return {"failed": "no time left (--minutes)"}
    except SystemExit as error:
        return {"failed": str(error).strip().splitlines()[-1][:300]}


def main(
    device: str = "auto",
    scale: Literal["full", "core", "small", "tiny"] = "full",
    parts: tuple[str, ...] = tuple(PARTS),
    systems: tuple[str, ...] = tuple(SYSTEMS),
    minutes: float = 20.0,
    json: Path | None = None,
) -> int:
    """Measure, print the table and write the JSON file; return 1 if a measurement is missing."""
    try:
        find_device(device)
    except ValueError as error:
        raise OptionError(str(error)) from error
    for option, given, known in (("parts", parts, PARTS), ("systems", systems, SYSTEMS)):
        if unknown := [name for name in given if name not in known]:
            raise OptionError(f"unknown --{option} {unknown[0]!r}: expected some of {', '.join(known)}")
    if minutes <= 0:
        raise OptionError(f"expected --minutes above 0, got {minutes:g}")
    if json is not None and not json.parent.is_dir():
        raise OptionError(f"expected --json in a folder that exists, got {json}")
    deadline = time.monotonic() + 60 * minutes
    machine, rows = apart(describe, device), []
    for part in parts:
        for system in (name for name in PARTS[part][1] if name in systems):
            figures = measured(deadline - time.monotonic(), part, system, device, scale)
            rows.append({"part": part, "system": system, **figures})
            print(f"{part}: {system}", file=sys.stderr, flush=True)
        if json is not None:
            _write(json, {"scale": scale, "machine": machine, "rows": rows})
    print(render(machine, rows))
    missing = sum("failed" in row or "failed" in row.get("plain", {}) for row in rows)
    if missing:
        print(f"\n{missing} of {len(rows)} measurements are missing or lack their peer", file=sys.stderr)
    return int(missing > 0)


def _write(path: Path, figures: dict[str, Any]) -> None:
    """Replace a file at once, so that a run that is stopped leaves the parts before."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    fresh.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)


if __name__ == "__main__":
    command(main, __doc__)
