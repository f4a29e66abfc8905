"""The Transformer layer of encoders and its parts: words, sinusoidal positions, dropout, the feed-forward sub-layer,
and the residual connection with its LayerNorm around any sub-layer. One matrix serves the words of source, target and
output (Liu & Lapata's (2019) released code; Ma & Zong 2020, sec. 3).

Shapes: any leading shape; M tokens of all rows (paragraphs folded into the batch, or articles) without padding, D model
size, V vocabulary."""

import math
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.attention import SelfAttention, start
from models.layers.config import LayerConfig, Norm, WritingConfig
from models.layers.paragraphs import Packing

_DRAW_BITS, _BITS = 64, 16
_PER_DRAW = _DRAW_BITS // _BITS


class Dropout(nn.Dropout):
    """Zeroes elements with probability p and divides the others by 1 - p, in training (Srivastava et al. 2014). A CPU
    rounds the probability to a multiple of 2^-16, and the factor is that of the rounded one. A compiled model drops by
    PyTorch's own code, which the compiler joins with what is around it."""

    def forward(self, x: Tensor) -> Tensor:
        """Map any shape to the same shape."""
        dropped: Tensor
        if not self.training or self.p in (0, 1) or x.device.type != "cpu" or torch.compiler.is_compiling():
            dropped = super().forward(x)
            return dropped
        below = min(round(self.p * 2**_BITS), 2**_BITS - 1)
        draws = torch.empty(-(-x.numel() // _PER_DRAW), dtype=torch.int64).random_(-(2 ** (_DRAW_BITS - 1)), None)
        # Compared in place: results of the operands' type are written many at once, booleans one by one.
        kept = draws.view(torch.int16)[: x.numel()].view(x.shape).ge_(below - 2 ** (_BITS - 1))
        dropped = x * kept.to(x.dtype).mul_(1 / (1 - below / 2**_BITS))
        return dropped


PositionOrder = Literal["token-rank", "rank-token"]


class TiedEmbedding(nn.Module):
    """Word embeddings that are also the output layer, which adds a bias for each word. Words start with a standard
    deviation of 1/sqrt(D), because Xavier over [V, D] would depend on the vocabulary's size. The logit of a normalised
    hidden state then starts with a deviation near 1 for any V and D, and an embedding scaled by sqrt(D) is about as
    large as a sinusoidal position."""

    def __init__(self, vocabulary_size: int, size: int, *, scaled: bool, dropout: float) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(vocabulary_size, size))
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.scale = math.sqrt(size) if scaled else 1.0
        self.dropout = Dropout(dropout)
        nn.init.normal_(self.weight, std=size**-0.5)

    @classmethod
    def of(cls, config: WritingConfig) -> "TiedEmbedding":
        """Return the embeddings of a configuration."""
        return cls(config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return [..., D] of token ids [...], their positions' embeddings (broadcast to [..., D]) added."""
        embedded: Tensor = self.dropout(self.words(tokens) + positions)
        return embedded

    def words(self, tokens: Tensor) -> Tensor:
        """Return [..., D] of token ids [...] alone."""
        return F.embedding(tokens, self.weight) * self.scale


def sinusoids(positions: Tensor, size: int) -> Tensor:
    """Return the sinusoidal embedding [..., size] float32 of integer positions [...] (Liu & Lapata 2019, eq. 7-8).
    Dimension 2i holds sin(p / 10000^(2i/size)), dimension 2i+1 the cosine of the same angle. Raises ValueError: `size`
    is odd."""
    if size % 2:
        raise ValueError(f"sinusoids need an even size, got {size}")
    exponents = torch.arange(0, size, 2, device=positions.device, dtype=torch.float32) / size
    angles = positions.unsqueeze(-1).float() * torch.pow(10_000.0, -exponents)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


def row_positions(mask: Tensor, size: int) -> Tensor:
    """Return the embeddings [R, T, D] of the positions within rows whose mask is [R, T]; they are not copied."""
    return sinusoids(torch.arange(mask.shape[1], device=mask.device), size).expand(len(mask), -1, -1)


def paragraph_positions(ranks: Tensor, length: int, size: int, order: PositionOrder) -> Tensor:
    """Return the embedding [N, length, size] float32 of (rank of the paragraph, position of the token in it) as a
    concatenation of two halves. Liu & Lapata 2019, eq. 9 has [rank; token], their released code has [token; rank].
    Raises ValueError: `size` is not divisible by 4 or `order` is unknown."""
    if size % 4:
        raise ValueError(f"positions of two halves need a size divisible by 4, got {size}")
    half = size // 2
    token_NLC = sinusoids(torch.arange(length, device=ranks.device), half).expand(len(ranks), -1, -1)
    rank_NLC = sinusoids(ranks, half).unsqueeze(1).expand(-1, length, -1)
    if order == "token-rank":
        return torch.cat((token_NLC, rank_NLC), dim=-1)
    if order == "rank-token":
        return torch.cat((rank_NLC, token_NLC), dim=-1)
    raise ValueError(f"unknown position order {order!r}, expected one of {get_args(PositionOrder)}")


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them (Liu & Lapata 2019, eq. 12)."""

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.model_size, config.feed_forward_size)
        self.outer = nn.Linear(config.feed_forward_size, config.model_size)
        self.dropout = Dropout(config.dropout)  # of the inner layer
        start(self.inner, self.outer)

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., D] to [..., D]."""
        output: Tensor = self.outer(self.dropout(F.relu(self.inner(x))))
        return output


class Residual(nn.Module):
    """The residual connection around a sub-layer: `leave(x, sublayer(enter(x)))`. post-norm (Liu & Lapata 2019, eq.
    11): LayerNorm(x + f(x)); pre-norm (Liu & Lapata's (2019) released code): x + f(LayerNorm(x)). Dropout applies to
    the sub-layer's output."""

    def __init__(self, config: LayerConfig) -> None:
        """Make the LayerNorm of one sub-layer. Raises ValueError: `norm` is neither "pre" nor "post"."""
        super().__init__()
        if config.norm not in get_args(Norm):
            raise ValueError(f"unknown norm {config.norm!r}, expected one of {get_args(Norm)}")
        self.pre = config.norm == "pre"
        self.norm = nn.LayerNorm(config.model_size, eps=config.norm_epsilon)
        self.dropout = Dropout(config.dropout)

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
        super().__init__()
        self.attention = attention
        self.feed_forward = FeedForward(config)
        self.attention_residual = Residual(config)
        self.feed_forward_residual = Residual(config)

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
        super().__init__(config, SelfAttention(config.model_size, config.heads, attention_dropout))

    def forward(self, x_MD: Tensor, packing: Packing) -> Tensor:
        """Map [M, D] to [M, D]; tokens see the tokens of their row."""
        return self.finish(x_MD, self.attention(self.enter(x_MD), packing))
