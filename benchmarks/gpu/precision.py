"""Speed of float32, TF32 and bfloat16, and how far their losses and gradients are from float32's."""

from typing import Any, cast

import torch
from torch import Tensor

from benchmarks.gpu.machine import clock, finish
from benchmarks.gpu.training import update
from benchmarks.gpu.workload import BenchmarkedSystem
from models.training.distributed import Ranks
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater

# Ways to compute: precision of autocast, and of float32 products (torch.set_float32_matmul_precision).
WAYS = {"float32": ("float32", "highest"), "TF32": ("float32", "high"), "bfloat16": ("bfloat16", "highest")}
# Most that a loss may differ from float32's, as a share of it: the mantissas have 10 and 7 bits.
AGREES = {"float32": 0.0, "TF32": 1e-3, "bfloat16": 1e-2}
_ARTICLES = 8


def compare(system: BenchmarkedSystem, device: torch.device) -> dict[str, Any]:
    """Return, for each way, the speed of updates of equal weights on one batch, and the differences."""
    batch = system.equal_articles(_ARTICLES)
    result: dict[str, Any] = {}
    exact: tuple[float, Tensor] | None = None
    try:
        for way, (precision, products) in WAYS.items():
            torch.set_float32_matmul_precision(products)
            # Without dropout all ways compute the same function.
            model = system.model(dropout=0.0, attention_dropout=0.0, activation_dropout=0.0)
            objective = TokenObjective(model, batch_tokens=system.scale.batch_tokens)
            updater = Updater(objective, TrainerSettings(steps=1, precision=precision), Ranks(device))
            units = objective.units(batch)
            _, sums = updater.update(1, [0.0], [batch], units)
            parts = [cast(Tensor, p.grad).flatten() for p in model.parameters() if p.grad is not None]
            loss, gradient = sums[0] / units, torch.cat(parts)
            exact = exact or (loss, gradient)
            for step in range(system.scale.warmup):
                update(updater, batch, step + 2)
            finish(device)
            started = clock(device)
            for step in range(system.scale.steps):
                update(updater, batch, step + 2)
            finish(device)
            difference = abs(loss - exact[0]) / exact[0]
            result[way] = {
                "tokens_per_second": system.scale.steps * batch.source_tokens / (clock(device) - started),
                "loss_difference": difference,
                "gradient_difference": float((gradient - exact[1]).norm() / exact[1].norm()),
                "agrees": difference <= AGREES[way],
            }
    finally:
        torch.set_float32_matmul_precision("highest")
    return result
