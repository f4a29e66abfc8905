"""Cross entropy of target tokens for a summarizer that copies (See et al. 2017, eq. 9 and 12).

The probability of a target token under the mixture needs only its own vocabulary probability and its positions in the
source, so the [B, T, V] mixture is never made.
"""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from models.contract import Decoded, Summarizer
from models.layers.precision import widened
from models.training.loss import CHUNK, TokenLoss


def copy_loss(model: Summarizer, decoded: Decoded, target: Tensor, *, pad: int, smoothing: float) -> TokenLoss:
    """Return the loss of predicting `target`, summed over tokens.

    Args:
        model: turns hidden states into logits.
        decoded: of [B, T] positions, `copied` included.
        target: [B, T] int64 tokens to predict, padded with `pad`.
        pad: id of the padding token; such positions are ignored.
        smoothing: share of the probability spread evenly over the pieces of the vocabulary; copy probabilities are not
            smoothed.
    """
    assert decoded.copied is not None
    real = target != pad
    log_prob, mean = _of_vocabulary(model, decoded.hidden[real], target[real])
    generated = torch.zeros_like(target, dtype=log_prob.dtype).masked_scatter(real, log_prob)
    nll = -decoded.copied.log_prob(generated, target)[real].sum()
    return TokenLoss((1 - smoothing) * nll - smoothing * mean.sum() if smoothing else nll, nll.detach())


def _of_vocabulary(model: Summarizer, hidden_MD: Tensor, target_M: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probability [M] of each target in the vocabulary and the mean [M] over all pieces, in chunks."""

    def of_chunk(hidden: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        log_probs = widened(model.logits(hidden)).log_softmax(dim=-1)
        return log_probs.gather(1, target.unsqueeze(1)).squeeze(1), log_probs.mean(dim=-1)

    parts = zip(torch.split(hidden_MD, CHUNK), torch.split(target_M, CHUNK), strict=True)
    found = [checkpoint(of_chunk, *part, use_reentrant=False, preserve_rng_state=False) for part in parts]
    return torch.cat([log_prob for log_prob, _ in found]), torch.cat([mean for _, mean in found])
