"""Attention to the words of each paragraph separately, with paragraphs folded into the batch, and the memory of the
decoders that read paragraphs and words.

The sum over paragraphs of alpha_p softmax_p(Q K_p) V_p, which PHT, GraphSum and HED share, needs no block mask and no
matrix of target positions by all words of an article: attention runs within each paragraph, and the contexts of the
paragraphs are weighted afterwards.

Shapes: B articles, P paragraphs, L tokens a paragraph, Q query positions of an article (hypotheses x target
positions), H heads, E size of a head, D = H*E.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor

from models.contract import SourceBatch
from models.layers.attention import CrossAttention, attend
from models.layers.copying import CopyableMemory, CopyMemory


def word_keys_values(attention: CrossAttention, words_BPLD: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values [B, P, H, L, E] of the words of each paragraph."""
    articles, paragraphs = words_BPLD.shape[:2]
    k_NHLE, v_NHLE = attention.keys_values(words_BPLD.flatten(0, 1))
    shape = (articles, paragraphs, *k_NHLE.shape[1:])
    return k_NHLE.view(shape), v_NHLE.view(shape)


def attend_paragraphs(
    q_BHQE: Tensor, k_BPHLE: Tensor, v_BPHLE: Tensor, mask_BPL: Tensor, *, dropout: float = 0.0
) -> Tensor:
    """Return the context [B, P, H, Q, E] of each query in each paragraph, zeros in an empty one.

    `dropout` is that of the attention weights.
    """
    articles, paragraphs = mask_BPL.shape[:2]
    # Repeating the queries is the cheapest choice: one call per paragraph doubles the time of training, and one call
    # that broadcasts them cannot use the fused kernel and stores all weights.
    q_NHQE = q_BHQE.unsqueeze(1).expand(-1, paragraphs, -1, -1, -1).flatten(0, 1)
    mask_N11L = mask_BPL.flatten(0, 1)[:, None, None, :]
    context_NHQE = attend(q_NHQE, k_BPHLE.flatten(0, 1), v_BPHLE.flatten(0, 1), mask_N11L, dropout=dropout)
    return context_NHQE.view(articles, paragraphs, *context_NHQE.shape[1:])


@dataclass(frozen=True)
class ParallelMemory(CopyableMemory):
    """What the decoders of PHT and GraphSum read of B articles."""

    # [B, P, D] paragraph embeddings, of PHT with the ranking encoding (Ma & Zong 2020, eq. 6); the attention predictor
    # of Ma & Zong 2022 reads these
    paragraphs: Tensor
    paragraph_mask: Tensor  # [B, P] bool, True where there is a paragraph
    paragraph_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, H, P, E] for each decoder layer
    word_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, P, H, L, E] for each decoder layer
    mask: Tensor  # [B, P, L] bool, True where there is a token
    copies: CopyMemory | None = None  # the positions that may be copied, if the summarizer copies

    @classmethod
    def of(
        cls,
        attentions: Iterable[tuple[CrossAttention, CrossAttention]],
        paragraphs_BPD: Tensor,
        words_BPLD: Tensor,
        source: SourceBatch,
        copies: CopyMemory | None,
    ) -> "ParallelMemory":
        """Make the memory of paragraph embeddings and encoded words.

        `attentions` are those of each decoder layer: to paragraphs, and to words.
        """
        pairs = [
            (to_paragraphs.keys_values(paragraphs_BPD), word_keys_values(to_words, words_BPLD))
            for to_paragraphs, to_words in attentions
        ]
        return cls(
            paragraphs_BPD,
            source.paragraph_mask,
            tuple(of_paragraphs for of_paragraphs, _ in pairs),
            tuple(of_words for _, of_words in pairs),
            source.token_mask,
            copies,
        )
