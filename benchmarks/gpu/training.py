"""Training of a summarizer: source tokens a second, padding, wait for data, memory, and use of the device's peak.

Also in how many graphs `torch.compile` cuts a step, and the largest batch of equal articles that fits a fixed memory.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch._dynamo import explain
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.gpu.machine import clock, finish, peak_bytes
from benchmarks.gpu.workload import BenchmarkedSystem
from benchmarks.peers.plain_design import PlainObjective, plain_design
from models.training.batches import Batch, BatchStream, Position, lay_out, prefetch
from models.training.distributed import Ranks
from models.training.layout import ExampleTable, Layout
from models.training.state import TrainerSettings, TrainingError
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater

_RATE = 1e-4  # learning rate; any that keeps the loss finite
_COUNTED = 2  # batches whose operations are counted


@dataclass(frozen=True)
class Side:
    """One way to train: ours or the plain design."""

    system: BenchmarkedSystem
    device: torch.device
    plain: bool = False  # whether it is the plain design
    compile: bool = False  # whether `torch.compile` is used

    def updater(self, loss: str = "auto") -> Updater[Batch]:
        """Return a fresh model with its optimizer."""
        kind = PlainObjective if self.plain else TokenObjective
        objective = kind(self.system.model(), batch_tokens=self.system.scale.batch_tokens, loss_method=loss)
        return Updater(objective, TrainerSettings(steps=1, compile=self.compile), Ranks(self.device))

    def batches(self) -> Iterator[Batch]:
        """Return its batches; those of the plain design have random order and the padding of the longest."""
        table, budget = self.system.articles(), self.system.scale.batch_tokens
        if self.plain:
            return random_batches(table, self.system.layout(length_multiple=1), budget)
        stream = BatchStream([table], self.system.layout(), batch_tokens=budget, seed=1)
        return stream.batches()

    def run(self) -> dict[str, float]:
        """Train and return the figures of the timed updates."""
        scale = self.system.scale
        with ExitStack() as stack:
            batches = self.batches()
            if self.plain:
                stack.enter_context(plain_design())
            else:
                batches = stack.enter_context(prefetch(batches))
            updater = self.updater()
            timed: list[Batch] = []
            for step, batch in enumerate(islice(batches, scale.warmup), start=1):
                update(updater, batch, step)
            finish(self.device)
            waited, began, started = 0.0, time.perf_counter(), clock(self.device)
            for step in range(scale.warmup + 1, scale.warmup + scale.steps + 1):
                asked = time.perf_counter()
                timed.append(next(batches))
                waited += time.perf_counter() - asked
                update(updater, timed[-1], step)
            finish(self.device)
            seconds, elapsed = clock(self.device) - started, time.perf_counter() - began
            largest = max(timed, key=lambda batch: batch.padded_tokens)
            memory = peak_bytes(self.device, held(updater), lambda: update(updater, largest, 1))
        real, padded = (sum(getattr(batch, name) for batch in timed) for name in ("source_tokens", "padded_tokens"))
        return {
            "tokens_per_second": real / seconds,
            "padding": 1 - real / padded,
            "data_wait": waited / elapsed,
            "peak_bytes": float(memory),
        }

    def flops_per_token(self) -> float:
        """Return the operations of forward and backward pass that a source token takes in our design.

        Those of both sides' MFU: what the plain design computes for padding does not count."""
        batches = list(islice(self.batches(), _COUNTED))
        updater = self.updater(loss="plain")  # the others compute logits twice, or in kernels that are not counted
        update(updater, batches[0], 1)
        with ExitStack() as stack:
            if self.device.type == "cpu":
                stack.enter_context(sdpa_kernel(SDPBackend.MATH))  # the CPU's fused kernel is not counted
            counter = stack.enter_context(FlopCounterMode(display=False))
            for batch in batches:
                update(updater, batch, 1)
        return counter.get_total_flops() / sum(batch.source_tokens for batch in batches)


def random_batches(table: pa.Table, layout: Layout, batch_tokens: int) -> Iterator[Batch]:
    """Cut randomly ordered examples into batches that fit the same budget, padded to the longest of each."""
    rows = ExampleTable(table, layout)
    shapes = rows.shapes()
    batch: list[int] = []
    for row in np.random.default_rng(1).permutation(len(rows)).tolist():
        paragraphs, longest, target = shapes[[*batch, row]].max(axis=0)
        if batch and (len(batch) + 1) * max(paragraphs * longest, target) > batch_tokens:
            yield lay_out(rows, np.array(batch), Position())
            batch = []
        batch.append(row)


def update(updater: Updater[Batch], batch: Batch, step: int) -> None:
    """Do one update with one batch."""
    updater.update(step, [_RATE], [batch], updater.objective.units(batch))


def held(updater: Updater[Batch]) -> list[torch.Tensor]:
    """Return what exists between updates: the weights and the optimizer's state."""
    state = [value for values in updater.optimizer.state.values() for value in values.values()]
    return [*updater.model.parameters(), *state]


def compare(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return the figures of both sides, each of its best round, and what an operation count says of ours."""
    best: dict[str, Any] = {}
    for _ in range(system.scale.rounds):
        for name, plain in (("ours", False), ("plain", True)):
            try:
                figures: dict[str, Any] = Side(system, device, plain).run()
            except (torch.OutOfMemoryError, TrainingError) as error:
                if not plain:
                    raise
                figures = {"failed": " ".join(str(error).split())[:300]}  # such as too little memory for all weights
            if figures.get("tokens_per_second", 0) >= best.get(name, {}).get("tokens_per_second", 0):
                best[name] = figures
    return {**best, "flops_per_token": Side(system, device).flops_per_token()}


def compare_compiled(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return the number of graph breaks of a loss and, on CUDA, source tokens a second with and without compiling."""
    batch = system.equal_articles(2)
    objective = TokenObjective(system.model().to(device).train(), batch_tokens=system.scale.batch_tokens)
    explained = explain(objective.loss)(*objective.inputs(batch, device))
    result: dict[str, Any] = {"graph_breaks": explained.graph_break_count}
    torch.compiler.reset()
    if device.type == "cuda":  # compiling for a CPU takes longer than all other measurements together
        for name, compiled in (("off", False), ("on", True)):
            result[name] = Side(system, device, compile=compiled).run()["tokens_per_second"]
    return result


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
