"""The paragraphs of a batch as rows, and how to turn rows into a grid or into one flat sequence per article.

Local layers work on rows, so empty cells of the grid [B, P] cost nothing; a decoder's cross-attention works on the
flat sequence, so padding within paragraphs costs nothing there.

Shapes: B articles, P paragraphs, L tokens a paragraph, N rows (paragraphs that exist), S tokens of an article's flat
sequence, D any size.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from models.contract import SourceBatch

# Flat lengths are rounded up to this, so that fewer shapes occur: some GPU kernels are planned anew for every shape.
LENGTH_STEP = 32


@dataclass(frozen=True)
class FlatTokens:
    """The tokens of each article in one sequence.

    Attributes:
        values: [B, S, ...] the joined values.
        mask: [B, S] bool, True where there is a token.
        paragraph: [B, S] int64 column in the grid of the paragraph each token is from; 0 at padding.
    """

    values: Tensor
    mask: Tensor
    paragraph: Tensor


@dataclass(frozen=True)
class ParagraphRows:
    """The paragraphs of a batch without the absent ones, one per row, by article and then by rank.

    Attributes:
        tokens: [N, L] int64 token ids.
        mask: [N, L] bool, True where there is a token.
        ranks: [N] int64.
        article: [N] int64 article of each row.
        column: [N] int64 its column p in the grid of the batch.
        articles: B.
        paragraphs: P.
        pad: id of the padding token.
    """

    tokens: Tensor
    mask: Tensor
    ranks: Tensor
    article: Tensor
    column: Tensor
    articles: int
    paragraphs: int
    pad: int

    @classmethod
    def of(cls, source: SourceBatch, pad: int) -> "ParagraphRows":
        """Take the rows out of a batch for a model whose padding token is `pad`.

        Raises:
            ValueError: the batch is padded with another token.
        """
        if source.pad != pad:
            raise ValueError(f"the batch is padded with token {source.pad}, the model expects {pad}")
        articles, paragraphs, _ = source.tokens.shape
        # Sorting by rank makes a flat sequence independent of the order of paragraphs in the batch.
        order_BP = source.ranks.argsort(dim=1, stable=True)
        article, position = source.paragraph_mask.gather(1, order_BP).nonzero(as_tuple=True)
        column = order_BP[article, position]
        tokens = source.tokens[article, column]
        ranks = source.ranks[article, column]
        return cls(tokens, tokens != source.pad, ranks, article, column, articles, paragraphs, source.pad)

    @property
    def starts(self) -> Tensor:
        """[N] int64, the place of each row's first token in the article's flat sequence."""
        lengths_N = self.mask.sum(dim=1)
        totals_B = lengths_N.new_zeros(self.articles).index_add(0, self.article, lengths_N)
        return lengths_N.cumsum(0) - lengths_N - (totals_B.cumsum(0) - totals_B)[self.article]

    def cut(self, limit: int) -> "ParagraphRows":
        """Return the rows with the first `limit` tokens of each article; a row left without any is absent."""
        mask_NL = self.mask & (self.starts.unsqueeze(1) + self.mask.cumsum(dim=1) <= limit)
        kept = mask_NL.any(dim=1)
        return ParagraphRows(
            # What is cut becomes equal to what was padding: no one may read it.
            tokens=torch.where(mask_NL, self.tokens, self.pad)[kept, :limit],
            mask=mask_NL[kept, :limit],
            ranks=self.ranks[kept],
            article=self.article[kept],
            column=self.column[kept],
            articles=self.articles,
            paragraphs=self.paragraphs,
            pad=self.pad,
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
        row_M, column_M = self.mask.nonzero(as_tuple=True)
        article_M = self.article[row_M]
        counts_B = torch.bincount(article_M, minlength=self.articles)
        starts_B = counts_B.cumsum(0) - counts_B
        offset_M = torch.arange(len(row_M), device=row_M.device) - starts_B[article_M]
        longest = int(counts_B.max()) if self.articles else 0
        if limit is not None and longest > limit:
            kept = offset_M < limit
            row_M, column_M, article_M, offset_M = row_M[kept], column_M[kept], article_M[kept], offset_M[kept]
            longest = limit
        length = max(1, -(-longest // LENGTH_STEP)) * LENGTH_STEP
        shape = (self.articles, length)
        values = x_NL.new_zeros(*shape, *x_NL.shape[2:]).index_put((article_M, offset_M), x_NL[row_M, column_M])
        mask = torch.zeros(shape, dtype=torch.bool, device=x_NL.device)
        mask[article_M, offset_M] = True
        paragraph = torch.zeros(shape, dtype=torch.int64, device=x_NL.device)
        paragraph[article_M, offset_M] = self.column[row_M]
        return FlatTokens(values, mask, paragraph)


class ParagraphTokens:
    """The tokens [B, S] of P paragraphs that a memory keeps, whose weights it sums by paragraph.

    Attributes:
        paragraph: [B, S] int64, the paragraph each token is from.
        paragraphs: P.
    """

    paragraph: Tensor
    paragraphs: int

    def by_paragraph(self, weights_RTS: Tensor) -> Tensor:
        """Sum weights of tokens [R, T, S] into weights of paragraphs [R, T, P]."""
        return weights_by_paragraph(weights_RTS, self._members)

    @cached_property
    def _members(self) -> Tensor:
        """[B, S, P], 1 where a token is from a paragraph: each step of a search reads it, and training never does."""
        return F.one_hot(self.paragraph, self.paragraphs).float()


def weights_by_paragraph(weights_RTS: Tensor, member_BSP: Tensor) -> Tensor:
    """Sum weights of tokens [R, T, S] into weights of paragraphs [R, T, P], in float32 also under autocast.

    Args:
        weights_RTS: float32, R = B*K, the hypotheses of an article next to each other.
        member_BSP: [B, S, P] float32, the share of each token that belongs to each paragraph.
    """
    rows, new, tokens = weights_RTS.shape
    with torch.autocast(weights_RTS.device.type, enabled=False):
        weights_BQP = weights_RTS.reshape(len(member_BSP), -1, tokens) @ member_BSP.to(weights_RTS.dtype)
    return weights_BQP.reshape(rows, new, -1)
