"""Base classes of related summarizers: the tied output layer, and two ways to run a decoder.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, P paragraphs, D model size, V vocabulary.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Protocol

from torch import Tensor, nn

from models.contract import Cache, Copied, Decoded, Memory, Summarizer
from models.layers.attention import KeyValueCache, SelfAttention
from models.layers.config import LayerConfig
from models.layers.copying import CopyableMemory, CopyHead, CopyMemory
from models.layers.decoder import TokenMemory, TransformerDecoder, target_positions
from models.layers.embeddings import TiedEmbedding
from models.layers.feed_forward import FeedForward, Residual
from models.layers.paragraphs import FlatTokens, ParagraphRows


class TiedConfig(LayerConfig, Protocol):
    """The configuration fields that a summarizer with tied embeddings reads."""

    @property
    def vocabulary_size(self) -> int:
        """V."""
        ...

    @property
    def scale_embeddings(self) -> bool:
        """Whether word embeddings are multiplied by sqrt(D) before positions are added."""
        ...


class TiedSummarizer(Summarizer):
    """A summarizer whose word embeddings are also its output layer.

    Attributes:
        embedding: shared by source, target and output.
        copying: the copy head of a summarizer that copies, else None.
    """

    copying: CopyHead | None

    def __init__(self, config: TiedConfig) -> None:
        """Make the embeddings; weights are drawn from PyTorch's default generator."""
        super().__init__()
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )

    def logits(self, hidden: Tensor) -> Tensor:
        """Turn hidden states [..., D] into vocabulary logits [..., V]."""
        return self.embedding.logits(hidden)

    def projection(self) -> tuple[Tensor, Tensor | None]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.embedding.weight, self.embedding.bias

    def remember_copies(self, rows: ParagraphRows, states: FlatTokens) -> CopyMemory | None:
        """Return the memory of encoded tokens [B, S, D] for copying, or None if the summarizer does not copy."""
        return None if self.copying is None else self.copying.remember(rows, states)

    def point(
        self, hidden_RTD: Tensor, target_RT: Tensor, copies: CopyMemory | None, cache: KeyValueCache | None
    ) -> Copied | None:
        """Return from where target positions would copy, or None if the summarizer does not copy."""
        if self.copying is None or copies is None:
            return None
        copied: Copied = self.copying(hidden_RTD, self.embedding.words(target_RT), target_RT, copies, cache)
        return copied


class TokenDecoding(TiedSummarizer):
    """A summarizer whose decoder reads the tokens of an article as one flat sequence: HT and FT.

    Attributes:
        decoder: over the memory that its `remember` makes.
    """

    decoder: TransformerDecoder

    def remember(self, rows: ParagraphRows, encoded: FlatTokens) -> TokenMemory:
        """Make the memory of the encoded tokens [B, S, D] of `rows`."""
        return replace(self.decoder.remember(encoded, rows.paragraphs), copies=self.remember_copies(rows, encoded))

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, TokenMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        decoded: Decoded = self.decoder(target_in, self.embedding, memory, cache, attention=attention)
        return with_copies(decoded, self.point(decoded.hidden, target_in, memory.copies, cache), memory.copies)

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return self.decoder.start_cache(memory, hypotheses, length)


class ParagraphDecoderLayer(nn.Module, ABC):
    """Masked self-attention, cross-attention to paragraphs and their words, feed-forward.

    Attributes:
        self_attention: among the target's tokens.
        feed_forward: the last sub-layer.
        self_residual: of the self-attention.
        cross_residual: of the cross-attention.
        feed_forward_residual: of the feed-forward layer.
    """

    self_attention: SelfAttention
    feed_forward: FeedForward
    self_residual: Residual
    cross_residual: Residual
    feed_forward_residual: Residual

    @abstractmethod
    def read(self, x_RTD: Tensor, memory: Any, layer: int) -> tuple[Tensor, Tensor]:
        """Return the context [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""

    def forward(self, x_RTD: Tensor, memory: Memory, layer: int, cache: KeyValueCache | None) -> tuple[Tensor, Tensor]:
        """Return [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""
        attended = self.self_attention.causal(self.self_residual.enter(x_RTD), cache, layer)
        x_RTD = self.self_residual.leave(x_RTD, attended)
        read_RTD, alpha_RTP = self.read(self.cross_residual.enter(x_RTD), memory, layer)
        x_RTD = self.cross_residual.leave(x_RTD, read_RTD)
        fed = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed), alpha_RTP


class ParagraphDecoding(TiedSummarizer):
    """A summarizer whose decoder layers attend to whole paragraphs: PHT, VHT and GraphSum.

    Attributes:
        decoder_layers: each a `ParagraphDecoderLayer`.
        final_norm: after the last of them.
    """

    decoder_layers: nn.ModuleList
    final_norm: nn.Module

    def remember_words(self, rows: ParagraphRows, x_NLD: Tensor) -> CopyMemory | None:
        """Return the memory of encoded words [N, L, D] for copying, or None if the summarizer does not copy."""
        # `flat` makes the host wait for the device, so it is called only if its result is needed.
        return None if self.copying is None else self.remember_copies(rows, rows.flat(x_NLD))

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, CopyableMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        x_RTD = self.embedding(target_in, target_positions(target_in, self.embedding.size, cache))
        total_RTP: Tensor | None = None
        for number, layer in enumerate(self.decoder_layers):
            x_RTD, alpha_RTP = layer(x_RTD, memory, number, cache)
            total_RTP = alpha_RTP if total_RTP is None else total_RTP + alpha_RTP
        if cache is not None:
            cache.advance(target_in.shape[1])
        attended = None if total_RTP is None or not attention else total_RTP / len(self.decoder_layers)
        hidden_RTD = self.final_norm(x_RTD)
        copied = self.point(hidden_RTD, target_in, memory.copies, cache)
        return with_copies(Decoded(hidden_RTD, attended), copied, memory.copies)

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(len(self.decoder_layers), memory.articles * hypotheses, length)


def with_copies(decoded: Decoded, copied: Copied | None, copies: CopyMemory | None) -> Decoded:
    """Return a decoder's result with copying added; a copied token counts as attention to its paragraph.

    The share of the attention that belongs to copying goes to the paragraphs of the copied tokens; the share that
    belongs to generating is distributed as before.
    """
    if copied is None or copies is None:
        return decoded
    attention = decoded.paragraph_attention
    if attention is not None:
        generate_RT1 = copied.gate.sigmoid().unsqueeze(-1)
        attention = generate_RT1 * attention + (1 - generate_RT1) * copies.by_paragraph(copied.weights)
    return replace(decoded, paragraph_attention=attention, copied=copied)
