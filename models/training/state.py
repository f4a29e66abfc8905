"""What a training run is told, what it keeps from step to step, and what it reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from models.training.batches import Position


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what to change."""


class TrainingStopped(RuntimeError):  # noqa: N818 - nothing went wrong
    """Training was asked to stop; a checkpoint was saved and a new run goes on from it."""


@dataclass(frozen=True)
class TrainerSettings:
    """How to train.

    Attributes:
        steps: updates of the weights.
        accumulation: batches an update sees on each process.
        label_smoothing: see `token_loss`.
        clip_norm: largest gradient norm; None = as it comes.
        betas: of Adam (released HT: .9 and .998).
        epsilon: of Adam.
        log_interval: steps between lines of metrics.
        validation_interval: steps between validations, each followed by a checkpoint.
        checkpoint_interval: steps between further checkpoints; None = none.
        keep_best: how many of the best checkpoints to keep.
        max_skipped: updates in a row without a finite gradient after which training gives up.
        max_seconds: time budget over all runs; None = none. With it, results depend on the machine.
        precision: "bfloat16" (autocast, the weights stay float32) or "float32"; "auto" is bfloat16 on CUDA only.
        compile: whether to compile the model (torch.compile).
        loss: see `token_loss`.
        seed: of dropout.
    """

    steps: int
    accumulation: int = 1
    label_smoothing: float = 0.1
    clip_norm: float | None = None
    betas: tuple[float, float] = (0.9, 0.998)
    epsilon: float = 1e-9
    log_interval: int = 50
    validation_interval: int = 1000
    checkpoint_interval: int | None = None
    keep_best: int = 5
    max_skipped: int = 10
    max_seconds: float | None = None
    precision: str = "auto"
    compile: bool = False
    loss: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        least_one = ("steps", "accumulation", "log_interval", "validation_interval", "keep_best", "max_skipped")
        for name in (*least_one, "checkpoint_interval"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"expected {name} of at least 1, got {value}")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"expected precision auto, float32 or bfloat16, got {self.precision!r}")


@dataclass(frozen=True)
class TrainingProgress:
    """Where a run stands, for people who watch it.

    Attributes:
        step: updates done.
        steps: updates to do.
        loss: label-smoothed loss per target token since the last report, nats.
        nll: negative log likelihood per target token since then, nats.
        learning_rate: of the last update.
        gradient_norm: of the last update, before clipping.
        tokens_per_second: source tokens, padding not counted, all processes together.
        seconds: since training began, runs before this one included.
        validation: nll per target token of the last validation, nats; None = none yet.
        best: lowest such value.
        skipped: updates left out for want of a finite gradient.
        scores: what the evaluation callback returned last.
    """

    step: int
    steps: int
    loss: float
    nll: float
    learning_rate: float
    gradient_norm: float
    tokens_per_second: float
    seconds: float
    validation: float | None
    best: float | None
    skipped: int
    scores: Mapping[str, float]

    @property
    def share(self) -> float:
        """Done, 0-1."""
        return self.step / self.steps

    def __str__(self) -> str:
        parts = [
            f"step {self.step:,} of {self.steps:,}",
            f"loss {self.loss:.3f}, nll {self.nll:.3f} nats/token",
            f"rate {self.learning_rate:.2e}, gradient norm {self.gradient_norm:.2f}",
        ]
        if self.tokens_per_second:
            parts.append(f"{self.tokens_per_second:,.0f} source tokens/s")
        if self.validation is not None and self.best is not None:
            parts.append(f"validation nll {self.validation:.3f} (best {self.best:.3f})")
        parts += [f"{name} {value:.4f}" for name, value in self.scores.items()]
        if self.skipped:
            parts.append(f"{self.skipped} steps skipped")
        return "; ".join(parts)


@dataclass
class Window:
    """Sums over the steps since the last line of metrics: over tokens in nats, and of training time in seconds."""

    smoothed: float = 0.0
    nll: float = 0.0
    tokens: float = 0.0
    source_tokens: float = 0.0
    padded_tokens: float = 0.0
    seconds: float = 0.0


@dataclass
class RunState:
    """What changes while a run goes on, all of it kept in checkpoints."""

    step: int = 0
    position: Position = field(default_factory=Position)
    seconds: float = 0.0
    skipped: int = 0
    skipped_in_a_row: int = 0
    learning_rate: float = 0.0
    gradient_norm: float = 0.0
    validation: float | None = None
    best: float | None = None
    scores: dict[str, float] = field(default_factory=dict)
    window: Window = field(default_factory=Window)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RunState":
        """Return the state that `dataclasses.asdict` took apart."""
        parts = {"position": Position(**values["position"]), "window": Window(**values["window"])}
        return cls(**{**values, **parts})


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended.

    Attributes:
        step: updates done.
        seconds: time they took, all runs together.
        finished: whether that is all of them; False where the time budget ended the run.
        skipped: updates left out for want of a finite gradient.
        best: lowest validation nll per target token, nats; None where there was no validation.
        scores: what the evaluation callback returned last.
    """

    step: int
    seconds: float
    finished: bool
    skipped: int
    best: float | None
    scores: Mapping[str, float]
