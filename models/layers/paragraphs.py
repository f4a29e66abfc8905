"""A batch of sources, where its paragraphs and tokens are, the paragraphs as rows, and how to turn rows into a grid,
into one flat sequence per article, or into the tokens alone, and back.

The host must wait for the device to find them, because their number decides the shapes of everything that follows. So
they are found where a batch is laid out, on the CPU, and move to the device with it. Local layers work on rows, so
empty cells of the grid [B, P] cost nothing; a decoder's cross-attention works on the flat sequence, so padding within
paragraphs costs nothing there.

Shapes: B articles, P paragraphs, L tokens a paragraph, N rows (paragraphs that exist), M tokens that exist. S tokens of
an article's flat sequence, R rows of T cells, C any shape of one token, D any size."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
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


def flat_length(tokens: int) -> int:
    """Return S for the tokens of the longest article."""
    return max(1, -(-tokens // LENGTH_STEP)) * LENGTH_STEP


def change_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a tensor, a tuple or a dataclass with `change` made to every tensor in it, nested ones and those of cached
    properties included."""
    changed: Any = value
    if isinstance(value, Tensor):
        changed = change(value)
    elif isinstance(value, tuple):
        changed = tuple(change_tensors(part, change) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        changed = copy(value)
        vars(changed).update({name: change_tensors(part, change) for name, part in vars(value).items()})
    return cast(Value, changed)


@dataclass(frozen=True)
class Packing:
    """Which cells of padded rows hold tokens, to lay these one after another without the padding, and back. Everything
    in a layer but its attention treats each token by itself, so it is computed on the tokens that exist; only attention
    needs rows. A quarter to a third of the cells of a batch are padding."""

    mask: Tensor  # [R, T] bool, True if there is a token
    cell: Tensor  # [M] int64, the number of each token's cell among the R*T, ascending

    @classmethod
    def of(cls, mask_RT: Tensor, cell_M: Tensor | None = None) -> "Packing":
        """Make the packing of rows with tokens where mask_RT is True; without `cell`, the host waits for the device."""
        return cls(mask_RT, mask_RT.flatten().nonzero().squeeze(1) if cell_M is None else cell_M)

    def pack(self, x_RTC: Tensor) -> Tensor:
        """Take the tokens [M, C] out of rows [R, T, C]."""
        return x_RTC.flatten(0, 1).index_select(0, self.cell)

    def pad(self, x_MC: Tensor) -> Tensor:
        """Lay tokens [M, C] into rows [R, T, C], zeros in empty cells."""
        # Copying whole rows takes half the time of `index_put`, which goes element by element.
        cells = x_MC.new_zeros(self.mask.numel(), *x_MC.shape[1:])
        return cells.index_copy_(0, self.cell, x_MC).view(*self.mask.shape, *x_MC.shape[1:])


@dataclass(frozen=True)
class SourceBatch:
    """What a summarizer reads. Whoever makes the batch, and not the architecture, begins the first paragraph with the
    title and the title mark (Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec. 4.2)."""

    tokens: Tensor  # [B, P, L] int64 token ids, paragraphs best first, padded with `pad`
    ranks: Tensor  # [B, P] int64 rank of each paragraph, 0-based
    title: Tensor  # [B, Lt] int64 token ids of the title, padded with `pad`
    pad: int  # id of the padding token
    graph: Tensor | None = None  # [B, P, P] float32 symmetric edge weights with a unit diagonal

    @property
    def token_mask(self) -> Tensor:
        """[B, P, L] bool, True if there is a token."""
        return self.tokens != self.pad

    @property
    def paragraph_mask(self) -> Tensor:
        """[B, P] bool, True if there is a paragraph."""
        return self.token_mask.any(dim=-1)

    @cached_property
    def rows(self) -> "ParagraphRows":
        """The paragraphs that exist; found once, and before the batch moves to another device."""
        mask_BPL = self.token_mask
        # Sorting by rank makes a flat sequence independent of the order of paragraphs in the batch.
        order_BP = self.ranks.argsort(dim=1, stable=True)
        article_N, position_N = mask_BPL.any(dim=-1).gather(1, order_BP).nonzero(as_tuple=True)
        column_N = order_BP[article_N, position_N]
        mask_NL, ranks_N = mask_BPL[article_N, column_N], self.ranks[article_N, column_N]
        (articles, paragraphs, _), tokens_NL = self.tokens.shape, self.tokens[article_N, column_N]
        places = TokenPlaces.of(mask_NL, article_N, articles)
        return ParagraphRows(tokens_NL, mask_NL, ranks_N, article_N, column_N, articles, paragraphs, self.pad, places)

    def to(self, device: torch.device | str) -> "SourceBatch":
        """Return the batch on `device`."""
        _ = self.rows  # found here, and moved with the rest
        return change_tensors(self, lambda tensor: tensor.to(device, non_blocking=True))


@dataclass(frozen=True)
class FlatTokens:
    """The tokens of each article in one sequence."""

    values: Tensor  # [B, S, ...] the joined values
    mask: Tensor  # [B, S] bool, True if there is a token
    paragraph: Tensor  # [B, S] int64 column in the grid of the paragraph each token is from; 0 at padding
    # [M] int64, ascending, the number of each token's cell among the B*S; None = it is to be found
    cell: Tensor | None = None

    @property
    def packing(self) -> Packing:
        """Which cells hold tokens."""
        return Packing.of(self.mask, self.cell)


@dataclass(frozen=True)
class ParagraphRows:
    """The paragraphs of a batch without the absent ones, those of padding alone; one per row, by article and then by
    rank."""

    tokens: Tensor  # [N, L] int64 token ids
    mask: Tensor  # [N, L] bool, True if there is a token
    ranks: Tensor  # [N] int64
    article: Tensor  # [N] int64, ascending, article of each row
    column: Tensor  # [N] int64 its column p in the grid of the batch
    articles: int  # B
    paragraphs: int  # P
    pad: int  # id of the padding token
    places: TokenPlaces  # where the tokens are

    @staticmethod
    def of(source: SourceBatch, pad: int) -> "ParagraphRows":
        """Take the rows out of a batch. Raises ValueError: its padding token is not the model's `pad`."""
        if source.pad != pad:
            raise ValueError(f"the batch is padded with token {source.pad}, the model expects {pad}")
        return source.rows

    @property
    def packing(self) -> Packing:
        """Which cells of the rows hold tokens."""
        return Packing.of(self.mask, self.places.cell)

    @property
    def starts(self) -> Tensor:
        """[N] int64, the place of each row's first token in the article's flat sequence."""
        lengths_N = self.mask.sum(dim=1)
        totals_B = lengths_N.new_zeros(self.articles).index_add(0, self.article, lengths_N)
        return lengths_N.cumsum(0) - lengths_N - (totals_B.cumsum(0) - totals_B)[self.article]

    def cut(self, limit: int) -> "ParagraphRows":
        """Return the rows with the first `limit` tokens of each article; a row left without any is absent."""
        if self.places.longest <= limit and self.tokens.shape[1] <= limit:
            return self
        mask_NL = self.mask & (self.starts.unsqueeze(1) + self.mask.cumsum(dim=1) <= limit)
        kept = mask_NL.any(dim=1)
        left_NL, article_N = mask_NL[kept, :limit], self.article[kept]
        return replace(
            self,
            # What is cut becomes equal to what was padding: no one may read it.
            tokens=torch.where(mask_NL, self.tokens, self.pad)[kept, :limit],
            mask=left_NL,
            ranks=self.ranks[kept],
            article=article_N,
            column=self.column[kept],
            places=TokenPlaces.of(left_NL, article_N, self.articles),
        )

    def grid(self, x_N: Tensor) -> Tensor:
        """Lay rows [N, ...] into the grid [B, P, ...], zeros for missing paragraphs."""
        grid_BP = x_N.new_zeros(self.articles, self.paragraphs, *x_N.shape[1:])
        return grid_BP.index_put((self.article, self.column), x_N)

    def rows(self, grid_BP: Tensor) -> Tensor:
        """Take the rows [N, ...] out of a grid [B, P, ...]."""
        return grid_BP[self.article, self.column]

    def flat(self, x_NL: Tensor, limit: int | None = None) -> FlatTokens:
        """Join the tokens' values [N, L, ...] of each article, best paragraph first, at most `limit` tokens of it."""
        places = self.places if limit is None else self.places.first(limit)
        return self._laid(x_NL.flatten(0, 1).index_select(0, places.cell), places)

    def joined(self, x_M: Tensor) -> FlatTokens:
        """Join the values [M, ...] of the tokens of `packing`: what `flat` makes of them in rows."""
        return self._laid(x_M, self.places)

    def _laid(self, x_M: Tensor, places: TokenPlaces) -> FlatTokens:
        cells, shape = self.articles * places.length, (self.articles, places.length)
        values = x_M.new_zeros(cells, *x_M.shape[1:]).index_copy_(0, places.flat, x_M)
        mask = torch.zeros(cells, dtype=torch.bool, device=x_M.device).index_fill_(0, places.flat, True)
        column_M = self.column[places.row]
        paragraph = torch.zeros(cells, dtype=torch.int64, device=x_M.device).index_copy_(0, places.flat, column_M)
        return FlatTokens(values.view(*shape, *x_M.shape[1:]), mask.view(shape), paragraph.view(shape), places.flat)


class ParagraphTokens:
    """The tokens [B, S] of P paragraphs that a memory keeps, whose weights it sums by paragraph."""

    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P

    def by_paragraph(self, weights_RTS: Tensor) -> Tensor:
        """Sum weights of tokens [R, T, S] into weights of paragraphs [R, T, P]."""
        return weights_by_paragraph(weights_RTS, self._members)

    @cached_property
    def _members(self) -> Tensor:
        """[B, S, P], 1 where a token is from a paragraph: each step of a search reads it, and training never does."""
        return F.one_hot(self.paragraph, self.paragraphs).float()


def weights_by_paragraph(weights_RTS: Tensor, member_BSP: Tensor) -> Tensor:
    """Sum weights of tokens [R, T, S] into weights of paragraphs [R, T, P], in float32 also under autocast, given the
    share of each token that belongs to each paragraph. R = B*K, the hypotheses of an article next to each other."""
    rows, new, tokens = weights_RTS.shape
    with torch.autocast(weights_RTS.device.type, enabled=False):
        weights_BQP = weights_RTS.reshape(len(member_BSP), -1, tokens) @ member_BSP.to(weights_RTS.dtype)
    return weights_BQP.reshape(rows, new, -1)
