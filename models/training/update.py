"""One update of the weights: the gradient of the mean loss over all batches of all processes. DDP stands for
torch.nn.parallel.DistributedDataParallel."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from models.training.distributed import Ranks
from models.training.objective import Item, Objective
from models.training.state import TrainerSettings, TrainingError


@dataclass(frozen=True)
class Update:
    """The result of an update."""

    gradient_norm: float  # before clipping; if it is not finite, the weights were not changed
    sums: tuple[float, ...]  # the objective's measures, summed over this process's units
    applied: bool  # whether the weights were changed


class Updater(Generic[Item]):
    """The model and its optimizer on the device of this process."""

    def __init__(self, objective: Objective[Item], settings: TrainerSettings, ranks: Ranks) -> None:
        """Move the objective's model to the device of `ranks` and make its optimizer."""
        self.objective, self.settings, self.ranks = objective, settings, ranks
        self.model = objective.model.to(ranks.device)
        device = ranks.device.type
        bfloat16 = settings.precision == "bfloat16" or (settings.precision == "auto" and device == "cuda")
        self._autocast = torch.autocast(device, dtype=torch.bfloat16, enabled=bfloat16)
        self._plain = _LossModule(objective)
        self._module: nn.Module = self._plain
        if settings.compile:
            self._module = cast(nn.Module, torch.compile(self._plain, dynamic=True))
        if ranks.world > 1:
            device_ids = [ranks.device] if device == "cuda" else None
            self._module = DistributedDataParallel(self._module, device_ids=device_ids, gradient_as_bucket_view=True)
        self.optimizer = objective.optimizer()

    def update(self, step: int, rates: Sequence[float], batches: Sequence[Item], units: float) -> Update:
        """Change the weights once, each part at its rate, unless the gradient is not finite; steps count from 1. The
        batches are this process's, `units` the number of units in those of all, such as target tokens. Dropout draws
        from a generator seeded by (seed, step, rank): a resumed run draws the same numbers. Raises TrainingError:
        memory ran out."""
        for parameters, rate in zip(self.optimizer.param_groups, rates, strict=True):
            parameters["lr"] = rate
        seeds = np.random.SeedSequence((self.settings.seed, step, self.ranks.rank))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]) >> 1)
        self._module.train()
        self.optimizer.zero_grad(set_to_none=True)
        sums = torch.zeros(len(self.objective.measures) + 1, device=self.ranks.device)
        for number, batch in enumerate(batches, start=1):
            with self._synchronised(number == len(batches)), self._memory_named(batch):
                loss, *measured = self._loss(self._module, batch)
                # DDP averages gradients over processes; the loss is a mean over the units of all of them.
                torch.autograd.backward(loss * (self.ranks.world / units))
                sums += torch.stack(measured)
        parameters_ = [p for p in self.model.parameters() if p.grad is not None]
        gradients = [cast(Tensor, p.grad) for p in parameters_]
        norm = torch.nn.utils.get_total_norm(gradients)
        norm_, *sums_, further = torch.cat([norm.reshape(1), sums]).tolist()
        # Only now is it known how many source tokens the model predicted; the gradients become a mean over those too.
        share = units / (units + self.ranks.sum([further])[0])
        if share < 1:
            torch._foreach_mul_(gradients, share)
            norm, norm_ = norm * share, norm_ * share
        # Every process has the same gradient by now, so all of them decide alike.
        applied = norm_ < float("inf")
        if applied:
            if self.settings.clip_norm is not None:
                torch.nn.utils.clip_grads_with_norm_(parameters_, self.settings.clip_norm, norm)
            self.optimizer.step()
        return Update(norm_, tuple(sums_), applied)

    @torch.no_grad()
    def losses(self, batch: Item) -> tuple[float, ...]:
        """Return the objective's measures of a batch without dropout, summed over its units."""
        self.model.eval()
        with self._memory_named(batch):
            return tuple(measured.item() for measured in self._loss(self._plain, batch)[1:-1])

    def _loss(self, module: nn.Module, batch: Item) -> tuple[Tensor, ...]:
        inputs = self.objective.inputs(batch, self.ranks.device)
        with self._autocast:
            return cast(tuple[Tensor, ...], module(*inputs))

    def _synchronised(self, last: bool) -> Any:
        """Gradients are summed over processes once an update, with its last batch."""
        return (
            self._module.no_sync() if isinstance(self._module, DistributedDataParallel) and not last else nullcontext()
        )

    @contextmanager
    def _memory_named(self, batch: Item) -> Iterator[None]:
        """Turn an out-of-memory error into one that names the setting to change."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            self._out_of_memory(batch, error)
        except RuntimeError as error:
            if "can't allocate memory" not in str(error):  # message of PyTorch's CPU allocator
                raise
            self._out_of_memory(batch, error)

    def _out_of_memory(self, batch: Item, error: RuntimeError) -> NoReturn:
        raise TrainingError(
            f"out of memory on {self.ranks.device} in a batch of {self.objective.remedy(batch)}"
        ) from error


class _LossModule(nn.Module):
    """Batch in, loss out: the one call that DDP and torch.compile wrap."""

    def __init__(self, objective: Objective[Any]) -> None:
        super().__init__()
        self.model = objective.model
        self.objective = objective

    def forward(self, *inputs: Any) -> tuple[Tensor, ...]:
        return self.objective.loss(*inputs)
