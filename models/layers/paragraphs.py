"""The paragraphs of a batch as rows, and how to turn rows into a grid or into one flat sequence per article.

Local layers work on rows, so empty cells of the grid [B, P] cost nothing; a decoder's cross-attention works on the
flat sequence, so padding within paragraphs costs nothing there.

Shapes: B articles, P paragraphs, L tokens a paragraph, N rows (paragraphs that exist), S tokens of an article's flat
sequence, D any size."""

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from models.contract import SourceBatch
from models.layers.places import Packing, TokenPlaces


@dataclass(frozen=True)
class FlatTokens:
    """The tokens of each article in one sequence."""

    values: Tensor  # [B, S, ...] the joined values
    mask: Tensor  # [B, S] bool, True where there is a token
    paragraph: Tensor  # [B, S] int64 column in the grid of the paragraph each token is from; 0 at padding
    # [M] int64, ascending, the number of each token's cell among the B*S; None = it is to be found
    cell: Tensor | None = None

    @property
    def packing(self) -> Packing:
        """Which cells hold tokens."""
        return Packing.of(self.mask, self.cell)


@dataclass(frozen=True)
class ParagraphRows:
    """The paragraphs of a batch without the absent ones, one per row, by article and then by rank."""

    tokens: Tensor  # [N, L] int64 token ids
    mask: Tensor  # [N, L] bool, True where there is a token
    ranks: Tensor  # [N] int64
    article: Tensor  # [N] int64 article of each row
    column: Tensor  # [N] int64 its column p in the grid of the batch
    articles: int  # B
    paragraphs: int  # P
    pad: int  # id of the padding token
    places: TokenPlaces  # where the tokens are

    @classmethod
    def of(cls, source: SourceBatch, pad: int) -> "ParagraphRows":
        """Take the rows out of a batch. Raises ValueError: its padding token is not the model's `pad`."""
        if source.pad != pad:
            raise ValueError(f"the batch is padded with token {source.pad}, the model expects {pad}")
        articles, paragraphs, _ = source.tokens.shape
        places = source.places
        article, column = places.article, places.column
        tokens, ranks = source.tokens[article, column], source.ranks[article, column]
        return cls(tokens, tokens != pad, ranks, article, column, articles, paragraphs, pad, places.tokens)

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
        return ParagraphRows(
            # What is cut becomes equal to what was padding: no one may read it.
            tokens=torch.where(mask_NL, self.tokens, self.pad)[kept, :limit],
            mask=left_NL,
            ranks=self.ranks[kept],
            article=article_N,
            column=self.column[kept],
            articles=self.articles,
            paragraphs=self.paragraphs,
            pad=self.pad,
            places=TokenPlaces.of(left_NL, article_N, self.articles),
        )

    def grid(self, x_N: Tensor) -> Tensor:
        """Lay rows [N, ...] into the grid [B, P, ...], zeros where there is no paragraph."""
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
    share of each token that belongs to each paragraph; R = B*K, the hypotheses of an article next to each other."""
    rows, new, tokens = weights_RTS.shape
    with torch.autocast(weights_RTS.device.type, enabled=False):
        weights_BQP = weights_RTS.reshape(len(member_BSP), -1, tokens) @ member_BSP.to(weights_RTS.dtype)
    return weights_BQP.reshape(rows, new, -1)
