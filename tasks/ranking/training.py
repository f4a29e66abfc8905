"""The ranker stage: trains the paragraph ranker on ROUGE-2 recall (000 sec. 3.1 and 4), shard by shard.

A step draws on nothing but the seed, its place in the data and the random state, all of which a checkpoint holds; so a
run that was killed and started again ends in the same weights.
"""

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from models.ranker import ParagraphRanker, RankerConfig
from models.training.checkpoints import WEIGHTS, Checkpoints, load_checkpoint
from models.training.distributed import find_device
from models.training.metrics import MetricsLog
from models.training.prefetch import prefetch
from models.training.state import TrainingStopped
from models.training.stopping import stop_on_sigterm
from models.training.weights import weights_digest
from models.vocabulary import Vocabulary
from tasks.engine.hashing import stable_hash
from tasks.engine.settings import Settings, tuning
from tasks.engine.torch_threads import torch_threads
from tasks.ranking.batches import BatchRules, Place, RankerBatch, RankerShards, training_batches
from tasks.ranking.directory import METRICS, PUBLISHED, TrainedRanker, load_ranker, save_ranker
from tasks.ranking.validation import RankerValidation, collect_validation
from tasks.summarization.vocabulary import read_vocabulary

_REPORT_SECONDS = 1.0


class RankerSettings(Settings):
    """How the ranker is built and trained."""

    embedding: int = Field(256, ge=1, description="size of word embeddings (unstated in 000; as its summarizers)")
    hidden: int = Field(256, ge=1, description="hidden size of both LSTMs (000 sec. 4)")
    dropout: float = Field(0.2, ge=0, lt=1, description="dropout before the linear layers (000 sec. 4)")
    learning_rate: float = Field(0.15, gt=0, description="of Adagrad (000 sec. 4)")
    initial_accumulator: float = Field(
        0.001,
        ge=0,
        description="where Adagrad's sums of squares start (unstated in 000): at 0 the first steps are so large that "
        "scores collapse, at .1 (See et al. 2017) labels of a few percent are learned slowly",
    )
    gradient_clip: float = Field(2.0, gt=0, description="largest gradient norm (See et al. 2017)")
    title_tokens: int = Field(32, ge=1, description="tokens of a title that are read")
    paragraph_tokens: int = Field(100, ge=1, description="tokens of a paragraph that are read")
    batch_paragraphs: int = Field(128, ge=1, description="paragraphs a step")
    paragraphs_per_article: int = Field(
        40, ge=1, description="paragraphs drawn of each training article, anew in every epoch"
    )
    epochs: int = Field(10, ge=1, description="most passes over the training split")
    steps: int = Field(200_000, ge=1, description="most optimizer steps")
    validate_every: int = Field(1_000, ge=1, description="steps between validations, each with a checkpoint")
    validation_articles: int = Field(500, ge=1, description="articles of the valid split that are scored, about")
    validation_paragraphs: int = Field(100, ge=1, description="most paragraphs drawn of each of them")
    top: int = Field(5, ge=1, description="best paragraphs whose mean ROUGE-2 recall is validated")
    select: Literal["loss", "recall"] = Field(
        "loss", description="best checkpoint by validation loss, or by mean ROUGE-2 recall of the top paragraphs"
    )
    patience: int = Field(10, ge=1, description="validations without a better one before training ends")
    bf16: bool = Field(True, description="on CUDA, compute in bfloat16 with float32 weights")
    torch_threads: int = Field(
        2, ge=1, description="threads of torch on a CPU; part of the recipe, because the last bits of sums depend on it"
    )
    device: str = tuning("auto", "where training runs: auto | cpu | cuda | cuda:N")
    threads: int = tuning(1, "threads that cut texts into pieces", ge=1)

    def rules(self, seed: int, per_article: int) -> BatchRules:
        """Return how paragraphs are drawn."""
        return BatchRules(
            seed,
            self.epochs,
            self.batch_paragraphs,
            per_article,
            self.title_tokens,
            self.paragraph_tokens,
            self.threads,
        )


@dataclass(frozen=True)
class RankerProgress:
    """Where training stands.

    Attributes:
        step: optimizer steps done.
        share: of the most work there can be, 0-1; 1 when training has ended, maybe early.
        epoch: epoch in progress, from 0.
        loss: mean training loss since the last report, nats a paragraph.
        paragraphs_per_second: training speed since the last report.
        tokens_per_second: likewise, without padding.
        validation: the last one, or None before the first.
    """

    step: int
    share: float
    epoch: int
    loss: float
    paragraphs_per_second: float
    tokens_per_second: float
    validation: RankerValidation | None = None

    def __str__(self) -> str:
        line = (
            f"step {self.step:,}, epoch {self.epoch + 1}, loss {self.loss:.4f}, "
            f"{self.paragraphs_per_second:,.0f} paragraphs/s ({self.tokens_per_second:,.0f} tokens/s)"
        )
        return line if self.validation is None else f"{line}; validation: {self.validation}"


def train_ranker(
    shards: RankerShards,
    vocabulary: pa.Table | Vocabulary,
    settings: RankerSettings,
    *,
    directory: Path,
    seed: int,
    initial: Path | None = None,
    progress: Callable[[RankerProgress], None] = lambda _: None,
) -> dict[str, Any]:
    """Train a ranker into `directory`, or go on where an interrupted run stopped.

    Memory holds one shard and the validation set.

    Args:
        shards: see the class; kept articles of the training split are learned from, those of the valid split judge.
        vocabulary: the VOCABULARY table, or what was read from it.
        settings: see the class.
        directory: gets model.safetensors, config.json, vocabulary.model and metrics.jsonl, and checkpoints meanwhile.
        seed: of weights, dropout and the order of the data.
        initial: a trained ranker whose weights training starts from; they are validated first, and are the best
            checkpoint where training does not better them.
        progress: called about once a second and at every validation.

    Returns:
        `published`, the files that make up the model, and the metrics of the best validation; where training started
        from a ranker, also `initial_loss`, the validation loss of that one.

    Raises:
        ValueError: there is nothing to train on, the loss is not a number, the directory holds a run with other
            settings, or `initial` is a ranker of another vocabulary or architecture.
        TrainingStopped: SIGTERM came; the same call goes on from the checkpoint that was saved.
    """
    with torch_threads(settings.torch_threads):
        run = _Run(shards, read_vocabulary(vocabulary), settings, directory, seed, initial)
        if not run.resume() and initial is not None:
            run.start_from(initial)
        run.train(progress)
        return run.finish()


class _Run:
    """One training run: its model, where it stands, and what it keeps on disk."""

    def __init__(
        self,
        shards: RankerShards,
        vocabulary: Vocabulary,
        settings: RankerSettings,
        directory: Path,
        seed: int,
        initial: Path | None,
    ) -> None:
        self.shards, self.vocabulary, self.settings, self.directory = shards, vocabulary, settings, directory
        self.rules = settings.rules(seed, settings.paragraphs_per_article)
        self.device = find_device(settings.device)
        self.validation = collect_validation(
            shards,
            vocabulary,
            settings.rules(seed, settings.validation_paragraphs),
            articles=settings.validation_articles,
        )
        torch.manual_seed(stable_hash(seed, "ranker", "weights") >> 1)
        self.config = RankerConfig(
            vocabulary.size, vocabulary.pad, settings.embedding, settings.hidden, settings.dropout
        )
        self.model = ParagraphRanker(self.config).to(self.device)
        self.optimizer = torch.optim.Adagrad(
            self.model.parameters(), lr=settings.learning_rate, initial_accumulator_value=settings.initial_accumulator
        )
        directory.mkdir(parents=True, exist_ok=True)
        self.checkpoints = Checkpoints(directory / "checkpoints", keep_best=1, keep_last=2)
        self.metrics = MetricsLog(directory / METRICS)
        model_digest = hashlib.sha256(vocabulary.model).hexdigest()
        self.fingerprint: dict[str, Any] = {"settings": settings.recipe(), "seed": seed, "vocabulary": model_digest}
        if initial is not None:
            self.fingerprint["initial"] = weights_digest(initial / WEIGHTS)
        self.step, self.place, self.stale, self.best = 0, Place(), 0, math.inf
        self.losses: list[float] = []  # since the last validation, of a run that was stopped between two
        self.validated: RankerValidation | None = None
        self.initial_loss: float | None = None

    def resume(self) -> bool:
        """Go back to the last checkpoint; return whether there is one."""
        last = self.checkpoints.latest()
        if last is not None:
            if last.state["fingerprint"] != self.fingerprint:
                raise ValueError(
                    f"{self.directory} holds a run with another seed, vocabulary, start or other settings: choose "
                    "another directory or remove it"
                )
            last.restore(self.model, self.optimizer)
            self.step, self.place = last.step, Place(*last.state["place"])
            self.stale, self.best = last.state["stale"], last.state["best"]
            self.initial_loss = last.state.get("initial_loss")
            self.losses = last.state.get("losses", [])
        self.metrics.truncate(self.step if last is not None else -1)
        return last is not None

    def start_from(self, directory: Path) -> None:
        """Take the weights of a trained ranker, and keep a checkpoint of how good they are here."""
        trained = load_ranker(directory, self.device)
        if trained.vocabulary != self.vocabulary:
            raise ValueError(f"the ranker in {directory} has another vocabulary: training cannot start from it")
        if trained.model.config != self.config:
            raise ValueError(f"training cannot start from {directory}: {trained.model.config} is not {self.config}")
        self.model.load_state_dict(trained.model.state_dict())
        self._validate(None)

    def train(self, progress: Callable[[RankerProgress], None]) -> None:
        """Make steps until the data, the steps or the patience end; the last one is always validated."""
        meter = _Meter(self.losses)
        stream = training_batches(self.shards, self.vocabulary, self.rules, self.place)
        with stop_on_sigterm() as stop, prefetch(stream, ahead=8) as batches:
            while self.step < self.settings.steps and self.stale < self.settings.patience:
                if stop.is_set():
                    self._stop(meter)
                batch = next(batches, None)
                if batch is None:
                    break
                if self.step == 0 and self.initial_loss is None:
                    self.model.set_prior(float(batch.labels.mean()))
                meter.add(self._update(batch), batch)
                self.step, self.place = self.step + 1, batch.after
                due = self.step % self.settings.validate_every == 0
                if due:
                    self._validate(meter.take_loss())
                if due or meter.due():
                    share = max(batch.share, self.step / self.settings.steps)
                    progress(meter.report(self.step, share, self.place.epoch, self.validated))
        if self.step == 0:
            raise ValueError("no paragraph to train the ranker on: the training split has no kept paragraphs")
        if meter.pending:
            self._validate(meter.take_loss())
        progress(meter.report(self.step, 1.0, self.place.epoch, self.validated))

    def finish(self) -> dict[str, Any]:
        """Lay out the best checkpoint as the model's directory and return its metrics."""
        _, best = self.checkpoints.best()[0]
        save_ranker(
            self.directory,
            self.config,
            self.vocabulary,
            weights=best / WEIGHTS,
            title_tokens=self.settings.title_tokens,
            paragraph_tokens=self.settings.paragraph_tokens,
        )
        found = load_checkpoint(best)
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        metrics = {"steps": self.step, "best_step": found.step, "parameters": parameters, **found.state["validation"]}
        if self.initial_loss is not None:
            metrics["initial_loss"] = self.initial_loss
        return {"published": list(PUBLISHED), **metrics}

    def _update(self, batch: RankerBatch) -> Tensor:
        """Make one step and return the batch's mean loss, still on its device."""
        self.model.train()
        on = self.device
        with torch.autocast(on.type, torch.bfloat16, enabled=self.settings.bf16 and on.type == "cuda"):
            titles = self.model.encode_titles(batch.titles.to(on, non_blocking=True))
            its_title = titles[batch.title.to(on, non_blocking=True)]
            logits = self.model(batch.paragraphs.to(on, non_blocking=True), its_title)
        loss = F.binary_cross_entropy_with_logits(logits, batch.labels.to(on, non_blocking=True))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.gradient_clip)
        self.optimizer.step()
        return loss.detach()

    def _validate(self, training_loss: float | None) -> None:
        """Judge the weights, note the result, and keep a checkpoint; before the first step there is no loss."""
        ranker = TrainedRanker(
            self.model.eval(), self.vocabulary, self.settings.title_tokens, self.settings.paragraph_tokens
        )
        found = self.validation.judge(ranker, self.settings.top)
        if not math.isfinite(found.loss + (training_loss or 0.0)):
            raise ValueError(
                f"by step {self.step} the ranker's loss is {training_loss} in training and {found.loss} in "
                f"validation: try a learning rate below {self.settings.learning_rate}"
            )
        if training_loss is None:
            self.initial_loss = found.loss
        score = found.loss if self.settings.select == "loss" else -found.recall
        self.stale = 0 if score < self.best else self.stale + 1
        self.best = min(score, self.best)
        self.metrics.append(
            {"step": self.step, "epoch": self.place.epoch, "training_loss": training_loss, **found.as_dict()}
        )
        state = {**self._place(), "validation": found.as_dict()}
        self.checkpoints.save(self.step, self.model, self.optimizer, state, score=score)
        self.validated = found

    def _stop(self, meter: "_Meter") -> None:
        """Keep a checkpoint of where training stands, unless a validation has just done so, and end it."""
        if meter.pending:
            state = {**self._place(), "losses": meter.losses()}
            self.checkpoints.save(self.step, self.model, self.optimizer, state, score=None)
        raise TrainingStopped(f"stopped by SIGTERM after step {self.step}; the same command goes on from there")

    def _place(self) -> dict[str, Any]:
        return {
            "fingerprint": self.fingerprint,
            "place": [self.place.epoch, self.place.turn, self.place.batch],
            "stale": self.stale,
            "best": self.best,
            "initial_loss": self.initial_loss,
        }


class _Meter:
    """Adds up losses and speed; losses stay on their device until they are asked for."""

    def __init__(self, losses: list[float]) -> None:
        self._losses: list[Tensor] = [torch.tensor(loss) for loss in losses]  # since the last validation
        self._reported = len(losses)  # how many of them the last report had seen
        self._paragraphs = self._tokens = 0
        self._since = time.monotonic()
        self._last_loss = math.nan

    @property
    def pending(self) -> bool:
        """Whether a step has not been validated."""
        return bool(self._losses)

    def add(self, loss: Tensor, batch: RankerBatch) -> None:
        self._losses.append(loss)
        self._paragraphs += len(batch.labels)
        self._tokens += batch.tokens

    def losses(self) -> list[float]:
        """Return the losses since the last validation."""
        return [loss.item() for loss in self._losses]

    def due(self) -> bool:
        """Whether it is time for a report."""
        return time.monotonic() - self._since >= _REPORT_SECONDS

    def take_loss(self) -> float:
        """Return the mean loss since the last validation, and begin anew."""
        mean = torch.tensor(self.losses()).mean().item()
        self._losses, self._reported, self._last_loss = [], 0, mean
        return mean

    def report(self, step: int, share: float, epoch: int, validation: RankerValidation | None) -> RankerProgress:
        recent = self._losses[self._reported :]
        loss = torch.stack(recent).mean().item() if recent else self._last_loss
        seconds = max(time.monotonic() - self._since, 1e-9)
        speeds = self._paragraphs / seconds, self._tokens / seconds
        self._reported, self._paragraphs, self._tokens, self._since = len(self._losses), 0, 0, time.monotonic()
        return RankerProgress(step, share, epoch, loss, *speeds, validation)
