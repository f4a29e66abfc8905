"""The Transformer layer of encoders, and its parts: the feed-forward sub-layer, and the residual connection with its
LayerNorm around any sub-layer.

Shapes: any leading shape; M tokens of all rows (paragraphs folded into the batch, or articles) without padding, D model
size."""

from typing import get_args

import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.attention import SelfAttention, initialise
from models.layers.config import LayerConfig, Norm
from models.layers.dropout import Dropout
from models.layers.places import Packing


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them (Liu & Lapata 2019, eq. 12)."""

    def __init__(self, size: int, inner_size: int, dropout: float) -> None:
        """Map `size` to `inner_size` and back; `dropout` applies to the inner layer."""
        super().__init__()
        self.inner = nn.Linear(size, inner_size)
        self.outer = nn.Linear(inner_size, size)
        self.dropout = Dropout(dropout)
        initialise(self.inner.weight, self.outer.weight)
        nn.init.zeros_(self.inner.bias)
        nn.init.zeros_(self.outer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., D] to [..., D]."""
        output: Tensor = self.outer(self.dropout(F.relu(self.inner(x))))
        return output


class Residual(nn.Module):
    """The residual connection around a sub-layer: `leave(x, sublayer(enter(x)))`. post-norm (Liu & Lapata 2019, eq.
    11): LayerNorm(x + f(x)); pre-norm (Liu & Lapata's (2019) released code): x + f(LayerNorm(x)). Dropout applies to
    the sub-layer's output."""

    def __init__(self, size: int, norm: Norm, dropout: float, epsilon: float) -> None:
        """Make the LayerNorm of one sub-layer. Raises ValueError: `norm` is neither "pre" nor "post"."""
        super().__init__()
        if norm not in get_args(Norm):
            raise ValueError(f"unknown norm {norm!r}, expected one of {get_args(Norm)}")
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(size, eps=epsilon)
        self.dropout = Dropout(dropout)

    @classmethod
    def of(cls, config: LayerConfig) -> "Residual":
        """Make the residual connection of one sub-layer of a model."""
        return cls(config.model_size, config.norm, config.dropout, config.norm_epsilon)

    def enter(self, x: Tensor) -> Tensor:
        """Return the input of the sub-layer."""
        entered: Tensor = self.norm(x) if self.pre else x
        return entered

    def leave(self, x: Tensor | None, output: Tensor) -> Tensor:
        """Add the sub-layer's output to its input; without an input (None), return the output alone."""
        dropped = self.dropout(output)
        joined: Tensor = dropped if x is None else x + dropped
        left: Tensor = joined if self.pre else self.norm(joined)
        return left


def final_norm(config: LayerConfig) -> nn.Module:
    """Return what follows the last layer of a stack: a LayerNorm with pre-norm, nothing with post-norm."""
    return nn.LayerNorm(config.model_size, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity()


class TransformerLayer(nn.Module):
    """An attention of any kind, which the caller applies, and a feed-forward layer, each with its residual connection:
    `finish(x, attention(enter(x)))`."""

    def __init__(self, config: LayerConfig, attention: nn.Module) -> None:
        """Make one layer around an attention."""
        super().__init__()
        self.attention = attention
        self.feed_forward = FeedForward(config.model_size, config.feed_forward_size, config.dropout)
        self.attention_residual = Residual.of(config)
        self.feed_forward_residual = Residual.of(config)

    def enter(self, x: Tensor) -> Tensor:
        """Return the input of the attention."""
        return self.attention_residual.enter(x)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Add the attention's output to its input and apply the feed-forward layer; both [..., D]."""
        x = self.attention_residual.leave(x, attended)
        return self.feed_forward_residual.leave(x, self.feed_forward(self.feed_forward_residual.enter(x)))


class EncoderLayer(TransformerLayer):
    """The local layer (Liu & Lapata 2019, sec. 3.2.2, eq. 11-12): self-attention and feed-forward over the tokens of a
    paragraph or of a flat sequence."""

    def __init__(self, config: LayerConfig, attention_dropout: float = 0.0) -> None:
        """Make one layer; `attention_dropout` is that of attention weights."""
        super().__init__(config, SelfAttention(config.model_size, config.heads, attention_dropout))

    def forward(self, x_MD: Tensor, packing: Packing) -> Tensor:
        """Map [M, D] to [M, D]; tokens see the tokens of their row."""
        return self.finish(x_MD, self.attention(self.enter(x_MD), packing))
