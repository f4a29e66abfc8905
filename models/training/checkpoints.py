"""Checkpoints: everything a training run needs to continue as if it had never stopped. A kill at any moment leaves the
earlier checkpoints intact. The folder also has the metrics of the run as JSON lines, which a resumed run continues.

A checkpoint is a directory `step-00001000` with `model.safetensors`, `optimizer.safetensors` and `state.json`. The
JSON holds the caller's state, the optimizer's settings, the size and sha256 of each file, and its own sha256. A
truncated file or a flipped bit is detected on loading. Nothing is ever unpickled.

No random state is kept: random numbers of a step depend only on the seed and the step's number."""

import hashlib
import json
import logging
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from models.weights_file import load_weights, own_memory, save_tensors, save_weights

WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
BEST = "best.json"
_KEEP_LAST = 2  # of the most recent checkpoints: a damaged one costs only one interval
_log = logging.getLogger(__name__)


class CheckpointError(ValueError):
    """A checkpoint is damaged or incomplete."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files were verified."""

    path: Path  # its directory
    step: int  # optimizer steps done
    score: float | None  # validation score, lower is better; None if the step was not validated
    state: dict[str, Any]  # the caller's state, as passed to `Checkpoints.save`
    optimizer: dict[str, Any]  # parameter groups of the optimizer and the values of its state that are not tensors

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> None:
        """Load the weights and, if given, the optimizer's state. Raises ValueError: they are of others."""
        load_weights(model, self.path / WEIGHTS)
        if optimizer is not None:
            _load_optimizer(optimizer, load_file(self.path / OPTIMIZER), self.optimizer)


class Checkpoints:
    """The checkpoints of one run: the most recent ones and the best ones by validation score."""

    def __init__(
        self,
        directory: Path,  # the first checkpoint creates it
        *,
        keep_best: int = 5,  # of the best (Liu & Lapata 2019, sec. 4 averages the scores of the 5 best)
        best_file: Path | None = None,  # JSON that names the best, relative to its folder; None = in `directory`
    ) -> None:
        self.directory = directory
        self.keep_best = keep_best
        self.best_file = best_file or directory / BEST

    def clear_unfinished(self) -> None:
        """Remove half-written files of a killed run; only the process that saves may call it."""
        for leftover in self.directory.glob(".writing-step-*"):
            shutil.rmtree(leftover)

    def save(
        self,
        step: int,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        state: Mapping[str, Any],
        *,
        score: float | None = None,
    ) -> Path:
        """Write the checkpoint of `step`, update the list of the best, delete old ones, and return its directory.
        `state` are JSON-able values of the caller (data position, settings, counts), `score` the validation score of
        these weights, lower is better. Raises OSError: it could not be written, as on a full disk; earlier checkpoints
        are intact."""
        final = self.directory / f"step-{step:08d}"
        writing = self.directory / f".writing-{final.name}"
        self.clear_unfinished()
        writing.mkdir(parents=True)
        try:
            tensors, groups = _optimizer_parts(optimizer)
            save_weights(model, writing / WEIGHTS)
            save_tensors(tensors, writing / OPTIMIZER)
            files = {name: _describe(writing / name) for name in (WEIGHTS, OPTIMIZER)}
            record = {"step": step, "score": score, "state": dict(state), "optimizer": groups, "files": files}
            record = json.loads(json.dumps(record))  # as a reader will see it, so that its digest is the same
            (writing / STATE).write_text(json.dumps(record | {"sha256": _digest(record)}), encoding="utf-8")
            for name in (WEIGHTS, OPTIMIZER, STATE):
                sync(writing / name)
            sync(writing)
        except BaseException:
            shutil.rmtree(writing, ignore_errors=True)  # on a full disk, half-written files would block the next try
            raise
        if final.exists():
            shutil.rmtree(final)
        writing.rename(final)
        sync(self.directory)
        sync(self.directory.parent)
        self._prune()
        self.list_best()
        return final

    def latest(self) -> Checkpoint | None:
        """Return the last checkpoint before the first damaged one; None if there is none. The first damaged checkpoint
        and all after it are renamed to `damaged-...`, with a warning, and the run makes them again. If it continued
        after the damage, it would miss a checkpoint that may be one of its best."""
        newest = None
        paths = self.paths()
        for index, path in enumerate(paths):
            try:
                newest = load_checkpoint(path)
            except CheckpointError as error:
                for later in paths[index:]:
                    aside = later.with_name(f"damaged-{later.name}")
                    shutil.rmtree(aside, ignore_errors=True)
                    later.rename(aside)
                others = f" with {len(paths) - index - 1} after it" if index < len(paths) - 1 else ""
                _log.warning("%s; moved to damaged-%s%s, the checkpoint before it is used", error, path.name, others)
                break
        return newest

    def best(self) -> list[tuple[float, Path]]:
        """Return (score, directory) of the best existing checkpoints, best first; on a tie the earlier comes first."""
        scored = ((_read_state(path).get("score"), path) for path in self.paths())
        return sorted((float(score), path) for score, path in scored if score is not None)[: self.keep_best]

    def paths(self) -> list[Path]:
        """Return the directories of all checkpoints, the oldest first."""
        return sorted(self.directory.glob("step-*"))

    def _prune(self) -> None:
        paths = self.paths()
        kept = {path for _, path in self.best()} | set(paths[-_KEEP_LAST:])
        for path in paths:
            if path not in kept:
                shutil.rmtree(path)

    def list_best(self) -> None:
        """Write the list of the best: a kill between a checkpoint and its list may have left an old one."""
        entries = [
            {"step": int(path.name[5:]), "score": score, "checkpoint": str(path.relative_to(self.best_file.parent))}
            for score, path in self.best()
        ]
        write_json_atomically(self.best_file, entries)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read and verify a checkpoint. Raises CheckpointError: a file is missing, truncated or changed, naming it."""
    record = _read_state(path)
    if not record:
        raise CheckpointError(f"checkpoint {path} is damaged: {STATE} cannot be read or does not match its sha256")
    for name, expected in record["files"].items():
        file = path / name
        actual = _describe(file) if file.is_file() else None
        if actual != expected:
            raise CheckpointError(f"checkpoint {path} is damaged: expected {name} to be {expected}, found {actual}")
    return Checkpoint(path, record["step"], record["score"], record["state"], record["optimizer"])


def check_same_run(directory: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Check that a run in `directory` is continued with the settings it was started with; a missing one counts as None.
    Raises ValueError: they differ; the message names the first difference."""
    changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if changed:
        name = changed[0]
        raise ValueError(
            f"{directory} holds a run with other settings ({', '.join(changed)}): {name} was {before.get(name)!r} and "
            f"is {now.get(name)!r}; choose another directory or remove it"
        )


def write_json_atomically(path: Path, value: Any) -> None:
    """Replace the file `path` by a JSON text atomically."""
    write_bytes_atomically(path, f"{json.dumps(value, indent=1)}\n".encode())


def write_bytes_atomically(path: Path, data: bytes) -> None:
    """Replace the file `path` by `data` atomically; a kill leaves the old file or the new one."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file that durably replaces `path` if the block ends without an error, else is removed."""
    temporary = path.with_name(f".writing-{path.name}.tmp")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync(path.parent)


def sync(path: Path) -> None:
    """Make a file or a directory's entries durable (fsync)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read_state(path: Path) -> dict[str, Any]:
    """Return the record in `state.json`, or an empty one if it is missing or damaged."""
    try:
        record: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))
        expected = record.pop("sha256")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return record if _digest(record) == expected else {}


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _describe(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _optimizer_parts(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Split an optimizer's state into tensors, named `parameter.value`, and JSON-able values."""
    state = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    values: dict[str, dict[str, Any]] = {}
    for parameter, entries in state["state"].items():
        for name, value in entries.items():
            if isinstance(value, Tensor):
                tensors[f"{parameter}.{name}"] = own_memory(value)
            else:
                values.setdefault(str(parameter), {})[name] = value
    return tensors, {"groups": state["param_groups"], "values": values}


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], parts: dict[str, Any]) -> None:
    state: dict[int, dict[str, Any]] = {int(parameter): dict(v) for parameter, v in parts["values"].items()}
    for name, tensor in tensors.items():
        parameter, _, value = name.partition(".")
        state.setdefault(int(parameter), {})[value] = tensor
    groups = [{k: tuple(v) if k == "betas" else v for k, v in group.items()} for group in parts["groups"]]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def append_metrics(path: Path, record: Mapping[str, Any]) -> None:
    """Append a line with a `step` to the metrics of a run and make it durable; numbers that JSON lacks (NaN, infinity)
    become null."""
    finite = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(finite) + "\n")
        file.flush()
        os.fsync(file.fileno())


def truncate_metrics(path: Path, step: int) -> None:
    """Remove the lines of later steps and a line cut short by a kill: the run continues from `step`. Afterwards the
    file exists, even if empty: it is published with the model."""
    records = read_metrics(path) if path.exists() else []
    kept = [json.dumps(record) + "\n" for record in records if record["step"] <= step]
    write_bytes_atomically(path, "".join(kept).encode())


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of a metrics file; a last line cut short by a kill is left out. Raises ValueError: another
    line is not JSON; the message gives its number."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.endswith("\n"):
            break
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise ValueError(f"{path}:{number} is not a JSON line: {error}") from error
    return records
