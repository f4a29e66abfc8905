"""Every summarizer of the papers by name, and a small one of each kind for laptops; `presets.toml` in this folder has
them, each number with its source."""

import importlib.util
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TrainingRecipe:
    """How a paper trained a summarizer, where it differs from Liu & Lapata (2019)."""

    training: Mapping[str, Any] = field(default_factory=dict)  # fields of the training settings
    # number of paragraphs read and of tokens of each: fields of the summarizer settings
    source: Mapping[str, int] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)  # fields of the decoding settings
    # whether it is for weights that are loaded (`summarizer.pretrained`), and not for fresh ones
    fine_tuning: bool = False


@dataclass(frozen=True)
class Preset:
    """A summarizer of the papers, or a small one of its kind."""

    architecture: str  # key of `models.registry.ARCHITECTURES`
    settings: Mapping[str, Any]  # fields of its configuration that differ from the defaults there
    paper: str  # where it is described
    note: str  # one line on what it is
    # published number of parameters at `words` words, or its bounds if only a rounded size was published; None if no
    # size was published
    parameters: int | tuple[int, int] | None = None
    differences: str = ""  # the points in which paper and released code differ, and which side this preset takes
    # how the published size compares with possible readings of the paper, if none of them gives it exactly
    reading: str = ""
    recipe: TrainingRecipe = field(default_factory=TrainingRecipe)  # how its paper trained it
    words: int = 32_000  # size of the vocabulary at which the number of parameters is counted


_DOCUMENT = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


def _read() -> dict[str, Preset]:
    presets = {}
    for name, fields in _DOCUMENT["presets"].items():
        fields = _whole(fields, _DOCUMENT["parts"])
        recipe = TrainingRecipe(**fields.pop("recipe", {}))
        if isinstance(parameters := fields.pop("parameters", None), list):
            parameters = tuple(parameters)
        presets[name] = Preset(**{"settings": {}, **fields}, parameters=parameters, recipe=recipe)
    return presets


def _whole(fields: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a preset or part over those of the parts that it is made of."""
    whole: dict[str, Any] = {}
    for part in fields.get("of", ()):
        whole = _over(whole, _whole(parts[part], parts))
    return _over(whole, {name: value for name, value in fields.items() if name != "of"})


def _over(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with its values, those of nested tables too, replaced by `changes`."""
    nested = {
        name: _over(base[name], value)
        for name, value in changes.items()
        if isinstance(value, Mapping) and isinstance(base.get(name), Mapping)
    }
    return {**base, **changes, **nested}


PRESETS = _read()

# By key of `models.registry.ARCHITECTURES`; the comment at each list says what it is about.
_ABLE: dict[str, list[str]] = _DOCUMENT["architectures"]
PREDICTABLE, COPYING = tuple(_ABLE["predictable"]), tuple(_ABLE["copying"])
SOURCE_LIMITED, OF_TRANSFORMERS = tuple(_ABLE["source_limited"]), tuple(_ABLE["of_transformers"])
LEARNED_POSITIONS: dict[str, int] = _DOCUMENT["learned_positions"]


def find_preset(name: str) -> Preset:
    """Return the preset called `name`. Raises ValueError: the preset is not known."""
    if name not in PRESETS:
        raise ValueError(f"unknown preset {name!r}, expected one of: {', '.join(PRESETS)}")
    return PRESETS[name]


def sees_sentences(name: str, overrides: Mapping[str, Any]) -> bool:
    """Tell whether a preset, with these fields of its configuration changed, sees sentences: by some of its heads
    (Akiyama et al. 2021, sec. 3.3) or by segments (BERTSUM). Raises ValueError: the preset is not known."""
    preset = find_preset(name)
    return preset.architecture == "bertsum" or bool({**preset.settings, **overrides}.get("sentence_heads"))


def check_predictable(architecture: str) -> None:
    """Check that an architecture's attention can be predicted. Raises ValueError: it embeds no paragraphs."""
    if architecture not in PREDICTABLE:
        raise ValueError(
            f"attention can be predicted for summarizers with paragraph embeddings, those of architecture "
            f"{' or '.join(PREDICTABLE)} (PHT, GraphSum), not for one of {architecture!r}"
        )


def check_library(architecture: str) -> None:
    """Check that the library of an architecture is there, by its key. Raises ValueError: it is missing."""
    if architecture in OF_TRANSFORMERS and importlib.util.find_spec("transformers") is None:
        raise ValueError(
            f"architecture {architecture!r} needs the library transformers, found none: "
            "pip install 'wikisum[backbones]'"
        )
