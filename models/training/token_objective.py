"""The objective of summarizers: predict the tokens of the target. A decoder-only summarizer
(`Summarizer.source_states`) also predicts the tokens of its source. Reports of an update show only the target's loss,
as in validation, so that the figures of all systems can be compared.

The loss of a token with logits z, target y and smoothing e is -(1-e) log p(y) - e mean_v log p(v) = logsumexp(z) -
(1-e) z_y - e mean(z). Three methods have equal results: plain, chunked, and PyTorch's kernel. The [B, T, V] logits of
32,000 pieces are by far the largest tensor of training, so the chunked and the fused method never hold all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from models.contract import Decoded, Summarizer
from models.layers.config import widened
from models.layers.paragraphs import SourceBatch
from models.training.batches import Batch, BatchStream, Position, positions_of
from models.training.distributed import Ranks
from models.training.state import Objective, Validation

CHUNK = 1024  # target positions whose logits exist at once: 1,024 x 32,000 float32 are 131 MB
HAS_FUSED = hasattr(F, "linear_cross_entropy")  # PyTorch 2.13 and later
METHODS = ("auto", "plain", "chunked", "fused")


class TokenLoss(NamedTuple):
    """Sums over the target tokens of a batch that are not padding."""

    smoothed: Tensor  # label-smoothed cross entropy in nats, a scalar with gradient
    nll: Tensor  # negative log likelihood in nats, a scalar without gradient


def token_loss(
    model: Summarizer,
    hidden: Tensor,  # [B, T, D] hidden states of the decoder
    target: Tensor,  # [B, T] int64 tokens to predict, padded with `pad`
    *,
    pad: int,
    smoothing: float,  # share of the probability spread evenly over all pieces, 0-1 (.1 in Liu & Lapata 2019, sec. 4)
    method: str = "auto",  # "plain" | "chunked" | "fused", or "auto" for fused if PyTorch has it, else chunked
    positions: Tensor | None = None,  # `positions_of(target, pad)`, where it is known
) -> TokenLoss:
    """Return the loss of predicting `target` from hidden states, summed over tokens that are not padding. Raises
    ValueError: the method is unknown, or it is "fused" and PyTorch lacks it."""
    if method not in METHODS:
        raise ValueError(f"expected a loss method out of {METHODS}, got {method!r}")
    # Padding is removed before the largest product of training.
    positions = positions_of(target, pad) if positions is None else positions
    hidden = hidden.flatten(0, -2).index_select(0, positions)
    target = target.flatten().index_select(0, positions)
    if method == "auto":
        method = "fused" if HAS_FUSED and torch.is_grad_enabled() else "chunked"
    if method == "plain":
        return _of_logits(model.logits(hidden), target, smoothing)
    if method == "chunked":
        return _chunked(model.logits, hidden, target, smoothing)
    if not HAS_FUSED:
        raise ValueError(f"the fused loss needs PyTorch 2.13 or later, got {torch.__version__}")
    return _fused(hidden, *model.projection(), target, smoothing)


def _of_logits(logits: Tensor, target: Tensor, smoothing: float) -> TokenLoss:
    logits = widened(logits)
    smoothed = F.cross_entropy(logits, target, reduction="sum", label_smoothing=smoothing)
    with torch.no_grad():
        nll = F.cross_entropy(logits, target, reduction="sum")
    return TokenLoss(smoothed, nll)


def _chunked(logits: Callable[[Tensor], Tensor], hidden: Tensor, target: Tensor, smoothing: float) -> TokenLoss:
    """The plain method on `CHUNK` positions at a time; the backward pass computes their logits again."""

    def of_chunk(hidden: Tensor, target: Tensor) -> TokenLoss:
        device = hidden.device.type
        dtype, enabled = torch.get_autocast_dtype(device), torch.is_autocast_enabled(device)
        # Cast the weights for each chunk: with one cast for all, the chunks' gradients would be summed in bfloat16.
        with torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=False):
            return _of_logits(logits(hidden), target, smoothing)

    smoothed = nll = widened(hidden.new_zeros(()))
    for part, labels in zip(torch.split(hidden, CHUNK), torch.split(target, CHUNK), strict=True):
        more, more_nll = checkpoint(of_chunk, part, labels, use_reentrant=False, preserve_rng_state=False)
        smoothed, nll = smoothed + more, nll + more_nll
    return TokenLoss(smoothed, nll)


def _fused(hidden: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor, smoothing: float) -> TokenLoss:
    # PyTorch 2.13's chunked kernel does not support label smoothing (it warns and makes all logits). But smoothed loss
    # and log likelihood differ only by e (z_y - mean(z)), which does not need the other logits.
    nll = _fused_nll(hidden, weight, bias, target)
    if not smoothing:
        return TokenLoss(nll, nll.detach())
    with torch.autocast(hidden.device.type, enabled=False):  # a sum over tokens needs float32
        rows, weight = widened(hidden), widened(weight)
        gap = (rows * (F.embedding(target, weight) - weight.mean(dim=0))).sum()
        if bias is not None:
            gap = gap + widened(bias[target]).sum() - widened(bias).mean() * len(target)
    return TokenLoss(nll + smoothing * gap, nll.detach())


def _fused_nll(hidden: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
    """Return the negative log likelihood summed over tokens."""
    compiling = torch.compiler.is_compiling()  # compiled code keeps the graph, and warns where it is not asked to
    options = torch.nn.LinearCrossEntropyOptions(
        batch_chunk_size=CHUNK, chunking_method=None, allow_retain_graph=compiling
    )
    kernel = partial(F.linear_cross_entropy, reduction="sum", options=options)
    if not torch.is_autocast_enabled(hidden.device.type):
        return widened(kernel(hidden, weight, target, linear_bias=bias))
    # The kernel is not on autocast's list. Given bfloat16, it sums loss and gradients of its chunks in bfloat16, whose
    # eight bits lose a chunk next to the sum of many. So it gets one chunk at a time, and the weights are cast anew for
    # each: the gradients of several casts are summed in the type before the cast.
    dtype = torch.get_autocast_dtype(hidden.device.type)
    nll = widened(hidden.new_zeros(()))
    for rows, labels in zip(torch.split(hidden, CHUNK), torch.split(target, CHUNK), strict=True):
        narrow_bias = None if bias is None else bias.to(dtype)
        nll = nll + widened(kernel(rows.to(dtype), weight.to(dtype), labels, linear_bias=narrow_bias))
    return nll


def copy_loss(
    model: Summarizer, decoded: Decoded, target: Tensor, *, pad: int, smoothing: float, positions: Tensor | None = None
) -> TokenLoss:
    """Return the loss of predicting `target` with a summarizer that copies, summed over tokens (See et al. 2017, eq. 9
    and 12). The probability of a token under the mixture needs only its own vocabulary probability and its positions in
    the source, so the [B, T, V] mixture is never made. `decoded` is of [B, T] positions, `target` [B, T] int64, padded
    with `pad`, and `positions` as for `token_loss`; copy probabilities are not smoothed."""
    assert decoded.copied is not None
    positions = positions_of(target, pad) if positions is None else positions
    hidden_MD, target_M = (item.flatten(0, 1).index_select(0, positions) for item in (decoded.hidden, target))
    log_prob_M, evenly = _of_vocabulary(model, hidden_MD, target_M, spread=smoothing > 0)
    generated = log_prob_M.new_zeros(target.numel()).index_copy(0, positions, log_prob_M).view(target.shape)
    nll = -decoded.copied.log_prob(generated, target).flatten().index_select(0, positions).sum()
    return TokenLoss((1 - smoothing) * nll - smoothing * evenly, nll.detach())


def _of_vocabulary(
    model: Summarizer, hidden_MD: Tensor, target_M: Tensor, *, spread: bool
) -> tuple[Tensor, Tensor | float]:
    """Return the log-probability [M] of each target in the vocabulary and, with `spread`, the sum over targets of the
    mean over all pieces, else 0; in chunks."""

    def of_chunk(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor | float]:
        log_probs = widened(model.logits(hidden)).log_softmax(dim=-1)
        return log_probs.gather(1, target.unsqueeze(1)).squeeze(1), log_probs.mean(dim=-1).sum() if spread else 0.0

    if len(hidden_MD) <= CHUNK:  # these logits are all there are; computing them again would save no memory
        return of_chunk(hidden_MD, target_M)
    parts = zip(torch.split(hidden_MD, CHUNK), torch.split(target_M, CHUNK), strict=True)
    results = [checkpoint(of_chunk, *part, use_reentrant=False, preserve_rng_state=False) for part in parts]
    return torch.cat([log_prob for log_prob, _ in results]), sum(evenly for _, evenly in results)


@dataclass(eq=False)
class TokenObjective(Objective[Batch]):
    """The label-smoothed loss per target token; weights are judged by the negative log likelihood. Single updates need
    only the first four arguments."""

    measures = ("loss", "nll")
    unit = "nats/token"

    model: Summarizer  # weights to train
    _: KW_ONLY
    batch_tokens: int  # token budget of a batch, for messages
    label_smoothing: float = 0.1  # see `token_loss`
    loss_method: str = "auto"  # see `token_loss`
    stream: BatchStream | None = None  # training batches of this process
    ranks: Ranks | None = None  # this process among those that train together
    # returns this process's share of the validation batches, anew at each call
    validation: Callable[[], Iterator[Batch]] | None = None
    # computes further scores of the model (decoded ROUGE); called by rank 0 after a validation
    evaluate: Callable[[Summarizer], Mapping[str, float]] | None = None

    def parts(self) -> Sequence[Iterable[nn.Parameter]]:
        """Return the weights that learn at the common rate, and those with a pace of their own."""
        if (pace := self.model.pace) is None:
            return super().parts()
        own = set(pace.parameters)
        return [[weight for weight in self.model.parameters() if weight not in own], pace.parameters]

    def batches(self, start: Position) -> Iterator[Batch]:
        """Yield the stream's batches, without end."""
        assert self.stream is not None
        return self.stream.batches(start)

    def units(self, batch: Batch) -> int:
        """Return the number of predicted tokens of a batch: the target without begin and padding."""
        return len(batch.predicted)

    def inputs(self, batch: Batch, device: torch.device) -> tuple[SourceBatch, Tensor, Tensor]:
        """Return source, target and the positions to predict on the device."""
        target, predicted = (item.to(device, non_blocking=True) for item in (batch.target, batch.predicted))
        return batch.source.to(device), target, predicted

    def loss(self, source: SourceBatch, target: Tensor, predicted: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return scalars summed over a batch, given the target tokens [B, T] int64 and `Batch.predicted`, if known.
        They are the objective, the smoothed loss and the negative log likelihood of the target alone, and the number of
        source tokens in the objective. The objective is the label-smoothed loss of the target, the model's extra loss
        (`Decoded.extra_loss`) and, in training, the loss of the source if the model predicts it."""
        if predicted is None:
            predicted = positions_of(target[:, 1:], source.pad)
        memory = self.model.encode(source)
        decoded = self.model.decode(target[:, :-1], memory, attention=False)
        if decoded.copied is None:
            loss = self._of(decoded.hidden, target[:, 1:], source.pad, predicted)
        else:
            loss = copy_loss(
                self.model, decoded, target[:, 1:], pad=source.pad, smoothing=self.label_smoothing, positions=predicted
            )
        objective = loss.smoothed
        if decoded.extra_loss is not None:
            objective = objective + decoded.extra_loss.flatten().index_select(0, predicted).sum()
        states = self.model.source_states(memory) if self.model.training else None
        if states is None:
            return objective, loss.smoothed.detach(), loss.nll, loss.nll.new_zeros(())
        of_source = self._of(*states, source.pad)
        count = loss.nll.new_full((), len(states[1]))
        return objective + of_source.smoothed, loss.smoothed.detach(), loss.nll, count

    def validate(self, losses: Callable[[Batch], tuple[float, ...]]) -> Validation | None:
        """Return the validation nll per target token with the scores of `evaluate`."""
        if self.validation is None:
            return None
        assert self.ranks is not None
        sums = [0.0, 0.0, 0.0]
        for batch in self.validation():
            parts = (*losses(batch), self.units(batch))
            sums = [total + part for total, part in zip(sums, parts, strict=True)]
        smoothed, nll, tokens = self.ranks.sum(sums)
        if not tokens:
            return None
        scores = {} if self.evaluate is None or self.ranks.rank else self.evaluate(self.model)
        return Validation(nll / tokens, {"loss": smoothed / tokens, "nll": nll / tokens, **scores})

    def remedy(self, batch: Batch) -> str:
        """Return the shape of the batch and advise a smaller token budget."""
        shape, target = tuple(batch.source.tokens.shape), tuple(batch.target.shape)
        return (
            f"sources {shape} and targets {target}: lower batch_tokens (now {self.batch_tokens}) and raise "
            "accumulation by as much"
        )

    def _of(self, hidden: Tensor, tokens: Tensor, pad: int, positions: Tensor | None = None) -> TokenLoss:
        method, smoothing = self.loss_method, self.label_smoothing
        return token_loss(self.model, hidden, tokens, pad=pad, smoothing=smoothing, method=method, positions=positions)
