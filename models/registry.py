"""Build a summarizer from the name of a preset, and convert its configuration to JSON and back."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from models.bart import Bart, BartConfig
from models.bertsum import BertSum, BertSumConfig
from models.causal import Causal, CausalConfig
from models.contract import Summarizer
from models.graphsum import GraphSum, GraphSumConfig
from models.hierarchical import FlatConfig, FlatTransformer, HierarchicalConfig, HierarchicalTransformer
from models.huggingface import T5, Led, LedConfig, LongT5Config, T5Config
from models.layers.config import configured
from models.memory_compressed import MemoryCompressedConfig, MemoryCompressedTransformer
from models.parallel import ParallelConfig, ParallelTransformer, VerticalConfig, VerticalTransformer
from models.pointer_generator import PointerGenerator, PointerGeneratorConfig
from models.presets import find_preset
from models.transformer_xl import TransformerXL, TransformerXLConfig


class Architecture(NamedTuple):
    """A kind of summarizer: the class of its configuration and of its model."""

    config: type[Any]
    model: type[Any]


ARCHITECTURES: dict[str, Architecture] = {
    "hierarchical": Architecture(HierarchicalConfig, HierarchicalTransformer),
    "flat": Architecture(FlatConfig, FlatTransformer),
    "parallel": Architecture(ParallelConfig, ParallelTransformer),
    "vertical": Architecture(VerticalConfig, VerticalTransformer),
    "memory-compressed": Architecture(MemoryCompressedConfig, MemoryCompressedTransformer),
    "transformer-xl": Architecture(TransformerXLConfig, TransformerXL),
    "graphsum": Architecture(GraphSumConfig, GraphSum),
    "pointer-generator": Architecture(PointerGeneratorConfig, PointerGenerator),
    "bart": Architecture(BartConfig, Bart),
    "led": Architecture(LedConfig, Led),
    "t5": Architecture(T5Config, T5),
    "longt5": Architecture(LongT5Config, T5),
    "bertsum": Architecture(BertSumConfig, BertSum),
    "causal": Architecture(CausalConfig, Causal),
}


def build_summarizer(preset: str, *, vocabulary_size: int, pad: int = 0, **overrides: Any) -> Summarizer:
    """Make a fresh summarizer, its weights drawn from PyTorch's default generator, with some fields of the preset's
    configuration changed. Raises ValueError: unknown preset, unknown field, or an invalid value."""
    config = configuration(preset, vocabulary_size=vocabulary_size, pad=pad, **overrides)
    model: Summarizer = ARCHITECTURES[find_preset(preset).architecture].model(config)
    return model


def configuration(preset: str, **fields: Any) -> Any:
    """Return the configuration with which `build_summarizer` makes a summarizer; arguments and errors are the same."""
    chosen = find_preset(preset)
    return _configure(chosen.architecture, {**chosen.settings, **fields})


def fields_of(preset: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a preset's configuration, changed, without what has no default. Raises ValueError: no such preset."""
    chosen = find_preset(preset)
    fields = {field.name: field.default for field in dataclasses.fields(ARCHITECTURES[chosen.architecture].config)}
    return {**fields, **chosen.settings, **overrides}


def check_configuration(preset: str, overrides: Mapping[str, Any]) -> None:
    """Check overrides, without making the model. Raises ValueError: unknown preset or field, or an invalid value."""
    try:
        configuration(preset, **{"vocabulary_size": 1000, **overrides})
    except TypeError as error:  # such as a string instead of a number
        raise ValueError(f"overrides {dict(overrides)!r} of preset {preset!r}: {error}") from error


def to_config_dict(model: Summarizer) -> dict[str, Any]:
    """Return what `from_config_dict` needs to build a model of the same shape: JSON-able, without its weights. Raises
    ValueError: the model's architecture is not registered."""
    for name, architecture in ARCHITECTURES.items():
        config: Any = getattr(model, "config", None)
        if (type(model), type(config)) == (architecture.model, architecture.config):
            return {"architecture": name, **dataclasses.asdict(config)}
    raise ValueError(
        f"{type(model).__name__} is not a registered architecture, expected one of: {', '.join(ARCHITECTURES)}"
    )


def from_config_dict(config: Mapping[str, Any], **overrides: Any) -> Summarizer:
    """Build a fresh model from `to_config_dict`'s dictionary, some of its fields changed by `overrides`. Raises
    ValueError: the architecture or a field is unknown."""
    fields = {**config, **overrides}
    architecture = fields.pop("architecture", None)
    if architecture not in ARCHITECTURES:
        raise ValueError(f"unknown architecture {architecture!r}, expected one of: {', '.join(ARCHITECTURES)}")
    model: Summarizer = ARCHITECTURES[architecture].model(_configure(architecture, fields))
    return model


def _configure(architecture: str, fields: Mapping[str, Any]) -> Any:
    return configured(ARCHITECTURES[architecture].config, fields, f"architecture {architecture!r}")
