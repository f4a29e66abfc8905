"""BART (Lewis et al. 2020) as a summarizer, with the switches that make it HED (Shen et al. 2023) or Hie-BART
(Akiyama et al. 2021).

Modules are called as in Hugging Face's checkpoints, so that `models.pretrained` loads and saves them by name.

The special tokens of a source arrive with it. The batch has one `<s>` before the article, or one before each document
if `document_begin` is set, and one `</s>` at the end. If `sentence_heads` is not 0, it has `[BOS]` before each
sentence. A document is a row of the batch, what other systems call a paragraph. A target is `</s>`, `<s>`, the text,
`</s>`.

Shapes: B articles, P documents, L tokens a document, N documents that exist, S tokens of an article. R rows of a batch
(in a decoder R = B*K, the hypotheses of an article next to each other), T tokens of a row or of a target. H heads, E
size of a head, D = H*E, V vocabulary."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from models.contract import Cache, Decoded, Memory, Summarizer
from models.layers.attention import (
    KeyValueCache,
    attend_earlier,
    attend_to_memory,
    attention_weights,
    fold_hypotheses,
    join_heads,
    split_heads,
    start,
    unfold_hypotheses,
)
from models.layers.config import TransformerConfig, check_at_most, check_positive, check_sentence_begin
from models.layers.decoder import CopyableMemory, CopyHead, TokenMemory, attend_paragraphs, mean_of, with_copies
from models.layers.paragraphs import ParagraphRows, SourceBatch
from models.layers.patterns import OwnDocument, Pattern, Watch, WholeSequence, WordsAndSentences
from models.layers.transformer import Dropout

POSITION_OFFSET = 2  # Lewis et al.'s released code keeps the first two rows of the positions unused


@dataclass(frozen=True)
class BartConfig(TransformerConfig):
    """The size of BART and its switches; the defaults are those of bart-large."""

    begin: int = 2  # id from which the decoder starts
    end: int = 2  # id that ends a summary and a source
    source_begin: int = 0  # id with which a source, a document (HED) and the text of a target begin
    model_size: int = 1024  # Lewis et al. 2020, sec. 2, and its published configuration; so what follows
    feed_forward_size: int = 4096
    heads: int = 16
    encoder_layers: int = 12
    decoder_layers: int = 12
    max_positions: int = 1024  # learned positions of encoder and decoder, in tokens
    source_tokens: int = 1024  # maximum number of tokens read of an article, best documents first
    dropout: float = 0.1  # of embeddings and sub-layer outputs
    attention_dropout: float = 0.1  # of attention weights; above 0, CPUs cannot train with the fused attention kernel
    activation_dropout: float = 0.1  # of the inner feed-forward layers
    # whether each document begins with `source_begin`, not only the article (Shen et al. 2023, sec. 4.1)
    document_begin: bool = False
    hae: bool = False  # hierarchical attention of the encoder (Shen et al. 2023, sec. 4.1). Needs `document_begin`.
    had: bool = False  # hierarchical attention of the decoder (Shen et al. 2023, sec. 4.2). Needs `hae`.
    position_restart: bool = False  # whether positions begin again in each document (Shen et al. 2023, sec. 4.1)
    sentence_heads: int = 0  # how many of the encoder's heads see sentences (Akiyama et al. 2021, sec. 3.3).
    # id of the token before each sentence; None = the last of the vocabulary, where a token that is added to a
    # published one is
    sentence_begin: int | None = None
    copying: bool = False  # whether words of the source may be copied (See et al. 2017); in none of the papers.
    copying_reach: int = 0  # tokens on each side of a word that decide too whether it is copied
    # whether training computes each layer again in the backward pass instead of keeping what is inside it: less memory,
    # a third more time
    gradient_checkpointing: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "encoder_layers", "decoder_layers", "max_positions", "source_tokens")
        check_at_most(self, "source_tokens", "max_positions")
        # Shen et al. 2023, sec. 6.5: the components depend on each other in this order.
        for name, needed in (("hae", "document_begin"), ("had", "hae")):
            if getattr(self, name) and not getattr(self, needed):
                raise ValueError(f"{name} needs {needed}, which is off")
        if not 0 <= self.sentence_heads <= self.heads:
            raise ValueError(
                f"sentence_heads must be 0 to {self.heads}, the number of heads, got {self.sentence_heads}"
            )
        check_sentence_begin(self.sentence_begin, self.vocabulary_size)
        if self.sentence_heads and self.hae:
            raise ValueError("hae and sentence_heads are two kinds of encoder, expected one of them")


@dataclass(frozen=True)
class DocumentMemory(CopyableMemory):
    """Keys and values of an article's documents for each decoder layer."""

    pairs: tuple[tuple[Tensor, Tensor], ...]  # keys and values of each layer, both [B, P, H, L, E]
    mask: Tensor  # [B, P, L] bool, True if there is a token


SourceMemory = TokenMemory | DocumentMemory


class BartAttention(nn.Module):
    """The projections of one multi-head attention; its kinds differ in what they do between them."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        size = config.model_size
        self.heads, self.dropout = config.heads, config.attention_dropout
        self.k_proj, self.v_proj = nn.Linear(size, size), nn.Linear(size, size)
        self.q_proj, self.out_proj = nn.Linear(size, size), nn.Linear(size, size)
        start(self.k_proj, self.v_proj, self.q_proj, self.out_proj)

    def queries(self, x_RTD: Tensor) -> Tensor:
        """Return queries [R, H, T, E]."""
        return split_heads(self.q_proj(x_RTD), self.heads)

    def keys_values(self, x_RTD: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values [R, H, T, E]."""
        return split_heads(self.k_proj(x_RTD), self.heads), split_heads(self.v_proj(x_RTD), self.heads)

    @property
    def active_dropout(self) -> float:
        """The dropout of attention weights in the present mode."""
        return self.dropout if self.training else 0.0


class EncoderAttention(BartAttention):
    """Self-attention of any pattern."""

    def forward(self, x_RTD: Tensor, pattern: Pattern | Watch) -> Tensor:
        """Map [R, T, D] to [R, T, D]."""
        contexts = pattern(self.queries(x_RTD), *self.keys_values(x_RTD), dropout=self.active_dropout)
        attended: Tensor = self.out_proj(contexts.tokens)
        if contexts.first is None:
            return attended
        return torch.cat((self.out_proj(contexts.first).unsqueeze(1), attended[:, 1:]), dim=1)


class CausalAttention(BartAttention):
    """Self-attention of a target's tokens to those before them."""

    def forward(self, x_RTD: Tensor, cache: KeyValueCache | None, layer: int) -> Tensor:
        """Map [R, T, D] to [R, T, D]; with a cache, its `layer` holds the tokens before these."""
        q_RHTE, (k_RHSE, v_RHSE) = self.queries(x_RTD), self.keys_values(x_RTD)
        if cache is not None:
            k_RHSE, v_RHSE = cache.extend(layer, k_RHSE, v_RHSE)
        context_RHTE = attend_earlier(q_RHTE, k_RHSE, v_RHSE, dropout=self.active_dropout)
        attended: Tensor = self.out_proj(join_heads(context_RHTE))
        return attended


class BartCrossAttention(BartAttention):
    """Attention of a target's tokens to the source; the hypotheses of an article share its keys and values."""

    def forward(
        self, x_RTD: Tensor, memory: SourceMemory, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return [R, T, D] and, with `weights`, the attention averaged over heads. It is that to tokens, [R, T, S], or
        with HAD to documents, [R, T, P]."""
        rows, new, _ = x_RTD.shape
        q_BHQE = fold_hypotheses(self.queries(x_RTD), memory.articles)
        if isinstance(memory, DocumentMemory):
            context_BHQE, weights_BHQS = self._read_documents(q_BHQE, memory, layer, weights=weights)
        else:
            context_BHQE, weights_BHQS = attend_to_memory(
                q_BHQE, *memory.pairs[layer], memory.mask, weights=weights, dropout=self.active_dropout
            )
        attended: Tensor = self.out_proj(join_heads(unfold_hypotheses(context_BHQE, rows)))
        return attended, None if weights_BHQS is None else weights_BHQS.mean(dim=1).reshape(rows, new, -1)

    def _read_documents(
        self, q_BHQE: Tensor, memory: DocumentMemory, layer: int, *, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Weigh what is read of documents by a softmax over their first tokens (Shen et al. 2023, eq. 4-6)."""
        k_BPHLE, v_BPHLE = memory.pairs[layer]
        first_BHPE = k_BPHLE[:, :, :, 0].transpose(1, 2)
        share_BHQP = attention_weights(q_BHQE, first_BHPE, memory.mask.any(dim=-1)[:, None, None, :])
        dropout = self.active_dropout

        def read(q_BHQE: Tensor, k_BPHLE: Tensor, v_BPHLE: Tensor, share_BHQP: Tensor) -> Tensor:
            read_BPHQE = attend_paragraphs(q_BHQE, k_BPHLE, v_BPHLE, memory.mask, dropout=dropout)
            return torch.einsum("bhqp,bphqe->bhqe", share_BHQP.to(read_BPHQE.dtype), read_BPHQE)

        inputs = q_BHQE, k_BPHLE, v_BPHLE, share_BHQP
        if not torch.is_grad_enabled():
            return read(*inputs), share_BHQP if weights else None
        # Queries and contexts exist once a document; kept for the backward pass, short documents would need more memory
        # than BART's.
        context_BHQE: Tensor = checkpoint(read, *inputs, use_reentrant=False, preserve_rng_state=dropout > 0)
        return context_BHQE, share_BHQP if weights else None


class Layer(nn.Module):
    """What layers of encoder and decoder share: self-attention's norm, and the feed-forward layer with its own."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        self.self_attn_layer_norm = nn.LayerNorm(config.model_size)
        self.fc1 = nn.Linear(config.model_size, config.feed_forward_size)
        self.fc2 = nn.Linear(config.feed_forward_size, config.model_size)
        self.final_layer_norm = nn.LayerNorm(config.model_size)
        self.dropout, self.activation_dropout = Dropout(config.dropout), Dropout(config.activation_dropout)
        start(self.fc1, self.fc2)

    def finish(self, x_RTD: Tensor) -> Tensor:
        """Apply the feed-forward layer."""
        inner_RTF = self.activation_dropout(F.gelu(self.fc1(x_RTD)))
        finished: Tensor = self.final_layer_norm(x_RTD + self.dropout(self.fc2(inner_RTF)))
        return finished


class BartEncoderLayer(Layer):
    """Self-attention and feed-forward, a LayerNorm after each."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__(config)
        self.self_attn = EncoderAttention(config)

    def forward(self, x_RTD: Tensor, pattern: Pattern | Watch) -> Tensor:
        """Map [R, T, D] to [R, T, D]."""
        return self.finish(self.self_attn_layer_norm(x_RTD + self.dropout(self.self_attn(x_RTD, pattern))))


class BartDecoderLayer(Layer):
    """Causal self-attention, cross-attention and feed-forward, a LayerNorm after each."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__(config)
        self.self_attn = CausalAttention(config)
        self.encoder_attn = BartCrossAttention(config)
        self.encoder_attn_layer_norm = nn.LayerNorm(config.model_size)

    def forward(
        self, x_RTD: Tensor, memory: SourceMemory, cache: KeyValueCache | None, layer: int, weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return [R, T, D] and, with `weights`, the attention to the source (see `BartCrossAttention`)."""
        x_RTD = self.self_attn_layer_norm(x_RTD + self.dropout(self.self_attn(x_RTD, cache, layer)))
        read_RTD, attention = self.encoder_attn(x_RTD, memory, layer, weights=weights)
        return self.finish(self.encoder_attn_layer_norm(x_RTD + self.dropout(read_RTD))), attention


class Stack(nn.Module):
    """Layers above words with learned positions: the encoder or the decoder."""

    def __init__(self, config: BartConfig, layers: Iterable[Layer]) -> None:
        super().__init__()
        self.embed_positions = nn.Embedding(config.max_positions + POSITION_OFFSET, config.model_size)
        self.layernorm_embedding = nn.LayerNorm(config.model_size)
        self.layers = nn.ModuleList(layers)
        self.dropout = Dropout(config.dropout)
        self.checkpointing = config.gradient_checkpointing
        nn.init.normal_(self.embed_positions.weight, std=config.model_size**-0.5)

    def enter(self, words: Tensor, positions: Tensor) -> Tensor:
        """Add positions (int64, broadcast to [..., T]) to words [..., T, D]."""
        entered: Tensor = self.dropout(
            self.layernorm_embedding(words + self.embed_positions(positions + POSITION_OFFSET))
        )
        return entered

    def read(self, words: Tensor, positions: Tensor, pattern: Pattern | Watch) -> Tensor:
        """Encode words [R, T, D] at their positions; each sees what `pattern` lets it see."""
        x_RTD = self.enter(words, positions)
        for layer in self.layers:
            x_RTD = self.apply_layer(layer, x_RTD, pattern)
        return x_RTD

    def apply_layer(self, layer: nn.Module, *inputs: Any) -> Any:
        """Apply a layer; with checkpointing, training keeps nothing of its inside."""
        if self.checkpointing and self.training and torch.is_grad_enabled():
            return checkpoint(layer, *inputs, use_reentrant=False)
        return layer(*inputs)


class Backbone(nn.Module):
    """The embeddings, the encoder and the decoder."""

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        self.shared = nn.Embedding(config.vocabulary_size, config.model_size)
        nn.init.normal_(self.shared.weight, std=config.model_size**-0.5)
        self.encoder = Stack(config, (BartEncoderLayer(config) for _ in range(config.encoder_layers)))
        self.decoder = Stack(config, (BartDecoderLayer(config) for _ in range(config.decoder_layers)))


class Bart(Summarizer):
    """BART, HED or Hie-BART, by its configuration."""

    final_logits_bias: Tensor

    def __init__(self, config: BartConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Backbone(config)
        # A constant of zeros in the published checkpoints, which have it all the same.
        self.register_buffer("final_logits_bias", torch.zeros(1, config.vocabulary_size))
        self.copying = CopyHead(config.model_size, config.copying_reach) if config.copying else None

    def encode(self, source: SourceBatch) -> Memory:
        """Encode B articles: their first `source_tokens` tokens, best documents first."""
        rows = ParagraphRows.of(source, self.config.pad).cut(self.config.source_tokens)
        return self._encode(rows, self._pattern(rows))

    @torch.no_grad()
    def encode_watched(self, source: SourceBatch) -> tuple[Memory, Tensor]:
        """Encode B articles; return also how documents look at each other, [B, P, P] (Shen et al. 2023, sec. 6.3)."""
        rows = ParagraphRows.of(source, self.config.pad).cut(self.config.source_tokens)
        watch = Watch(self._pattern(rows), rows.flat(rows.tokens), rows.paragraphs)
        memory = self._encode(rows, watch)
        return memory, watch.shares()

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64). Raises ValueError: there are more tokens than positions."""
        assert isinstance(memory, SourceMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        decoder, start = self.model.decoder, 0 if cache is None else cache.length
        self._check_length(start + target_in.shape[1])
        words_RTD = self.model.shared(target_in)
        positions_T = torch.arange(start, start + target_in.shape[1], device=target_in.device)
        x_RTD, layers = decoder.enter(words_RTD, positions_T), []
        for number, layer in enumerate(decoder.layers):
            x_RTD, weights = decoder.apply_layer(layer, x_RTD, memory, cache, number, attention)
            layers.append(weights)
        if cache is not None:
            cache.advance(target_in.shape[1])
        attended = mean_of(layers) if attention else None
        if attended is not None and isinstance(memory, TokenMemory):
            attended = memory.by_paragraph(attended)
        if self.copying is None:
            return Decoded(x_RTD, attended)
        copied = self.copying(x_RTD, words_RTD, target_in, memory.copies, cache)
        return with_copies(Decoded(x_RTD, attended), copied, memory.copies)

    def projection(self) -> tuple[Tensor, Tensor]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.model.shared.weight, self.final_logits_bias[0]

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache, see `Summarizer.start_cache`. Raises ValueError: `length` exceeds the positions."""
        self._check_length(length)
        return KeyValueCache(len(self.model.decoder.layers), memory.articles * hypotheses, length)

    def _check_length(self, length: int) -> None:
        if length > self.config.max_positions:
            raise ValueError(f"expected at most max_positions {self.config.max_positions} target tokens, got {length}")

    def _positions(self, rows: ParagraphRows) -> Tensor:
        """Return the position of each token, [N, L]."""
        position_1L = torch.arange(rows.tokens.shape[1], device=rows.tokens.device).unsqueeze(0)
        if self.config.position_restart:
            return position_1L.expand(len(rows.tokens), -1)
        # Padding may lie past the last position.
        return (rows.starts.unsqueeze(1) + position_1L).clamp_max(self.config.max_positions - 1)

    def _encode(self, rows: ParagraphRows, pattern: Pattern | Watch) -> Memory:
        encoder, words, positions_NL = self.model.encoder, self.model.shared, self._positions(rows)
        layers = cast(Iterable[BartDecoderLayer], self.model.decoder.layers)
        if self.config.hae:
            x_NLD = encoder.read(words(rows.tokens), positions_NL, pattern)
            if self.config.had:
                read = (layer.encoder_attn.keys_values(x_NLD) for layer in layers)
                grids = tuple((rows.grid(key), rows.grid(value)) for key, value in read)
                copies = None if self.copying is None else self.copying.remember(rows, rows.flat(x_NLD))
                return DocumentMemory(grids, rows.grid(rows.mask), copies=copies)
            encoded = rows.flat(x_NLD)
        else:  # articles as one sequence each
            flat = rows.flat(torch.stack((rows.tokens, positions_NL), dim=-1))
            tokens_BS, positions_BS = flat.values.unbind(dim=-1)
            encoded = replace(flat, values=encoder.read(words(tokens_BS), positions_BS, pattern))
        pairs = [layer.encoder_attn.keys_values(encoded.values) for layer in layers]
        if not torch.is_grad_enabled():
            # A search reads them once per token; if they were not contiguous, every product would copy them.
            pairs = [(key.contiguous(), value.contiguous()) for key, value in pairs]
        copies = None if self.copying is None else self.copying.remember(rows, encoded)
        return TokenMemory(tuple(pairs), encoded.mask, encoded.paragraph, rows.paragraphs, copies=copies)

    def _pattern(self, rows: ParagraphRows) -> Pattern:
        """Return what each token sees: of documents as rows of the batch, or of articles as one sequence each."""
        config = self.config
        if config.hae:
            return OwnDocument(rows)
        tokens = rows.flat(rows.tokens)
        if not config.sentence_heads:
            return WholeSequence(tokens.mask)
        mark = config.vocabulary_size - 1 if config.sentence_begin is None else config.sentence_begin
        return WordsAndSentences.of(tokens.values, tokens.mask, mark, config.sentence_heads)
