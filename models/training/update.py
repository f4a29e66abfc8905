"""One update of the weights: the gradient of the mean loss per predicted token over all batches of all processes.

The predicted tokens are those of the target, and with a summarizer that reads its source as the beginning of what it
writes (`Summarizer.source_states`) those of the source as well. What is told of an update is the target's loss alone,
as in validation, so that the figures of all systems compare.

DDP stands for torch.nn.parallel.DistributedDataParallel.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from models.contract import SourceBatch, Summarizer
from models.training.batches import Batch
from models.training.copy_loss import copy_loss
from models.training.distributed import Ranks
from models.training.loss import TokenLoss, token_loss
from models.training.state import TrainerSettings, TrainingError


@dataclass(frozen=True)
class Update:
    """What an update, made or not, says about itself.

    Attributes:
        gradient_norm: before clipping; where it is not finite, the weights were left as they are.
        smoothed: label-smoothed loss summed over this process's target tokens, nats.
        nll: negative log likelihood summed over them, nats.
        made: whether the weights were changed.
    """

    gradient_norm: float
    smoothed: float
    nll: float
    made: bool


class Updater:
    """The model with its optimizer, on one device of perhaps several processes."""

    def __init__(self, model: Summarizer, settings: TrainerSettings, ranks: Ranks, *, batch_tokens: int) -> None:
        """Move the model to the device of `ranks` and make its optimizer; `batch_tokens` goes into messages."""
        self.settings, self.ranks, self.batch_tokens = settings, ranks, batch_tokens
        self.model = model.to(ranks.device)
        device = ranks.device.type
        bfloat16 = settings.precision == "bfloat16" or (settings.precision == "auto" and device == "cuda")
        self._autocast = torch.autocast(device, dtype=torch.bfloat16, enabled=bfloat16)
        self._plain = _LossModule(self.model, settings)
        self._module: nn.Module = self._plain
        if settings.compile:
            self._module = cast(nn.Module, torch.compile(self._plain, dynamic=True))
        if ranks.world > 1:
            device_ids = [ranks.device] if device == "cuda" else None
            self._module = DistributedDataParallel(self._module, device_ids=device_ids, gradient_as_bucket_view=True)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), betas=settings.betas, eps=settings.epsilon, fused=device == "cuda"
        )

    def update(self, step: int, rate: float, batches: Sequence[Batch], tokens: float) -> Update:
        """Change the weights once, unless the gradient is not finite.

        Dropout draws from a generator seeded by (seed, step, rank): a resumed run draws as an undisturbed one does.

        Args:
            step: number of the update, from 1.
            rate: learning rate.
            batches: this process's batches.
            tokens: target tokens in the batches of all processes.

        Raises:
            TrainingError: out of memory.
        """
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = rate
        seeds = np.random.SeedSequence((self.settings.seed, step, self.ranks.rank))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]) >> 1)
        self._module.train()
        self.optimizer.zero_grad(set_to_none=True)
        sums = torch.zeros(3, device=self.ranks.device)
        for number, batch in enumerate(batches, start=1):
            with self._synchronised(number == len(batches)), self._memory_named(batch):
                objective, *told = self._loss(self._module, batch)
                # DDP averages gradients over processes; the loss is a mean over the tokens of all of them.
                torch.autograd.backward(objective * (self.ranks.world / tokens))
                sums += torch.stack(told)
        parameters_ = [p for p in self.model.parameters() if p.grad is not None]
        gradients = [cast(Tensor, p.grad) for p in parameters_]
        norm = torch.nn.utils.get_total_norm(gradients)
        norm_, smoothed_, nll_, source_tokens = torch.cat([norm.reshape(1), sums]).tolist()
        # How many source tokens a model predicts is known only once it has read them.
        share = tokens / (tokens + self.ranks.sum([source_tokens])[0])
        if share < 1:
            torch._foreach_mul_(gradients, share)
            norm, norm_ = norm * share, norm_ * share
        # Every process has the same gradient by now, so all of them decide alike.
        made = norm_ < float("inf")
        if made:
            if self.settings.clip_norm is not None:
                torch.nn.utils.clip_grads_with_norm_(parameters_, self.settings.clip_norm, norm)
            self.optimizer.step()
        return Update(norm_, smoothed_, nll_, made)

    @torch.no_grad()
    def losses(self, batch: Batch) -> tuple[float, float]:
        """Return (label-smoothed loss, negative log likelihood) of a batch without dropout, nats over its tokens."""
        self.model.eval()
        with self._memory_named(batch):
            _, smoothed, nll, _ = self._loss(self._plain, batch)
            return smoothed.item(), nll.item()

    def _loss(self, module: nn.Module, batch: Batch) -> tuple[Tensor, ...]:
        device = self.ranks.device
        with self._autocast:
            loss = module(batch.source.to(device), batch.target.to(device, non_blocking=True))
        return cast(tuple[Tensor, ...], loss)

    def _synchronised(self, last: bool) -> Any:
        """Gradients are summed over processes once an update, with its last batch."""
        return (
            self._module.no_sync() if isinstance(self._module, DistributedDataParallel) and not last else nullcontext()
        )

    @contextmanager
    def _memory_named(self, batch: Batch) -> Iterator[None]:
        """Turn an out-of-memory error into one that names the setting to change."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            self._out_of_memory(batch, error)
        except RuntimeError as error:
            if "can't allocate memory" not in str(error):  # how PyTorch's CPU allocator says it
                raise
            self._out_of_memory(batch, error)

    def _out_of_memory(self, batch: Batch, error: RuntimeError) -> NoReturn:
        shape, target = tuple(batch.source.tokens.shape), tuple(batch.target.shape)
        raise TrainingError(
            f"out of memory on {self.ranks.device} in a batch of sources {shape} and targets {target}: lower "
            f"batch_tokens (now {self.batch_tokens}) and raise accumulation by as much"
        ) from error


class _LossModule(nn.Module):
    """Batch in, loss out: the one call that DDP and torch.compile wrap."""

    def __init__(self, model: Summarizer, settings: TrainerSettings) -> None:
        super().__init__()
        self.model = model
        self.smoothing = settings.label_smoothing
        self.way = settings.loss

    def forward(self, source: SourceBatch, target: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return what is to be minimised, and what is to be told, as scalars summed over a batch.

        Args:
            source: what the encoder reads.
            target: [B, T] int64 tokens to predict.

        Returns:
            The objective, of which gradients are taken: the label-smoothed loss of the target, the model's extra loss
            (`Decoded.extra_loss`) and, in training, the loss of the source where the model predicts it; the smoothed
            loss and the negative log likelihood of the target alone; and how many source tokens are in the objective.
        """
        memory = self.model.encode(source)
        decoded = self.model.decode(target[:, :-1], memory, attention=False)
        if decoded.copied is None:
            loss = self._of(decoded.hidden, target[:, 1:], source.pad)
        else:
            loss = copy_loss(self.model, decoded, target[:, 1:], pad=source.pad, smoothing=self.smoothing)
        objective = loss.smoothed
        if decoded.extra_loss is not None:
            objective = objective + decoded.extra_loss[target[:, 1:] != source.pad].sum()
        states = self.model.source_states(memory) if self.model.training else None
        if states is None:
            return objective, loss.smoothed.detach(), loss.nll, loss.nll.new_zeros(())
        read = self._of(*states, source.pad)
        count = loss.nll.new_full((), len(states[1]))
        return objective + read.smoothed, loss.smoothed.detach(), loss.nll, count

    def _of(self, hidden: Tensor, tokens: Tensor, pad: int) -> TokenLoss:
        return token_loss(self.model, hidden, tokens, pad=pad, smoothing=self.smoothing, way=self.way)
