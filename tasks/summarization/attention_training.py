"""The attention predictor's stage: learns from a trained summarizer where a good summary looks (002 sec. 4.2.1).

The summarizer stands still. A step draws on nothing but the seed, its number and its place in the data, all of which a
checkpoint holds; so a run that was killed and started again ends in the same weights.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from models.attention_predictor import (
    AttentionPredictor,
    AttentionPredictorConfig,
    attention_labels,
    attention_loss,
    check_predictable,
    normalised_scores,
    paragraph_memory,
)
from models.registry import to_config_dict
from models.training.batches import Batch, BatchStream, Position, TableShards, check_budget, sweep
from models.training.checkpoints import WEIGHTS, Checkpoints, check_same_run
from models.training.distributed import find_device
from models.training.metrics import MetricsLog
from models.training.prefetch import prefetch
from models.training.schedule import noam
from models.training.state import TrainingError, TrainingStopped
from models.training.stopping import stop_on_sigterm
from models.training.weights import weights_digest
from tasks.engine.settings import Settings, tuning
from tasks.engine.torch_threads import torch_threads
from tasks.summarization.attention_directory import METRICS, PUBLISHED, save_predictor
from tasks.summarization.directory import WEIGHTS as SUMMARIZER_WEIGHTS
from tasks.summarization.directory import TrainedSummarizer, load_summarizer
from tasks.summarization.training import ArticleShards, TrainingShards, validation_examples

_BETAS, _EPSILON = (0.9, 0.998), 1e-9  # of Adam, as for the summarizers


class AttentionSettings(Settings):
    """How the attention predictor is built and trained; what 002 leaves open is as for its summarizer."""

    layers: int = Field(2, ge=1, description="encoder layers over paragraphs (002 sec. 5.2: 2)")
    heads: int = Field(4, ge=1, description="attention heads of a layer (002 sec. 5.2, of PHT: 4)")
    feed_forward_size: int | None = Field(
        None,
        ge=1,
        description="hidden size of feed-forward layers; None = 4 x the summarizer's size (002 sec. 5.2: 1,024 to 256)",
    )
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout (002 sec. 5.2: .5)")
    steps: int = Field(100_000, ge=1, description="updates of the weights (002 sec. 5.2: about 100,000)")
    batch_tokens: int = Field(
        10_500, ge=16, description="source tokens, and target tokens, of a batch, padding included (unstated in 002)"
    )
    window: int = Field(4096, ge=1, description="examples gathered before they are sorted by length and shuffled")
    learning_rate_factor: float = Field(
        1.0, gt=0, description="factor of the noam schedule, Vaswani et al. 2017 (unstated in 002)"
    )
    warmup: int = Field(16_000, ge=1, description="steps of warm-up (002 sec. 5.2, of PHT: 16,000)")
    validation_articles: int = Field(
        4000, ge=1, description="articles of the valid split that are validated on, at most"
    )
    validation_interval: int = Field(2500, ge=1, description="steps between validations, each with a checkpoint")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="of the summarizer that is learned from; auto: bfloat16 on CUDA, else float32"
    )
    torch_threads: int = Field(
        2, ge=1, description="threads of torch on a CPU; part of the recipe, because the last bits of sums depend on it"
    )
    log_interval: int = tuning(50, "steps between lines of metrics.jsonl and reports of progress", ge=1)
    device: str = tuning("auto", "where to train: auto | cpu | cuda")


@dataclass(frozen=True)
class AttentionProgress:
    """Where training stands.

    Attributes:
        step: updates done.
        steps: updates to do.
        loss: mean squared error a paragraph since the last report.
        validation: that of the last validation; None = none yet.
        best: lowest such value.
        seconds: since this run began.
    """

    step: int
    steps: int
    loss: float
    validation: float | None
    best: float | None
    seconds: float

    @property
    def share(self) -> float:
        """Done, 0-1."""
        return self.step / self.steps

    def __str__(self) -> str:
        line = f"step {self.step:,} of {self.steps:,}; squared error {self.loss:.3e} a paragraph"
        if self.validation is None or self.best is None:
            return line
        return f"{line}; validation {self.validation:.3e} (best {self.best:.3e})"


@dataclass
class _State:
    """What changes while a run goes on, all of it kept in checkpoints."""

    step: int = 0
    position: Position = field(default_factory=Position)
    validation: float | None = None
    best: float | None = None
    error: float = 0.0  # sum of losses since the last line of metrics
    updates: int = 0  # how many these are


def train_attention(
    shards: ArticleShards,
    summarizer: Path,
    settings: AttentionSettings,
    *,
    directory: Path,
    seed: int,
    progress: Callable[[AttentionProgress], None] | None = None,
) -> dict[str, Any]:
    """Train the attention predictor of a summarizer in `directory`, or go on with the one that is being trained there.

    Memory holds a window of training examples and the validation examples.

    Args:
        shards: (EXAMPLES[, GRAPHS]) of each article shard, graphs where the summarizer reads one; rows of the split
            `train` are learned from, those of `valid` choose the best checkpoint.
        summarizer: directory of a trained summarizer with paragraph embeddings (PHT, GraphSum).
        settings: see the class.
        directory: gets model.safetensors, config.json and metrics.jsonl, and checkpoints meanwhile.
        seed: of weights, dropout and the order of examples.
        progress: told where training stands, every `log_interval` steps and after a validation.

    Returns:
        `published`, the files that make up the model, and what is worth keeping of the run: `validation_error`, and
        `uniform_error`, that of expecting as much attention to each paragraph.

    Raises:
        ValueError: no such summarizer, one without paragraph embeddings, settings that contradict it or the run in
            `directory`, or no training examples.
        TrainingError: the loss is not a number.
        TrainingStopped: SIGTERM came; the same call goes on from the checkpoint that was saved.
    """
    started = time.monotonic()
    trained = load_summarizer(summarizer, device=find_device(settings.device))
    check_predictable(to_config_dict(trained.model)["architecture"])
    check_budget(trained.layout, settings.batch_tokens)
    with torch_threads(settings.torch_threads):
        run = _Run(shards, trained, settings, directory, seed, weights_digest(summarizer / SUMMARIZER_WEIGHTS))
        run.resume()
        run.train(progress or (lambda _: None))
        return run.finish() | {"seconds": round(time.monotonic() - started, 3)}


class _Run:
    """One training run: its model, where it stands, and what it keeps on disk."""

    def __init__(
        self,
        shards: ArticleShards,
        trained: TrainedSummarizer,
        settings: AttentionSettings,
        directory: Path,
        seed: int,
        summarizer: str,
    ) -> None:
        self.trained, self.settings, self.directory, self.seed = trained, settings, directory, seed
        self.summarizer = summarizer
        self.device = next(trained.model.parameters()).device
        size = to_config_dict(trained.model)["model_size"]
        torch.manual_seed(seed)
        config = AttentionPredictorConfig(
            size, settings.feed_forward_size or 4 * size, settings.heads, settings.layers, settings.dropout
        )
        self.predictor = AttentionPredictor(config).to(self.device)
        self.optimizer = torch.optim.Adam(self.predictor.parameters(), betas=_BETAS, eps=_EPSILON)
        self.schedule = noam(factor=settings.learning_rate_factor, model_size=size, warmup=settings.warmup)
        self.stream = BatchStream(
            TrainingShards(shards, trained.graph), trained.layout, batch_tokens=settings.batch_tokens,
            window=settings.window, seed=seed,
        )  # fmt: skip
        self.valid = TableShards([validation_examples(shards, trained.graph, settings.validation_articles)])
        self.checkpoints = Checkpoints(directory / "checkpoints", keep_best=1)
        self.metrics = MetricsLog(directory / METRICS)
        free = {"steps", "validation_interval"}  # a run may be made longer, and validated more often
        fixed = {name: value for name, value in settings.recipe().items() if name not in free}
        self.fingerprint = {**fixed, "seed": seed, "summarizer": summarizer}
        self.state = _State()
        self._saved = -1

    def resume(self) -> None:
        """Go back to the last checkpoint, if there is one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self.checkpoints.clear_unfinished()
        last = self.checkpoints.latest()
        if last is not None:
            check_same_run(self.directory, last.state["fingerprint"], self.fingerprint)
            last.restore(self.predictor, self.optimizer)
            values = last.state["training"]
            self.state = _State(**{**values, "position": Position(**values["position"])})
            self._saved = self.state.step
        self.metrics.truncate(self.state.step)

    def train(self, progress: Callable[[AttentionProgress], None]) -> None:
        """Make the steps that are left; the last one is always validated."""
        state, settings, started = self.state, self.settings, time.monotonic()
        with stop_on_sigterm() as stop, prefetch(self.stream.batches(state.position)) as batches:
            while state.step < settings.steps:
                if stop.is_set():
                    if self._saved != state.step:  # else it is there already, with its score
                        self._save(score=None)
                    raise TrainingStopped(
                        f"stopped by SIGTERM after step {state.step}; the same command goes on from there"
                    )
                self._update(next(batches))
                due = state.step >= settings.steps or state.step % settings.validation_interval == 0
                if not (due or state.step % settings.log_interval == 0):
                    continue
                loss = self._log()
                if due:
                    self._save(score=self._validate())
                seconds = time.monotonic() - started
                progress(AttentionProgress(state.step, settings.steps, loss, state.validation, state.best, seconds))

    def finish(self) -> dict[str, Any]:
        """Lay out the best checkpoint, or the last where none was validated, and return the metrics."""
        best = [path for _, path in self.checkpoints.best()] or self.checkpoints.paths()[-1:]
        save_predictor(self.directory, self.predictor, weights=best[0] / WEIGHTS, summarizer=self.summarizer)
        return {
            "published": list(PUBLISHED),
            "steps": self.state.step,
            "parameters": sum(parameter.numel() for parameter in self.predictor.parameters()),
            "validation_error": self.state.best,
            "uniform_error": self._error(lambda _, mask_BP: normalised_scores(torch.zeros_like(mask_BP), mask_BP)),
        }

    def _update(self, batch: Batch) -> None:
        state = self.state
        state.step += 1
        # A resumed run draws as an undisturbed one does.
        seeds = np.random.SeedSequence((self.seed, state.step))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]) >> 1)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = self.schedule(state.step)
        paragraphs_BPD, mask_BP, labels_BP = self._lesson(batch)
        self.predictor.train()
        loss = attention_loss(self.predictor(paragraphs_BPD, mask_BP), labels_BP, mask_BP)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        error = loss.item()
        if not math.isfinite(error):
            raise TrainingError(
                f"the attention predictor's loss is {error} at step {state.step}, at a learning rate of "
                f"{self.schedule(state.step):.3g}: lower learning_rate_factor or lengthen the warm-up"
            )
        self.optimizer.step()
        state.position = batch.following
        state.error += error
        state.updates += 1

    @torch.no_grad()
    def _lesson(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return paragraph embeddings [B, P, D], which of them exist [B, P], and the attention to them [B, P]."""
        model, precision = self.trained.model, self.settings.precision
        bfloat16 = precision == "bfloat16" or (precision == "auto" and self.device.type == "cuda")
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=bfloat16):
            memory = model.encode(batch.source.to(self.device))
            target = batch.target.to(self.device, non_blocking=True)
            labels_BP = attention_labels(model, memory, target, batch.source.pad)
        known = paragraph_memory(memory)
        return known.paragraphs.float(), known.paragraph_mask, labels_BP.float()

    def _validate(self) -> float | None:
        """Return the mean squared error over the paragraphs of the validation articles; None without any."""
        self.predictor.eval()
        found = self._error(self.predictor)
        if found is None:
            return None
        state = self.state
        state.validation = found
        if state.best is None or found < state.best:
            state.best = found
        self.metrics.append({"kind": "validation", "step": state.step, "error": found})
        return found

    @torch.no_grad()
    def _error(self, expected: Callable[[Tensor, Tensor], Tensor]) -> float | None:
        """Return the mean squared error of any prediction from paragraph embeddings and their mask."""
        total, paragraphs = 0.0, 0
        for batch in sweep(self.valid, self.trained.layout, batch_tokens=self.settings.batch_tokens):
            paragraphs_BPD, mask_BP, labels_BP = self._lesson(batch)
            count = int(mask_BP.sum())
            total += count * attention_loss(expected(paragraphs_BPD, mask_BP), labels_BP, mask_BP).item()
            paragraphs += count
        return total / paragraphs if paragraphs else None

    def _log(self) -> float:
        """Write a line of metrics over the steps since the one before; return their mean loss."""
        state = self.state
        loss = state.error / state.updates
        state.error, state.updates = 0.0, 0
        rate = self.schedule(state.step)
        self.metrics.append({"kind": "train", "step": state.step, "error": loss, "learning_rate": rate})
        return loss

    def _save(self, score: float | None) -> None:
        kept = {"training": asdict(self.state), "fingerprint": self.fingerprint}
        self.checkpoints.save(self.state.step, self.predictor, self.optimizer, kept, score=score)
        self._saved = self.state.step
