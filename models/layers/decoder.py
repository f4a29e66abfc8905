"""The Transformer decoder that HT and FT share (Liu & Lapata 2019, sec. 3: the one of Vaswani et al., over a flat
memory), what every decoder does around its layers, and what the summarizers share whose decoders read paragraphs and
words: PHT, VHT and GraphSum.

The sum over paragraphs of alpha_p softmax_p(Q K_p) V_p, which PHT, GraphSum and HED share, needs no block mask and no
matrix of target positions by all words of an article: attention runs within each paragraph, and the contexts of the
paragraphs are weighted afterwards.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, L tokens a paragraph, S source tokens, T target
positions, Q = K*T query positions of an article, H heads, E size of a head, D = H*E."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from models.contract import Cache, Copied, Decoded, Memory, SourceBatch, Summarizer
from models.layers.attention import CrossAttention, KeyValueCache, SelfAttention, attend
from models.layers.config import LayerConfig
from models.layers.copying import CopyableMemory, CopyHead, CopyMemory
from models.layers.paragraphs import FlatTokens, ParagraphRows, ParagraphTokens
from models.layers.transformer import FeedForward, Residual, TiedEmbedding, final_norm, sinusoids


@dataclass(frozen=True)
class TokenMemory(ParagraphTokens, CopyableMemory):
    """Keys and values of an article's source tokens for each decoder layer."""

    keys: tuple[Tensor, ...]  # one [B, H, S, E] a layer
    values: tuple[Tensor, ...]  # one [B, H, S, E] a layer
    mask: Tensor  # [B, S] bool, True where there is a token
    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P
    copies: CopyMemory | None = None  # the positions that may be copied, if the summarizer copies

    @classmethod
    def of(
        cls,
        pairs: Sequence[tuple[Tensor, Tensor]],
        tokens: FlatTokens,
        paragraphs: int,
        copies: CopyMemory | None = None,
    ) -> "TokenMemory":
        """Make the memory of P paragraphs from the keys and values of their tokens for each layer."""
        keys, values = tuple(key for key, _ in pairs), tuple(value for _, value in pairs)
        return cls(keys, values, tokens.mask, tokens.paragraph, paragraphs, copies)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each with its residual connection."""

    def __init__(self, config: LayerConfig, attention_dropout: float) -> None:
        """Make one layer; `attention_dropout` is that of attention weights."""
        super().__init__()
        size, heads = config.model_size, config.heads
        self.self_attention = SelfAttention(size, heads, attention_dropout)
        self.cross_attention = CrossAttention(size, heads, attention_dropout)
        self.feed_forward = FeedForward(size, config.feed_forward_size, config.dropout)
        self.self_residual = Residual.of(config)
        self.cross_residual = Residual.of(config)
        self.feed_forward_residual = Residual.of(config)

    def forward(
        self, x_RTD: Tensor, memory: TokenMemory, layer: int, cache: KeyValueCache | None, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return [R, T, D] and, with `weights`, the cross-attention's [R, T, S] averaged over heads."""
        attended = self.self_attention.causal(self.self_residual.enter(x_RTD), cache, layer)
        x_RTD = self.self_residual.leave(x_RTD, attended)
        crossed, weights_RTS = self.cross_attention(
            self.cross_residual.enter(x_RTD), memory.keys[layer], memory.values[layer], memory.mask, weights=weights
        )
        x_RTD = self.cross_residual.leave(x_RTD, crossed)
        fed = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed), weights_RTS


class TransformerDecoder(nn.Module):
    """A stack of decoder layers over the encoded tokens of an article, for any encoder."""

    def __init__(self, config: LayerConfig, layers: int, attention_dropout: float) -> None:
        """Make `layers` layers; `attention_dropout` is that of attention weights."""
        super().__init__()
        self.size = config.model_size
        self.layers = nn.ModuleList(DecoderLayer(config, attention_dropout) for _ in range(layers))
        self.final_norm = final_norm(config)

    def remember(self, tokens: FlatTokens, paragraphs: int) -> TokenMemory:
        """Make the memory of encoded source tokens [B, S, D] from `paragraphs` paragraphs."""
        pairs = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            pairs.append(layer.cross_attention.keys_values(tokens.values))
        return TokenMemory.of(pairs, tokens, paragraphs)

    def forward(
        self, target_RT: Tensor, embedding: TiedEmbedding, memory: Memory, cache: Cache | None, *, attention: bool
    ) -> Decoded:
        """Decode target tokens [R, T]; see `Summarizer.decode`."""
        assert isinstance(memory, TokenMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        x_RTD = embedding(target_RT, target_positions(target_RT, self.size, cache))
        layers_RTS = []
        for number, layer in enumerate(self.layers):
            x_RTD, weights_RTS = layer(x_RTD, memory, number, cache, weights=attention)
            layers_RTS.append(weights_RTS)
        if cache is not None:
            cache.advance(target_RT.shape[1])
        attended = memory.by_paragraph(mean_of(layers_RTS)) if attention else None
        return Decoded(hidden=self.final_norm(x_RTD), paragraph_attention=attended)


class TiedSummarizer(Summarizer):
    """A summarizer whose output layer is the matrix of its words, and which may copy words of its source."""

    embedding: TiedEmbedding
    depth: int  # layers of the decoder
    copying: CopyHead | None  # None = it does not copy

    def projection(self) -> tuple[Tensor, Tensor]:
        """Return weight [V, D] and bias [V] of the output layer, which is that of the words."""
        return self.embedding.weight, self.embedding.bias

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(self.depth, memory.articles * hypotheses, length)

    def with_copying(self, decoded: Decoded, target_in: Tensor, memory: CopyableMemory, cache: Cache | None) -> Decoded:
        """Return a decoder's result with what the summarizer would copy at each target position, if it copies."""
        if self.copying is None:
            return decoded
        copied = self.copying(decoded.hidden, self.embedding.words(target_in), target_in, memory.copies, cache)
        return with_copies(decoded, copied, memory.copies)


class TokenSummarizer(TiedSummarizer):
    """A summarizer whose decoder reads the tokens of an article as one flat sequence."""

    decoder: TransformerDecoder

    def remember(self, encoded: FlatTokens, paragraphs: ParagraphRows) -> TokenMemory:
        """Make the memory of the encoded tokens [B, S, D] of these paragraphs."""
        memory = self.decoder.remember(encoded, paragraphs.paragraphs)
        return memory if self.copying is None else replace(memory, copies=self.copying.remember(paragraphs, encoded))

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64) over the tokens of an article as one flat sequence."""
        assert isinstance(memory, TokenMemory)
        decoded: Decoded = self.decoder(target_in, self.embedding, memory, cache, attention=attention)
        return self.with_copying(decoded, target_in, memory, cache)


def target_positions(target_RT: Tensor, size: int, cache: Cache | None) -> Tensor:
    """Return the positions' embeddings [T, D] of target tokens that follow those in the cache."""
    start = 0 if cache is None else cache.length
    return sinusoids(torch.arange(start, start + target_RT.shape[1], device=target_RT.device), size)


def mean_of(layers: Sequence[Tensor]) -> Tensor:
    """Return the mean of the attention of each layer, all of one shape."""
    total = layers[0]
    for layer in layers[1:]:
        total = total + layer
    return total / len(layers)


def with_copies(decoded: Decoded, copied: Copied, copies: CopyMemory | None) -> Decoded:
    """Return a decoder's result with copying added; a copied token counts as attention to its paragraph. The share of
    the attention that belongs to copying goes to the paragraphs of the copied tokens; the share that belongs to
    generating is distributed as before."""
    assert copies is not None
    attention = decoded.paragraph_attention
    if attention is not None:
        generate_RT1 = copied.gate.sigmoid().unsqueeze(-1)
        attention = generate_RT1 * attention + (1 - generate_RT1) * copies.by_paragraph(copied.weights)
    return replace(decoded, paragraph_attention=attention, copied=copied)


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
