"""What summarizers of a family share beside the contract: the tied output layer, and two ways to run a decoder.

Shapes: B articles, K hypotheses an article, R = B*K, T target positions, P paragraphs, D model size, V vocabulary.
"""

from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, Summarizer
from models.layers.attention import KeyValueCache
from models.layers.decoder import TransformerDecoder, target_positions
from models.layers.embeddings import TiedEmbedding


class TiedSummarizer(Summarizer):
    """A summarizer whose word embeddings are also its output layer.

    Attributes:
        embedding: of source, target and output.
    """

    embedding: TiedEmbedding

    def logits(self, hidden: Tensor) -> Tensor:
        """Turn hidden states [..., D] into vocabulary logits [..., V]."""
        return self.embedding.logits(hidden)

    def projection(self) -> tuple[Tensor, Tensor | None]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.embedding.weight, self.embedding.bias


class TokenDecoding(TiedSummarizer):
    """One whose decoder reads the tokens of an article flat: HT and FT.

    Attributes:
        decoder: over the memory that its `remember` makes.
    """

    decoder: TransformerDecoder

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        decoded: Decoded = self.decoder(target_in, self.embedding, memory, cache, attention=attention)
        return decoded

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
        assert cache is None or isinstance(cache, KeyValueCache)
        x_RTD = self.embedding(target_in, target_positions(target_in, self.embedding.size, cache))
        total_RTP: Tensor | None = None
        for number, layer in enumerate(self.decoder_layers):
            x_RTD, alpha_RTP = layer(x_RTD, memory, number, cache)
            total_RTP = alpha_RTP if total_RTP is None else total_RTP + alpha_RTP
        if cache is not None:
            cache.advance(target_in.shape[1])
        attended = None if total_RTP is None or not attention else total_RTP / len(self.decoder_layers)
        return Decoded(self.final_norm(x_RTD), attended)

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(len(self.decoder_layers), memory.articles * hypotheses, length)
