"""A small training run that tests start as a program, to be killed, stopped or shared by processes.

Prints one line a step. With `--kill-at N M` it trains once for each number, in a folder called so, in a process of its
own that kills itself after that step's report.
"""

import argparse
import os
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from models.contract import Summarizer
from models.registry import build_summarizer
from models.training.batches import BatchStream, sweep
from models.training.distributed import Ranks, process_group
from models.training.layout import Layout
from models.training.state import TrainerSettings, TrainingProgress, TrainingResult, noam
from models.training.token_objective import TokenObjective
from models.training.trainer import Trainer

PIECES = 40
LAYOUT = Layout(pad=0, title_mark=4, max_paragraphs=3, max_paragraph_tokens=8, max_target_tokens=8, length_multiple=4)


def tiny_model(**changes: object) -> Summarizer:
    """An HT of a few thousand parameters, always the same weights."""
    torch.manual_seed(0)
    size = {"model_size": 16, "feed_forward_size": 32, "heads": 2, "local_layers": 1, "global_layers": 1}
    return build_summarizer("ht", vocabulary_size=PIECES, **{**size, "dropout": 0.2, **changes})


def tiny_shards(shards: int = 3, rows: int = 9, seed: int = 5) -> list[pa.Table]:
    """Examples whose lead repeats the title, so that a model can learn something in a few steps."""
    rng = np.random.default_rng(seed)
    tokens = pa.list_(pa.int32())
    tables = []
    for _ in range(shards):
        titles = [rng.integers(7, PIECES, rng.integers(1, 4)).tolist() for _ in range(rows)]
        sources = [
            [rng.integers(7, PIECES, rng.integers(1, 9)).tolist() for _ in range(rng.integers(1, 5))] for _ in titles
        ]
        columns = {
            "title": pa.array(titles, tokens),
            "source": pa.array(sources, pa.list_(tokens)),
            "target": pa.array([[2, *title, 3] for title in titles], tokens),
        }
        tables.append(pa.table(columns))
    return tables


def train(
    directory: Path,
    *,
    ranks: Ranks | None = None,
    model: Summarizer | None = None,
    progress=None,
    rate: float = 1.0,
    batch_tokens: int = 48,
    fingerprint=None,
    evaluate=None,
    **changes: object,
) -> TrainingResult:
    """Train the tiny model on the tiny examples."""
    ranks = ranks or Ranks(torch.device("cpu"))
    stream = BatchStream(
        tiny_shards(), LAYOUT, batch_tokens=batch_tokens, window=10, seed=1, rank=ranks.rank, world=ranks.world
    )
    settings = TrainerSettings(
        **{"steps": 12, "accumulation": 2, "log_interval": 3, "validation_interval": 4, "keep_best": 2, **changes}
    )

    def validation():
        shards = tiny_shards(1, 6, seed=8)
        return sweep(shards, LAYOUT, batch_tokens=batch_tokens, rank=ranks.rank, world=ranks.world)

    objective = TokenObjective(
        model or tiny_model(),
        batch_tokens=batch_tokens,
        stream=stream,
        ranks=ranks,
        validation=validation,
        evaluate=evaluate,
    )
    return Trainer(
        objective,
        noam(factor=rate, model_size=16, warmup=8),
        settings,
        directory,
        ranks=ranks,
        progress=progress,
        fingerprint=fingerprint or {"seed": 1},
    ).run()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--kill-at", type=int, nargs="*", default=[])
    parser.add_argument("--float64", action="store_true")
    arguments = parser.parse_args()
    if arguments.float64:
        torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)

    def run(directory: Path, killed: int = 0) -> None:
        def progress(at: TrainingProgress) -> None:
            print(at.step, flush=True)
            if at.step == killed:
                os.kill(os.getpid(), signal.SIGKILL)

        with process_group("cpu") as ranks:
            model = tiny_model(dropout=arguments.dropout)
            train(directory, ranks=ranks, model=model, progress=progress, accumulation=arguments.accumulation)

    for step in arguments.kill_at:
        # A fork, because loading PyTorch anew takes far longer than the training.
        if not (child := os.fork()):
            run(arguments.directory / str(step), step)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(f"exit {os.waitstatus_to_exitcode(status)}", flush=True)
    if not arguments.kill_at:
        run(arguments.directory)


if __name__ == "__main__":
    main()
