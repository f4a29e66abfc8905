"""What a summarizer's training and its pre-training share: settings, batches, loss, the trainer, and its outcome."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
from torch import nn

from models.contract import Summarizer
from models.registry import to_config_dict
from models.training.batches import Batch, BatchStream, ExampleShards, TableShards, sweep
from models.training.distributed import Ranks
from models.training.layout import Layout
from models.training.schedule import Schedule, constant, linear, noam
from models.training.state import TrainerSettings, TrainingProgress, TrainingResult
from models.training.token_objective import TokenObjective
from models.training.trainer import Trainer
from tasks.summarization.settings import TrainingSettings


def token_trainer(
    model: Summarizer,
    training: TrainingSettings,
    layout: Layout,
    *,
    examples: ExampleShards,  # of the training split
    valid: pa.Table,  # examples that choose the best checkpoints; none = the last one is the best
    directory: Path,
    seed: int,  # of dropout and the order of examples
    ranks: Ranks,
    fingerprint: Mapping[str, Any],
    prepare: Callable[[pa.Table, int, int], pa.Table] | None = None,  # see `BatchStream`
    evaluate: Callable[[Summarizer], Mapping[str, float]] | None = None,  # see `TokenObjective`
    continued: bool = False,  # whether the weights are those of a trained summarizer
    progress: Callable[[TrainingProgress], None] | None = None,
) -> Trainer[Batch]:
    """Return the trainer of a model that predicts the tokens of targets; what is not said here `Trainer` says."""
    tokens = training.batch_tokens
    stream = BatchStream(
        examples, layout, batch_tokens=tokens, seed=seed, rank=ranks.rank, world=ranks.world, prepare=prepare
    )

    def validation() -> Iterator[Batch]:
        return sweep(TableShards([valid]), layout, batch_tokens=tokens, rank=ranks.rank, world=ranks.world)

    objective = TokenObjective(
        model,
        batch_tokens=tokens,
        label_smoothing=training.label_smoothing,
        stream=stream,
        ranks=ranks,
        validation=validation if valid.num_rows else None,
        evaluate=evaluate,
    )
    settings = trainer_settings(training, seed, processes=ranks.world, continued=continued)
    size = to_config_dict(model)["model_size"]
    schedules = [learning_rate(training, size)]
    if (pace := model.pace) is not None:
        schedules.append(learning_rate(training, size, rate=pace.rate, warmup=pace.warmup))
    return Trainer(
        objective, schedules, settings, directory, ranks=ranks, progress=progress, fingerprint=dict(fingerprint)
    )


def outcome(result: TrainingResult, model: nn.Module) -> dict[str, Any]:
    """Return what every such training reports of itself."""
    return {
        "steps": result.step,
        "finished": result.finished,
        "seconds": round(result.seconds, 3),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "validation_nll": result.best,
        "skipped_steps": result.skipped,
    }


def trainer_settings(
    training: TrainingSettings, seed: int, *, processes: int = 1, continued: bool = False
) -> TrainerSettings:
    """Return what the trainer wants to know, for each of `processes`. Raises ValueError: they cannot share an update's
    batches equally, as where `torchrun` started another number."""
    if training.accumulation % processes:
        raise ValueError(
            f"training.accumulation is {training.accumulation}: expected a multiple of {processes}, the processes of "
            "torchrun, which share an update's batches equally"
        )
    names = {field.name for field in fields(TrainerSettings)}
    # The initial weights are among the checkpoints, so that continued training cannot raise the validation loss; with
    # no steps they are all that there is.
    fields_ = training.model_dump(include=names) | {"accumulation": training.accumulation // processes}
    return TrainerSettings(**fields_, seed=seed, validate_start=continued or not training.steps)


def fixed_settings(training: TrainingSettings) -> dict[str, Any]:
    """Return the settings that must not change during a run; its length, validation interval and time budget may."""
    free = {"steps", "validation_interval", "keep_best", "max_seconds"}
    if training.schedule == "linear":
        free.remove("steps")  # they determine the learning rate of every step
    return {name: value for name, value in training.recipe().items() if name not in free}


def learning_rate(
    training: TrainingSettings, model_size: int, *, rate: float = 1.0, warmup: int | None = None
) -> Schedule:
    """Return the learning rate by step, `rate` times that of the settings, with their warm-up or another."""
    warmup = training.warmup if warmup is None else warmup
    if training.schedule == "constant":
        return constant(rate * training.learning_rate)
    if training.schedule == "linear":
        return linear(peak=rate * training.learning_rate, warmup=warmup, steps=training.steps)
    return noam(factor=rate * training.learning_rate_factor, model_size=model_size, warmup=warmup)
