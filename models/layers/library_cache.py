"""Our memory of a source and our cache of a target, as a decoder of the library transformers asks for them.

Shapes: B articles, R rows (an article's hypotheses next to each other), H heads, S source tokens, E size of a head.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from models.layers.attention import KeyValueCache
from models.layers.decoder import TokenMemory


def library_cache(memory: TokenMemory, cache: KeyValueCache | None, rows: int) -> Any:
    """Return what the library's decoder takes for its cache: ours, and the keys and values of the source."""
    from transformers import DynamicCache, EncoderDecoderCache

    remembered = EncoderDecoderCache(DynamicCache(), DynamicCache())
    remembered.self_attention_cache = _TargetCache(cache, len(memory.keys))
    remembered.cross_attention_cache = _SourceCache(memory, rows // memory.articles)
    remembered.is_updated = dict.fromkeys(range(len(memory.keys)), True)
    return remembered


class _TargetCache:
    """A cache of ours as the library asks for it; without one, a target is decoded at once and nothing is kept."""

    is_compileable = False

    def __init__(self, cache: KeyValueCache | None, layers: int) -> None:
        self._cache = cache
        self.is_sliding = self.is_linear = self.is_dummy = [False] * layers

    def update(self, key: Tensor, value: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        return (key, value) if self._cache is None else self._cache.extend(layer, key, value)

    def get_seq_length(self, _layer: int = 0) -> int:
        return 0 if self._cache is None else self._cache.length

    def get_query_offset(self, layer: int = 0) -> int:
        return self.get_seq_length(layer)

    def get_mask_sizes(self, length: int, _layer: int) -> tuple[int, int]:
        return self.get_seq_length() + length, 0


class _SourceCache:
    """The source's keys and values by layer.

    The library's attention wants a row of keys for each row of queries. So those of one layer at a time are repeated
    for the hypotheses of an article, which otherwise share them.
    """

    def __init__(self, memory: TokenMemory, hypotheses: int) -> None:
        pairs = zip(memory.keys, memory.values, strict=True)
        self.layers = [_Layer(key, value, hypotheses) for key, value in pairs]


@dataclass(frozen=True)
class _Layer:
    key: Tensor
    value: Tensor
    hypotheses: int

    @property
    def keys(self) -> Tensor:
        return self.key.repeat_interleave(self.hypotheses, dim=0)

    @property
    def values(self) -> Tensor:
        return self.value.repeat_interleave(self.hypotheses, dim=0)
