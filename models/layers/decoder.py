"""The Transformer decoder that HT and FT share (Liu & Lapata 2019, sec. 3: the one of Vaswani et al., over a flat
memory), and what every decoder does around its layers. Also what PHT, VHT and GraphSum share, whose decoders read
paragraphs and words. Behind any decoder words of the source may be copied, as a pointer-generator does (See et al.
2017, eq. 8-9).

Copying: the next token is either taken from the vocabulary, with probability `gate`, or copied from a position of the
source chosen by one attention head. A name is several pieces, and a decoder of few layers mixes up the pieces of
several names. So the head also sees which positions follow the same pieces as were written last, and learns how much a
match of one, two or three pieces counts.

PHT, GraphSum and HED share the sum over paragraphs of alpha_p softmax_p(Q K_p) V_p. Attention runs within each
paragraph, and the contexts of the paragraphs are weighted afterwards. So the sum needs no block mask and no matrix of
target positions by all words of an article.

Shapes: B articles, K hypotheses an article, R = B*K, P paragraphs, L tokens a paragraph, S source tokens, T target
positions. Q = K*T query positions of an article, H heads, E size of a head, D = H*E, V vocabulary, C pieces of
context."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache, CopyDistribution, Decoded, Memory, Summarizer
from models.layers.attention import CrossAttention, KeyValueCache, SelfAttention, attend, initialise, masked_softmax
from models.layers.config import LayerConfig, widened
from models.layers.paragraphs import FlatTokens, Packing, ParagraphRows, ParagraphTokens, SourceBatch
from models.layers.transformer import FeedForward, Residual, TiedEmbedding, final_norm, sinusoids

CONTEXT = 3  # pieces: most names and numbers of a SentencePiece vocabulary are two to four
_NO_SOURCE, _NO_TARGET = -1, -2  # padding before a paragraph and before a summary; different, so they never match


@dataclass(frozen=True)
class CopyMemory(ParagraphTokens, Memory):
    """The source positions of B articles that may be copied."""

    keys: Tensor  # [B, S, D]
    tokens: Tensor  # [B, S] int64 token ids
    # [B, S, C] int64, the token 1, 2, ... C positions earlier in the same paragraph, -1 if there is none
    before: Tensor
    mask: Tensor  # [B, S] bool, True if there is a token
    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P


@dataclass(frozen=True, kw_only=True)
class CopyableMemory(Memory):
    """A memory of articles whose words may be copied."""

    copies: CopyMemory | None = None  # the positions that may be copied; None if the summarizer does not copy


class CopyHead(nn.Module):
    """Points at the source position of the next token, and decides whether to copy it; sees `reach` tokens on each side
    of a position too."""

    def __init__(self, size: int, reach: int = 0) -> None:
        super().__init__()
        self.query = nn.Linear(size, size, bias=False)
        self.reach = reach
        self.key = nn.Linear((1 + 2 * reach) * size, size, bias=False)
        self.match = nn.Parameter(torch.ones(CONTEXT))
        self.gate = nn.Linear(3 * size, 1)
        initialise(self.query.weight, self.key.weight, self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def remember(self, rows: ParagraphRows, states: FlatTokens) -> CopyMemory:
        """Make the memory of the encoded tokens [B, S, D] of `rows`, which may have been cut."""
        tokens = rows.flat(rows.tokens, states.mask.shape[1]).values
        before = [_shifted(tokens, states.paragraph, distance) for distance in range(1, CONTEXT + 1)]
        return CopyMemory(
            keys=self.key(self._with_neighbours(states)),
            tokens=tokens.masked_fill(~states.mask, _NO_SOURCE),
            before=torch.stack(before, dim=-1),
            mask=states.mask,
            paragraph=states.paragraph,
            paragraphs=rows.paragraphs,
        )

    def _with_neighbours(self, states: FlatTokens) -> Tensor:
        """Return [B, S, (1+2*reach)*D]: the states of each token and of its neighbours in its paragraph."""
        places = range(-self.reach, self.reach + 1)
        return torch.cat([_beside(states, place) for place in places], dim=-1)

    def forward(
        self, hidden_RTD: Tensor, input_RTD: Tensor, target_RT: Tensor, memory: CopyMemory, cache: KeyValueCache | None
    ) -> CopyDistribution:
        """Point at the source from each target position, given the decoder's last hidden states, the embeddings of its
        input tokens, and these tokens, which with a cache follow those in it."""
        articles, (rows, new, size) = memory.articles, hidden_RTD.shape
        query_BQD = self.query(hidden_RTD).reshape(articles, -1, size)
        logits_BQS = (query_BQD @ memory.keys.transpose(1, 2)) * size**-0.5
        recent_BQC = recent_tokens(target_RT, cache).reshape(articles, -1, CONTEXT)
        matched = torch.ones_like(logits_BQS, dtype=torch.bool)
        for offset in range(CONTEXT):  # a match of two pieces includes the match of one, so their weights add up
            matched = matched & (recent_BQC[..., offset].unsqueeze(2) == memory.before[..., offset].unsqueeze(1))
            logits_BQS = logits_BQS + self.match[offset] * matched
        weights_BQS = masked_softmax(widened(logits_BQS), memory.mask.unsqueeze(1))
        context_RTD = (weights_BQS.to(memory.keys.dtype) @ memory.keys).reshape(rows, new, size)
        gate_RT = widened(self.gate(torch.cat((hidden_RTD, context_RTD, input_RTD), dim=-1)).squeeze(-1))
        return CopyDistribution(weights_BQS.reshape(rows, new, -1), gate_RT, memory.tokens)


def recent_tokens(target_RT: Tensor, cache: KeyValueCache | None) -> Tensor:
    """Return [R, T, C]: each input token of a decoder, the one before it, and so on; -2 before the first."""
    all_RT = target_RT if cache is None else cache.remember_tokens(target_RT)
    padded_RT = F.pad(all_RT, (CONTEXT - 1, 0), value=_NO_TARGET)
    windows_RTC = padded_RT.unfold(1, CONTEXT, 1).flip(-1)
    return windows_RTC[:, -target_RT.shape[1] :]


def _beside(states: FlatTokens, distance: int) -> Tensor:
    """Return for each token the state of the one `distance` positions later in its paragraph, 0 if there is none."""
    if not distance:
        return states.values
    pad = (max(-distance, 0), max(distance, 0))
    cut = slice(max(distance, 0), -max(-distance, 0) or None)
    values = F.pad(states.values, (0, 0, *pad))[:, cut]
    same = F.pad(states.paragraph, pad, value=-1)[:, cut] == states.paragraph
    there = F.pad(states.mask, pad, value=False)[:, cut]
    return values * (same & there).unsqueeze(-1)


def _shifted(tokens_BS: Tensor, paragraph_BS: Tensor, distance: int) -> Tensor:
    """Return for each token the one `distance` positions earlier in its paragraph, -1 if there is none."""
    earlier = F.pad(tokens_BS, (distance, 0), value=_NO_SOURCE)[:, :-distance]
    same = F.pad(paragraph_BS, (distance, 0), value=-1)[:, :-distance] == paragraph_BS
    return earlier.masked_fill(~same, _NO_SOURCE)


@dataclass(frozen=True)
class TokenMemory(ParagraphTokens, CopyableMemory):
    """Keys and values of an article's source tokens for each decoder layer."""

    pairs: tuple[tuple[Tensor, Tensor], ...]  # keys and values of each layer, both [B, H, S, E]
    mask: Tensor  # [B, S] bool, True if there is a token
    paragraph: Tensor  # [B, S] int64, the paragraph each token is from
    paragraphs: int  # P


class DecoderLayer(nn.Module):
    """Masked self-attention, a reading of the source, feed-forward; each with its residual connection. An architecture
    says which attentions and residual connections there are, and how they read."""

    attentions: ClassVar[tuple[str, ...]] = ("cross_attention",)
    residuals: ClassVar[tuple[str, ...]] = ("self_residual", "cross_residual", "feed_forward_residual")
    cross_attention: CrossAttention
    self_residual: Residual
    cross_residual: Residual
    feed_forward_residual: Residual

    def __init__(self, config: LayerConfig, attention_dropout: float = 0.0) -> None:
        super().__init__()
        size, heads = config.model_size, config.heads
        self.self_attention = SelfAttention(size, heads, attention_dropout)
        for name in self.attentions:
            self.add_module(name, CrossAttention(size, heads, attention_dropout))
        self.feed_forward = FeedForward(config)
        for name in self.residuals:
            self.add_module(name, Residual(config))

    def forward(
        self, x_RTD: Tensor, memory: Memory, layer: int, cache: KeyValueCache | None, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return [R, T, D] and the attention to tokens [R, T, S], with `weights` alone, or to paragraphs [R, T, P];
        averaged over heads."""
        attended = self.self_attention.causal(self.self_residual.enter(x_RTD), cache, layer)
        x_RTD = self.self_residual.leave(x_RTD, attended)
        read_RTD, attention = self.read(self.cross_residual.enter(x_RTD), memory, layer, weights=weights)
        x_RTD = self.cross_residual.leave(x_RTD, read_RTD)
        fed_RTD = self.feed_forward(self.feed_forward_residual.enter(x_RTD))
        return self.feed_forward_residual.leave(x_RTD, fed_RTD), attention

    def read(self, x_RTD: Tensor, memory: Any, layer: int, *, weights: bool) -> tuple[Tensor, Tensor | None]:
        """Return what is read of a source [R, T, D], and the attention as `forward` does."""
        keys, values = memory.pairs[layer]
        return cast(
            tuple[Tensor, Tensor | None], self.cross_attention(x_RTD, keys, values, memory.mask, weights=weights)
        )


class TransformerDecoder(nn.Module):
    """A stack of decoder layers over the encoded tokens of an article, for any encoder."""

    def __init__(self, config: LayerConfig, layers: int, attention_dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config, attention_dropout) for _ in range(layers))
        self.final_norm = final_norm(config)


class TiedSummarizer(Summarizer):
    """A summarizer whose output layer is the matrix of its words, and which may copy words of its source."""

    embedding: TiedEmbedding
    copying: CopyHead | None  # None = it does not copy

    @property
    @abstractmethod
    def stack(self) -> tuple[nn.ModuleList, nn.Module]:
        """The layers of the decoder, and the norm after them."""

    def projection(self) -> tuple[Tensor, Tensor]:
        """Return weight [V, D] and bias [V] of the output layer, which is that of the words."""
        return self.embedding.weight, self.embedding.bias

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache for `hypotheses` per article and at most `length` target tokens."""
        return KeyValueCache(len(self.stack[0]), memory.articles * hypotheses, length)

    def read_words(self, layers: nn.ModuleList, packing: Packing, tokens_RT: Tensor, positions_RTD: Tensor) -> Tensor:
        """Return the states [M, D] of source tokens at their positions after layers in which each sees its row."""
        x_MD: Tensor = self.embedding(packing.pack(tokens_RT), packing.pack(positions_RTD))
        for layer in layers:
            x_MD = layer(x_MD, packing)
        return x_MD

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64), see `Summarizer.decode`; with what would be copied, if it is."""
        assert isinstance(memory, CopyableMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        (layers, norm), start, new = self.stack, 0 if cache is None else cache.length, target_in.shape[1]
        positions_T = torch.arange(start, start + new, device=target_in.device)
        x_RTD, attentions = self.embedding(target_in, sinusoids(positions_T, self.embedding.size)), []
        for number, layer in enumerate(layers):
            x_RTD, weights = layer(x_RTD, memory, number, cache, weights=attention)
            attentions.append(weights)
        if cache is not None:
            cache.advance(new)
        attended = mean_of(attentions) if attention else None
        if attended is not None and isinstance(memory, TokenMemory):
            attended = memory.by_paragraph(attended)
        decoded = Decoded(norm(x_RTD), attended)
        if self.copying is None:
            return decoded
        copied = self.copying(decoded.hidden, self.embedding.words(target_in), target_in, memory.copies, cache)
        return with_copies(decoded, copied, memory.copies)


class TokenSummarizer(TiedSummarizer):
    """A summarizer whose decoder reads the tokens of an article as one flat sequence."""

    decoder: TransformerDecoder

    @property
    def stack(self) -> tuple[nn.ModuleList, nn.Module]:
        """The layers of the decoder, and the norm after them."""
        return self.decoder.layers, self.decoder.final_norm

    def remember(self, encoded: FlatTokens, rows: ParagraphRows) -> TokenMemory:
        """Make the memory of the encoded tokens [B, S, D] of these paragraphs."""
        layers = cast(Iterable[DecoderLayer], self.decoder.layers)
        pairs = tuple(layer.cross_attention.keys_values(encoded.values) for layer in layers)
        copies = None if self.copying is None else self.copying.remember(rows, encoded)
        return TokenMemory(pairs, encoded.mask, encoded.paragraph, rows.paragraphs, copies=copies)


def mean_of(layers: Sequence[Tensor]) -> Tensor:
    """Return the mean of the attention of each layer, all of one shape."""
    total = layers[0]
    for layer in layers[1:]:
        total = total + layer
    return total / len(layers)


def with_copies(decoded: Decoded, copied: CopyDistribution, copies: CopyMemory | None) -> Decoded:
    """Return a decoder's result with copying added; a copied token counts as attention to its paragraph. The share of
    the attention that belongs to copying goes to the paragraphs of the copied tokens; the share that belongs to
    generating is distributed as before."""
    assert copies is not None
    attention = decoded.paragraph_attention
    if attention is not None:
        generate_RT1 = copied.gate.sigmoid().unsqueeze(-1)
        attention = generate_RT1 * attention + (1 - generate_RT1) * copies.by_paragraph(copied.weights)
    return replace(decoded, paragraph_attention=attention, copied=copied)


def word_keys_values(attention: CrossAttention, words_BPLD: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values [B, P, H, L, E] of the words of each paragraph."""
    articles, paragraphs = words_BPLD.shape[:2]
    k_NHLE, v_NHLE = attention.keys_values(words_BPLD.flatten(0, 1))
    shape = (articles, paragraphs, *k_NHLE.shape[1:])
    return k_NHLE.view(shape), v_NHLE.view(shape)


def attend_paragraphs(
    q_BHQE: Tensor, k_BPHLE: Tensor, v_BPHLE: Tensor, mask_BPL: Tensor, *, dropout: float = 0.0
) -> Tensor:
    """Return the context [B, P, H, Q, E] of each query in each paragraph, zeros in an empty one. `dropout` is that of
    the attention weights."""
    articles, paragraphs = mask_BPL.shape[:2]
    # Repeating the queries is the cheapest choice: one call per paragraph doubles the time of training, and one call
    # that broadcasts them cannot use the fused kernel and stores all weights.
    q_NHQE = q_BHQE.unsqueeze(1).expand(-1, paragraphs, -1, -1, -1).flatten(0, 1)
    mask_N11L = mask_BPL.flatten(0, 1)[:, None, None, :]
    context_NHQE = attend(q_NHQE, k_BPHLE.flatten(0, 1), v_BPHLE.flatten(0, 1), mask_N11L, dropout=dropout)
    return context_NHQE.view(articles, paragraphs, *context_NHQE.shape[1:])


class ParagraphDecoderLayer(DecoderLayer):
    """A decoder layer that reads paragraphs and their words; an architecture says how."""

    attentions = ("paragraph_attention", "word_attention")
    paragraph_attention: CrossAttention
    word_attention: CrossAttention

    @abstractmethod
    def read(self, x_RTD: Tensor, memory: Any, layer: int, *, weights: bool = True) -> tuple[Tensor, Tensor]:
        """Return what is read of a source [R, T, D] and the attention to paragraphs [R, T, P], averaged over heads."""


class ParagraphSummarizer(TiedSummarizer):
    """A summarizer whose decoder reads paragraphs and words."""

    decoder_layers: nn.ModuleList  # each a `ParagraphDecoderLayer`
    final_norm: nn.Module

    @property
    def stack(self) -> tuple[nn.ModuleList, nn.Module]:
        """The layers of the decoder, and the norm after them."""
        return self.decoder_layers, self.final_norm

    def copies_of(self, rows: ParagraphRows, x_NLD: Tensor) -> CopyMemory | None:
        """Return the positions that may be copied of encoded words [N, L, D], if any may be."""
        return None if self.copying is None else self.copying.remember(rows, rows.flat(x_NLD))


@dataclass(frozen=True)
class ParallelMemory(CopyableMemory):
    """What the decoders of PHT and GraphSum read of B articles."""

    # [B, P, D] paragraph embeddings, of PHT with the ranking encoding (Ma & Zong 2020, eq. 6); the attention predictor
    # of Ma & Zong 2022 reads these
    paragraphs: Tensor
    paragraph_mask: Tensor  # [B, P] bool, True if there is a paragraph
    paragraph_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, H, P, E] for each decoder layer
    word_keys_values: tuple[tuple[Tensor, Tensor], ...]  # a pair of [B, P, H, L, E] for each decoder layer
    mask: Tensor  # [B, P, L] bool, True if there is a token

    @classmethod
    def of(
        cls,
        layers: Iterable[nn.Module],
        paragraphs_BPD: Tensor,
        words_BPLD: Tensor,
        source: SourceBatch,
        copies: CopyMemory | None,
    ) -> "ParallelMemory":
        """Make the memory of paragraph embeddings and encoded words for the layers of a decoder."""
        read = [
            (layer.paragraph_attention.keys_values(paragraphs_BPD), word_keys_values(layer.word_attention, words_BPLD))
            for layer in cast(Iterable[ParagraphDecoderLayer], layers)
        ]
        of_paragraphs, of_words = map(tuple, zip(*read, strict=True))
        return cls(paragraphs_BPD, source.paragraph_mask, of_paragraphs, of_words, source.token_mask, copies=copies)
