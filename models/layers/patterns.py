"""Which tokens an encoder's self-attention sees: the whole sequence (BART), its document (HED) or words and sentences
(Hie-BART).

All three use the same projections, so none of them adds a parameter. Each can also say how much its tokens look at each
document (Shen et al. 2023, sec. 6.3); `Watch` adds that up over layers.

Shapes: R rows (articles, or documents folded into the batch), B articles, N documents that exist, P documents of an
article, L tokens a document. S tokens of an article, M sentences, T tokens of a row, H heads, E size of a head, D =
H*E."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from models.layers.attention import attend, attention_weights, join_heads, masked_softmax
from models.layers.config import widened
from models.layers.paragraphs import FlatTokens, ParagraphRows

# Weights that are looked at are made for so many numbers at a time, 128 MB of them.
CHUNK = 2**25


class Contexts(NamedTuple):
    """What the tokens of each row read."""

    tokens: Tensor  # [R, T, D]
    # [R, D] for each row's first token; None = it is like the others. It is by itself because in one
    # tensor with the others all of them would be kept twice for the backward pass.
    first: Tensor | None = None


class Watch:
    """A pattern that adds up, over the layers that use it, how much documents look at documents."""

    def __init__(self, pattern: "Pattern", tokens: FlatTokens, paragraphs: int) -> None:
        """Watch a pattern on articles of at most P documents, given their flat tokens."""
        self._pattern = pattern
        member_BSP = F.one_hot(tokens.paragraph, paragraphs) * tokens.mask.unsqueeze(-1)
        self._member_BSP = member_BSP.to(torch.get_default_dtype())
        self._total_BPP = self._member_BSP.new_zeros(len(member_BSP), paragraphs, paragraphs)

    def __call__(self, q_RHTE: Tensor, k_RHTE: Tensor, v_RHTE: Tensor, *, dropout: float) -> Contexts:
        """Return the contexts of the pattern."""
        self._total_BPP += self._pattern.looks(q_RHTE, k_RHTE, self._member_BSP)
        return self._pattern(q_RHTE, k_RHTE, v_RHTE, dropout=dropout)

    def shares(self) -> Tensor:
        """Return [B, P, P] (float32), all numbers of an article together 1: the attention of the tokens of the first
        document to those of the second, the mean over tokens, heads and layers."""
        total_B11 = self._total_BPP.sum(dim=(1, 2), keepdim=True).clamp_min(torch.finfo(torch.float32).tiny)
        return (self._total_BPP / total_B11).float()


@dataclass(frozen=True)
class WholeSequence:
    """Every token sees all tokens of its row."""

    mask: Tensor  # [R, T] bool, True if there is a token

    def __call__(self, q_RHTE: Tensor, k_RHTE: Tensor, v_RHTE: Tensor, *, dropout: float) -> Contexts:
        """Return the contexts."""
        return Contexts(join_heads(attend(q_RHTE, k_RHTE, v_RHTE, self.mask[:, None, None, :], dropout=dropout)))

    def looks(self, q_BHSE: Tensor, k_BHSE: Tensor, member_BSP: Tensor) -> Tensor:
        """Return the attention [B, P, P] of documents to documents."""
        return _looks(q_BHSE, k_BHSE, self.mask, member_BSP, member_BSP)


@dataclass(frozen=True)
class OwnDocument:
    """A token sees its document; the first token of a document, its `<s>`, also those of the article's other documents
    (Shen et al. 2023, sec. 4.1)."""

    rows: ParagraphRows  # the documents

    def __call__(self, q_NHLE: Tensor, k_NHLE: Tensor, v_NHLE: Tensor, *, dropout: float) -> Contexts:
        """Return the contexts."""
        inside_NHLE = attend(q_NHLE, k_NHLE, v_NHLE, self.rows.mask[:, None, None, :], dropout=dropout)
        # The first token's one softmax, over its document and the others' firsts, is that of its document scaled down.
        weights_NHS = self._of_first(q_NHLE[:, :, 0], k_NHLE)
        own_NH1, others_NHP = torch.split(weights_NHS, [1, self.rows.paragraphs], dim=-1)
        others_BPHR = self.rows.grid(F.dropout(others_NHP, dropout).to(v_NHLE.dtype))
        from_others_BPHE = torch.einsum("bphr,brhe->bphe", others_BPHR, self.rows.grid(v_NHLE[:, :, 0]))
        first_NHE = own_NH1.to(v_NHLE.dtype) * inside_NHLE[:, :, 0] + self.rows.rows(from_others_BPHE)
        return Contexts(join_heads(inside_NHLE), first_NHE.flatten(1))

    def looks(self, q_NHLE: Tensor, k_NHLE: Tensor, _: Tensor) -> Tensor:
        """Return the attention [B, P, P] of documents to documents."""
        rows = self.rows
        own_N1, others_NP = torch.split(self._of_first(q_NHLE[:, :, 0], k_NHLE).mean(dim=1), [1, rows.paragraphs], -1)
        of_rest_N1 = rows.mask.sum(dim=1, keepdim=True) - 1
        return rows.grid(others_NP.scatter_add(1, rows.column[:, None], own_N1 + of_rest_N1))

    def _of_first(self, q_NHE: Tensor, k_NHLE: Tensor) -> Tensor:
        """Return the weights [N, H, 1 + P] of the first tokens: for all of their document, and for the others' firsts.
        Queries and keys are multiplied as numbers and summed up: a product of matrices would copy all keys and keep the
        copy for the backward pass."""
        rows, q_NHE = self.rows, q_NHE * q_NHE.shape[-1] ** -0.5
        own_NHL = widened((q_NHE.unsqueeze(2) * k_NHLE).sum(dim=-1))
        own_NH1 = own_NHL.masked_fill(~rows.mask.unsqueeze(1), -torch.inf).logsumexp(dim=-1, keepdim=True)
        others_NHP = rows.rows(torch.einsum("bphe,brhe->bphr", rows.grid(q_NHE), rows.grid(k_NHLE[:, :, 0])))
        exists_BP = rows.grid(torch.ones_like(rows.column, dtype=torch.bool))
        seen_NP = exists_BP[rows.article] & (torch.arange(rows.paragraphs, device=q_NHE.device) != rows.column[:, None])
        seen_N1S = F.pad(seen_NP, (1, 0), value=True).unsqueeze(1)
        return masked_softmax(torch.cat((own_NH1, widened(others_NHP)), dim=-1), seen_N1S)


@dataclass(frozen=True)
class WordsAndSentences:
    """The first heads see the words of an article, the last ones its sentences: the means of their words' vectors
    (Akiyama et al. 2021, sec. 3.2-3.3). Keys and values of a mean are the means of the words' keys and values, because
    the projections are linear."""

    mask: Tensor  # [B, S] bool, True if there is a token
    means: Tensor  # [B, M, S], the share of each token in the mean of its sentence
    heads: int  # how many heads see sentences

    @classmethod
    def of(cls, tokens_BS: Tensor, mask_BS: Tensor, mark: int, heads: int) -> "WordsAndSentences":
        """Divide articles at the token `mark`, with which each sentence begins. The mark counts as a word of its
        sentence; what comes before the first mark belongs to the first sentence."""
        number_BS = ((tokens_BS == mark).cumsum(dim=1) - 1).clamp_min(0)
        member_BMS = F.one_hot(number_BS).transpose(1, 2) * mask_BS.unsqueeze(1)
        means_BMS = member_BMS / member_BMS.sum(dim=2, keepdim=True).clamp_min(1)
        return cls(mask_BS, means_BMS, heads)

    def __call__(self, q_BHSE: Tensor, k_BHSE: Tensor, v_BHSE: Tensor, *, dropout: float) -> Contexts:
        """Return the contexts."""
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
        return Contexts(join_heads(torch.cat((of_words, of_sentences), dim=1)))

    def looks(self, q_BHSE: Tensor, k_BHSE: Tensor, member_BSP: Tensor) -> Tensor:
        """Return the attention [B, P, P] of documents to documents; words share that to their sentence equally."""
        words = q_BHSE.shape[1] - self.heads
        means_BMS = self.means.to(k_BHSE.dtype)
        sentences_BHME = means_BMS.unsqueeze(1) @ k_BHSE[:, words:]
        total_BPP = self.heads * _looks(
            q_BHSE[:, words:], sentences_BHME, self.means.any(dim=2), member_BSP, self.means @ member_BSP
        )
        if words:
            total_BPP = total_BPP + words * _looks(
                q_BHSE[:, :words], k_BHSE[:, :words], self.mask, member_BSP, member_BSP
            )
        return total_BPP / q_BHSE.shape[1]


def _looks(q_BHSE: Tensor, k_BHTE: Tensor, mask_BT: Tensor, of_BSP: Tensor, to_BTP: Tensor) -> Tensor:
    """Return the attention [B, P, P] of documents to documents, the mean over heads: queries are members of documents
    by `of_BSP`, keys by `to_BTP`."""
    size = max(1, CHUNK // (k_BHTE.shape[0] * k_BHTE.shape[1] * k_BHTE.shape[2]))
    total_BPP = of_BSP.new_zeros(len(of_BSP), of_BSP.shape[2], to_BTP.shape[2])
    for start in range(0, q_BHSE.shape[2], size):
        part = slice(start, start + size)
        weights_BsT = attention_weights(q_BHSE[:, :, part], k_BHTE, mask_BT[:, None, None, :]).mean(dim=1)
        total_BPP += of_BSP[:, part].transpose(1, 2) @ (weights_BsT.to(to_BTP.dtype) @ to_BTP)
    return total_BPP


# A kind of self-attention: called, it returns the contexts of projected tokens; `looks` returns the attention [B, P, P]
# of the tokens of each document to those of each, the mean over heads, summed, given `member_BSP`, 1 where a token of
# an article is of a document.
Pattern = WholeSequence | OwnDocument | WordsAndSentences
