"""Attention to the words of each paragraph separately, with paragraphs folded into the batch, and what the summarizers
share whose decoders read paragraphs and words: PHT, VHT and GraphSum.

The sum over paragraphs of alpha_p softmax_p(Q K_p) V_p, which PHT, GraphSum and HED share, needs no block mask and no
matrix of target positions by all words of an article: attention runs within each paragraph, and the contexts of the
paragraphs are weighted afterwards.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, L tokens a paragraph, T target positions, Q = K*T
query positions of an article, H heads, E size of a head, D = H*E."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, SourceBatch
from models.layers.attention import CrossAttention, KeyValueCache, SelfAttention, attend
from models.layers.copying import CopyableMemory, CopyMemory
from models.layers.decoder import TiedSummarizer, mean_of, target_positions
from models.layers.transformer import FeedForward, Residual


def word_keys_values(attention: CrossAttention, words_BPLD: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values [B, P, H, L, E] of the words of each paragraph."""
    articles, paragraphs = words_BPLD.shape[:2]
    k_NHLE, v_NHLE = attention.keys_values(words_BPLD.flatten(0, 1))
    shape = (articles, paragraphs, *k_NHLE.shape[1:])
    return k_NHLE.view(shape), v_NHLE.view(shape)


def attend_paragraphs(
    q_BHQE: Tensor, k_BPHLE: Tensor, v_BPHLE: Tensor, mask_BPL: Tensor, *, dropout: float = 0.0
) -> Tensor:
    """Return the context [B, P, H, Q, E] of each query in each paragraph, zeros in an empty one. `dropout` is that of
    the attention weights."""
    articles, paragraphs = mask_BPL.shape[:2]
    # Repeating the queries is the cheapest choice: one call per paragraph doubles the time of training, and one call
    # that broadcasts them cannot use the fused kernel and stores all weights.
    q_NHQE = q_BHQE.unsqueeze(1).expand(-1, paragraphs, -1, -1, -1).flatten(0, 1)
    mask_N11L = mask_BPL.flatten(0, 1)[:, None, None, :]
    context_NHQE = attend(q_NHQE, k_BPHLE.flatten(0, 1), v_BPHLE.flatten(0, 1), mask_N11L, dropout=dropout)
    return context_NHQE.view(articles, paragraphs, *context_NHQE.shape[1:])


class ParagraphDecoderLayer(nn.Module, ABC):
    """Masked self-attention, a reading of paragraphs and their words, feed-forward; each with its residual connection.
    An architecture makes the parts and says how they read."""

    self_attention: SelfAttention
    paragraph_attention: CrossAttention
    word_attention: CrossAttention
    feed_forward: FeedForward
    self_residual: Residual
    cross_residual: Residual
    feed_forward_residual: Residual

    def forward(self, x_RTD: Tensor, memory: Memory, layer: int, cache: KeyValueCache | None) -> tuple[Tensor, Tensor]:
        """Return [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""
        attended = self.self_attention.causal(self.self_residual.enter(x_RTD), cache, layer)
        x_RTD = self.self_residual.leave(x_RTD, attended)
        read_RTD, alpha_RTP = self.read(self.cross_residual.enter(x_RTD), memory, layer)
        x_RTD = self.cross_residual.leave(x_RTD, read_RTD)
        fed_RTD = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed_RTD), alpha_RTP

    @abstractmethod
    def read(self, x_RTD: Tensor, memory: Any, layer: int) -> tuple[Tensor, Tensor]:
        """Return what is read of a source [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""


class ParagraphSummarizer(TiedSummarizer):
    """A summarizer whose decoder reads paragraphs and words."""

    decoder_layers: nn.ModuleList  # each a `ParagraphDecoderLayer`
    final_norm: nn.Module

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, CopyableMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        x_RTD = self.embedding(target_in, target_positions(target_in, self.embedding.size, cache))
        layers_RTP = []
        for number, layer in enumerate(self.decoder_layers):
            x_RTD, alpha_RTP = layer(x_RTD, memory, number, cache)
            layers_RTP.append(alpha_RTP)
        if cache is not None:
            cache.advance(target_in.shape[1])
        decoded = Decoded(self.final_norm(x_RTD), mean_of(layers_RTP) if attention else None)
        return self.with_copying(decoded, target_in, memory, cache)


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
        layers: Iterable[nn.Module],
        paragraphs_BPD: Tensor,
        words_BPLD: Tensor,
        source: SourceBatch,
        copies: CopyMemory | None,
    ) -> "ParallelMemory":
        """Make the memory of paragraph embeddings and encoded words for the layers of a decoder."""
        of_paragraphs, of_words = [], []
        for layer in layers:
            assert isinstance(layer, ParagraphDecoderLayer)
            of_paragraphs.append(layer.paragraph_attention.keys_values(paragraphs_BPD))
            of_words.append(word_keys_values(layer.word_attention, words_BPLD))
        pairs = tuple(of_paragraphs), tuple(of_words)
        return cls(paragraphs_BPD, source.paragraph_mask, *pairs, source.token_mask, copies)
