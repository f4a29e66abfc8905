"""What T-DMCA and Transformer-XL share: a decoder that reads the source as the beginning of its own sequence.

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. The two
differ in how a layer attends, and so in which source keys and values it keeps.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article, M keys of the source
that a layer remembers. T target positions, S also keys of the target, H heads, E size of a head, D = H*E."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory
from models.layers.attention import (
    KeyValueCache,
    SelfAttention,
    attend,
    fold_hypotheses,
    masked_softmax,
    unfold_hypotheses,
)
from models.layers.config import LayerConfig, Norm, TransformerConfig, check_positive, widened
from models.layers.decoder import TiedSummarizer, mean_of
from models.layers.paragraphs import FlatTokens, ParagraphRows, SourceBatch, weights_by_paragraph
from models.layers.transformer import TiedEmbedding, TransformerLayer, final_norm


@dataclass(frozen=True)
class DecoderOnlyConfig(TransformerConfig, LayerConfig):
    """What T-DMCA and Transformer-XL have in common; the defaults are those of Ma & Zong's (2020) comparison."""

    layers: int = 3  # layers of the stack (Ma & Zong 2020, sec. 4.3: 3; T-DMCA of Liu & Lapata 2019, sec. 4: 5)
    source_tokens: int = 3000  # maximum number of tokens read of an article, best paragraphs first (both: 3,000)
    dropout: float = 0.1  # of embeddings, sub-layer outputs and inner feed-forward layers
    norm: Norm = "post"  # LayerNorm before each sub-layer ("pre", plus one at the end) or after it ("post")
    norm_epsilon: float = 1e-6  # that of every LayerNorm
    scale_embeddings: bool = True  # whether word embeddings are multiplied by sqrt(D)
    loss_over_input: bool = True  # whether training also predicts the source, as Liu et al. (2018) do

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "source_tokens")


@dataclass(frozen=True)
class PrefixMemory(Memory):
    """What the summary reads of its source."""

    keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, H, M, E] for each layer that keeps any
    mask: Tensor  # [B, M] bool, True if a key comes from at least one token
    member: Tensor  # [B, M, P] float32, the share of each key that comes from each paragraph
    lengths: Tensor  # [B] int64, source tokens
    hidden: Tensor  # [B, S, D] last hidden states of the source
    tokens: FlatTokens  # the source itself


class PrefixAttention(SelfAttention, ABC):
    """Causal attention, first among the tokens of a source and then of the target that continues it."""

    @abstractmethod
    def read(self, x_BSD: Tensor, mask_BS: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
        """Attend among source tokens; returns [B, S, D] and the keys and values [B, H, M, E] to keep."""

    @abstractmethod
    def write(
        self, x_RTD: Tensor, memory: PrefixMemory, cache: KeyValueCache | None, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the source and to the target's own tokens, T new ones after those in the cache. Returns [R, T, D]
        and, with `weights`, the attention weights of the source [R, T, M], averaged over heads; None for a layer that
        does not attend to the source."""


def shared_logits(q_RHTE: Tensor, k_BHME: Tensor) -> Tensor:
    """Return the products [R, H, T, M] of queries with keys that the hypotheses of an article share."""
    q_BHQE = fold_hypotheses(q_RHTE, len(k_BHME))
    return unfold_hypotheses(q_BHQE @ k_BHME.transpose(-1, -2), len(q_RHTE))


def attend_both(
    source_RHTM: Tensor, own_RHTS: Tensor, source_mask: Tensor, own_mask: Tensor, v_BHME: Tensor, v_RHSE: Tensor
) -> tuple[Tensor, Tensor]:
    """Attend to source and target in one softmax, given their scaled logits. Boolean masks broadcast to [R, 1, T, M]
    and [R, 1, T, S]. Returns the context [R, H, T, E] and the weights of the source [R, T, M] (float32), averaged over
    heads."""
    keys = source_RHTM.shape[-1]
    logits = widened(torch.cat((source_RHTM, own_RHTS), dim=-1))
    rows, _, new, _ = logits.shape
    mask = torch.cat((source_mask.expand(rows, 1, new, keys), own_mask.expand(rows, 1, new, -1)), dim=-1)
    weights = masked_softmax(logits, mask)
    source_weights, own_weights = weights[..., :keys], weights[..., keys:]
    folded_BHQM = fold_hypotheses(source_weights, len(v_BHME)).to(v_BHME.dtype)
    context = unfold_hypotheses(folded_BHQM @ v_BHME, len(logits)) + own_weights.to(v_RHSE.dtype) @ v_RHSE
    return context, source_weights.mean(dim=1)


def attend_both_fused(
    q_RHTE: Tensor, source: tuple[Tensor, Tensor], own: tuple[Tensor, Tensor], mask: Tensor
) -> Tensor:
    """Return the context [R, H, T, E] of `attend_both` from the fused kernel, which returns no weights. It is given
    keys and values [B, H, M, E] of the source and [R, H, S, E] of the target. The mask is boolean or a bias of the
    scaled logits; it broadcasts to [R, H, T, M + S]."""
    hypotheses = len(q_RHTE) // len(source[0])
    both = [
        torch.cat((shared.repeat_interleave(hypotheses, dim=0) if hypotheses > 1 else shared, target), dim=2)
        for shared, target in zip(source, own, strict=True)
    ]
    return attend(q_RHTE, both[0], both[1], mask)


def share_of_paragraphs(weights_RTM: Tensor, member_BMP: Tensor) -> Tensor:
    """Turn weights of source keys [R, T, M] into a distribution over paragraphs [R, T, P]. The weight of the target's
    own tokens is left out and the rest is normalised to 1. If a position attends to no source key, as beyond the memory
    of Transformer-XL, the distribution is uniform over the keys' paragraphs. `member_BMP` is the share of each key that
    belongs to each paragraph."""
    attention_RTP = weights_by_paragraph(weights_RTM, member_BMP)
    hypotheses = len(attention_RTP) // len(member_BMP)
    held_R1P = (member_BMP.sum(dim=1, keepdim=True) > 0).repeat_interleave(hypotheses, dim=0).to(attention_RTP.dtype)
    unseen_RT1 = attention_RTP.sum(dim=-1, keepdim=True) == 0
    attention_RTP = torch.where(unseen_RT1, held_R1P, attention_RTP)
    return attention_RTP / attention_RTP.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(attention_RTP.dtype).tiny)


class DecoderOnly(TiedSummarizer):
    """A stack of layers that differ only in their attention."""

    def __init__(self, config: DecoderOnlyConfig, attentions: Iterable[PrefixAttention]) -> None:
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.layers = nn.ModuleList(TransformerLayer(config, attention) for attention in attentions)
        self.final_norm = final_norm(config)

    @property
    def stack(self) -> tuple[nn.ModuleList, nn.Module]:
        """The layers of the decoder, and the norm after them."""
        return self.layers, self.final_norm

    @abstractmethod
    def positions(self, positions: Tensor) -> Tensor:
        """Return what is added to the embeddings of tokens at `positions` ([...] int64), broadcast to [..., D]."""

    @abstractmethod
    def members(self, flat: FlatTokens, paragraphs: int) -> Tensor:
        """Return the share [B, M, P] float32 of each kept key that comes from each paragraph."""

    def encode(self, source: SourceBatch) -> PrefixMemory:
        """Read the source, and keep the keys and values that the summary will attend to."""
        rows = ParagraphRows.of(source, self.config.pad)
        flat = rows.flat(rows.tokens, self.config.source_tokens)
        x_BSD = self.embedding(flat.values, self.positions(torch.arange(flat.mask.shape[1], device=flat.mask.device)))
        pairs = []
        for layer, attention in self._stack():
            attended_BSD, pair = attention.read(layer.enter(x_BSD), flat.mask)
            if pair is not None:
                pairs.append(pair)
            x_BSD = layer.finish(x_BSD, attended_BSD)
        member_BMP = self.members(flat, rows.paragraphs)
        return PrefixMemory(
            tuple(pairs), member_BMP.sum(dim=-1) > 0, member_BMP, flat.mask.sum(dim=1), self.final_norm(x_BSD), flat
        )

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64), which continues the source of its article."""
        assert isinstance(memory, PrefixMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        rows, new = target_in.shape
        start = 0 if cache is None else cache.length
        lengths_R1 = memory.lengths.repeat_interleave(rows // memory.articles).unsqueeze(1)
        positions_RT = lengths_R1 + torch.arange(start, start + new, device=target_in.device)
        x_RTD = self.embedding(target_in, self.positions(positions_RT))
        layers_RTM = []
        for number, (layer, attending) in enumerate(self._stack()):
            attended_RTD, weights_RTM = attending.write(layer.enter(x_RTD), memory, cache, number, weights=attention)
            if weights_RTM is not None:
                layers_RTM.append(weights_RTM)
            x_RTD = layer.finish(x_RTD, attended_RTD)
        if cache is not None:
            cache.advance(new)
        attended_RTP = share_of_paragraphs(mean_of(layers_RTM), memory.member) if attention else None
        return Decoded(self.final_norm(x_RTD), attended_RTP)

    def source_states(self, memory: Memory) -> tuple[Tensor, Tensor] | None:
        """Return the source's hidden states [M, D] and the tokens [M] they predict, where `loss_over_input` is on."""
        assert isinstance(memory, PrefixMemory)
        if not self.config.loss_over_input:
            return None
        followed_BS = memory.tokens.mask[:, 1:]  # all tokens but the last of each article
        return memory.hidden[:, :-1][followed_BS], memory.tokens.values[:, 1:][followed_BS]

    def _stack(self) -> Iterator[tuple[TransformerLayer, PrefixAttention]]:
        for layer in self.layers:
            assert isinstance(layer, TransformerLayer)
            assert isinstance(layer.attention, PrefixAttention)
            yield layer, layer.attention
