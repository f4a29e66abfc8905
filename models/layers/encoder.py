"""The local Transformer layer (Liu & Lapata 2019, sec. 3.2.2): vanilla, over the tokens of one paragraph or one flat
sequence.

Shapes: M tokens of all rows (paragraphs folded into the batch, or articles) without padding, D model size.
"""

from torch import Tensor, nn

from models.layers.attention import SelfAttention
from models.layers.config import LayerConfig
from models.layers.feed_forward import FeedForward, Residual
from models.layers.packing import Packing


class TransformerLayer(nn.Module):
    """An attention of any kind and a feed-forward layer, each with its residual connection.

    Attributes:
        attention: the caller applies it: `finish(x, attention(enter(x)))`.
    """

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
    """Self-attention and feed-forward (Liu & Lapata 2019, eq. 11-12)."""

    def __init__(self, config: LayerConfig, attention_dropout: float = 0.0) -> None:
        """Make one layer; `attention_dropout` is that of attention weights."""
        super().__init__(config, SelfAttention(config.model_size, config.heads, attention_dropout))

    def forward(self, x_MD: Tensor, packing: Packing) -> Tensor:
        """Map [M, D] to [M, D]; tokens see the tokens of their row."""
        return self.finish(x_MD, self.attention(self.enter(x_MD), packing))
