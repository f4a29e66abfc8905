"""T-DMCA, the Transformer decoder with memory-compressed attention
(Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec. 4.3).

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. Its layers
alternate: local ones attend within blocks, compressed ones to windows of three tokens merged by a convolution.

Two choices of ours make everything before the separator the same for all hypotheses of an article, whatever the length
of the source. Blocks and windows start anew at the separator, and a last, shorter window is filled with zeros.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article, T target positions,
W windows, H heads, E size of a head, D = H*E."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Memory
from models.decoder_only import (
    DecoderOnly,
    DecoderOnlyConfig,
    PrefixAttention,
    PrefixMemory,
    attend_both,
    attend_both_fused,
    shared_logits,
)
from models.layers.attention import KeyValueCache, attend, split_heads, start
from models.layers.config import check_positive
from models.layers.paragraphs import FlatTokens
from models.layers.transformer import sinusoids


@dataclass(frozen=True)
class MemoryCompressedConfig(DecoderOnlyConfig):
    """The size of T-DMCA; the defaults are those of Ma & Zong's (2020) comparison."""

    block: int = 256  # tokens of a block of local attention (256 in the published runs)
    window: int = 3  # tokens that the convolution merges into one: its kernel and its stride (3 in the published runs)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers < 2:
            raise ValueError(f"expected at least 2 layers, a local and a compressed one, got {self.layers}")
        check_positive(self, "block", "window")


class CompressedCache(KeyValueCache):
    """Keys and values of the summary so far in each layer: of tokens (local) or of windows (compressed)."""

    def __init__(self, layers: int, rows: int, capacity: int) -> None:
        super().__init__(layers, rows, capacity)
        # Tokens of the window that is not yet full, [R, fewer than a window, D], in compressed layers.
        self.waiting: list[Tensor | None] = [None] * layers

    def reorder(self, hypotheses: Tensor) -> None:
        """Make old row `hypotheses[i]` the new row i; there may be fewer rows than before."""
        super().reorder(hypotheses)
        self.waiting = [None if x is None else x.index_select(0, hypotheses) for x in self.waiting]


class LocalAttention(PrefixAttention):
    """Causal attention within blocks of a fixed number of tokens."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        super().__init__(config.model_size, config.heads)
        self.block = config.block

    def read(self, x_BSD: Tensor, mask_BS: Tensor) -> tuple[Tensor, None]:
        """Attend among source tokens, blocks folded into the batch; returns [B, S, D] and no keys or values to keep.
        Padding comes after all tokens, so a causal mask excludes it."""
        articles, length, size = x_BSD.shape
        block = min(self.block, length)
        blocks = F.pad(x_BSD, (0, 0, 0, -length % block)).view(-1, block, size)
        return self.causal(blocks).view(articles, -1, size)[:, :length], None

    def write(
        self, x_RTD: Tensor, memory: PrefixMemory, cache: KeyValueCache | None, layer: int, *, weights: bool
    ) -> tuple[Tensor, None]:
        """Attend among target tokens, T new ones after those in the cache; returns [R, T, D], and None."""
        q_RHTE, k_RHTE, v_RHTE = self.project(x_RTD)
        if cache is not None:
            k_RHTE, v_RHTE = cache.extend(layer, k_RHTE, v_RHTE)
        total = k_RHTE.shape[-2]
        key = torch.arange(total, device=x_RTD.device)
        query = key[total - x_RTD.shape[1] :].unsqueeze(1)
        mask_TS = (key <= query) & (key // self.block == query // self.block)
        return self.finish(attend(q_RHTE, k_RHTE, v_RHTE, mask_TS)), None


class CompressedAttention(PrefixAttention):
    """Causal attention to windows of tokens, and to the first token of the sequence."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        super().__init__(config.model_size, config.heads)
        self.window = config.window
        self.convolution = nn.Linear(config.window * config.model_size, config.model_size)
        start(self.convolution)

    def read(self, x_BSD: Tensor, mask_BS: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Attend among source tokens; returns [B, S, D] and keys and values [B, H, 1 + W, E]."""
        length = x_BSD.shape[1]
        x_BSD = x_BSD.masked_fill(~mask_BS.unsqueeze(-1), 0.0)
        memory_BWD = torch.cat((x_BSD[:, :1], self.compress(x_BSD)), dim=1)
        k_BHWE, v_BHWE = self._keys_values(memory_BWD)
        last_W = self.window * torch.arange(memory_BWD.shape[1], device=x_BSD.device) - 1  # last token of each window
        last_W[0] = 0
        mask_SW = last_W <= torch.arange(length, device=x_BSD.device).unsqueeze(1)
        return self.finish(attend(self._queries(x_BSD), k_BHWE, v_BHWE, mask_SW)), (k_BHWE, v_BHWE)

    def write(
        self, x_RTD: Tensor, memory: PrefixMemory, cache: KeyValueCache | None, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the source's first token and windows, and to the target's full windows."""
        assert cache is None or isinstance(cache, CompressedCache)
        start = 0 if cache is None else cache.length
        k_RHWE, v_RHWE = self._own_windows(x_RTD, cache, layer)
        q_RHTE = self._queries(x_RTD)
        keys, values = memory.keys_values[layer // 2]  # every other layer is compressed
        hypotheses = len(x_RTD) // memory.articles
        source_mask = memory.mask.repeat_interleave(hypotheses, dim=0)[:, None, None, :]
        query_T = torch.arange(start, start + x_RTD.shape[1], device=x_RTD.device)
        last_W = self.window * (torch.arange(k_RHWE.shape[-2], device=x_RTD.device) + 1) - 1
        own_mask = (last_W <= query_T.unsqueeze(1))[None, None]
        if not weights:
            seen = (source_mask.expand(-1, -1, len(query_T), -1), own_mask.expand(len(x_RTD), -1, -1, -1))
            mask = torch.cat(seen, dim=-1)
            return self.finish(attend_both_fused(q_RHTE, (keys, values), (k_RHWE, v_RHWE), mask)), None
        q_RHTE = q_RHTE * q_RHTE.shape[-1] ** -0.5
        context, weights_RTM = attend_both(
            shared_logits(q_RHTE, keys), q_RHTE @ k_RHWE.transpose(-1, -2), source_mask, own_mask, values, v_RHWE
        )
        return self.finish(context), weights_RTM

    def compress(self, x_RTD: Tensor) -> Tensor:
        """Return one vector per window, [R, W, D]; a last, shorter window is filled with zeros."""
        rows, length, size = x_RTD.shape
        windows = -(-length // self.window)
        filled = F.pad(x_RTD, (0, 0, 0, windows * self.window - length))
        compressed: Tensor = self.convolution(filled.reshape(rows, windows, self.window * size))
        return compressed

    def _own_windows(self, x_RTD: Tensor, cache: CompressedCache | None, layer: int) -> tuple[Tensor, Tensor]:
        """Return keys and values [R, H, W, E] of the target's full windows, including those in the cache."""
        waiting = None if cache is None else cache.waiting[layer]
        tokens_RTD = x_RTD if waiting is None else torch.cat((waiting, x_RTD), dim=1)
        whole = tokens_RTD.shape[1] // self.window * self.window
        keys, values = self._keys_values(self.compress(tokens_RTD[:, :whole]))
        if cache is None:
            return keys, values
        cache.waiting[layer] = tokens_RTD[:, whole:]
        return cache.extend(layer, keys, values)

    def _queries(self, x_RTD: Tensor) -> Tensor:
        size = x_RTD.shape[-1]
        weight, bias = self.query_key_value.weight[:size], self.query_key_value.bias[:size]
        return split_heads(F.linear(x_RTD, weight, bias), self.heads)

    def _keys_values(self, memory_RWD: Tensor) -> tuple[Tensor, Tensor]:
        size = memory_RWD.shape[-1]
        both = F.linear(memory_RWD, self.query_key_value.weight[size:], self.query_key_value.bias[size:])
        k_RWD, v_RWD = both.chunk(2, dim=-1)
        return split_heads(k_RWD, self.heads), split_heads(v_RWD, self.heads)


class MemoryCompressedTransformer(DecoderOnly):
    """T-DMCA: alternating local and compressed layers."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        super().__init__(
            config, (CompressedAttention(config) if n % 2 else LocalAttention(config) for n in range(config.layers))
        )
        self.window = config.window

    def positions(self, positions: Tensor) -> Tensor:
        """Return sinusoids."""
        return sinusoids(positions, self.embedding.size)

    def members(self, flat: FlatTokens, paragraphs: int) -> Tensor:
        """Return the shares of the first token and of each window."""
        return window_members(flat, paragraphs, self.window)

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> CompressedCache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return CompressedCache(len(self.layers), memory.articles * hypotheses, length)


def window_members(flat: FlatTokens, paragraphs: int, window: int) -> Tensor:
    """Return [B, 1 + W, P] float32: the share of the first token and of each window that belongs to each paragraph."""
    member_BSP = F.one_hot(flat.paragraph, paragraphs).float() * flat.mask.unsqueeze(-1)
    articles, length, _ = member_BSP.shape
    filled = F.pad(member_BSP, (0, 0, 0, -length % window))
    windows_BWP = filled.view(articles, -1, window, paragraphs).sum(dim=2)
    windows_BWP = windows_BWP / windows_BWP.sum(dim=-1, keepdim=True).clamp_min(1.0)
    return torch.cat((member_BSP[:, :1], windows_BWP), dim=1)
