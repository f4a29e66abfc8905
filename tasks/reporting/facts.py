"""The facts of a build (source, models, seed): the head of the report. And its settings, the tail."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open

from tasks.reporting.blocks import Block, Lines, Text, section, table_of

WEIGHTS = "model.safetensors"
_SHOWN = 160  # characters of a source's settings
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")

Fact = tuple[str, str]  # a name and its value, for people


def gather_facts(
    config: Mapping[str, Any],
    counts: Mapping[str, Mapping[str, Any]],
    ranker: Path | None,
    summarizer: Path,
    *,
    seed: int,
    test_articles: int,
) -> list[Fact]:
    """Return the facts about a build that its numbers need. `config` is the recipe of its settings, `counts`
    those of every stage (`storage.builds.summarise`). `ranker` is None if the paragraphs were imported ranked."""
    used = counts.get("articles")
    articles = f"{used['rows'] - sum(used['drops'].values()):,} used" if used else "not counted"
    notes = {name: note for count in counts.values() for name, note in count.get("notes", {}).items()}
    return [
        ("preset", str(config.get("preset", "none"))),
        ("source", "ranked shards, imported" if config.get("imported") else _source(config.get("source", {}))),
        ("seed", str(seed)),
        ("articles", f"{articles}; {test_articles:,} of the test split scored"),
        ("ranker", f"two LSTMs (Liu & Lapata 2019, sec. 3.1){_size(ranker)}" if ranker else "none of this build"),
        ("summarizer", f"{_summarizer(config.get('summarizer', {}))}{_size(summarizer)}"),
        *[("entity pipeline" if name == "entities" else name, str(note)) for name, note in sorted(notes.items())],
    ]


@section("built", "What was built")
def built(facts: Iterable[Fact]) -> Iterator[Block]:
    """The facts of the build."""
    yield table_of("This build", ["fact", "value"], facts, range(0))


@section("settings", "Settings")
def settings_section(config: Mapping[str, Any]) -> Iterator[Block]:
    """The settings that decide the content of the build."""
    lines = [f"{name}: {value}" for name, value in flatten(config)]
    yield Lines(lines) if lines else Text("No settings were given.")


def flatten(config: Mapping[str, Any], prefix: str = "") -> Iterator[Fact]:
    """Yield each setting, `section.field` and its value, without credentials in URLs."""
    for name in sorted(config):
        value = config[name]
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _CREDENTIALS.sub("", str(value))


def _size(directory: Path) -> str:
    """Return the number of weights in a model's directory, shared ones counted once; nothing if there are none."""
    path = directory / WEIGHTS
    if not path.is_file():
        return ""
    with safe_open(path, framework="np") as file:
        shapes: list[list[int]] = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - no mapping
    return f", {sum(map(math.prod, shapes)):,} weights"


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
