"""Multi-head pooling: several weighted means of the tokens of a paragraph
(Liu & Lapata 2019, eq. 13-16, Ma & Zong 2020, eq. 2-4).

Shapes: N paragraphs, L tokens a paragraph, H heads, E size of a head, D = H*E."""

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from models.layers.attention import initialise, masked_softmax, start
from models.layers.precision import widened

PoolingWeights = Literal["normalised", "raw"]


def pool_values(x_NLD: Tensor, weights_NLH: Tensor, value_DD: Tensor, bias_D: Tensor) -> Tensor:
    """Return, for each head, the weighted sum of the values of a paragraph's tokens: [N, H, E]. A value is a linear map
    of a token and the sum is linear too, so the tokens are summed first and the sum is mapped: N*H vectors go through
    the projection instead of N*L, and the values of tokens are never stored. Weights are zero at padding; the rows of
    the value projection are grouped by head."""
    heads = weights_NLH.shape[-1]
    summed_NHD = weights_NLH.transpose(1, 2).to(x_NLD.dtype) @ x_NLD
    value_HED = value_DD.view(heads, -1, x_NLD.shape[-1]).to(summed_NHD.dtype)
    bias_HE = bias_D.view(heads, -1)
    total_NH1 = weights_NLH.sum(dim=1).unsqueeze(-1)
    pooled_NHE: Tensor = torch.einsum("nhd,hed->nhe", summed_NHD, value_HED) + total_NH1 * bias_HE
    return pooled_NHE


class MultiHeadPooling(nn.Module):
    """Vectors of paragraphs, one a head, each by its own weights of tokens (Liu & Lapata 2019, eq. 13-16)."""

    def __init__(self, size: int, heads: int, *, weights: PoolingWeights, projection: bool, epsilon: float) -> None:
        """Make `heads` pools of `size` / `heads` each, which share a LayerNorm of an epsilon. "normalised" sums with
        the distribution of eq. 15, "raw" with the scores of eq. 13, as eq. 16 is printed; `projection` is whether the
        W_c^z of eq. 16 exists. Raises ValueError: `weights` is unknown."""
        super().__init__()
        if weights not in get_args(PoolingWeights):
            raise ValueError(f"unknown pooling weights {weights!r}, expected one of {get_args(PoolingWeights)}")
        self.weights = weights
        head_size = size // heads
        self.score = nn.Linear(size, heads)
        self.value = nn.Linear(size, size)
        self.projection = HeadLinear(heads, head_size, head_size) if projection else None
        self.norm = nn.LayerNorm(head_size, eps=epsilon)
        start(self.score, self.value)

    def forward(self, x_NLD: Tensor, mask_NL: Tensor) -> Tensor:
        """Pool [N, L, D] over the tokens where mask_NL is True; returns [N, H, E]."""
        score_NLH = widened(self.score(x_NLD))
        mask_NL1 = mask_NL.unsqueeze(-1)
        if self.weights == "raw":
            weights_NLH = score_NLH.masked_fill(~mask_NL1, 0.0)
        else:
            weights_NLH = masked_softmax(score_NLH.transpose(1, 2), mask_NL.unsqueeze(1)).transpose(1, 2)
        pooled_NHE = pool_values(x_NLD, weights_NLH, self.value.weight, self.value.bias)
        if self.projection is not None:
            pooled_NHE = self.projection(pooled_NHE)
        normed: Tensor = self.norm(pooled_NHE)
        return normed


class HeadLinear(nn.Module):
    """A separate linear layer for each head."""

    def __init__(self, heads: int, size: int, output_size: int, parts: int = 1) -> None:
        super().__init__()
        self.weight_HEC = nn.Parameter(torch.empty(heads, size, output_size))
        self.bias_HC = nn.Parameter(torch.zeros(heads, output_size))
        for weight_EC in self.weight_HEC.detach():
            initialise(*weight_EC.chunk(parts, dim=1))

    def forward(self, x: Tensor) -> Tensor:
        """Map [..., H, E] to [..., H, C]."""
        return torch.einsum("...he,hec->...hc", x, self.weight_HEC) + self.bias_HC
