"""T-DMCA, the Transformer decoder with memory-compressed attention (000 sec. 4, 001 sec. 4.3).

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. Its layers
alternate: local ones attend within blocks, compressed ones to windows of three tokens made one by a convolution.

Two choices of ours keep what comes before the separator the same for all hypotheses of an article, wherever the
source ends: blocks and windows begin anew at the separator, and a last window of fewer tokens is filled with zeros.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article, T target positions,
W windows, H heads, E size of a head, D = H*E.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, SourceBatch
from models.families import TiedSummarizer
from models.layers.attention import (
    Growing,
    SelfAttention,
    attend,
    initialise,
    split_heads,
)
from models.layers.embeddings import TiedEmbedding
from models.layers.feed_forward import FeedForward, Norm, Residual
from models.layers.paragraphs import FlatTokens, ParagraphRows
from models.layers.positions import sinusoids
from models.layers.prefix import attend_both, attend_both_fused, next_tokens, share_of_paragraphs, shared_logits


@dataclass(frozen=True)
class MemoryCompressedConfig:
    """The size of T-DMCA; the defaults are those of 001's comparison.

    Attributes:
        vocabulary_size: V.
        pad: id of the padding token.
        model_size: D (001 sec. 4.3: 256; 000 sec. 4: 512).
        feed_forward_size: hidden size of feed-forward layers (000 sec. 4: 2,048).
        heads: attention heads.
        layers: local, compressed, local and so on (001 sec. 4.3: 3; 000 sec. 4: 5).
        source_tokens: most tokens of an article that are read, best paragraphs first (both: 3,000).
        block: tokens of a block of local attention (256 in the published runs).
        window: tokens that the convolution makes one, its kernel and its stride (3 in the published runs).
        dropout: of embeddings, sub-layer outputs and inner feed-forward layers.
        norm: LayerNorm before each sub-layer ("pre", plus one at the end) or after it ("post").
        norm_epsilon: that of every LayerNorm.
        scale_embeddings: whether word embeddings are multiplied by sqrt(D).
        loss_over_input: whether training also predicts the source, as Liu et al. (2018) do.
    """

    vocabulary_size: int
    pad: int = 0
    model_size: int = 256
    feed_forward_size: int = 1024
    heads: int = 4
    layers: int = 3
    source_tokens: int = 3000
    block: int = 256
    window: int = 3
    dropout: float = 0.1
    norm: Norm = "post"
    norm_epsilon: float = 1e-6
    scale_embeddings: bool = True
    loss_over_input: bool = True

    def __post_init__(self) -> None:
        if self.heads < 1 or self.model_size % self.heads:
            raise ValueError(f"heads must divide model_size {self.model_size}, got {self.heads}")
        if self.layers < 2:
            raise ValueError(f"a local and a compressed layer are 2 layers, got {self.layers}")
        for name in ("source_tokens", "block", "window"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class CompressedMemory(Memory):
    """What the summary reads of its source.

    Attributes:
        keys_values: a pair of [B, H, 1 + W, E] for each compressed layer: the first token, then the windows.
        mask: [B, 1 + W] bool, True where there is a token in it.
        member: [B, 1 + W, P] float32, the share of each in the paragraphs.
        lengths: [B] int64, source tokens.
        hidden: [B, S, D] last hidden states of the source.
        tokens: the source itself.
    """

    keys_values: tuple[tuple[Tensor, Tensor], ...]
    mask: Tensor
    member: Tensor
    lengths: Tensor
    hidden: Tensor
    tokens: FlatTokens

    @property
    def articles(self) -> int:
        """Number of articles, B."""
        return len(self.lengths)


class CompressedCache(Cache):
    """What a summary has left in each layer: keys and values, of tokens (local) or of windows (compressed)."""

    def __init__(self, layers: int, rows: int, capacity: int) -> None:
        """Make an empty cache of `layers` for `rows` (B*K) hypotheses of at most `capacity` tokens."""
        self.length = 0
        self.keys = [Growing(rows, capacity) for _ in range(layers)]
        self.values = [Growing(rows, capacity) for _ in range(layers)]
        # Tokens of a window that is not yet whole, [R, fewer than a window, D], in compressed layers.
        self.waiting: list[Tensor | None] = [None] * layers

    def reorder(self, hypotheses: Tensor) -> None:
        """Keep row `hypotheses[i]` as row i."""
        for stored in (*self.keys, *self.values):
            stored.reorder(hypotheses)
        self.waiting = [None if x is None else x.index_select(0, hypotheses) for x in self.waiting]


class LocalAttention(SelfAttention):
    """Causal attention within blocks of a fixed number of tokens."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        """Make the projections."""
        super().__init__(config.model_size, config.heads)
        self.block = config.block

    def read(self, x_BSD: Tensor) -> Tensor:
        """Attend among source tokens, blocks folded into the batch; returns [B, S, D].

        Padding stands behind all tokens, so a causal mask keeps it out.
        """
        articles, length, size = x_BSD.shape
        block = min(self.block, length)
        blocks = F.pad(x_BSD, (0, 0, 0, -length % block)).view(-1, block, size)
        return self.causal(blocks).view(articles, -1, size)[:, :length]

    def write(self, x_RTD: Tensor, cache: CompressedCache | None, layer: int) -> Tensor:
        """Attend among target tokens, T new ones after those in the cache; returns [R, T, D]."""
        q_RHTE, k_RHTE, v_RHTE = self._project(x_RTD)
        if cache is not None:
            k_RHTE, v_RHTE = cache.keys[layer].extend(k_RHTE), cache.values[layer].extend(v_RHTE)
        total = k_RHTE.shape[-2]
        key = torch.arange(total, device=x_RTD.device)
        query = key[total - x_RTD.shape[1] :].unsqueeze(1)
        mask_TS = (key <= query) & (key // self.block == query // self.block)
        return self._finish(attend(q_RHTE, k_RHTE, v_RHTE, mask_TS))


class CompressedAttention(SelfAttention):
    """Causal attention to windows of tokens, and to the first token of all."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        """Make the projections and the convolution, a linear map of the tokens of a window side by side."""
        super().__init__(config.model_size, config.heads)
        self.window = config.window
        self.convolution = nn.Linear(config.window * config.model_size, config.model_size)
        initialise(self.convolution.weight)
        nn.init.zeros_(self.convolution.bias)

    def read(self, x_BSD: Tensor, mask_BS: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Attend among source tokens; returns [B, S, D] and keys and values [B, H, 1 + W, E]."""
        length = x_BSD.shape[1]
        x_BSD = x_BSD.masked_fill(~mask_BS.unsqueeze(-1), 0.0)
        memory_BWD = torch.cat((x_BSD[:, :1], self.compress(x_BSD)), dim=1)
        k_BHWE, v_BHWE = self._keys_values(memory_BWD)
        last_W = self.window * torch.arange(memory_BWD.shape[1], device=x_BSD.device) - 1  # last token of each window
        last_W[0] = 0
        mask_SW = last_W <= torch.arange(length, device=x_BSD.device).unsqueeze(1)
        return self._finish(attend(self._queries(x_BSD), k_BHWE, v_BHWE, mask_SW)), (k_BHWE, v_BHWE)

    def write(
        self,
        x_RTD: Tensor,
        memory: CompressedMemory,
        place: int,
        cache: CompressedCache | None,
        layer: int,
        *,
        weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the source and to the target's whole windows.

        Returns [R, T, D] and, with `weights`, those of the source [R, T, 1 + W], averaged over heads.
        """
        start = 0 if cache is None else cache.length
        k_RHWE, v_RHWE = self._own_windows(x_RTD, cache, layer)
        q_RHTE = self._queries(x_RTD)
        keys, values = memory.keys_values[place]
        hypotheses = len(x_RTD) // memory.articles
        source_mask = memory.mask.repeat_interleave(hypotheses, dim=0)[:, None, None, :]
        query_T = torch.arange(start, start + x_RTD.shape[1], device=x_RTD.device)
        last_W = self.window * (torch.arange(k_RHWE.shape[-2], device=x_RTD.device) + 1) - 1
        own_mask = (last_W <= query_T.unsqueeze(1))[None, None]
        if not weights:
            seen = (source_mask.expand(-1, -1, len(query_T), -1), own_mask.expand(len(x_RTD), -1, -1, -1))
            mask = torch.cat(seen, dim=-1)
            return self._finish(attend_both_fused(q_RHTE, (keys, values), (k_RHWE, v_RHWE), mask)), None
        q_RHTE = q_RHTE * q_RHTE.shape[-1] ** -0.5
        context, found = attend_both(
            shared_logits(q_RHTE, keys), q_RHTE @ k_RHWE.transpose(-1, -2), source_mask, own_mask, values, v_RHWE
        )
        return self._finish(context), found

    def compress(self, x_RTD: Tensor) -> Tensor:
        """Return one vector a window, [R, W, D]; a last window of fewer tokens is filled with zeros."""
        rows, length, size = x_RTD.shape
        windows = -(-length // self.window)
        filled = F.pad(x_RTD, (0, 0, 0, windows * self.window - length))
        compressed: Tensor = self.convolution(filled.reshape(rows, windows, self.window * size))
        return compressed

    def _own_windows(self, x_RTD: Tensor, cache: CompressedCache | None, layer: int) -> tuple[Tensor, Tensor]:
        """Return keys and values [R, H, W, E] of the target's whole windows, the cache's among them."""
        waiting = None if cache is None else cache.waiting[layer]
        tokens_RTD = x_RTD if waiting is None else torch.cat((waiting, x_RTD), dim=1)
        whole = tokens_RTD.shape[1] // self.window * self.window
        keys, values = self._keys_values(self.compress(tokens_RTD[:, :whole]))
        if cache is None:
            return keys, values
        cache.waiting[layer] = tokens_RTD[:, whole:]
        return cache.keys[layer].extend(keys), cache.values[layer].extend(values)

    def _queries(self, x_RTD: Tensor) -> Tensor:
        size = x_RTD.shape[-1]
        weight, bias = self.query_key_value.weight[:size], self.query_key_value.bias[:size]
        return split_heads(F.linear(x_RTD, weight, bias), self.heads)

    def _keys_values(self, memory_RWD: Tensor) -> tuple[Tensor, Tensor]:
        size = memory_RWD.shape[-1]
        both = F.linear(memory_RWD, self.query_key_value.weight[size:], self.query_key_value.bias[size:])
        k_RWD, v_RWD = both.chunk(2, dim=-1)
        return split_heads(k_RWD, self.heads), split_heads(v_RWD, self.heads)


class MemoryCompressedLayer(nn.Module):
    """Local or compressed attention, then feed-forward, each with its residual connection."""

    def __init__(self, config: MemoryCompressedConfig, *, compressed: bool) -> None:
        """Make one layer."""
        super().__init__()
        size = config.model_size
        self.attention = CompressedAttention(config) if compressed else LocalAttention(config)
        self.feed_forward = FeedForward(size, config.feed_forward_size, config.dropout)
        self.attention_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)
        self.feed_forward_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Join what attention found and feed it forward; both [..., D]."""
        x = self.attention_residual.leave(x, attended)
        return self.feed_forward_residual.leave(x, self.feed_forward(self.feed_forward_residual.enter(x)))


class MemoryCompressedTransformer(TiedSummarizer):
    """T-DMCA: a decoder that reads its source as the beginning of what it writes."""

    def __init__(self, config: MemoryCompressedConfig) -> None:
        """Make a fresh model, its weights drawn from PyTorch's default generator."""
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.layers = nn.ModuleList(
            MemoryCompressedLayer(config, compressed=number % 2 == 1) for number in range(config.layers)
        )
        self.final_norm = (
            nn.LayerNorm(config.model_size, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity()
        )

    def encode(self, source: SourceBatch) -> CompressedMemory:
        """Read the source, as far as the summary will look back at it."""
        paragraphs = ParagraphRows.of(source, self.config.pad)
        flat = paragraphs.flat(paragraphs.tokens, self.config.source_tokens)
        positions_SD = sinusoids(torch.arange(flat.mask.shape[1], device=flat.mask.device), self.config.model_size)
        x_BSD = self.embedding(flat.values, positions_SD)
        pairs = []
        for layer in self.layers:
            assert isinstance(layer, MemoryCompressedLayer)
            entered = layer.attention_residual.enter(x_BSD)
            if isinstance(layer.attention, CompressedAttention):
                attended, pair = layer.attention.read(entered, flat.mask)
                pairs.append(pair)
            else:
                attended = layer.attention.read(entered)
            x_BSD = layer.finish(x_BSD, attended)
        member = window_members(flat, paragraphs.places, self.config.window)
        lengths = flat.mask.sum(dim=1)
        hidden = self.final_norm(x_BSD)
        return CompressedMemory(tuple(pairs), member.sum(dim=-1) > 0, member, lengths, hidden, flat)

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, CompressedMemory)
        assert cache is None or isinstance(cache, CompressedCache)
        x_RTD = self.embedding(target_in, self._positions(target_in, memory, cache))
        total_RTM: Tensor | None = None
        compressed = 0
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, MemoryCompressedLayer)
            entered = layer.attention_residual.enter(x_RTD)
            if isinstance(layer.attention, CompressedAttention):
                attended, weights_RTM = layer.attention.write(
                    entered, memory, compressed, cache, number, weights=attention
                )
                if weights_RTM is not None:
                    total_RTM = weights_RTM if total_RTM is None else total_RTM + weights_RTM
                compressed += 1
            else:
                attended = layer.attention.write(entered, cache, number)
            x_RTD = layer.finish(x_RTD, attended)
        if cache is not None:
            cache.length += target_in.shape[1]
        attended_RTP = None if total_RTM is None else share_of_paragraphs(total_RTM, memory.member)
        return Decoded(self.final_norm(x_RTD), attended_RTP)

    def source_states(self, memory: Memory) -> tuple[Tensor, Tensor] | None:
        """Return the source's hidden states [M, D] and the tokens [M] they predict, where `loss_over_input` is on."""
        assert isinstance(memory, CompressedMemory)
        return next_tokens(memory.hidden, memory.tokens) if self.config.loss_over_input else None

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> CompressedCache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return CompressedCache(len(self.layers), memory.articles * hypotheses, length)

    def _positions(self, target_in: Tensor, memory: CompressedMemory, cache: Cache | None) -> Tensor:
        """Return the positions' embeddings [R, T, D]: the target goes on where the source of its article ends."""
        start = 0 if cache is None else cache.length
        offset_T = torch.arange(start, start + target_in.shape[1], device=target_in.device)
        lengths_R = memory.lengths.repeat_interleave(len(target_in) // memory.articles)
        return sinusoids(lengths_R.unsqueeze(1) + offset_T, self.config.model_size)


def window_members(flat: FlatTokens, paragraphs: int, window: int) -> Tensor:
    """Return [B, 1 + W, P] float32: the shares of the first token and of each window in the paragraphs."""
    member_BSP = F.one_hot(flat.paragraph, paragraphs).float() * flat.mask.unsqueeze(-1)
    articles, length, _ = member_BSP.shape
    filled = F.pad(member_BSP, (0, 0, 0, -length % window))
    windows_BWP = filled.view(articles, -1, window, paragraphs).sum(dim=2)
    windows_BWP = windows_BWP / windows_BWP.sum(dim=-1, keepdim=True).clamp_min(1.0)
    return torch.cat((member_BSP[:, :1], windows_BWP), dim=1)
