"""Where the paragraphs and tokens of a batch are, and how to go from padded rows to the tokens alone and back.

To find out, the host must wait for the device: how many there are decides the shapes of everything that follows. So
they are found where a batch is laid out, on the CPU, and move to the device with it.

Shapes: B articles, P paragraphs, N paragraphs that exist, L tokens a paragraph, M tokens that exist, S tokens of an
article's flat sequence, R rows of T cells, C any shape of one token."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

# Flat lengths are rounded up to this, so that fewer shapes occur: some GPU kernels are planned anew for every shape.
LENGTH_STEP = 32
Value = TypeVar("Value")


@dataclass(frozen=True)
class TokenPlaces:
    """The tokens of N paragraphs in rows, by article and then by rank, and in one flat sequence per article."""

    row: Tensor  # [M] int64, ascending, the row of each token
    cell: Tensor  # [M] int64, ascending, the number of its cell among the N*L
    flat: Tensor  # [M] int64, ascending, the number of its cell among the B*S
    articles: int  # B
    longest: int  # tokens of the longest article

    @classmethod
    def of(cls, mask_NL: Tensor, article_N: Tensor, articles: int) -> "TokenPlaces":
        """Find the tokens of rows, whose articles are given in ascending order; the host waits for the device."""
        cell_M = mask_NL.flatten().nonzero().squeeze(1)
        row_M = cell_M // max(mask_NL.shape[1], 1)
        article_M = article_N[row_M]
        counts_B = torch.bincount(article_M, minlength=articles)
        longest = int(counts_B.max()) if articles else 0
        offset_M = torch.arange(len(cell_M), device=cell_M.device) - (counts_B.cumsum(0) - counts_B)[article_M]
        return cls(row_M, cell_M, article_M * flat_length(longest) + offset_M, articles, longest)

    @property
    def length(self) -> int:
        """S."""
        return flat_length(self.longest)

    def first(self, limit: int) -> "TokenPlaces":
        """Return the first `limit` tokens of each article; only where one has more does the host wait."""
        if self.longest <= limit:
            return self
        offset_M = self.flat % self.length
        kept_M = offset_M < limit
        flat_M = self.flat // self.length * flat_length(limit) + offset_M
        return TokenPlaces(self.row[kept_M], self.cell[kept_M], flat_M[kept_M], self.articles, limit)


@dataclass(frozen=True)
class ParagraphPlaces:
    """The paragraphs that exist, by article and then by rank, and their tokens."""

    article: Tensor  # [N] int64, ascending
    column: Tensor  # [N] int64, the column p in the grid [B, P] of the batch
    tokens: TokenPlaces  # those of rows [N, L] in this order

    @classmethod
    def of(cls, tokens_BPL: Tensor, ranks_BP: Tensor, pad: int) -> "ParagraphPlaces":
        """Find the paragraphs of a batch; one of padding alone does not exist."""
        mask_BPL = tokens_BPL != pad
        # Sorting by rank makes a flat sequence independent of the order of paragraphs in the batch.
        order_BP = ranks_BP.argsort(dim=1, stable=True)
        article_N, position_N = mask_BPL.any(dim=-1).gather(1, order_BP).nonzero(as_tuple=True)
        column_N = order_BP[article_N, position_N]
        tokens = TokenPlaces.of(mask_BPL[article_N, column_N], article_N, len(tokens_BPL))
        return cls(article_N, column_N, tokens)


def flat_length(tokens: int) -> int:
    """Return S for the tokens of the longest article."""
    return max(1, -(-tokens // LENGTH_STEP)) * LENGTH_STEP


def change_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a tensor, a tuple or a dataclass with `change` made to every tensor in it, nested ones included."""
    changed: Any = value
    if isinstance(value, Tensor):
        changed = change(value)
    elif isinstance(value, tuple):
        changed = tuple(change_tensors(part, change) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: change_tensors(getattr(value, field.name), change) for field in fields(value)}
        changed = replace(value, **parts)
    return cast(Value, changed)


@dataclass(frozen=True)
class Packing:
    """Which cells of padded rows hold tokens, to lay these one after another without the padding, and back. Everything
    in a layer but its attention treats each token by itself, so it is computed on the tokens that exist; only attention
    needs rows. A quarter to a third of the cells of a batch are padding."""

    mask: Tensor  # [R, T] bool, True where there is a token
    cell: Tensor  # [M] int64, the number of each token's cell among the R*T, ascending

    @classmethod
    def of(cls, mask_RT: Tensor, cell_M: Tensor | None = None) -> "Packing":
        """Make the packing of rows with tokens where mask_RT is True; without `cell`, the host waits for the device."""
        return cls(mask_RT, mask_RT.flatten().nonzero().squeeze(1) if cell_M is None else cell_M)

    def pack(self, x_RTC: Tensor) -> Tensor:
        """Take the tokens [M, C] out of rows [R, T, C]."""
        return x_RTC.flatten(0, 1).index_select(0, self.cell)

    def pad(self, x_MC: Tensor) -> Tensor:
        """Lay tokens [M, C] into rows [R, T, C], zeros where there is no token."""
        # Copying whole rows takes half the time of `index_put`, which goes element by element.
        cells = x_MC.new_zeros(self.mask.numel(), *x_MC.shape[1:])
        return cells.index_copy_(0, self.cell, x_MC).view(*self.mask.shape, *x_MC.shape[1:])
