"""Cross entropy of target tokens for a summarizer that copies (See et al. 2017, eq. 9 and 12). The probability of a
target token under the mixture needs only its own vocabulary probability and its positions in the source, so the [B, T,
V] mixture is never made."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from models.contract import Decoded, Summarizer
from models.layers.precision import widened
from models.training.loss import CHUNK, TokenLoss, positions_of


def copy_loss(
    model: Summarizer, decoded: Decoded, target: Tensor, *, pad: int, smoothing: float, positions: Tensor | None = None
) -> TokenLoss:
    """Return the loss of predicting `target`, summed over tokens.

    Args:
        model: turns hidden states into logits.
        decoded: of [B, T] positions, `copied` included.
        target: [B, T] int64 tokens to predict, padded with `pad`.
        pad: id of the padding token; such positions are ignored.
        smoothing: share of the probability spread evenly over the pieces of the vocabulary; copy probabilities are not
            smoothed.
        positions: `positions_of(target, pad)`, where it is known.
    """
    assert decoded.copied is not None
    positions = positions_of(target, pad) if positions is None else positions
    hidden_MD, target_M = (one.flatten(0, 1).index_select(0, positions) for one in (decoded.hidden, target))
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
    found = [checkpoint(of_chunk, *part, use_reentrant=False, preserve_rng_state=False) for part in parts]
    return torch.cat([log_prob for log_prob, _ in found]), sum(evenly for _, evenly in found)
