"""The systems that the tables need, and the settings with which each of them is trained and decoded."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from models.presets import SOURCE_LIMITED, check_library, find_preset, sees_sentences
from storage.tables import with_values
from tasks.summarization.settings import AttentionSettings, DecodingSettings, SummarizerSettings, TrainingSettings
from tasks.tables.published import PUBLISHED, SYSTEMS, Measure, TableSystem
from tasks.tables.settings import TableSettings

_UNGUIDED: Mapping[str, Any] = {
    "alignment": "none",
    "coverage": 0.0,
    "compressed_paragraphs": None,
    "block_ngrams": 0,
    "source_values": False,
    "verify": 0.0,
}
_PUBLISHED = {"schedule": "noam", "label_smoothing": 0.1}  # Liu & Lapata 2019, sec. 4; presets of our own have neither
MEMORY_BYTES = 11_000_000_000  # that the largest batch of the efficiency tables fits (Ma & Zong 2022, Table 5)
EFFICIENCY_TOKENS = 1600  # of every example whose time and memory are measured (Ma & Zong 2022, sec. 7.1.2)
NEEDS_WEIGHTS = "needs weights"
PAGE = "tables.html"


def systems_to_run(
    settings: TableSettings, baselines: Sequence[str], impossible: Mapping[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Return the systems of the chosen tables to run, and for the others why not; `impossible` has the reason of
    some."""
    needed = {row.system for table in PUBLISHED if table.name in settings.tables for row in table.rows}
    run: list[str] = []
    reasons: dict[str, str] = {}
    for name, system in SYSTEMS.items():
        if name not in needed:
            continue
        if system.lacks_weights(small=settings.size == "small"):
            reason = f"{NEEDS_WEIGHTS}: {system.weights}"
        elif lacking := _lacks_library(system, settings):
            reason = lacking
        elif system.kind == "extractive":
            reason = "" if name in baselines else "not among the baselines of the settings"
        else:
            asked = not settings.systems or name in settings.systems
            reason = (impossible or {}).get(name, "") if asked else "not among the systems asked for"
        if reason:
            reasons[name] = reason
        else:
            run.append(name)
    return run, reasons


def _lacks_library(system: TableSystem, settings: TableSettings) -> str:
    """Return the missing packages for a system's layers; "" = none."""
    preset = system.small if settings.size == "small" else system.preset
    try:
        check_library(find_preset(preset).architecture if preset else "")
    except ValueError as error:
        return str(error)
    return ""


def system_sees_sentences(system: TableSystem, settings: TableSettings) -> bool:
    """Tell whether a system reads examples with a mark before each sentence (Hie-BART)."""
    preset, overrides = (system.small, system.overrides) if settings.size == "small" else (system.preset, {})
    return bool(preset) and sees_sentences(preset, overrides)


def shown_in(settings: TableSettings, measure: Measure) -> list[str]:
    """Return the trained systems in the chosen tables with this measure."""
    shown = {
        row.system
        for table in PUBLISHED
        if table.name in settings.tables and table.measure == measure
        for row in table.rows
    }
    return [name for name, system in SYSTEMS.items() if name in shown and system.kind != "extractive"]


def summarizer_of(system: TableSystem, settings: TableSettings, base: SummarizerSettings) -> SummarizerSettings:
    """Return a system's summarizer settings; lengths of a paragraph and of the target are those of `base`."""
    small = settings.size == "small"
    preset = system.small if small else system.preset
    overrides = dict(system.overrides) if small else {}
    tokens = None if system.tokens is None else settings.scaled(system.tokens)
    if find_preset(preset).architecture in SOURCE_LIMITED:
        overrides["source_tokens"] = tokens
    # Each system is valid at the papers' lengths and at shorter ones, as a test checks; the check of overrides would
    # load torch, and a plan needs none.
    make = SummarizerSettings if settings.source_scale > 1 else SummarizerSettings.model_construct
    return make(
        preset=preset,
        overrides=overrides,
        graph=system.graph,
        max_paragraphs=settings.scaled(system.paragraphs),
        max_source_tokens=tokens,
        max_paragraph_tokens=base.max_paragraph_tokens,
        max_target_tokens=base.max_target_tokens,
    )


def training_of(system: TableSystem, settings: TableSettings, base: TrainingSettings) -> TrainingSettings:
    """Return `base` at the papers' size, with the recipe of the system's paper but equal steps for all."""
    recipe = find_preset(system.preset).recipe.training if settings.size == "paper" else {}
    return base.model_copy(update={**_PUBLISHED, **recipe, "steps": steps_of(settings, base)})


def steps_of(settings: TableSettings, base: TrainingSettings) -> int:
    """Return the training steps of every system."""
    return base.steps if settings.steps is None else settings.steps


def attention_of(settings: TableSettings, base: AttentionSettings) -> AttentionSettings:
    """Return the attention predictor's settings: `base`, with at most as many steps as its summarizer."""
    if settings.steps is None:
        return base
    return base.model_copy(update={"steps": min(base.steps, settings.steps)})


def decoding_of(system: TableSystem, settings: TableSettings, base: DecodingSettings) -> DecodingSettings:
    """Return `base` with the system's own fields; guidance and blocking only where they define the system."""
    changed: dict[str, Any] = {**_UNGUIDED, **system.decoding}
    changed["max_length"] = min(base.max_length, changed.get("max_length", base.max_length))
    if system.test_paragraphs is not None:
        changed["max_paragraphs"] = settings.scaled(system.test_paragraphs)
    if system.test_tokens is not None:
        changed["max_source_tokens"] = settings.scaled(system.test_tokens)
    if system.kept is not None and (kept := settings.scaled(system.kept)) < settings.scaled(system.paragraphs):
        changed["compressed_paragraphs"] = kept
    return base.model_copy(update=changed)


def rename_system(predictions: pa.Table, system: str) -> pa.Table:
    """Return PREDICTIONS rows under the name of another system with equal decoding."""
    return with_values(predictions, "system", [system] * predictions.num_rows)
