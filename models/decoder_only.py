"""What T-DMCA and Transformer-XL share: a decoder that reads the source as the beginning of its own sequence.

One causal stack reads title and paragraphs, then a separator (the target's begin token) and the summary. The two
differ in how a layer attends, and so in which source keys and values it keeps.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, S source tokens of an article, M keys of the source
that a layer remembers, T target positions, H heads, E size of a head, D = H*E.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, SourceBatch
from models.layers.attention import KeyValueCache, SelfAttention
from models.layers.config import Norm, TransformerConfig, check_positive
from models.layers.decoder import TiedSummarizer, mean_of
from models.layers.embeddings import TiedEmbedding
from models.layers.paragraphs import FlatTokens, ParagraphRows
from models.layers.prefix import next_tokens, share_of_paragraphs
from models.layers.transformer import TransformerLayer, final_norm


@dataclass(frozen=True)
class DecoderOnlyConfig(TransformerConfig):
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
    mask: Tensor  # [B, M] bool, True where a key comes from at least one token
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
        """Attend to the source and to the target's own tokens, T new ones after those in the cache.

        Returns [R, T, D] and, with `weights`, the attention weights of the source [R, T, M], averaged over heads; None
        for a layer that does not attend to the source.
        """


class DecoderOnly(TiedSummarizer):
    """A stack of layers that differ only in their attention."""

    def __init__(self, config: DecoderOnlyConfig, attentions: Iterable[PrefixAttention]) -> None:
        """Make a layer around each attention, in order; weights are drawn from PyTorch's default generator."""
        super().__init__()
        self.config = config
        self.embedding = TiedEmbedding(
            config.vocabulary_size, config.model_size, scaled=config.scale_embeddings, dropout=config.dropout
        )
        self.depth = config.layers
        self.layers = nn.ModuleList(TransformerLayer(config, attention) for attention in attentions)
        self.final_norm = final_norm(config)

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
        return next_tokens(memory.hidden, memory.tokens) if self.config.loss_over_input else None

    def _stack(self) -> Iterator[tuple[TransformerLayer, PrefixAttention]]:
        for layer in self.layers:
            assert isinstance(layer, TransformerLayer)
            assert isinstance(layer.attention, PrefixAttention)
            yield layer, layer.attention
