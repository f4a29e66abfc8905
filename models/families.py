"""What summarizers of a family share beside the contract: the tied output layer, and two ways to run a decoder.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, P paragraphs, D model size, V vocabulary.
"""

from dataclasses import replace

import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache, Copied, Decoded, Memory, Summarizer
from models.layers.attention import KeyValueCache
from models.layers.copying import CopyableMemory, CopyHead, CopyMemory
from models.layers.decoder import TokenMemory, TransformerDecoder, target_positions
from models.layers.embeddings import TiedEmbedding
from models.layers.paragraphs import FlatTokens, ParagraphRows, weights_by_paragraph


class TiedSummarizer(Summarizer):
    """A summarizer whose word embeddings are also its output layer.

    Attributes:
        embedding: of source, target and output.
        copying: points at the source where the summarizer copies, else None.
    """

    embedding: TiedEmbedding
    copying: CopyHead | None

    def logits(self, hidden: Tensor) -> Tensor:
        """Turn hidden states [..., D] into vocabulary logits [..., V]."""
        return self.embedding.logits(hidden)

    def projection(self) -> tuple[Tensor, Tensor | None]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.embedding.weight, self.embedding.bias

    def remember_places(self, rows: ParagraphRows, states: FlatTokens) -> CopyMemory | None:
        """Return the places of encoded tokens [B, S, D] that may be copied, None where the summarizer does not copy."""
        return None if self.copying is None else self.copying.remember(rows, states)

    def point(
        self, hidden_RTD: Tensor, target_RT: Tensor, places: CopyMemory | None, cache: KeyValueCache | None
    ) -> Copied | None:
        """Return where target positions would copy from, None where the summarizer does not copy."""
        if self.copying is None or places is None:
            return None
        copied: Copied = self.copying(hidden_RTD, self.embedding.words(target_RT), target_RT, places, cache)
        return copied


class TokenDecoding(TiedSummarizer):
    """One whose decoder reads the tokens of an article flat: HT and FT.

    Attributes:
        decoder: over the memory that its `remember` makes.
    """

    decoder: TransformerDecoder

    def remember(self, rows: ParagraphRows, encoded: FlatTokens) -> TokenMemory:
        """Make the memory of the encoded tokens [B, S, D] of `rows`."""
        return replace(self.decoder.remember(encoded, rows.places), copies=self.remember_places(rows, encoded))

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, TokenMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        decoded: Decoded = self.decoder(target_in, self.embedding, memory, cache, attention=attention)
        return with_copies(decoded, self.point(decoded.hidden, target_in, memory.copies, cache))

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return self.decoder.start_cache(memory, hypotheses, length)


class ParagraphDecoding(TiedSummarizer):
    """One whose decoder layers attend to paragraphs as such: PHT, VHT and GraphSum.

    Attributes:
        decoder_layers: each maps [R, T, D], the memory, its own number and the cache to [R, T, D] and the attention to
            paragraphs [R, T, P].
        final_norm: after the last of them.
    """

    decoder_layers: nn.ModuleList
    final_norm: nn.Module

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
        return with_copies(Decoded(hidden_RTD, attended), self.point(hidden_RTD, target_in, memory.copies, cache))

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(len(self.decoder_layers), memory.articles * hypotheses, length)


def with_copies(decoded: Decoded, copied: Copied | None) -> Decoded:
    """Return what a decoder says with what may be copied; a copied token's paragraph counts as the one looked at.

    The weight of what is copied goes to the paragraphs it stands in, that of what is generated stays as it was.
    """
    if copied is None:
        return decoded
    attention = decoded.paragraph_attention
    if attention is not None:
        member_BSP = F.one_hot(copied.paragraph, attention.shape[-1]).to(copied.weights.dtype)
        generate_RT1 = copied.gate.sigmoid().unsqueeze(-1)
        attention = generate_RT1 * attention + (1 - generate_RT1) * weights_by_paragraph(copied.weights, member_BSP)
    return replace(decoded, paragraph_attention=attention, copied=copied)
