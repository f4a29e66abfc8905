"""The feed-forward sub-layer, and the residual connection with its LayerNorm around any sub-layer.

Shapes: any leading shape; D model size.
"""

from typing import Literal, get_args

import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.attention import initialise

Norm = Literal["pre", "post"]


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them (000 eq. 12)."""

    def __init__(self, size: int, inner_size: int, dropout: float) -> None:
        """Map `size` to `inner_size` and back; `dropout` falls on the inner layer."""
        super().__init__()
        self.inner = nn.Linear(size, inner_size)
        self.outer = nn.Linear(inner_size, size)
        self.dropout = nn.Dropout(dropout)
        initialise(self.inner.weight, self.outer.weight)
        nn.init.zeros_(self.inner.bias)
        nn.init.zeros_(self.outer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., D] to [..., D]."""
        output: Tensor = self.outer(self.dropout(F.relu(self.inner(x))))
        return output


class Residual(nn.Module):
    """The residual connection around a sub-layer: `leave(x, sublayer(enter(x)))`.

    post-norm (000 eq. 11): LayerNorm(x + f(x)); pre-norm (000's released code): x + f(LayerNorm(x)). Dropout falls on
    the sub-layer's output.
    """

    def __init__(self, size: int, norm: Norm, dropout: float, epsilon: float) -> None:
        """Make the LayerNorm of one sub-layer.

        Raises:
            ValueError: `norm` is neither "pre" nor "post".
        """
        super().__init__()
        if norm not in get_args(Norm):
            raise ValueError(f"unknown norm {norm!r}, expected one of {get_args(Norm)}")
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(size, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """Return what the sub-layer reads."""
        entered: Tensor = self.norm(x) if self.pre else x
        return entered

    def leave(self, x: Tensor, output: Tensor) -> Tensor:
        """Join the sub-layer's output to its input."""
        joined = x + self.dropout(output)
        left: Tensor = joined if self.pre else self.norm(joined)
        return left
