"""The local Transformer layer (000 sec. 3.2.2): vanilla, over the tokens of one paragraph or one flat sequence.

Shapes: R rows (paragraphs folded into the batch, or articles), T tokens, D model size.
"""

from torch import Tensor, nn

from models.layers.attention import SelfAttention
from models.layers.feed_forward import FeedForward, Norm, Residual


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward, each with its residual connection (000 eq. 11-12)."""

    def __init__(
        self,
        size: int,
        heads: int,
        feed_forward_size: int,
        *,
        norm: Norm,
        dropout: float,
        attention_dropout: float = 0.0,
        epsilon: float = 1e-6,
    ) -> None:
        """Make one layer; `dropout` is that of sub-layers, `attention_dropout` that of attention weights."""
        super().__init__()
        self.attention = SelfAttention(size, heads, attention_dropout)
        self.feed_forward = FeedForward(size, feed_forward_size, dropout)
        self.attention_residual = Residual(size, norm, dropout, epsilon)
        self.feed_forward_residual = Residual(size, norm, dropout, epsilon)

    def forward(self, x_RTD: Tensor, mask_RT: Tensor) -> Tensor:
        """Map [R, T, D] to [R, T, D]; tokens see the tokens of their row where mask_RT is True."""
        attended = self.attention(self.attention_residual.enter(x_RTD), mask_RT)
        x_RTD = self.attention_residual.leave(x_RTD, attended)
        fed = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed)
