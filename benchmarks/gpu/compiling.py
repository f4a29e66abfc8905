"""`torch.compile`: in how many graphs it cuts a training step, and what it changes in speed."""

from typing import Any

import torch
from torch._dynamo import explain

from benchmarks.gpu.training import Side
from benchmarks.gpu.workload import BenchmarkedSystem
from models.training.token_objective import TokenObjective


def compare(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return the number of graph breaks of a loss and, on CUDA, source tokens a second with and without compiling."""
    batch = system.equal_articles(2)
    objective = TokenObjective(system.model().to(device).train(), batch_tokens=system.scale.batch_tokens)
    explained = explain(objective.loss)(*objective.inputs(batch, device))
    found: dict[str, Any] = {"graph_breaks": explained.graph_break_count}
    torch.compiler.reset()
    if device.type == "cuda":  # compiling for a CPU takes longer than all other measurements together
        for name, compiled in (("off", False), ("on", True)):
            found[name] = Side(system, device, compile=compiled).run()["tokens_per_second"]
    return found
