"""The training loop of every summarizer: updates, validation, checkpoints, and going on exactly where a run stopped.

One update sees `accumulation` batches on each of `world` processes; neither the split into batches nor the number of
processes changes what is learned.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from models.contract import Summarizer
from models.training.batches import Batch, BatchStream
from models.training.checkpoints import WEIGHTS, Checkpoints, check_same_run, copy_file_atomically
from models.training.distributed import Ranks
from models.training.metrics import MetricsLog
from models.training.prefetch import prefetch
from models.training.schedule import Schedule
from models.training.state import (
    RunState,
    TrainerSettings,
    TrainingError,
    TrainingProgress,
    TrainingResult,
    TrainingStopped,
    Window,
)
from models.training.stopping import stop_on_sigterm
from models.training.update import Updater


class Trainer:
    """Trains a summarizer in a directory: `checkpoints/`, `best.json`, `metrics.jsonl`, `model.safetensors`."""

    def __init__(
        self,
        model: Summarizer,
        stream: BatchStream,
        schedule: Schedule,
        settings: TrainerSettings,
        directory: Path,
        *,
        ranks: Ranks,
        validation: Callable[[], Iterator[Batch]] | None = None,
        evaluate: Callable[[Summarizer], Mapping[str, float]] | None = None,
        progress: Callable[[TrainingProgress], None] | None = None,
        fingerprint: Mapping[str, Any] | None = None,
    ) -> None:
        """Make everything ready; nothing is trained or written yet.

        Args:
            model: weights to train, moved to the device of `ranks`.
            stream: training batches of this process.
            schedule: learning rate by step, the first step being 1.
            settings: how to train.
            directory: where the run is kept; one that holds a run is continued.
            ranks: this process among those that train together.
            validation: gives this process's share of the validation batches, anew at each call.
            evaluate: scores the model otherwise (decoded ROUGE); called by rank 0 after a validation.
            progress: told where the run stands, by rank 0.
            fingerprint: JSON-able settings that a continued run must share with the one it continues.
        """
        self.settings, self.directory, self.ranks = settings, directory, ranks
        self.stream, self.schedule = stream, schedule
        self.validation, self.evaluate, self.progress = validation, evaluate, progress
        self.fingerprint = dict(fingerprint or {})
        self.model = model
        self.updater = Updater(model, settings, ranks, batch_tokens=stream.batch_tokens)
        self.checkpoints = Checkpoints(
            directory / "checkpoints", keep_best=settings.keep_best, best_file=directory / "best.json"
        )
        self.metrics = MetricsLog(directory / "metrics.jsonl")
        self.state = RunState()
        self._resumed = False
        self._saved = -1

    def resume(self) -> int:
        """Go on from the last checkpoint that is whole, and return its step; without one, begin: 0.

        Raises:
            ValueError: the directory holds a run with other settings, or weights of another model.
        """
        if self.ranks.rank == 0:
            # One process opens the directory and moves damaged checkpoints aside; then all of them find the same one.
            self.directory.mkdir(parents=True, exist_ok=True)
            self.checkpoints.clear_unfinished()
            self.checkpoints.latest()
        self.ranks.sum([0.0])
        checkpoint = self.checkpoints.latest()
        if checkpoint is not None:
            check_same_run(self.directory, checkpoint.state["fingerprint"], self.fingerprint)
            checkpoint.restore(self.model, self.updater.optimizer)
            self.state = RunState.from_json(checkpoint.state["training"])
            if self.ranks.rank:
                self.state.window = Window()
        if self.ranks.rank == 0:
            self.metrics.truncate(self.state.step)
            if checkpoint is not None:
                self.checkpoints.list_best()
                self._export_best()
        self._resumed = True
        self._saved = self.state.step if checkpoint is not None else -1
        return self.state.step

    def run(self) -> TrainingResult:
        """Train until all steps are done or the time is up.

        Raises:
            TrainingStopped: SIGTERM came; a checkpoint was saved.
            TrainingError: no finite gradient time after time, or out of memory.
            ValueError: the directory holds a run with other settings, or the examples cannot be batched.
        """
        if not self._resumed:
            self.resume()
        started = time.monotonic() - self.state.seconds
        timely = self._timely()
        with stop_on_sigterm() as stop, prefetch(self.stream.batches(self.state.position)) as batches:
            while self.state.step < self.settings.steps and timely:
                timely = self._advance(batches, stop, started)
        result = self.state
        return TrainingResult(
            result.step, result.seconds, result.step >= self.settings.steps, result.skipped, result.best, result.scores
        )

    def _advance(self, batches: Iterator[Batch], stop: threading.Event, started: float) -> bool:
        """Do one step and what is due after it; return whether there is time for more."""
        state, settings = self.state, self.settings
        begun = time.monotonic()
        group = [next(batches) for _ in range(settings.accumulation)]
        # Processes agree on everything that decides what they do next.
        tokens, stops = self.ranks.sum([sum(map(_target_tokens, group)), stop.is_set()])
        if stops:
            if self._saved != state.step:  # else it is there already, with its score
                self._save(score=None)
            raise TrainingStopped(f"stopped by SIGTERM after step {state.step}; the same command goes on from there")
        self._update(group, tokens)
        state.window.seconds += time.monotonic() - begun
        state.seconds = time.monotonic() - started
        timely = self._timely()
        last = state.step >= settings.steps or not timely
        if last or state.step % settings.log_interval == 0:
            self._log()
        if last or state.step % settings.validation_interval == 0:
            self._save(score=self._validate(started))
        elif settings.checkpoint_interval and state.step % settings.checkpoint_interval == 0:
            self._save(score=None)
        return timely

    def _timely(self) -> bool:
        """Return whether no process is past the time budget."""
        budget = self.settings.max_seconds
        return budget is None or not self.ranks.sum([self.state.seconds >= budget])[0]

    def _update(self, group: list[Batch], tokens: float) -> None:
        state, window = self.state, self.state.window
        state.step += 1
        state.learning_rate = self.schedule(state.step)
        update = self.updater.update(state.step, state.learning_rate, group, tokens)
        state.position = group[-1].following
        state.gradient_norm = update.gradient_norm
        window.source_tokens += sum(batch.source_tokens for batch in group)
        window.padded_tokens += sum(batch.padded_tokens for batch in group)
        if update.made:
            state.skipped_in_a_row = 0
            window.smoothed += update.smoothed
            window.nll += update.nll
            window.tokens += tokens / self.ranks.world
            return
        state.skipped += 1
        state.skipped_in_a_row += 1
        if state.skipped_in_a_row >= self.settings.max_skipped:
            raise TrainingError(
                f"no finite gradient in {state.skipped_in_a_row} steps in a row, up to step {state.step} at a learning "
                f"rate of {state.learning_rate:.3g}: lower the learning rate, lengthen the warm-up or set clip_norm"
            )

    def _validate(self, started: float) -> float | None:
        """Return the validation nll per target token, and have the model scored; None without validation examples."""
        if self.validation is None:
            return None
        state = self.state
        sums = [0.0, 0.0, 0.0]
        for batch in self.validation():
            parts = (*self.updater.losses(batch), _target_tokens(batch))
            sums = [total + part for total, part in zip(sums, parts, strict=True)]
        smoothed, nll, tokens = self.ranks.sum(sums)
        if not tokens:
            return None
        state.validation = nll / tokens
        if self.evaluate is not None and self.ranks.rank == 0:
            self.model.eval()
            state.scores = dict(self.evaluate(self.model))
        finite = math.isfinite(state.validation)
        if finite and (state.best is None or state.validation < state.best):
            state.best = state.validation
        state.seconds = time.monotonic() - started
        if self.ranks.rank == 0:
            self.metrics.append(
                {"kind": "validation", "step": state.step, "loss": smoothed / tokens, "nll": state.validation,
                 **state.scores, "seconds": round(state.seconds, 3)}
            )  # fmt: skip
            self._report(smoothed / tokens, state.validation, 0.0)
        return state.validation if finite else None

    def _log(self) -> None:
        """Write a line of metrics over the steps since the one before."""
        state = self.state
        totals = Window(*self.ranks.sum(list(asdict(state.window).values())))
        state.window = Window()
        if self.ranks.rank or not totals.tokens:
            return
        loss, nll = totals.smoothed / totals.tokens, totals.nll / totals.tokens
        rate = totals.source_tokens * self.ranks.world / max(totals.seconds, 1e-9)
        self.metrics.append(
            {"kind": "train", "step": state.step, "loss": loss, "nll": nll, "learning_rate": state.learning_rate,
             "gradient_norm": state.gradient_norm, "skipped": state.skipped, "source_tokens_per_second": round(rate, 1),
             "padding": round(1 - totals.source_tokens / totals.padded_tokens, 4), "seconds": round(state.seconds, 3)}
        )  # fmt: skip
        self._report(loss, nll, rate)

    def _report(self, loss: float, nll: float, rate: float) -> None:
        state = self.state
        if self.progress is not None:
            self.progress(
                TrainingProgress(
                    state.step, self.settings.steps, loss, nll, state.learning_rate, state.gradient_norm, rate,
                    state.seconds, state.validation, state.best, state.skipped, state.scores,
                )
            )  # fmt: skip

    def _save(self, score: float | None) -> None:
        state = self.state
        totals = self.ranks.sum(list(asdict(state.window).values()))
        state.window = Window(*totals) if self.ranks.rank == 0 else Window()
        if self.ranks.rank == 0:
            kept = {"training": asdict(state), "fingerprint": self.fingerprint}
            self.checkpoints.save(state.step, self.model, self.updater.optimizer, kept, score=score)
            self._export_best()
        self._saved = state.step
        self.ranks.sum([0.0])

    def _export_best(self) -> None:
        """Put the best weights so far, or the last where none was validated, where a model directory has them."""
        best = [path for _, path in self.checkpoints.best()] or self.checkpoints.paths()[-1:]
        if best:
            copy_file_atomically(best[0] / WEIGHTS, self.directory / WEIGHTS)


def _target_tokens(batch: Batch) -> int:
    """Tokens of a batch that are predicted: all but begin and padding."""
    return int((batch.target[:, 1:] != batch.source.pad).sum())
