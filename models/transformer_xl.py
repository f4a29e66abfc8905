"""Transformer-XL as a summarizer (Ma & Zong 2020, sec. 4.3; Dai et al. 2019): a decoder that reads in segments with a
memory of the segment before.

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. A token sees
the tokens of its segment up to itself and, through the memory, the whole segment before; positions are relative.

As the whole source is in one batch, all segments of a layer run at once: each needs only its own output of the layer
below and that of the segment before. Segments start anew at the separator, with the source's last tokens as memory.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article. M tokens of memory
and of a segment, C segments of all articles, T target positions, H heads, E size of a head, D = H*E."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.decoder_only import (
    DecoderOnly,
    DecoderOnlyConfig,
    PrefixAttention,
    PrefixMemory,
    attend_both,
    attend_both_fused,
    shared_logits,
)
from models.layers.attention import KeyValueCache, attend, initialise, split_heads
from models.layers.config import check_positive
from models.layers.paragraphs import FlatTokens
from models.layers.transformer import sinusoids


@dataclass(frozen=True)
class TransformerXLConfig(DecoderOnlyConfig):
    """The size of Transformer-XL; the defaults are those of Ma & Zong's (2020) comparison."""

    memory: int = 512  # tokens of the memory and of a segment (Ma & Zong 2020, sec. 4.3: 512).
    # whether gradients pass through the memory. Dai et al. stop them, because their documents can be of any length;
    # here only through them does the summary's loss train the reading of the source.
    memory_gradient: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "memory")


class RelativeAttention(PrefixAttention):
    """Causal attention with relative positions: logit (q + u) k + (q + v) W r of their distance, over sqrt(E)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config.model_size, config.heads)
        self.memory, self.memory_gradient = config.memory, config.memory_gradient
        head_size = config.model_size // config.heads
        self.distance = nn.Linear(config.model_size, config.model_size, bias=False)
        self.content_bias = nn.Parameter(torch.empty(config.heads, head_size))
        self.distance_bias = nn.Parameter(torch.empty(config.heads, head_size))
        initialise(self.distance.weight, self.content_bias, self.distance_bias)

    def read(self, x_BSD: Tensor, mask_BS: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Attend among source tokens, segments folded into the batch; the last M tokens are kept as memory. Slot m of
        the memory is the token M - m positions before the separator."""
        articles, length, size = x_BSD.shape
        slots_BM, _ = last_tokens(mask_BS, self.memory)
        before_BSD = x_BSD if self.memory_gradient else x_BSD.detach()
        _, k_BHME, v_BHME = self.project(before_BSD.gather(1, slots_BM.unsqueeze(-1).expand(-1, -1, size)))
        segment = min(self.memory, length)
        count = -(-length // segment)
        x_BCMD = F.pad(x_BSD, (0, 0, 0, count * segment - length)).view(articles, count, segment, size)
        before_BCMD = x_BCMD if self.memory_gradient else x_BCMD.detach()
        before_BCMD = F.pad(before_BCMD[:, :-1], (0, 0, 0, 0, 1, 0))
        first_C = torch.arange(articles * count, device=x_BSD.device) % count == 0
        attended = self.read_segments(x_BCMD.flatten(0, 1), before_BCMD.flatten(0, 1), first_C)
        return attended.view(articles, -1, size)[:, :length], (k_BHME, v_BHME)

    def read_segments(self, x_CMD: Tensor, previous_CMD: Tensor, first_C: Tensor) -> Tensor:
        """Attend within segments and to the segment before each; first_C is True for an article's first segment."""
        length = x_CMD.shape[1]
        q, k, v = self.project(torch.cat((previous_CMD, x_CMD), dim=1))
        q = q[:, :, length:]
        position = torch.arange(2 * length, device=x_CMD.device)
        distance_TS = position[length:].unsqueeze(1) - position
        mask = (distance_TS >= 0) & ~(first_C[:, None, None, None] & (position < length))
        bias = self._distance_logits(q, distance_TS, 2 * length).masked_fill(~mask, -torch.inf)
        return self.finish(attend(self._content_query(q), k, v, bias.to(q.dtype)))

    def write(
        self, x_RTD: Tensor, memory: PrefixMemory, cache: KeyValueCache | None, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the source's last tokens and to the target's own. If `weights` is false, the position bias is the
        only tensor of the logits' size."""
        q, k, v = self.project(x_RTD)
        if cache is not None:
            k, v = cache.extend(layer, k, v)
        source_k, source_v = memory.keys_values[layer]
        total, keys = k.shape[-2], self.memory
        position = torch.arange(total, device=x_RTD.device)
        query = position[total - x_RTD.shape[1] :].unsqueeze(1)
        content, scale = self._content_query(q), q.shape[-1] ** -0.5

        distance_TM = query + keys - torch.arange(keys, device=x_RTD.device)
        distance_TS = query - position
        biases = self._distance_logits(q, torch.cat((distance_TM, distance_TS), dim=1), total + keys)
        source_bias, own_bias = torch.split(biases, [keys, total], dim=-1)
        hypotheses = len(q) // memory.articles
        # The source is the segment before the target's first segment, so only tokens of that one see it.
        in_reach = query < keys
        source_mask = memory.mask.repeat_interleave(hypotheses, dim=0)[:, None, None, :] & in_reach

        own_mask = (distance_TS >= 0) & (position >= (query // keys - 1) * keys)
        if not weights:
            hidden = (source_bias.masked_fill(~source_mask, -torch.inf), own_bias.masked_fill(~own_mask, -torch.inf))
            bias = torch.cat(hidden, dim=-1).to(q.dtype)
            return self.finish(attend_both_fused(content, (source_k, source_v), (k, v), bias)), None
        source_logits = shared_logits(content, source_k) * scale + source_bias
        own_logits = content @ k.transpose(-1, -2) * scale + own_bias
        masks = source_mask, own_mask[None, None]
        context, weights_RTM = attend_both(source_logits, own_logits, *masks, source_v, v)
        return self.finish(context), weights_RTM

    def _content_query(self, q_RHTE: Tensor) -> Tensor:
        query: Tensor = q_RHTE + self.content_bias.unsqueeze(1).to(q_RHTE.dtype)
        return query

    def _distance_logits(self, q_RHTE: Tensor, distance_TS: Tensor, reach: int) -> Tensor:
        """Return the scaled position term [R, H, T, S] of the logits for distances below `reach`, at least 0."""
        nearest = distance_TS.clamp_min(0)
        distances = torch.arange(reach, device=q_RHTE.device)
        embedded = self.distance(sinusoids(distances, self.distance.in_features).to(self.distance.weight.dtype))
        r_1HNE = split_heads(embedded.unsqueeze(0), self.heads)
        query = (q_RHTE + self.distance_bias.unsqueeze(1).to(q_RHTE.dtype)) * q_RHTE.shape[-1] ** -0.5
        logits_RHTN = query @ r_1HNE.transpose(-1, -2)
        logits_RHTS: Tensor = logits_RHTN.gather(-1, nearest.expand(*logits_RHTN.shape[:2], -1, -1))
        return logits_RHTS


class TransformerXL(DecoderOnly):
    """Transformer-XL: every layer attends within segments, and to the segment before."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config, (RelativeAttention(config) for _ in range(config.layers)))
        self.memory = config.memory

    def positions(self, positions: Tensor) -> Tensor:
        """Return zero: attention adds relative positions itself."""
        return torch.zeros((), device=positions.device)

    def members(self, flat: FlatTokens, paragraphs: int) -> Tensor:
        """Return the paragraph of each of the last tokens."""
        slots_BM, mask_BM = last_tokens(flat.mask, self.memory)
        return F.one_hot(flat.paragraph.gather(1, slots_BM), paragraphs).float() * mask_BM.unsqueeze(-1)


def last_tokens(mask_BS: Tensor, memory: int) -> tuple[Tensor, Tensor]:
    """Return the positions [B, M] of the last M tokens of each source, 0 where there is none, and their mask [B, M]."""
    slots_BM = mask_BS.sum(dim=1, keepdim=True) - memory + torch.arange(memory, device=mask_BS.device)
    return slots_BM.clamp_min(0), slots_BM >= 0
