"""In which type of number logits, weights of attention and losses are computed."""

import torch
from torch import Tensor


def widened(x: Tensor) -> Tensor:
    """Return `x` in float32, where a sum or a softmax in its own type would be too coarse, or in float64 if it is that.

    float64 is left alone so that a whole model can be run in it, as the reference of one in float32.
    """
    return x.to(torch.promote_types(x.dtype, torch.float32))
