"""The configurations of LED, PRIMERA, T5 and LongT5: ours, and how the library transformers states them.

Shapes: D model size, E size of a head."""

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from models.layers.config import TransformerConfig, check_positive
from models.layers.places import LENGTH_STEP
from models.presets import check_library


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
        if self.source_tokens > self.max_source_positions:
            raise ValueError(
                f"source_tokens must be at most max_source_positions {self.max_source_positions}, got "
                f"{self.source_tokens}"
            )

    def stated(self) -> dict[str, Any]:
        """Return the fields of the library's configuration."""
        return {
            "vocab_size": self.vocabulary_size,
            "d_model": self.model_size,
            "encoder_layers": self.encoder_layers,
            "decoder_layers": self.decoder_layers,
            "encoder_ffn_dim": self.feed_forward_size,
            "decoder_ffn_dim": self.feed_forward_size,
            "encoder_attention_heads": self.heads,
            "decoder_attention_heads": self.heads,
            "max_encoder_position_embeddings": self.max_source_positions,
            "max_decoder_position_embeddings": self.max_positions,
            "attention_window": [self.window] * self.encoder_layers,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation_dropout": self.activation_dropout,
            "init_std": self.model_size**-0.5,  # as this project's BART is drawn; the library's .02 is for d = 1,024
            "pad_token_id": self.pad,
            "bos_token_id": self.source_begin,
            "eos_token_id": self.end,
            "decoder_start_token_id": self.begin,
        }


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
        return {
            "vocab_size": self.vocabulary_size,
            "d_model": self.model_size,
            "d_kv": self.head_size,
            "d_ff": self.feed_forward_size,
            "num_layers": self.encoder_layers,
            "num_decoder_layers": self.decoder_layers,
            "num_heads": self.heads,
            "dropout_rate": self.dropout,
            "feed_forward_proj": "gated-gelu" if self.gated else "relu",
            # To the library: whether outputs are scaled. Whether they share the words' matrix is `own_outputs`.
            "tie_word_embeddings": not self.gated,
            "pad_token_id": self.pad,
            "eos_token_id": self.end,
            "decoder_start_token_id": self.begin,
        }


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
        blocks = {"local_radius": self.radius, "global_block_size": self.global_block}
        return {**super().stated(), **blocks, "encoder_attention_type": "transient-global"}


def library_config(config: LedConfig | T5Config) -> Any:
    """Return the library's configuration of a model."""
    kind = getattr(importlib.import_module("transformers"), f"{config.library}Config")
    return kind(**config.stated(), attn_implementation="eager")


def library_model(config: LedConfig | T5Config) -> Any:
    """Return the library's fresh model, without its output layer. Raises ValueError: the library is missing."""
    check_library(config.library.lower())
    return getattr(importlib.import_module("transformers"), f"{config.library}Model")(library_config(config))
