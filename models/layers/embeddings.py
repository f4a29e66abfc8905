"""One matrix for the words of source, target and output (Liu & Lapata's (2019) released code; Ma & Zong 2020, sec. 3),
and sinusoidal positions, computed on demand, so that there is no maximum length.

Shapes: any leading shape of words or integer positions; D model size, V vocabulary."""

import math
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.config import WritingConfig
from models.layers.dropout import Dropout

PositionOrder = Literal["token-rank", "rank-token"]


class TiedEmbedding(nn.Module):
    """Word embeddings that are also the output layer, which adds a bias for each word. Words start with a standard
    deviation of 1/sqrt(D), because Xavier over [V, D] would depend on the vocabulary's size. The logit of a normalised
    hidden state then starts with a deviation near 1 for any V and D, and an embedding scaled by sqrt(D) is about as
    large as a sinusoidal position."""

    def __init__(self, vocabulary_size: int, size: int, *, scaled: bool, dropout: float) -> None:
        """Make a matrix of `vocabulary_size` words; `scaled` multiplies an embedding by sqrt(size)."""
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
