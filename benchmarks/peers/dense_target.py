"""The label-smoothed target of both peers: a dense distribution over the vocabulary for every target position."""

import torch
from torch import Tensor


def dense_target(log_probs_MV: Tensor, target_M: Tensor, pad: int, smoothing: float) -> Tensor:
    """Return [M, V]: 1 - smoothing on the target, the rest spread over all pieces; zeros where there is padding."""
    truth_MV = torch.full_like(log_probs_MV, smoothing / log_probs_MV.shape[1])
    truth_MV.scatter_add_(1, target_M.unsqueeze(1), torch.full_like(log_probs_MV[:, :1], 1 - smoothing))
    return truth_MV.masked_fill((target_M == pad).unsqueeze(1), 0.0)
