"""Configuration that all Transformers share, the part of it that a layer reads, and the floating-point type in which
logits, attention weights and losses are computed."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import torch
from torch import Tensor

Norm = Literal["pre", "post"]


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


Config = TypeVar("Config", bound=_Dataclass)


class LayerConfig:
    """The fields that a layer reads of its model's configuration."""

    model_size: int  # D
    feed_forward_size: int  # hidden size of feed-forward layers
    heads: int  # attention heads
    dropout: float  # of sub-layer outputs and inner feed-forward layers
    norm_epsilon: float  # that of every LayerNorm

    @property
    def norm(self) -> Norm:
        """LayerNorm before each sub-layer ("pre", plus one at the end of a stack) or after it ("post")."""
        raise NotImplementedError


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a Transformer; base class of the summarizers' configurations."""

    vocabulary_size: int  # V
    pad: int = 0  # id of the padding token
    model_size: int = 256  # D (Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec. 4.2: 256).
    # hidden size of feed-forward layers (Liu & Lapata 2019, sec. 4, Ma & Zong 2020, sec. 4.2: 1,024)
    feed_forward_size: int = 1024
    heads: int = 4  # attention heads (Ma & Zong 2020, sec. 4.2: 4)

    def __post_init__(self) -> None:
        check_heads(self.heads, self.model_size)
        check_dropouts(self)


@dataclass(frozen=True)
class WritingConfig(TransformerConfig, LayerConfig):
    """What the hierarchical summarizers, the flat one and GraphSum share besides their sizes."""

    dropout: float = 0.1  # of embeddings, sub-layer outputs and inner feed-forward layers
    norm_epsilon: float = 1e-6  # that of every LayerNorm
    # whether word embeddings are multiplied by sqrt(D) before positions are added (Liu & Lapata 2019, eq. 10)
    scale_embeddings: bool = True
    copying: bool = False  # whether words of the source may be copied (See et al. 2017); in none of the papers
    copying_reach: int = 0  # tokens on each side of a word that decide too whether it is copied


def configured(kind: type[Config], fields: Mapping[str, Any], owner: str) -> Config:
    """Make the configuration of `owner`. Raises ValueError: a field is unknown, or has an invalid value."""
    allowed = [field.name for field in dataclasses.fields(kind)]
    unknown = sorted(set(fields) - set(allowed))
    if unknown:
        raise ValueError(
            f"unknown field {', '.join(map(repr, unknown))} for {owner}, expected some of: {', '.join(allowed)}"
        )
    return kind(**fields)


def check_heads(heads: int, model_size: int, name: str = "heads") -> None:
    """Raise ValueError unless `heads` divides `model_size`; `name` is the field's."""
    if heads < 1 or model_size % heads:
        raise ValueError(f"{name} must divide model_size {model_size}, got {heads}")


def check_dropouts(config: _Dataclass) -> None:
    """Raise ValueError unless every dropout among the fields is one."""
    for field in dataclasses.fields(config):
        if field.name.endswith("dropout"):
            check_dropout(getattr(config, field.name), field.name)


def check_dropout(value: object, name: str) -> None:
    """Raise ValueError unless a dropout is a number from 0 to below 1; `name` is the field's."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"expected {name} to be a number from 0 to below 1, got {value!r}")


def check_positive(config: object, *names: str) -> None:
    """Raise ValueError if one of the fields is below 1."""
    for name in names:
        value: Any = getattr(config, name)
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def check_at_most(config: object, name: str, limit: str) -> None:
    """Raise ValueError if a field is above another one, its limit."""
    value, most = getattr(config, name), getattr(config, limit)
    if value > most:
        raise ValueError(f"{name} must be at most {limit} {most}, got {value}")


def check_sentence_begin(sentence_begin: int | None, vocabulary_size: int) -> None:
    """Raise ValueError if the token before each sentence is none of the vocabulary."""
    if sentence_begin is not None and not 0 <= sentence_begin < vocabulary_size:
        raise ValueError(f"sentence_begin must be a token of the vocabulary of {vocabulary_size}, got {sentence_begin}")


def widened(x: Tensor) -> Tensor:
    """Return `x` in float32, because a sum or softmax in bfloat16 is too coarse; float64 is left as it is. So a whole
    model can run in float64, as the reference for one in float32."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
