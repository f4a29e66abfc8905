"""Which tokens an encoder's self-attention sees: the whole sequence (BART), its document (HED) or words and sentences
(Hie-BART).

All three use the same projections, so none of them adds a parameter.

Shapes: R rows (articles, or documents folded into the batch), B articles, N documents that exist, P documents of an
article, L tokens a document, S tokens of an article, M sentences, T tokens of a row, H heads, E size of a head,
D = H*E.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from models.layers.attention import attend, join_heads, masked_softmax
from models.layers.paragraphs import ParagraphRows
from models.layers.precision import widened


class Pattern(Protocol):
    """A kind of self-attention."""

    def __call__(self, q_RHTE: Tensor, k_RHTE: Tensor, v_RHTE: Tensor, /, *, dropout: float) -> Tensor:
        """Return the contexts [R, T, D] of projected tokens; `dropout` is that of the attention weights."""
        ...


@dataclass(frozen=True)
class WholeSequence:
    """Every token sees all tokens of its row.

    Attributes:
        mask: [R, T] bool, True where there is a token.
    """

    mask: Tensor

    def __call__(self, q_RHTE: Tensor, k_RHTE: Tensor, v_RHTE: Tensor, *, dropout: float) -> Tensor:
        """Return the contexts [R, T, D]."""
        return join_heads(attend(q_RHTE, k_RHTE, v_RHTE, self.mask[:, None, None, :], dropout=dropout))


@dataclass(frozen=True)
class OwnDocument:
    """A token sees its document; the first token of a document, its `<s>`, also those of the article's other documents
    (Shen et al. 2023, sec. 4.1).

    Attributes:
        rows: the documents.
    """

    rows: ParagraphRows

    def __call__(self, q_NHLE: Tensor, k_NHLE: Tensor, v_NHLE: Tensor, *, dropout: float) -> Tensor:
        """Return the contexts [N, L, D]."""
        inside_NLD = join_heads(attend(q_NHLE, k_NHLE, v_NHLE, self.rows.mask[:, None, None, :], dropout=dropout))
        first_NHE = self._of_first(q_NHLE[:, :, 0], k_NHLE, v_NHLE, dropout)
        return torch.cat((first_NHE.flatten(1).unsqueeze(1), inside_NLD[:, 1:]), dim=1)

    def _of_first(self, q_NHE: Tensor, k_NHLE: Tensor, v_NHLE: Tensor, dropout: float) -> Tensor:
        """Return the contexts [N, H, E] of the first tokens: one softmax over their document and the others' firsts."""
        rows, q_NHE = self.rows, q_NHE * q_NHE.shape[-1] ** -0.5
        k_BPHE, v_BPHE = rows.grid(k_NHLE[:, :, 0]), rows.grid(v_NHLE[:, :, 0])
        own_NHL = torch.einsum("nhe,nhle->nhl", q_NHE, k_NHLE)
        others_NHP = rows.rows(torch.einsum("bphe,brhe->bphr", rows.grid(q_NHE), k_BPHE))
        exists_BP = rows.grid(torch.ones_like(rows.column, dtype=torch.bool))
        another_NP = exists_BP[rows.article] & (
            torch.arange(rows.paragraphs, device=q_NHE.device) != rows.column[:, None]
        )
        mask_N1S = torch.cat((rows.mask, another_NP), dim=1).unsqueeze(1)
        weights_NHS = F.dropout(masked_softmax(widened(torch.cat((own_NHL, others_NHP), dim=-1)), mask_N1S), dropout)
        own_NHL, others_NHP = torch.split(weights_NHS.to(v_NHLE.dtype), [k_NHLE.shape[2], rows.paragraphs], dim=-1)
        from_others_BPHE = torch.einsum("bphr,brhe->bphe", rows.grid(others_NHP), v_BPHE)
        return torch.einsum("nhl,nhle->nhe", own_NHL, v_NHLE) + rows.rows(from_others_BPHE)


@dataclass(frozen=True)
class WordsAndSentences:
    """The first heads see the words of an article, the last ones its sentences: the means of their words' vectors
    (Akiyama et al. 2021, sec. 3.2-3.3).

    Keys and values of a mean are the means of the words' keys and values, because the projections are linear.

    Attributes:
        mask: [B, S] bool, True where there is a token.
        means: [B, M, S], the share of each token in the mean of its sentence.
        heads: how many heads see sentences.
    """

    mask: Tensor
    means: Tensor
    heads: int

    @classmethod
    def of(cls, tokens_BS: Tensor, mask_BS: Tensor, mark: int, heads: int) -> "WordsAndSentences":
        """Divide articles at the token `mark`, with which each sentence begins.

        The mark counts as a word of its sentence; what comes before the first mark belongs to the first sentence.
        """
        number_BS = ((tokens_BS == mark).cumsum(dim=1) - 1).clamp_min(0)
        member_BMS = F.one_hot(number_BS).transpose(1, 2) * mask_BS.unsqueeze(1)
        means_BMS = member_BMS / member_BMS.sum(dim=2, keepdim=True).clamp_min(1)
        return cls(mask_BS, means_BMS, heads)

    def __call__(self, q_BHSE: Tensor, k_BHSE: Tensor, v_BHSE: Tensor, *, dropout: float) -> Tensor:
        """Return the contexts [B, S, D]."""
        words = q_BHSE.shape[1] - self.heads
        means_B1MS = self.means.to(k_BHSE.dtype).unsqueeze(1)
        of_words = attend(
            q_BHSE[:, :words], k_BHSE[:, :words], v_BHSE[:, :words], self.mask[:, None, None, :], dropout=dropout
        )
        of_sentences = attend(
            q_BHSE[:, words:],
            means_B1MS @ k_BHSE[:, words:],
            means_B1MS @ v_BHSE[:, words:],
            self.means.any(dim=2)[:, None, None, :],
            dropout=dropout,
        )
        return join_heads(torch.cat((of_words, of_sentences), dim=1))
