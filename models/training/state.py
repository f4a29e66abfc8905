"""The settings of a training run, what it minimises, its state from step to step and what it reports. Learning rates
are functions of the step, so that a checkpoint need not store a state of the schedule. The objective is all that
differs between summarizers, ranker and predictor."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor, nn

from models.training.batches import Position, TrainingBatch

Schedule = Callable[[int], float]


def noam(*, factor: float, model_size: int, warmup: int) -> Schedule:
    """Return the schedule of Vaswani et al. 2017: linear warm-up, then decay with the inverse square root. rate(step) =
    factor x model_size^-.5 x min(step^-.5, step x warmup^-1.5); it peaks at step `warmup`. The released HT's factor of
    3, model size of 256 and warm-up of 8,000 peak at 2.1e-3. Raises ValueError: an argument is not positive."""
    if factor <= 0 or model_size < 1 or warmup < 1:
        raise ValueError(f"expected a positive factor, model size and warm-up, got {factor}, {model_size}, {warmup}")
    return lambda step: factor * model_size**-0.5 * min(step**-0.5, step * warmup**-1.5)


def constant(rate: float) -> Schedule:
    """Return the schedule that stays at `rate`. Raises ValueError: the rate is not positive."""
    if rate <= 0:
        raise ValueError(f"expected a positive learning rate, got {rate}")
    return lambda step: rate


def linear(*, peak: float, warmup: int, steps: int) -> Schedule:
    """Return linear warm-up to `peak` within at most half of all steps, then linear decay that would reach 0 one step
    after the last. A short run ends with a better model than under `noam`, whose rate is still high when it stops.
    Raises ValueError: an argument is not positive."""
    if peak <= 0 or warmup < 1 or steps < 1:
        raise ValueError(f"expected a positive peak, warm-up and number of steps, got {peak}, {warmup} and {steps}")
    top = min(warmup, max(1, steps // 2))
    return lambda step: peak * min(step / top, max(0, steps + 1 - step) / (steps + 1 - top))


class TrainingError(RuntimeError):
    """Training cannot continue; the message says what to change."""


class TrainingStopped(RuntimeError):  # noqa: N818 - nothing went wrong
    """Training was asked to stop; a checkpoint was saved and the next run continues from it."""


@dataclass(frozen=True)
class TrainerSettings:
    """How to train."""

    steps: int  # maximum number of updates of the weights
    accumulation: int = 1  # batches per update on each process
    clip_norm: float | None = None  # maximum gradient norm; None = no clipping
    log_interval: int = 50  # steps between lines of metrics
    validation_interval: int = 1000  # steps between validations, each followed by a checkpoint
    validate_start: bool = False  # whether weights are also validated, and kept, before the first update
    keep_best: int = 5  # how many of the best checkpoints to keep
    patience: int | None = None  # validations without improvement after which training ends; None = never
    max_skipped: int = 10  # updates in a row without a finite gradient after which training gives up
    # time budget of all sessions together; None = none. With it, results depend on the machine.
    max_seconds: float | None = None
    # "bfloat16" (autocast, the weights stay float32) or "float32"; "auto" is bfloat16 on CUDA only
    precision: str = "auto"
    compile: bool = False  # whether to compile the model (torch.compile)
    seed: int = 0  # of dropout

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise ValueError(f"expected steps of at least 0, got {self.steps}")
        least_one = ("accumulation", "log_interval", "validation_interval", "keep_best", "max_skipped")
        for name in (*least_one, "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"expected {name} of at least 1, got {value}")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"expected precision auto, float32 or bfloat16, got {self.precision!r}")


@dataclass
class RunState:
    """The changing state of a run, kept in checkpoints."""

    step: int = 0  # updates done
    position: Position = field(default_factory=Position)  # position in the training data
    share: float = 0.0  # of the data read so far, if the data has an end
    seconds: float = 0.0  # training time, all sessions together
    skipped: int = 0  # updates skipped because the gradient was not finite
    skipped_in_a_row: int = 0  # the number of skipped updates since the last one applied
    learning_rate: float = 0.0  # of the last update
    gradient_norm: float = 0.0  # of the last update, before clipping
    validated: int = -1  # step of the last validation; -1 = none yet
    validation: float | None = None  # its score, lower is better
    scores: dict[str, Any] = field(default_factory=dict)  # its figures
    best: float | None = None  # lowest score
    best_step: int = 0  # its step
    best_scores: dict[str, Any] = field(default_factory=dict)  # its figures
    stale: int = 0  # validations since then
    # sums since the last line of metrics: the measures, their units under "tokens", source tokens with and without
    # padding, and seconds of training
    window: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the state from the dictionary that `dataclasses.asdict` made of it."""
        return cls(**{**values, "position": Position(**values["position"])})


@dataclass
class TrainingResult(RunState):
    """How a run ended."""

    finished: bool = False  # whether nothing is left to do; False if the time budget ended the run


@dataclass
class TrainingProgress(RunState):
    """The progress of a run, for people who watch it; its `share`, 0-1, is 1 when training has ended, perhaps early."""

    steps: int = 0  # maximum number of updates
    figures: Mapping[str, float] = field(default_factory=dict)  # means of the measures since the last line of metrics
    unit: str = ""  # their unit
    tokens_per_second: float = 0.0  # source tokens without padding, all processes together; 0 after a validation

    def __str__(self) -> str:
        parts = [f"step {self.step:,} of {self.steps:,}"]
        if self.figures:
            parts.append(f"{_named(self.figures)} {self.unit}")
        parts.append(f"rate {self.learning_rate:.2e}, gradient norm {self.gradient_norm:.2f}")
        if self.tokens_per_second:
            parts.append(f"{self.tokens_per_second:,.0f} source tokens/s")
        if self.validation is not None:
            parts.append(f"validation {_named(self.scores)} (best at step {self.best_step:,})")
        if self.skipped:
            parts.append(f"{self.skipped} steps skipped")
        return "; ".join(parts)


def _named(figures: Mapping[str, Any]) -> str:
    named = [(name.replace("_", " "), value) for name, value in figures.items()]
    return ", ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in named)


# Of Adam, as in the released HT; Ma & Zong 2022 says nothing about its predictor.
_BETAS, _EPSILON = (0.9, 0.998), 1e-9
Item = TypeVar("Item", bound=TrainingBatch)


def pinned_for(device: torch.device, batches: Iterator[Item]) -> Iterator[Item]:
    """Return the batches in pinned memory if they are for a GPU: from other memory it cannot copy while the host
    continues, whatever `non_blocking` says."""
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
