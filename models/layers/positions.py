"""Sinusoidal positions, computed on demand, so that there is no maximum length.

Shapes: any leading shape of integer positions; D model size.
"""

from typing import Literal, get_args

import torch
from torch import Tensor

PositionOrder = Literal["token-rank", "rank-token"]


def sinusoids(positions: Tensor, size: int) -> Tensor:
    """Return the sinusoidal embedding [..., size] float32 of integer positions [...] (Liu & Lapata 2019, eq. 7-8).

    Dimension 2i holds sin(p / 10000^(2i/size)), dimension 2i+1 the cosine of the same angle.
    Raises ValueError: `size` is odd.
    """
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
    concatenation of two halves.

    Liu & Lapata 2019, eq. 9 has [rank; token], their released code has [token; rank].
    Raises ValueError: `size` is not divisible by 4 or `order` is unknown.
    """
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
