"""The trainings of the pipeline at toy size; as a program one of them, which kills itself after a step's report."""

import argparse
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from models.training.state import TrainingProgress
from tasks.ranking.settings import RankerSettings
from tasks.ranking.training import train_ranker
from tasks.summarization.attention_training import train_attention
from tasks.summarization.settings import AttentionSettings
from tasks.summarization.training import train_summarizer
from tests.tasks.ranking import ranker_world
from tests.tasks.summarization.summarizer_examples import FEW, TINY, shards, vocabulary

Train = Callable[..., dict[str, Any]]
SIZES = {"model_size": 32, "feed_forward_size": 64, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
PHT = TINY.model_copy(update={"preset": "pht", "overrides": SIZES})
RANKER = RankerSettings(hidden=16, batch_paragraphs=16, validation_interval=8)
ATTENTION = AttentionSettings(steps=10, warmup=4)


def summarizer(directory: Path, teacher: Path, **more: Any) -> dict[str, Any]:
    """Train a PHT; `teacher` is not read."""
    training = FEW.model_copy(update={"steps": 10, "validation_interval": 4, "log_interval": 1})
    return train_summarizer(shards(), vocabulary(), PHT, training=training, directory=directory, seed=1, **more)


def ranker(directory: Path, teacher: Path, **more: Any) -> dict[str, Any]:
    """Train a ranker for all the data there is; `teacher` is not read."""
    world, pieces = ranker_world.world(), ranker_world.vocabulary()
    few = {"epochs": 2, "per_article": 8, "log_interval": 1}
    return train_ranker(world, pieces, RANKER, directory=directory, seed=1, **few, **more)


def attention(directory: Path, teacher: Path, **more: Any) -> dict[str, Any]:
    """Train the attention predictor of the summarizer in `teacher`."""
    few = {"batch_tokens": 512, "validation_interval": 4, "log_interval": 1}
    return train_attention(shards(), teacher, ATTENTION, directory=directory, seed=1, **few, **more)


TRAININGS: dict[str, Train] = {"summarizer": summarizer, "ranker": ranker, "attention": attention}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=TRAININGS)
    parser.add_argument("directory", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("kill_at", type=int)
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    def progress(at: TrainingProgress) -> None:
        if at.step == arguments.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    TRAININGS[arguments.name](arguments.directory, arguments.teacher, progress=progress)


if __name__ == "__main__":
    main()
