"""One matrix for source, target and output (Liu & Lapata 2019, sec. 4 of the released code; Ma & Zong 2020, sec. 3).

Shapes: any leading shape; D model size, V vocabulary.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.layers.dropout import Dropout


class TiedEmbedding(nn.Module):
    """Word embeddings that are also the output layer, which adds a bias for each word.

    Words start with a standard deviation of 1/sqrt(D), because Xavier over [V, D] would depend on the vocabulary's
    size. The logit of a normalised hidden state then starts with a deviation near 1 for any V and D, and an embedding
    scaled by sqrt(D) is about as large as a sinusoidal position.
    """

    def __init__(self, vocabulary_size: int, size: int, *, scaled: bool, dropout: float) -> None:
        """Make a matrix of `vocabulary_size` words; `scaled` multiplies an embedding by sqrt(size)."""
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(vocabulary_size, size))
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.scale = math.sqrt(size) if scaled else 1.0
        self.dropout = Dropout(dropout)
        nn.init.normal_(self.weight, std=size**-0.5)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return [..., D] of token ids [...], their positions' embeddings (broadcast to [..., D]) added."""
        embedded: Tensor = self.dropout(self.words(tokens) + positions)
        return embedded

    def words(self, tokens: Tensor) -> Tensor:
        """Return [..., D] of token ids [...] alone."""
        return F.embedding(tokens, self.weight) * self.scale
