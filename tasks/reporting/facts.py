"""The facts of a build (source, models, seed): the head of the report."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import safe_open

WEIGHTS = "model.safetensors"
_SHOWN = 160  # characters of a source's settings
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")


@dataclass(frozen=True)
class Fact:
    """A name and its value, for people."""

    name: str
    value: str


def gather_facts(
    config: Mapping[str, Any],
    counts: Mapping[str, Mapping[str, Any]],
    ranker: Path | None,
    summarizer: Path,
    *,
    seed: int,
    test_articles: int,
) -> list[Fact]:
    """Return what a reader must know about a build before its numbers. `config` is the recipe of its settings, `counts`
    those of every stage (`storage.builds.summarise`). `ranker` is None if the paragraphs were imported ranked."""
    used = counts.get("articles")
    articles = f"{used['rows'] - sum(used['drops'].values()):,} used" if used else "not counted"
    notes = {name: note for count in counts.values() for name, note in count.get("notes", {}).items()}
    return [
        Fact("preset", str(config.get("preset", "none"))),
        Fact("source", "ranked shards, imported" if config.get("imported") else _source(config.get("source", {}))),
        Fact("seed", str(seed)),
        Fact("articles", f"{articles}; {test_articles:,} of the test split scored"),
        Fact("ranker", f"two LSTMs (Liu & Lapata 2019, sec. 3.1){_size(ranker)}" if ranker else "none of this build"),
        Fact("summarizer", f"{_summarizer(config.get('summarizer', {}))}{_size(summarizer)}"),
        *[Fact("entity pipeline" if name == "entities" else name, str(note)) for name, note in sorted(notes.items())],
    ]


def flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield each setting as `section.field: value`, without credentials in URLs."""
    for name in sorted(config):
        value = config[name]
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}: {_CREDENTIALS.sub('', str(value))}"


def count_parameters(directory: Path) -> int | None:
    """Return the number of weights in a model's directory, shared ones counted once; None if there are no weights."""
    path = directory / WEIGHTS
    if not path.is_file():
        return None
    with safe_open(path, framework="np") as file:
        shapes: list[list[int]] = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - no mapping
    return sum(map(math.prod, shapes))


def _size(directory: Path) -> str:
    count = count_parameters(directory)
    return "" if count is None else f", {count:,} weights"


def _source(source: Mapping[str, Any]) -> str:
    kind = str(source.get("kind", "none"))
    settings = source.get(kind)
    if not isinstance(settings, Mapping):
        return kind
    description = ", ".join(f"{name} {value}" for name, value in settings.items() if value not in (None, [], ()))
    description = _CREDENTIALS.sub("", description)
    return f"{kind} ({description if len(description) <= _SHOWN else description[:_SHOWN] + '…'})"


def _summarizer(summarizer: Mapping[str, Any]) -> str:
    preset, graph = summarizer.get("preset", "none"), summarizer.get("graph", "none")
    return str(preset) if graph == "none" else f"{preset} with the {graph} graph"
