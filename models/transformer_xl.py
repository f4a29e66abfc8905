"""Transformer-XL as a summarizer (001 sec. 4.3; Dai et al. 2019): a decoder that reads in segments and remembers.

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. A token sees
the tokens of its segment up to itself and, through the memory, all of the segment before; positions are relative.

As the whole source is in one batch, all segments of a layer run at once: each needs only the layer below of itself
and of its predecessor. Segments begin anew at the separator, with the source's last tokens as their memory.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article, M tokens of memory
and of a segment, C segments of all articles, T target positions, H heads, E size of a head, D = H*E.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, SourceBatch
from models.families import TiedSummarizer
from models.layers.attention import (
    KeyValueCache,
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
class TransformerXLConfig:
    """The size of Transformer-XL; the defaults are those of 001's comparison.

    Attributes:
        vocabulary_size: V.
        pad: id of the padding token.
        model_size: D (001 sec. 4.3, as T-DMCA: 256).
        feed_forward_size: hidden size of feed-forward layers.
        heads: attention heads.
        layers: layers of the stack (001 sec. 4.3, as T-DMCA: 3).
        source_tokens: most tokens of an article that are read, best paragraphs first (001 sec. 4.3: 3,000).
        memory: tokens of the memory and of a segment (001 sec. 4.3: 512).
        memory_gradient: whether gradients pass through the memory. Dai et al. stop them, as a document of any length
            has to fit; here they are what the summary's loss teaches the reading of the source by.
        dropout: of embeddings, sub-layer outputs and inner feed-forward layers.
        norm: LayerNorm before each sub-layer ("pre", plus one at the end) or after it ("post").
        norm_epsilon: that of every LayerNorm.
        scale_embeddings: whether word embeddings are multiplied by sqrt(D).
        loss_over_input: whether training also predicts the source.
    """

    vocabulary_size: int
    pad: int = 0
    model_size: int = 256
    feed_forward_size: int = 1024
    heads: int = 4
    layers: int = 3
    source_tokens: int = 3000
    memory: int = 512
    memory_gradient: bool = True
    dropout: float = 0.1
    norm: Norm = "post"
    norm_epsilon: float = 1e-6
    scale_embeddings: bool = True
    loss_over_input: bool = True

    def __post_init__(self) -> None:
        if self.heads < 1 or self.model_size % self.heads:
            raise ValueError(f"heads must divide model_size {self.model_size}, got {self.heads}")
        for name in ("source_tokens", "memory"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class SegmentMemory(Memory):
    """What the summary remembers of its source: its last M tokens in each layer.

    Attributes:
        keys_values: a pair of [B, H, M, E] a layer; slot m is the token M - m places before the separator.
        mask: [B, M] bool, True where the source is that long.
        member: [B, M, P] float32, the paragraph of each.
        hidden: [B, S, D] last hidden states of the source.
        tokens: the source itself.
    """

    keys_values: tuple[tuple[Tensor, Tensor], ...]
    mask: Tensor
    member: Tensor
    hidden: Tensor
    tokens: FlatTokens

    @property
    def articles(self) -> int:
        """Number of articles, B."""
        return len(self.mask)


class RelativeAttention(SelfAttention):
    """Causal attention with relative positions: logit (q + u) k + (q + v) W r of their distance, over sqrt(E)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        """Make the projections."""
        super().__init__(config.model_size, config.heads)
        self.memory = config.memory
        head_size = config.model_size // config.heads
        self.distance = nn.Linear(config.model_size, config.model_size, bias=False)
        self.content_bias = nn.Parameter(torch.empty(config.heads, head_size))
        self.distance_bias = nn.Parameter(torch.empty(config.heads, head_size))
        initialise(self.distance.weight, self.content_bias, self.distance_bias)

    def read(self, x_CMD: Tensor, previous_CMD: Tensor, first_C: Tensor) -> Tensor:
        """Attend within segments and to the segment before each; first_C is True where there is none."""
        length = x_CMD.shape[1]
        q, k, v = self._project(torch.cat((previous_CMD, x_CMD), dim=1))
        q = q[:, :, length:]
        position = torch.arange(2 * length, device=x_CMD.device)
        distance_TS = position[length:].unsqueeze(1) - position
        mask = (distance_TS >= 0) & ~(first_C[:, None, None, None] & (position < length))
        bias = self._distance_logits(q, distance_TS, 2 * length).masked_fill(~mask, -torch.inf)
        return self._finish(attend(self._content_query(q), k, v, bias.to(q.dtype)))

    def write(
        self, x_RTD: Tensor, memory: SegmentMemory, cache: KeyValueCache | None, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the source's last tokens and to the target's own.

        Returns [R, T, D] and, with `weights`, those of the source [R, T, M], averaged over heads. Without, only what
        the distances add to the logits is ever as large as the weights.
        """
        q, k, v = self._project(x_RTD)
        if cache is not None:
            k, v = cache.extend(layer, k, v)
        source_k, source_v = memory.keys_values[layer]
        total, keys = k.shape[-2], self.memory
        position = torch.arange(total, device=x_RTD.device)
        query = position[total - x_RTD.shape[1] :].unsqueeze(1)
        content, scale = self._content_query(q), q.shape[-1] ** -0.5

        distance_TM = query + keys - torch.arange(keys, device=x_RTD.device)
        source_bias = self._distance_logits(q, distance_TM, total + keys)
        hypotheses = len(q) // memory.articles
        # The source is the segment before the target's first, and before no other.
        near = query < keys
        source_mask = memory.mask.repeat_interleave(hypotheses, dim=0)[:, None, None, :] & near

        distance_TS = query - position
        own_bias = self._distance_logits(q, distance_TS, total)
        own_mask = (distance_TS >= 0) & (position >= (query // keys - 1) * keys)
        if not weights:
            hidden = (source_bias.masked_fill(~source_mask, -torch.inf), own_bias.masked_fill(~own_mask, -torch.inf))
            bias = torch.cat(hidden, dim=-1).to(q.dtype)
            return self._finish(attend_both_fused(content, (source_k, source_v), (k, v), bias)), None
        context, found = attend_both(
            shared_logits(content, source_k) * scale + source_bias,
            content @ k.transpose(-1, -2) * scale + own_bias,
            source_mask,
            own_mask[None, None],
            source_v,
            v,
        )
        return self._finish(context), found

    def remember(self, x_BMD: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values [B, H, M, E] of remembered tokens."""
        _, k_BHME, v_BHME = self._project(x_BMD)
        return k_BHME, v_BHME

    def _content_query(self, q_RHTE: Tensor) -> Tensor:
        query: Tensor = q_RHTE + self.content_bias.unsqueeze(1).to(q_RHTE.dtype)
        return query

    def _distance_logits(self, q_RHTE: Tensor, distance_TS: Tensor, reach: int) -> Tensor:
        """Return the part [R, H, T, S] of the logits that distances below `reach` make, scaled; negative ones as 0."""
        nearest = distance_TS.clamp_min(0)
        distances = torch.arange(reach, device=q_RHTE.device)
        embedded = self.distance(sinusoids(distances, self.distance.in_features).to(self.distance.weight.dtype))
        r_1HNE = split_heads(embedded.unsqueeze(0), self.heads)
        query = (q_RHTE + self.distance_bias.unsqueeze(1).to(q_RHTE.dtype)) * q_RHTE.shape[-1] ** -0.5
        logits_RHTN = query @ r_1HNE.transpose(-1, -2)
        logits_RHTS: Tensor = logits_RHTN.gather(-1, nearest.expand(*logits_RHTN.shape[:2], -1, -1))
        return logits_RHTS


class TransformerXLLayer(nn.Module):
    """Relative attention, then feed-forward, each with its residual connection."""

    def __init__(self, config: TransformerXLConfig) -> None:
        """Make one layer."""
        super().__init__()
        size = config.model_size
        self.attention = RelativeAttention(config)
        self.feed_forward = FeedForward(size, config.feed_forward_size, config.dropout)
        self.attention_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)
        self.feed_forward_residual = Residual(size, config.norm, config.dropout, config.norm_epsilon)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Join what attention found and feed it forward; both [..., D]."""
        x = self.attention_residual.leave(x, attended)
        return self.feed_forward_residual.leave(x, self.feed_forward(self.feed_forward_residual.enter(x)))


class TransformerXL(TiedSummarizer):
    """Transformer-XL: a decoder that reads its source, segment by segment, as the beginning of what it writes."""

    def __init__(self, config: TransformerXLConfig) -> None:
        """Make a fresh model, its weights drawn from PyTorch's default generator."""
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.layers = nn.ModuleList(TransformerXLLayer(config) for _ in range(config.layers))
        self.final_norm = (
            nn.LayerNorm(config.model_size, eps=config.norm_epsilon) if config.norm == "pre" else nn.Identity()
        )

    def encode(self, source: SourceBatch) -> SegmentMemory:
        """Read the source, and keep of each layer what the summary will remember."""
        paragraphs = ParagraphRows.of(source, self.config.pad)
        flat = paragraphs.flat(paragraphs.tokens, self.config.source_tokens)
        slots_BM, mask_BM = self._last_tokens(flat.mask)
        x_BSD = self.embedding(flat.values, torch.zeros((), device=flat.mask.device))
        pairs = []
        for layer in self.layers:
            assert isinstance(layer, TransformerXLLayer)
            entered_BSD = layer.attention_residual.enter(x_BSD)
            tail_BMD = self._detached(entered_BSD).gather(1, slots_BM.unsqueeze(-1).expand(-1, -1, x_BSD.shape[-1]))
            pairs.append(layer.attention.remember(tail_BMD))
            x_BSD = layer.finish(x_BSD, self._read(layer.attention, entered_BSD))
        member_BMP = F.one_hot(flat.paragraph.gather(1, slots_BM), paragraphs.places).float() * mask_BM.unsqueeze(-1)
        return SegmentMemory(tuple(pairs), mask_BM, member_BMP, self.final_norm(x_BSD), flat)

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64)."""
        assert isinstance(memory, SegmentMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        x_RTD = self.embedding(target_in, torch.zeros((), device=target_in.device))
        total_RTM: Tensor | None = None
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, TransformerXLLayer)
            entered = layer.attention_residual.enter(x_RTD)
            attended, weights_RTM = layer.attention.write(entered, memory, cache, number, weights=attention)
            if weights_RTM is not None:
                total_RTM = weights_RTM if total_RTM is None else total_RTM + weights_RTM
            x_RTD = layer.finish(x_RTD, attended)
        if cache is not None:
            cache.advance(target_in.shape[1])
        attended_RTP = None if total_RTM is None else share_of_paragraphs(total_RTM, memory.member)
        return Decoded(self.final_norm(x_RTD), attended_RTP)

    def source_states(self, memory: Memory) -> tuple[Tensor, Tensor] | None:
        """Return the source's hidden states [M, D] and the tokens [M] they predict, where `loss_over_input` is on."""
        assert isinstance(memory, SegmentMemory)
        return next_tokens(memory.hidden, memory.tokens) if self.config.loss_over_input else None

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(len(self.layers), memory.articles * hypotheses, length)

    def _read(self, attention: RelativeAttention, x_BSD: Tensor) -> Tensor:
        """Attend among source tokens, segments folded into the batch; returns [B, S, D]."""
        articles, length, size = x_BSD.shape
        segment = min(self.config.memory, length)
        count = -(-length // segment)
        x_BCMD = F.pad(x_BSD, (0, 0, 0, count * segment - length)).view(articles, count, segment, size)
        before_BCMD = F.pad(self._detached(x_BCMD)[:, :-1], (0, 0, 0, 0, 1, 0))
        first_C = torch.arange(articles * count, device=x_BSD.device) % count == 0
        read = attention.read(x_BCMD.flatten(0, 1), before_BCMD.flatten(0, 1), first_C)
        return read.view(articles, -1, size)[:, :length]

    def _last_tokens(self, mask_BS: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places [B, M] of the last M tokens of each source, 0 where there is none, and where there is."""
        memory = self.config.memory
        slots_BM = mask_BS.sum(dim=1, keepdim=True) - memory + torch.arange(memory, device=mask_BS.device)
        return slots_BM.clamp_min(0), slots_BM >= 0

    def _detached(self, x: Tensor) -> Tensor:
        return x if self.config.memory_gradient else x.detach()
