"""The floating-point type in which logits, attention weights and losses are computed."""

import torch
from torch import Tensor


def widened(x: Tensor) -> Tensor:
    """Return `x` in float32, because a sum or softmax in bfloat16 is too coarse; float64 is left as it is. So a whole
    model can run in float64, as the reference for one in float32."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
