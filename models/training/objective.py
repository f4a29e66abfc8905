"""What a training minimises and how weights are judged: all that differs between summarizers, ranker and predictor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from models.training.batches import Position, TrainingBatch

# Of Adam, as in the released HT; Ma & Zong 2022 says nothing about its predictor.
_BETAS, _EPSILON = (0.9, 0.998), 1e-9


Item = TypeVar("Item", bound=TrainingBatch)


def pinned_for(device: torch.device, batches: Iterator[Item]) -> Iterator[Item]:
    """Return the batches in pinned memory if they are for a GPU: from other memory it cannot copy while the host goes
    on, whatever `non_blocking` says."""
    return (batch.pin_memory() for batch in batches) if device.type == "cuda" else batches


@dataclass(frozen=True)
class Validation:
    """The result of a validation."""

    score: float  # by which checkpoints are compared; lower is better
    figures: Mapping[str, Any]  # JSON-able values for the metrics and for people


class Objective(ABC, Generic[Item]):
    """A training objective."""

    model: nn.Module  # the weights to train
    measures: tuple[str, ...]  # names of the sums that `loss` returns for reports
    unit: str  # unit of their means, such as "nats a paragraph"

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimizer of the model, which is already on its device; Adam as in the released HT."""
        groups = [{"params": list(part)} for part in self.parts()]
        return torch.optim.Adam(groups, betas=_BETAS, eps=_EPSILON, fused=True)

    def parts(self) -> Sequence[Iterable[nn.Parameter]]:
        """Return the weights to train by their learning rate: one part for each schedule of the trainer."""
        return [self.model.parameters()]

    @abstractmethod
    def batches(self, start: Position) -> Iterator[Item]:
        """Yield the training batches from `start` to the end of training. Raises ValueError: there are none."""

    def begin(self, batch: Item) -> None:
        """Prepare fresh weights, given the first batch of the run."""

    def share(self, batch: Item) -> float:
        """Return how much of the data has been read after a batch, 0-1; 0 if the data has no end."""
        return 0.0

    @abstractmethod
    def units(self, batch: Item) -> int:
        """Return the number of units in the loss of a batch, such as target tokens."""

    @abstractmethod
    def inputs(self, batch: Item, device: torch.device) -> tuple[Any, ...]:
        """Return what `loss` reads of a batch, on the device."""

    @abstractmethod
    def loss(self, *inputs: Any) -> tuple[Tensor, ...]:
        """Return scalars summed over a batch: the loss to minimise; the `measures`; and the number of units in the loss
        besides those that `units` counts."""

    @abstractmethod
    def validate(self, losses: Callable[[Item], tuple[float, ...]]) -> Validation | None:
        """Judge the weights of the model, which is in evaluation mode; None without validation examples. `losses`
        returns the `measures` of a batch, without gradients."""

    @abstractmethod
    def remedy(self, batch: Item) -> str:
        """Return the shape of a batch that ran out of memory, and which setting to change."""
