"""LED (Beltagy et al. 2020), PRIMERA (Xiao et al. 2022), which is LED, T5 (Raffel et al. 2020) and LongT5 (Guo et al.
2022): summarizers whose layers are those of the library transformers (extra `backbones`).

The library is imported where such a model is made, so that this file needs it no earlier. Each module holds the
library's model without its output layer, and is called as the library's checkpoints call it. The marks of a source
arrive with it, as `models.bart` says.

Shapes: B articles, K hypotheses an article, R = B*K, S source tokens of an article, T target tokens, P paragraphs,
D model size, V vocabulary."""

import importlib
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.contract import Cache, Decoded, Memory, Summarizer
from models.layers.attention import KeyValueCache, split_heads
from models.layers.config import TransformerConfig, check_at_most, check_positive, widened
from models.layers.decoder import TokenMemory
from models.layers.paragraphs import LENGTH_STEP, ParagraphRows, SourceBatch
from models.presets import check_library
from models.weights_file import library_fields


@dataclass(frozen=True)
class LedConfig(TransformerConfig):
    """The size of LED; the defaults are those of led-large-16384."""

    library: ClassVar[str] = "LED"  # with which the names of its classes in transformers begin

    begin: int = 2  # id from which the decoder starts
    end: int = 2  # id that ends a summary and a source
    # id with which a source and the text of a target begin; such tokens of a source attend to all others and are seen
    # by all (global attention, Beltagy et al. 2020, sec. 3.1)
    source_begin: int = 0
    # id before each document but the first, with global attention too (Xiao et al. 2022, sec. 2.1); None =
    # `source_begin`
    separator: int | None = None
    model_size: int = 1024  # D
    feed_forward_size: int = 4096  # hidden size of feed-forward layers
    heads: int = 16  # attention heads
    encoder_layers: int = 12  # layers of the encoder
    decoder_layers: int = 12  # layers of the decoder
    max_positions: int = 1024  # learned positions of the decoder, in tokens
    max_source_positions: int = 16_384  # learned positions of the encoder, a multiple of `window` and of 32
    source_tokens: int = 16_384  # maximum number of tokens read of an article, best documents first
    window: int = 1024  # tokens that a token without global attention sees, half on either side
    dropout: float = 0.1  # of embeddings and sub-layer outputs
    attention_dropout: float = 0.0  # of attention weights
    activation_dropout: float = 0.0  # of the inner feed-forward layers
    document_begin: bool = False  # whether each document is marked, not only the article (PRIMERA)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "encoder_layers", "decoder_layers", "max_positions", "source_tokens", "window")
        if self.window % 2:
            raise ValueError(f"window must be even, half of it on either side of a token, got {self.window}")
        # The library pads a source to whole windows, and padding has positions too.
        for multiple in (self.window, LENGTH_STEP):
            if self.max_source_positions % multiple or self.max_source_positions < multiple:
                raise ValueError(
                    f"max_source_positions must be a multiple of {multiple}, got {self.max_source_positions}"
                )
        check_at_most(self, "source_tokens", "max_source_positions")

    def stated(self) -> dict[str, Any]:
        """Return the fields of the library's configuration."""
        # Drawn as this project's BART is; the library's .02 is for d = 1,024.
        more = {"attention_window": [self.window] * self.encoder_layers, "init_std": self.model_size**-0.5}
        return {**library_fields("led", self), **more}


@dataclass(frozen=True)
class T5Config(TransformerConfig):
    """The size of T5 or, if `gated`, of T5 1.1 and Flan-T5; the defaults are those of t5-base."""

    library: ClassVar[str] = "T5"

    begin: int = 0  # id from which the decoder starts
    end: int = 1  # id that ends a summary and a source
    model_size: int = 768  # D
    feed_forward_size: int = 3072  # hidden size of feed-forward layers
    heads: int = 12  # attention heads
    head_size: int = 64  # E
    encoder_layers: int = 12  # layers of the encoder
    decoder_layers: int = 12  # layers of the decoder
    source_tokens: int = 512  # maximum number of tokens read of an article, best documents first
    dropout: float = 0.1  # of embeddings, sub-layer outputs, attention weights and inner feed-forward layers
    # whether feed-forward layers are gated by GELU (Shazeer 2020) and the states before the outputs are not scaled, as
    # in T5 1.1
    gated: bool = False
    own_outputs: bool = False  # whether the outputs have a matrix of their own, as in T5 1.1, and not that of the words
    # whether each document begins with the vocabulary's mark of a source, where it has one
    document_begin: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "head_size", "encoder_layers", "decoder_layers", "source_tokens")

    def stated(self) -> dict[str, Any]:
        """Return the fields of the library's configuration."""
        # To the library: whether outputs are scaled. Whether they share the words' matrix is `own_outputs`.
        scaled = {"tie_word_embeddings": not self.gated}
        return {**library_fields("t5", self), **scaled, "feed_forward_proj": "gated-gelu" if self.gated else "relu"}


@dataclass(frozen=True)
class LongT5Config(T5Config):
    """The size of LongT5 with transient global attention; the defaults are those of long-t5-tglobal-base."""

    library: ClassVar[str] = "LongT5"

    feed_forward_size: int = 2048  # hidden size of feed-forward layers
    source_tokens: int = 4096  # maximum number of tokens read of an article, best documents first
    gated: bool = True
    radius: int = 127  # tokens that a token sees on either side (Guo et al. 2022, sec. 3.1.1)
    global_block: int = 16  # tokens whose mean is one global token, which all tokens see (Guo et al. 2022, sec. 3.1.2)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "radius", "global_block")

    def stated(self) -> dict[str, Any]:
        """Return the fields of the library's configuration."""
        blocks = library_fields("longt5", self)
        return {**super().stated(), **blocks, "encoder_attention_type": "transient-global"}


def library_config(config: LedConfig | T5Config) -> Any:
    """Return the library's configuration of a model."""
    kind = getattr(importlib.import_module("transformers"), f"{config.library}Config")
    return kind(**config.stated(), attn_implementation="eager")


def library_model(config: LedConfig | T5Config) -> Any:
    """Return the library's fresh model, without its output layer. Raises ValueError: the library is missing."""
    check_library(config.library.lower())
    return getattr(importlib.import_module("transformers"), f"{config.library}Model")(library_config(config))


class LibrarySummarizer(Summarizer):
    """A summarizer around an encoder and a decoder of transformers. A fresh one has weights drawn by the library;
    making it raises ValueError where the library is missing."""

    config: LedConfig | T5Config  # our configuration
    prefix: ClassVar[str]  # the attribute that holds the library's model

    @property
    def library(self) -> nn.Module:
        """The library's model: embeddings, encoder and decoder."""
        model: nn.Module = getattr(self, self.prefix)
        return model

    @property
    def has_own_outputs(self) -> bool:
        """Whether `logits` has a matrix of its own, and not that of the words."""
        return bool(getattr(self.config, "own_outputs", False))

    @abstractmethod
    def read(self, tokens_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Return the encoder's states [B, S, D] of tokens."""

    @abstractmethod
    def cross_projections(self) -> Iterator[tuple[nn.Module, nn.Module]]:
        """Yield the projections of keys and of values of each decoder layer's cross-attention."""

    def encode(self, source: SourceBatch) -> Memory:
        """Encode B articles: their first `source_tokens` tokens, best documents first."""
        rows = ParagraphRows.of(source, self.config.pad).cut(self.config.source_tokens)
        flat = rows.flat(rows.tokens)
        states_BSD = self.read(flat.values.masked_fill(~flat.mask, self.config.pad), flat.mask)
        heads = self.config.heads
        pairs = tuple(
            (split_heads(key(states_BSD), heads).contiguous(), split_heads(value(states_BSD), heads).contiguous())
            for key, value in self.cross_projections()
        )
        return TokenMemory(pairs, flat.mask, flat.paragraph, rows.paragraphs)

    def decode(
        self, target_in: Tensor, memory: Memory, cache: Cache | None = None, *, attention: bool = True
    ) -> Decoded:
        """Decode target_in ([B*K, T] int64). Raises ValueError: there are more tokens than positions."""
        assert isinstance(memory, TokenMemory)
        assert cache is None or isinstance(cache, KeyValueCache)
        self._check_length(target_in.shape[1] + (0 if cache is None else cache.length))
        rows = len(target_in)
        mask_RS = memory.mask.repeat_interleave(rows // memory.articles, dim=0)
        result = self.library.get_submodule("decoder")(
            input_ids=target_in,
            # Their shape and type alone are looked at, as keys and values are known already.
            encoder_hidden_states=memory.pairs[0][0].new_zeros(1).expand(*mask_RS.shape, 1),
            encoder_attention_mask=mask_RS,
            past_key_values=library_cache(memory, cache, rows),
            use_cache=True,
            output_attentions=attention,
            return_dict=True,
        )
        if cache is not None:
            cache.advance(target_in.shape[1])
        states_RTD = self.outputs(result.last_hidden_state)
        if not attention:
            return Decoded(states_RTD, None)
        weights_RTS = torch.stack([widened(layer).mean(dim=1) for layer in result.cross_attentions]).mean(dim=0)
        return Decoded(states_RTD, memory.by_paragraph(weights_RTS.masked_fill(~mask_RS.unsqueeze(1), 0.0)))

    def outputs(self, states_RTD: Tensor) -> Tensor:
        """Return what `projection` turns into logits, given the decoder's last states."""
        return states_RTD

    def start_cache(self, memory: Memory, hypotheses: int, length: int) -> Cache:
        """Return an empty cache, see `Summarizer.start_cache`. Raises ValueError: `length` exceeds the positions."""
        self._check_length(length)
        return KeyValueCache(self.config.decoder_layers, memory.articles * hypotheses, length)

    def tie(self) -> None:
        """Make the embeddings of encoder and decoder the shared ones, once weights were assigned."""
        words = self.library.get_submodule("shared").weight
        for stack in ("encoder", "decoder"):
            self.library.get_submodule(f"{stack}.embed_tokens").weight = words

    def _check_length(self, length: int) -> None:
        positions: int | None = getattr(self.config, "max_positions", None)
        if positions is not None and length > positions:
            raise ValueError(f"expected at most max_positions {positions} target tokens, got {length}")


class Led(LibrarySummarizer):
    """LED or PRIMERA, by its configuration."""

    config: LedConfig
    prefix = "led"
    final_logits_bias: Tensor

    def __init__(self, config: LedConfig) -> None:
        super().__init__()
        self.config = config
        self.led = library_model(config)
        self.register_buffer("final_logits_bias", torch.zeros(1, config.vocabulary_size))

    def read(self, tokens_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Return the encoder's states [B, S, D] of tokens; marks have global attention."""
        length = tokens_BS.shape[1]
        more = -length % self.config.window
        tokens_BS, mask_BS = F.pad(tokens_BS, (0, more), value=self.config.pad), F.pad(mask_BS, (0, more))
        marks_BS = tokens_BS == self.config.source_begin
        if self.config.separator is not None:
            marks_BS = marks_BS | (tokens_BS == self.config.separator)
        states_BSD: Tensor = self.led.encoder(
            input_ids=tokens_BS,
            attention_mask=mask_BS.long(),
            global_attention_mask=(marks_BS & mask_BS).long(),
            return_dict=True,
        ).last_hidden_state
        return states_BSD[:, :length]

    def cross_projections(self) -> Iterator[tuple[nn.Module, nn.Module]]:
        """Yield the projections of keys and of values of each decoder layer's cross-attention."""
        for layer in self.led.decoder.layers:
            yield layer.encoder_attn.k_proj, layer.encoder_attn.v_proj

    def projection(self) -> tuple[Tensor, Tensor]:
        """Return weight [V, D] and bias [V] of `logits`."""
        return self.led.shared.weight, self.final_logits_bias[0]


class T5(LibrarySummarizer):
    """T5, T5 1.1 or LongT5 with transient global attention, by its configuration."""

    config: T5Config
    prefix = "model"

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.config = config
        self.model: nn.Module = library_model(config)
        self.lm_head = nn.Linear(config.model_size, config.vocabulary_size, bias=False) if config.own_outputs else None
        if config.gated:
            with torch.no_grad():
                # The library draws words of deviation 1, for outputs that do not share them: the first loss would be
                # 100 nats a token and more, as nothing here divides the logits.
                if self.lm_head is None:
                    self.model.get_parameter("shared.weight").mul_(config.model_size**-0.5)
                else:
                    self.lm_head.weight.normal_(std=config.model_size**-0.5)

    def read(self, tokens_BS: Tensor, mask_BS: Tensor) -> Tensor:
        """Return the encoder's states [B, S, D] of tokens."""
        states_BSD: Tensor = self.model.get_submodule("encoder")(
            input_ids=tokens_BS, attention_mask=mask_BS.long(), return_dict=True
        ).last_hidden_state
        return states_BSD

    def cross_projections(self) -> Iterator[tuple[nn.Module, nn.Module]]:
        """Yield the projections of keys and of values of each decoder layer's cross-attention."""
        for layer in range(self.config.decoder_layers):
            attention = self.model.get_submodule(f"decoder.block.{layer}.layer.1.EncDecAttention")
            yield attention.get_submodule("k"), attention.get_submodule("v")

    def outputs(self, states_RTD: Tensor) -> Tensor:
        """Return what `projection` turns into logits: of T5 the states divided by the square root of D, of 1.1 not."""
        return states_RTD if self.config.gated else states_RTD / math.sqrt(self.config.model_size)

    def projection(self) -> tuple[Tensor, None]:
        """Return weight [V, D] of `logits`, which has no bias."""
        outputs = self.model.get_submodule("shared") if self.lm_head is None else self.lm_head
        assert isinstance(outputs.weight, Tensor)
        return outputs.weight, None


def library_cache(memory: TokenMemory, cache: KeyValueCache | None, rows: int) -> Any:
    """Return what the library's decoder takes for its cache: ours, and the keys and values of the source."""
    from transformers import DynamicCache, EncoderDecoderCache

    remembered = EncoderDecoderCache(DynamicCache(), DynamicCache())
    remembered.self_attention_cache = _TargetCache(cache, len(memory.pairs))
    remembered.cross_attention_cache = SimpleNamespace(
        layers=[_Layer(key, value, rows // memory.articles) for key, value in memory.pairs]
    )
    remembered.is_updated = dict.fromkeys(range(len(memory.pairs)), True)
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


@dataclass(frozen=True)
class _Layer:
    """The source's keys and values of a layer. The library's attention needs a row of keys for each row of queries. So
    those of one layer at a time are repeated for the hypotheses of an article, which otherwise share them."""

    key: Tensor
    value: Tensor
    hypotheses: int

    @property
    def keys(self) -> Tensor:
        return self.key.repeat_interleave(self.hypotheses, dim=0)

    @property
    def values(self) -> Tensor:
        return self.value.repeat_interleave(self.hypotheses, dim=0)
