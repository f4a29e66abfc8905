"""The one training loop: updates, validation, checkpoints and exact resumption of an interrupted run. One update takes
the gradient of the mean loss over `accumulation` batches on each of `world` processes; neither the split into batches
nor the number of processes changes the result. The objective defines the loss; DDP stands for
torch.nn.parallel.DistributedDataParallel."""

import math
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Generic, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from models.training.batches import prefetch
from models.training.checkpoints import (
    WEIGHTS,
    Checkpoints,
    append_metrics,
    check_same_run,
    replacing,
    truncate_metrics,
)
from models.training.distributed import Ranks
from models.training.state import (
    Item,
    Objective,
    RunState,
    Schedule,
    TrainerSettings,
    TrainingError,
    TrainingProgress,
    TrainingResult,
    TrainingStopped,
    pinned_for,
)
from models.training.stopping import stop_on_sigterm


class Updater(Generic[Item]):
    """The model and its optimizer on the device of this process."""

    def __init__(self, objective: Objective[Item], settings: TrainerSettings, ranks: Ranks) -> None:
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

    def update(
        self, step: int, rates: Sequence[float], batches: Sequence[Item], units: float
    ) -> tuple[float, tuple[float, ...]]:
        """Change the weights once, each part at its rate; steps count from 1. Return the norm of the gradient before
        clipping, and the objective's measures, summed over this process's units. If the norm is not finite, the weights
        were not changed. The batches are this process's, `units` the number of units in those of all, such as target
        tokens. Dropout draws from a generator seeded by (seed, step, rank): a resumed run draws the same numbers.
        Raises TrainingError: memory ran out."""
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
        if math.isfinite(norm_):
            if self.settings.clip_norm is not None:
                torch.nn.utils.clip_grads_with_norm_(parameters_, self.settings.clip_norm, norm)
            self.optimizer.step()
        return norm_, tuple(sums_)

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
        module = self._module
        return module.no_sync() if isinstance(module, DistributedDataParallel) and not last else nullcontext()

    @contextmanager
    def _memory_named(self, batch: Item) -> Iterator[None]:
        """Turn an out-of-memory error into one that names the setting to change."""
        try:
            yield
        except RuntimeError as error:
            # A GPU's error has a class, and that of PyTorch's CPU allocator is known by its message.
            if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
                raise
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


METRICS = "metrics.jsonl"


class Trainer(Generic[Item]):
    """Trains a model in a directory: `checkpoints/`, `best.json`, `metrics.jsonl`, `model.safetensors`."""

    def __init__(
        self,
        objective: Objective[Item],  # what to minimise; its model is moved to the device of `ranks`
        # learning rate by step, the first step being 1; of several parts of the weights one for each
        schedule: Schedule | Sequence[Schedule],
        settings: TrainerSettings,  # how to train
        directory: Path,  # folder of the run; a run that it already contains is continued
        *,
        ranks: Ranks,  # this process among those that train together
        # called by rank 0 with the progress, every `log_interval` steps and after a validation
        progress: Callable[[TrainingProgress], None] | None = None,
        fingerprint: Mapping[str, Any] | None = None,  # JSON-able settings that must be equal when a run is continued
    ) -> None:
        """Prepare the run; nothing is trained or written yet."""
        self.objective, self.settings, self.directory, self.ranks = objective, settings, directory, ranks
        self.schedules = (schedule,) if callable(schedule) else tuple(schedule)
        self.progress = progress
        self.fingerprint = dict(fingerprint or {})
        self.updater = Updater(objective, settings, ranks)
        self.model = self.updater.model
        self.checkpoints = Checkpoints(
            directory / "checkpoints", keep_best=settings.keep_best, best_file=directory / "best.json"
        )
        self.metrics = directory / METRICS
        self.state = RunState(window=self._empty_window())
        self._figures: Mapping[str, float] = {}  # of the last line of metrics
        self._resumed = False
        self._over = False
        self._saved = -1

    def resume(self) -> int:
        """Continue from the last intact checkpoint and return its step, or 0 if there is none. Raises ValueError: the
        directory contains a run with other settings, or weights of another model."""
        newest = None
        if self.ranks.rank == 0:
            # One process opens the directory first and moves damaged checkpoints aside, so that all load the same one.
            self.directory.mkdir(parents=True, exist_ok=True)
            self.checkpoints.clear_unfinished()
            newest = self.checkpoints.latest()
        self.ranks.share_folder(self.checkpoints.directory, newest.path.name if newest else "")
        checkpoint = self.checkpoints.latest()
        if checkpoint is not None:
            check_same_run(self.directory, checkpoint.state["fingerprint"], self.fingerprint)
            checkpoint.restore(self.model, self.updater.optimizer)
            self.state = RunState.from_json(checkpoint.state["training"])
            self._saved = self.state.step
            if self.ranks.rank:
                self.state.window = self._empty_window()
        if self.ranks.rank == 0:
            truncate_metrics(self.metrics, self._saved)
            if checkpoint is not None:
                self.checkpoints.list_best()
                self._export_best()
        self._resumed = True
        return self.state.step

    def run(self) -> TrainingResult:
        """Train until all steps are done, the data or the patience ends, or the time is up. Raises TrainingStopped: by
        SIGTERM; a checkpoint was saved. TrainingError: too many gradients in a row were not finite, or memory ran out.
        ValueError: the directory contains a run with other settings, or the examples cannot be batched."""
        if not self._resumed:
            self.resume()
        state, settings = self.state, self.settings
        started = time.monotonic() - state.seconds
        timely = self._timely()
        self._over = state.step >= settings.steps or self._patience_ends or not timely
        with (
            stop_on_sigterm() as stop,
            prefetch(pinned_for(self.ranks.device, self.objective.batches(state.position))) as batches,
        ):
            if settings.validate_start and self._saved < 0:
                self._save(score=self._validate(started))
            while not self._over:
                self._advance(batches, stop, started)
        if state.step and state.skipped == state.step:
            self._give_up()
        return TrainingResult(**vars(state), finished=state.step >= settings.steps or self._timely())

    def _advance(self, batches: Iterator[Item], stop: threading.Event, started: float) -> None:
        """Do one step, and the log, validation and checkpoint that are due after it."""
        state, settings = self.state, self.settings
        step_started = time.monotonic()
        group = list(islice(batches, settings.accumulation))
        # Sums over processes, so that all of them decide alike what to do next.
        local = [sum(map(self.objective.units, group)), stop.is_set(), not group]
        units, stops, ends = self.ranks.sum(local)
        if stops:
            if self._saved != state.step:  # else it is saved already, with its score
                self._save(score=None)
            raise TrainingStopped(f"stopped by SIGTERM after step {state.step}; the same command continues from there")
        if not ends:
            self._update(group, units)
            state.window["seconds"] += time.monotonic() - step_started
        state.seconds = time.monotonic() - started
        self._over = bool(ends) or state.step >= settings.steps or not self._timely()
        if self._over or state.step % settings.log_interval == 0:
            self._log()
        if state.validated != state.step and (self._over or state.step % settings.validation_interval == 0):
            self._save(score=self._validate(started))

    def _timely(self) -> bool:
        """Return whether all processes are within the time budget."""
        budget = self.settings.max_seconds
        return budget is None or not self.ranks.sum([self.state.seconds >= budget])[0]

    @property
    def _patience_ends(self) -> bool:
        return self.settings.patience is not None and self.state.stale >= self.settings.patience

    def _update(self, group: Sequence[Item], units: float) -> None:
        state = self.state
        if state.step == 0:
            self.objective.begin(group[0])
        state.step += 1
        rates = [schedule(state.step) for schedule in self.schedules]
        state.learning_rate = rates[0]
        state.gradient_norm, measured = self.updater.update(state.step, rates, group, units)
        state.position = group[-1].following
        state.share = self.objective.share(group[-1])
        sums: dict[str, float] = {
            "source_tokens": sum(batch.source_tokens for batch in group),
            "padded_tokens": sum(batch.padded_tokens for batch in group),
        }
        if math.isfinite(state.gradient_norm):
            state.skipped_in_a_row = 0
            sums |= dict(zip(self.objective.measures, measured, strict=True)) | {"tokens": units / self.ranks.world}
        else:
            state.skipped += 1
            state.skipped_in_a_row += 1
        for name, value in sums.items():
            state.window[name] += value
        if state.skipped_in_a_row >= self.settings.max_skipped:
            self._give_up()

    def _give_up(self) -> None:
        state = self.state
        raise TrainingError(
            f"no finite gradient in {state.skipped_in_a_row} steps in a row, up to step {state.step} at a learning "
            f"rate of {state.learning_rate:.3g}: lower the learning rate, lengthen the warm-up or set clip_norm"
        )

    def _validate(self, started: float) -> float | None:
        """Validate the weights and return their score; None without validation examples or if it is not finite."""
        state = self.state
        self.model.eval()
        validation = self.objective.validate(self.updater.losses)
        state.validated = state.step
        if validation is None:
            return None
        state.validation, state.scores = validation.score, dict(validation.figures)
        finite = math.isfinite(validation.score)
        if finite and (state.best is None or validation.score < state.best):
            state.best, state.best_step, state.best_scores, state.stale = validation.score, state.step, state.scores, 0
        else:
            state.stale += 1
        self._over = self._over or self._patience_ends
        state.seconds = time.monotonic() - started
        if self.ranks.rank == 0:
            line = {"kind": "validation", "step": state.step, "epoch": state.position.epoch, **validation.figures}
            append_metrics(self.metrics, line | {"seconds": round(state.seconds, 3)})
            self._report(0.0)
        return validation.score if finite else None

    def _log(self) -> None:
        """Write a line of metrics over the steps since the last line."""
        state = self.state
        totals = self._summed_window()
        state.window = self._empty_window()
        if self.ranks.rank or not totals["tokens"]:
            return
        self._figures = {name: totals[name] / totals["tokens"] for name in self.objective.measures}
        rate = totals["source_tokens"] * self.ranks.world / max(totals["seconds"], 1e-9)
        append_metrics(
            self.metrics,
            {
                "kind": "train",
                "step": state.step,
                "epoch": state.position.epoch,
                **self._figures,
                "learning_rate": state.learning_rate,
                "gradient_norm": state.gradient_norm,
                "skipped": state.skipped,
                "source_tokens_per_second": round(rate, 1),
                "padding": round(1 - totals["source_tokens"] / totals["padded_tokens"], 4),
                "seconds": round(state.seconds, 3),
            },
        )
        self._report(rate)

    def _report(self, rate: float) -> None:
        state, steps = self.state, self.settings.steps
        share = 1.0 if self._over else max(state.share, state.step / max(steps, 1))
        if self.progress is not None:
            shown = {"steps": steps, "figures": self._figures, "unit": self.objective.unit, "tokens_per_second": rate}
            self.progress(TrainingProgress(**{**vars(state), **shown, "share": share}))

    def _empty_window(self) -> dict[str, float]:
        return dict.fromkeys((*self.objective.measures, "tokens", "source_tokens", "padded_tokens", "seconds"), 0.0)

    def _summed_window(self) -> dict[str, float]:
        """Return the window of all processes together."""
        window = self.state.window
        return dict(zip(window, self.ranks.sum(list(window.values())), strict=True))

    def _save(self, score: float | None) -> None:
        state = self.state
        totals = self._summed_window()
        state.window = self._empty_window() if self.ranks.rank else totals
        if self.ranks.rank == 0:
            kept = {"training": asdict(state), "fingerprint": self.fingerprint}
            self.checkpoints.save(state.step, self.model, self.updater.optimizer, kept, score=score)
            self._export_best()
        self._saved = state.step
        self.ranks.sum([0.0])

    def _export_best(self) -> None:
        """Copy the best weights so far, or the last ones if none was validated, to `model.safetensors`."""
        best = [path for _, path in self.checkpoints.best()] or self.checkpoints.paths()[-1:]
        if best:
            with replacing(self.directory / WEIGHTS) as temporary:
                shutil.copyfile(best[0] / WEIGHTS, temporary)
