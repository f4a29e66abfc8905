"""Every summarizer by name: presets, how one is built, and how its configuration goes to JSON and back."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.contract import Summarizer
from models.hierarchical import HierarchicalConfig, HierarchicalTransformer


@dataclass(frozen=True)
class Architecture:
    """A kind of summarizer: the class of its configuration and of its model."""

    config: type[Any]
    model: type[Any]


@dataclass(frozen=True)
class Preset:
    """A summarizer of the papers, or a small one of its kind.

    Attributes:
        architecture: key of `ARCHITECTURES`.
        settings: fields of its configuration that differ from the defaults there.
        paper: where it is described.
        note: one line on what it is.
        parameters: what the ledger of SYSTEMS.md says at 32,000 words: one number, or the bounds of one; None
            where the ledger is silent.
        differences: where the paper and the released code differ, which side this preset takes.
    """

    architecture: str
    settings: Mapping[str, Any]
    paper: str
    note: str
    parameters: int | tuple[int, int] | None = None
    differences: str = ""


ARCHITECTURES: dict[str, Architecture] = {
    "hierarchical": Architecture(HierarchicalConfig, HierarchicalTransformer),
}

# 000 as its equations stand; the released code's side of each switch is the default of HierarchicalConfig.
_HT_EQUATIONS: dict[str, Any] = {
    "norm": "post",
    "position_order": "rank-token",
    "scale_embeddings": False,
    "global_residual": "g+x",
    "inter_projections": "per-head",
    "inter_scaled": False,
    "pooling_projection": True,
}
_HT_SMALL: dict[str, Any] = {
    "model_size": 128,
    "feed_forward_size": 512,
    "heads": 4,
    "local_layers": 2,
    "global_layers": 1,
}
_RELEASED = "released code: pre-norm, [token; rank], x sqrt(d), g + (x + c), one scaled Q, K, V for all heads, no W_c^z"
_EQUATIONS = "paper: post-norm, [rank; token], unscaled, g + x, Q, K, V and W_c^z per head"

PRESETS: dict[str, Preset] = {
    "ht": Preset(
        "hierarchical",
        {},
        "000 sec. 3.2",
        "HT of the released README: 6 local + 2 global layers, 1 decoder layer, 8 heads",
        15_343_952,
        _RELEASED,
    ),
    "ht-small": Preset(
        "hierarchical",
        _HT_SMALL,
        "000 sec. 3.2",
        "HT for a laptop: d=128, 2 local + 1 global layers, 1 decoder layer, 4 heads",
        None,
        _RELEASED,
    ),
}


def build_summarizer(preset: str, *, vocabulary_size: int, pad: int = 0, **overrides: Any) -> Summarizer:
    """Make a fresh summarizer, its weights drawn from PyTorch's default generator.

    Args:
        preset: a key of `PRESETS`.
        vocabulary_size: V.
        pad: id of the padding token.
        overrides: fields of the preset's configuration to change.

    Raises:
        ValueError: no such preset, no such field, or a value the configuration refuses.
    """
    chosen = find_preset(preset)
    fields = {**chosen.settings, "vocabulary_size": vocabulary_size, "pad": pad, **overrides}
    return _build(chosen.architecture, fields)


def find_preset(name: str) -> Preset:
    """Return the preset called `name`.

    Raises:
        ValueError: there is none.
    """
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}, expected one of: {', '.join(PRESETS)}")
    return PRESETS[name]


def to_config_dict(model: Summarizer) -> dict[str, Any]:
    """Return what `from_config_dict` needs to build a model of the same shape: JSON-able, without its weights.

    Raises:
        ValueError: the model is of no registered architecture.
    """
    for name, architecture in ARCHITECTURES.items():
        if type(model) is architecture.model:
            config: Any = model.config
            return {"architecture": name, **dataclasses.asdict(config)}
    raise ValueError(
        f"{type(model).__name__} is no registered architecture, expected one of: {', '.join(ARCHITECTURES)}"
    )


def from_config_dict(config: Mapping[str, Any], **overrides: Any) -> Summarizer:
    """Build a fresh model from `to_config_dict`'s dictionary, some of its fields changed by `overrides`.

    Raises:
        ValueError: the architecture or a field is unknown.
    """
    fields = {**config, **overrides}
    architecture = fields.pop("architecture", None)
    if architecture not in ARCHITECTURES:
        raise ValueError(f"unknown architecture {architecture!r}, expected one of: {', '.join(ARCHITECTURES)}")
    return _build(architecture, fields)


def _build(architecture: str, fields: Mapping[str, Any]) -> Summarizer:
    kind = ARCHITECTURES[architecture]
    allowed = [field.name for field in dataclasses.fields(kind.config)]
    unknown = sorted(set(fields) - set(allowed))
    if unknown:
        raise ValueError(
            f"unknown field {', '.join(map(repr, unknown))} for architecture {architecture!r}, "
            f"expected some of: {', '.join(allowed)}"
        )
    model = kind.model(kind.config(**fields))
    assert isinstance(model, Summarizer)
    return model
