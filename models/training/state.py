"""The settings of a training run, its state from step to step, and what it reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from models.training.batches import Position


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what to change."""


class TrainingStopped(RuntimeError):  # noqa: N818 - nothing went wrong
    """Training was asked to stop; a checkpoint was saved and the next run continues from it."""


@dataclass(frozen=True)
class TrainerSettings:
    """How to train.

    Attributes:
        steps: maximum number of updates of the weights.
        accumulation: batches per update on each process.
        clip_norm: maximum gradient norm; None = no clipping.
        log_interval: steps between lines of metrics.
        validation_interval: steps between validations, each followed by a checkpoint.
        validate_start: whether weights are also validated, and kept, before the first update.
        checkpoint_interval: steps between further checkpoints; None = none.
        keep_best: how many of the best checkpoints to keep.
        patience: validations without improvement after which training ends; None = never.
        max_skipped: updates in a row without a finite gradient after which training gives up.
        max_seconds: time budget of all sessions together; None = none. With it, results depend on the machine.
        precision: "bfloat16" (autocast, the weights stay float32) or "float32"; "auto" is bfloat16 on CUDA only.
        compile: whether to compile the model (torch.compile).
        seed: of dropout.
    """

    steps: int
    accumulation: int = 1
    clip_norm: float | None = None
    log_interval: int = 50
    validation_interval: int = 1000
    validate_start: bool = False
    checkpoint_interval: int | None = None
    keep_best: int = 5
    patience: int | None = None
    max_skipped: int = 10
    max_seconds: float | None = None
    precision: str = "auto"
    compile: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        least_one = ("steps", "accumulation", "log_interval", "validation_interval", "keep_best", "max_skipped")
        for name in (*least_one, "checkpoint_interval", "patience"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"expected {name} of at least 1, got {value}")
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise ValueError(f"expected precision auto, float32 or bfloat16, got {self.precision!r}")


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a run, for people who watch it.

    Attributes:
        step: updates done.
        steps: maximum number of updates.
        share: done so far, 0-1; 1 when training has ended, perhaps early.
        figures: means of the objective's measures since the last line of metrics.
        unit: their unit.
        learning_rate: of the last update.
        gradient_norm: of the last update, before clipping.
        tokens_per_second: source tokens without padding, all processes together; 0 after a validation.
        seconds: training time, earlier sessions included.
        validation: score of the last validation, lower is better; None = none yet.
        best: lowest such score.
        best_step: step of the lowest score.
        skipped: updates skipped because the gradient was not finite.
        scores: figures of the last validation.
    """

    step: int
    steps: int
    share: float
    figures: Mapping[str, float]
    unit: str
    learning_rate: float
    gradient_norm: float
    tokens_per_second: float
    seconds: float
    validation: float | None
    best: float | None
    best_step: int
    skipped: int
    scores: Mapping[str, Any]

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


@dataclass
class RunState:
    """The changing state of a run, kept in checkpoints.

    Attributes:
        step: updates done.
        position: position in the training data.
        share: of the data read so far, if the data has an end.
        seconds: training time, all sessions together.
        skipped: updates skipped because the gradient was not finite.
        skipped_in_a_row: the number of skipped updates since the last one applied.
        learning_rate: of the last update.
        gradient_norm: of the last update.
        validated: step of the last validation; -1 = none yet.
        validation: its score.
        scores: its figures.
        best: lowest score.
        best_step: its step.
        best_scores: its figures.
        stale: validations since then.
        window: sums since the last line of metrics: the measures, their units under "tokens", source tokens with and
            without padding, and seconds of training.
    """

    step: int = 0
    position: Position = field(default_factory=Position)
    share: float = 0.0
    seconds: float = 0.0
    skipped: int = 0
    skipped_in_a_row: int = 0
    learning_rate: float = 0.0
    gradient_norm: float = 0.0
    validated: int = -1
    validation: float | None = None
    scores: dict[str, Any] = field(default_factory=dict)
    best: float | None = None
    best_step: int = 0
    best_scores: dict[str, Any] = field(default_factory=dict)
    stale: int = 0
    window: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RunState":
        """Return the state from the dictionary that `dataclasses.asdict` made of it."""
        return cls(**{**values, "position": Position(**values["position"])})


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended.

    Attributes:
        step: updates done.
        seconds: time they took, all sessions together.
        finished: whether nothing is left to do; False if the time budget ended the run.
        skipped: updates skipped because the gradient was not finite.
        best: lowest score of a validation; None without validation.
        best_step: its step.
        best_scores: figures of that validation.
        scores: figures of the last one.
    """

    step: int
    seconds: float
    finished: bool
    skipped: int
    best: float | None
    best_step: int
    best_scores: Mapping[str, Any]
    scores: Mapping[str, Any]
