"""Label-smoothed cross entropy of target tokens by three methods of equal result: plain, chunked, and PyTorch's kernel.

For logits z, target y and smoothing e the loss of a token is -(1-e) log p(y) - e mean_v log p(v)
= logsumexp(z) - (1-e) z_y - e mean(z). With 32,000 pieces the [B, T, V] logits are by far the largest tensor of
training, so the chunked and the fused method never hold all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from models.contract import Summarizer
from models.layers.precision import widened

CHUNK = 1024  # target positions whose logits exist at once: 1,024 x 32,000 float32 are 131 MB
HAS_FUSED = hasattr(F, "linear_cross_entropy")  # PyTorch 2.13 and later
METHODS = ("auto", "plain", "chunked", "fused")


@dataclass(frozen=True)
class TokenLoss:
    """Sums over the target tokens of a batch that are not padding."""

    smoothed: Tensor  # label-smoothed cross entropy in nats, a scalar with gradient
    nll: Tensor  # negative log likelihood in nats, a scalar without gradient


def positions_of(target: Tensor, pad: int) -> Tensor:
    """Return the numbers [M] of the tokens of `target` that are not padding; the host waits for the device."""
    return (target != pad).flatten().nonzero().squeeze(1)


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

    def of_chunk(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        loss = _of_logits(own_logits(hidden), target, smoothing)
        return loss.smoothed, loss.nll

    def own_logits(hidden: Tensor) -> Tensor:
        device = hidden.device.type
        if not torch.is_autocast_enabled(device):
            return logits(hidden)
        # Cast the weights for each chunk: with one cast for all, the chunks' gradients would be summed in bfloat16.
        with torch.autocast(device, dtype=torch.get_autocast_dtype(device), cache_enabled=False):
            return logits(hidden)

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
    # eight bits lose a chunk beside the sum of many. So it gets one chunk at a time, and the weights are cast anew for
    # each: the gradients of several casts are summed in the type before the cast.
    dtype = torch.get_autocast_dtype(hidden.device.type)
    nll = widened(hidden.new_zeros(()))
    for rows, labels in zip(torch.split(hidden, CHUNK), torch.split(target, CHUNK), strict=True):
        narrow_bias = None if bias is None else bias.to(dtype)
        nll = nll + widened(kernel(rows.to(dtype), weight.to(dtype), labels, linear_bias=narrow_bias))
    return nll
