"""Why a shard or directory has to be computed: what differs between its recipe and what was made before.

A key says only that something differs. The record of the newest file of the same stage and shard says what that file
was made from. The two are compared in the order in which a change is easiest to understand: the stage's version, its
settings, notes, inputs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow.fs as pafs

from storage.directories import DirectoryRecord, newest_directory
from storage.recipes import ShardRecord, newest_records
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, Inputs, Recipe, StageResult

Digests = Mapping[str, list[str] | None]  # of the inputs by name; None = not known yet, because a stage is not done
Key = str | None  # None while an input is not known
Infos = Mapping[str, pafs.FileInfo]  # of the files of a stage (`Store.infos`)
NEVER = "never made here"
_LOOKED_AT = 20  # records, where several stages share a dataset
_SHOWN = 40  # characters of a value


def reason_of_shard(
    store: Store, infos: Infos, recipe: Recipe, shard: int, key: Key, digests: Digests, inputs: Inputs, title: str
) -> str:
    """Return why a shard has to be computed."""
    if key is not None and any(name.startswith(f"part-{shard:05d}.{key}.") for name in infos):
        return "its file is damaged or incomplete"
    records = islice(newest_records(store, infos, recipe.name, shard), _LOOKED_AT)
    record = next((record for record in records if record.title in ("", title)), None)
    return _reason(recipe, shard, record, digests, inputs)


def reason_of_directory(store: Store, recipe: Recipe, key: Key, digests: Digests, inputs: Inputs) -> str:
    """Return why a directory has to be made; the arguments are those of `reason_of_shard`."""
    if key is not None and store.exists(f"{recipe.name}/{key}.json"):
        return "a file of it is damaged or gone"
    return _reason(recipe, 0, newest_directory(store, recipe.name), digests, inputs)


def _reason(
    recipe: Recipe, shard: int, record: ShardRecord | DirectoryRecord | None, digests: Digests, inputs: Inputs
) -> str:
    unknown = [name for name, found in digests.items() if found is None]
    missing = {_name(result): None for name in unknown for result in inputs[name].results if not result.complete}
    waiting = f"waits for {', '.join(missing)}" if missing else ""
    if record is None:
        return waiting or NEVER
    known = {name: found for name, found in digests.items() if found is not None}
    before = {name: found for name, found in record.inputs.items() if name not in unknown}
    older = record.version not in (0, recipe.made_version)  # 0 where it was not recorded
    changes = [
        *([f"stage version {record.version} -> {recipe.made_version}"] if older else []),
        *_differences("setting", record.settings, recipe.fields(shard)),
        *_differences("note", record.notes, recipe.notes),
        *_inputs(before, known, inputs),
    ]
    if changes:
        return changes[0] + (f" (and {len(changes) - 1} more)" if len(changes) > 1 else "")
    return waiting or "made by code whose records hold less"


def _differences(kind: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    old, new = dict(_flat(before)), dict(_flat(json.loads(json.dumps(now))))  # as a record has them
    for name in [*new, *(name for name in old if name not in new)]:
        if name not in old:
            yield f"{kind} {name} is new: {_short(new[name])}"
        elif name not in new:
            yield f"{kind} {name} is gone"
        elif old[name] != new[name]:
            yield f"{kind} {name} changed: {_short(old[name])} -> {_short(new[name])}"


def _flat(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields with the paths of their names."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _inputs(before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]], inputs: Inputs) -> Iterator[str]:
    for name, digests in now.items():
        called = f"input {', '.join(map(_name, inputs[name].results)) or name}"
        if name not in before:
            yield f"{called} is new"
        elif list(before[name]) != list(digests):
            yield f"{called} changed"
    yield from (f"input {name} is no longer read" for name in before if name not in now)


def _name(result: StageResult | DirectoryResult) -> str:
    return (result.title or result.stage) if isinstance(result, StageResult) else result.name


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
