"""What `torchrun` starts in `test_machines.py`: a command whose one stage is a training."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from models.training.state import TrainingProgress
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.engine.torchrun import run_on_machines
from tests.tasks.summarization.test_torchrun import train

STEPS = 60


def learn(*, directory: Path, progress: Callable[[TrainingProgress], None] | None) -> dict[str, Any]:
    return train(directory, progress, steps=STEPS, validation_interval=10)


def stage(root: str, progress: Callable[[TrainingProgress], None] | None = None) -> int:
    recipe = Recipe("models/summarizer", learn, version=1, together=True)
    Run(Store(root), Executor()).directory(recipe, inputs={}, context={"progress": progress})
    return 0


def say(at: TrainingProgress) -> None:
    print(f"step {at.step}", flush=True)


if __name__ == "__main__":
    # By the name under which the other machine imports it, so that the job names its function there.
    from tests.end_to_end import machine_training

    sys.exit(run_on_machines(lambda: machine_training.stage(sys.argv[1], machine_training.say)))
