"""Training, decoding and memory of the summarizers on a GPU, against straightforward peers, in one command.

    python -m benchmarks.gpu [--minutes N] [--json FILE] [--parts NAME ...] [--systems NAME ...]
    python -m benchmarks.gpu --device cpu --scale core --minutes 20     # on one core: the papers' sizes, few updates
    python -m benchmarks.gpu --device cpu --scale tiny        # whether everything runs; its figures mean nothing

Needs torch >= 2.6, numpy, pyarrow, sentencepiece and safetensors, and no network. Each part runs in a process of its
own; after `--minutes`, for all parts together, what is left is not measured, and the table says so. `--json` gets all
figures after every part. Progress goes to standard error. The peers are `benchmarks/peers/plain_design.py` in training
and the released ways of search in decoding; `MFU` is the share of the device's peak that the operations of the tokens
without padding take.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from benchmarks.frame import OptionError, command
from benchmarks.gpu.part import PARTS
from benchmarks.gpu.table import render
from benchmarks.gpu.workload import SYSTEMS
from models.training.distributed import find_device


def run_part(
    part: str, systems: Sequence[str], device: str, scale: str, seconds: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run a part for some systems for at most `seconds` and return the device's description and the measurements.

    A process that ends early adds one measurement `failed` for each that is missing.
    """
    call = [sys.executable, "-m", "benchmarks.gpu.part", part, "--on", device, "--scale", scale, "--systems", *systems]
    machine: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=errors, text=True)
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(max(seconds, 0.0), end)
        timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if not machine:
                    machine = json.loads(line)
                    continue
                rows.append(json.loads(line))
                print(f"{part}: {rows[-1]['system']}", file=sys.stderr, flush=True)
            process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
        errors.seek(0)
        last = (errors.read().strip().splitlines() or [f"exit status {process.returncode}"])[-1]
    reason = "no time left (--minutes)" if late.is_set() else last
    return machine, rows + [{"part": part, "system": name, "failed": reason} for name in systems[len(rows) :]]


def main(
    device: str = "auto",
    scale: Literal["full", "core", "tiny"] = "full",
    parts: tuple[str, ...] = tuple(PARTS),
    systems: tuple[str, ...] = tuple(SYSTEMS),
    minutes: float = 8.0,
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
    machine: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    for part in parts:
        chosen = [name for name in PARTS[part][1] if name in systems]
        found, more = run_part(part, chosen, device, scale, deadline - time.monotonic())
        machine, rows = machine or found, rows + more
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
