"""Builds: which shards and models belong together. A manifest is written last, so a build that has one is complete. A
pin keeps one by its name, however many newer ones there are."""

import hashlib
import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from storage.directories import DirectoryRecord
from storage.errors import DamagedFieldsError, StorageError
from storage.inventory import BUILD_NAME, LATEST, enlist, is_listed, write_off
from storage.recipes import ShardRecord, most_first, worst_of
from storage.redaction import redacted_values
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

SUMMARIZER = "models/summarizer"  # where the latest build has none, readers take an older one's
_FOLDER = "builds"
_MANIFEST, SET_ASIDE = ".json", ".json.damaged"  # endings of manifests, and of damaged ones
_TIME = "%Y%m%d-%H%M%S"
_SECOND = len("20261124-223000")  # characters of it
_log = logging.getLogger(__name__)
_PINS = "builds/pinned"


@dataclass(frozen=True)
class Build:
    """The manifest of one finished build."""

    name: str  # build name; sorts by time
    created: str  # UTC time, ISO 8601
    config: Mapping[str, Any]
    stages: Mapping[str, Mapping[str, str]]  # stage -> shard number (as a string) -> file relative to the root
    models: Mapping[str, str]  # model -> directory relative to the root
    counts: Mapping[str, Mapping[str, Any]]  # stage -> what `summarise` adds up over its shards
    report: str | None = None  # the report's path relative to the root, or None

    @property
    def files(self) -> list[str]:
        """The shards of all stages."""
        return [file for stage in self.stages.values() for file in stage.values()]

    @property
    def directories(self) -> list[str]:
        """The models, and the report if there is one."""
        return [*self.models.values(), *([] if self.report is None else [self.report])]

    def has(self, what: str) -> bool:
        """Whether it has a stage or a model of this name."""
        return what in self.stages or what in self.models


def record_build(
    store: Store,
    config: Mapping[str, Any],
    stages: Mapping[str, Mapping[int, ShardRecord]],
    directories: Mapping[str, DirectoryRecord],
    report: DirectoryRecord | None = None,
    *,
    label: str | None = None,
    latest: bool = True,
) -> Build:
    """Write and return the manifest of a finished run. Its name begins with the time, or with the next second that no
    other has, and ends with `label`, else with a hash of what it holds. If not `latest`, the manifest only protects its
    files from pruning; also where `latest` names all of them and more, as after a corpus that a whole build has.
    Without a label, a run that made nothing new gets the manifest that an earlier one has written."""
    now = second = datetime.now(UTC)
    taken = {name[:_SECOND] for name in build_names(store)}
    while f"{second:{_TIME}}" in taken:  # else two builds within a second would be sorted by their labels
        second += timedelta(seconds=1)
    files = {name: {str(shard): record.path for shard, record in records.items()} for name, records in stages.items()}
    models = {name: record.path for name, record in directories.items()}
    page = None if report is None else report.path
    made = Build("", "", redacted_values(config), files, models, {}, page)
    if label is None and (same := _recorded_before(store, made, latest=latest)) is not None:
        return same
    content = hashlib.sha256(json.dumps([files, models], sort_keys=True).encode()).hexdigest()
    name = f"{second:{_TIME}}-{label or (content if report is None else report.key)[:6]}"
    counts = {stage: summarise(records.values()) for stage, records in stages.items()}
    build = Build(name, now.isoformat(timespec="seconds"), config, files, models, counts, page)
    save_build(store, build, latest=latest and not _is_part_of_latest(store, build))
    return build


def _recorded_before(store: Store, made: Build, *, latest: bool) -> Build | None:
    """Return the build that has the same settings and files, if it is the latest one, or the newest and a part of it;
    None: there is none."""
    with suppress(StorageError, FileNotFoundError):
        named = named_by_latest(store)
        newest = read_build(store, build_names(store)[-1])
        hides = not latest or _is_part_of_latest(store, made)
        return next((one for one in (named, *([newest] if hides else [])) if _content(one) == _content(made)), None)
    return None


def _content(build: Build) -> str:
    """Return a manifest's content without its name, time and counts, which follow from the files."""
    return json.dumps([build.config, build.stages, build.models, build.report], sort_keys=True)


def _is_part_of_latest(store: Store, build: Build) -> bool:
    """Whether the latest build has all shards and models of this one, and others besides them."""
    if not store.exists(LATEST):
        return False
    try:
        latest = named_by_latest(store)
    except StorageError:  # then this one is
        return False
    return {*build.files, *build.directories} < {*latest.files, *latest.directories}


def summarise(records: Collection[ShardRecord]) -> dict[str, Any]:
    """Add up a stage's records: rows, refused rows by reason (most first, equal counts by name) and by blamed value,
    bytes, seconds, peak memory; where a stage counts more, its `tally`."""
    drops, tally = Counter[str](), Counter[str]()
    for record in records:
        drops.update(record.drops)
        tally.update(record.tally)
    return {
        "rows": sum(record.written.rows for record in records),
        "drops": most_first(drops),
        "bytes": sum(record.written.bytes for record in records),
        "seconds": round(sum(record.seconds for record in records), 3),
        "peak_bytes": max((record.peak_bytes for record in records), default=0),
        "notes": {name: note for record in records for name, note in record.notes.items()},
        "worst": worst_of({value: counts for record in records for value, counts in record.worst.items()}),
        **({"tally": dict(sorted(tally.items()))} if tally else {}),
    }


def save_build(store: Store, build: Build, *, latest: bool = True) -> None:
    """Write a manifest and, if it is the latest, then point `latest` to it; both writes are atomic."""
    assert is_build_name(build.name), build.name
    store.write_bytes(manifest_path(build.name), seal(asdict(build)))
    if latest:
        store.write_bytes(LATEST, seal({"build": build.name}))
    enlist(store, manifest_path(build.name), *([LATEST] if latest else []))


def point_to(store: Store, name: str) -> None:
    """Let `latest` name a build."""
    store.write_bytes(LATEST, seal({"build": name}))
    enlist(store, LATEST)


def latest_build(store: Store, having: str | None = None) -> Build | None:
    """Return the build `latest` points to, or None before the first one. `having`: a stage or model; where the latest
    lacks it, as a new corpus lacks a summarizer, the newest older build that has it, or None. If the pointer is damaged
    or gone or its build cannot be read, return the newest readable build and log a warning; the next build writes the
    pointer again. Raises StorageError: no build can be read."""
    if not store.exists(LATEST) and not is_listed(store, LATEST):
        return None
    build = _latest(store)
    return build if having is None or build.has(having) else _newest_having(store, having, build.name)


def _newest_having(store: Store, what: str, before: str) -> Build | None:
    for name in reversed(build_names(store)):
        with suppress(DamagedFieldsError):  # it is passed over, as by `latest`
            if name < before and (build := read_build(store, name)).has(what):
                return build
    return None


def _latest(store: Store) -> Build:
    try:
        return named_by_latest(store)
    except StorageError as error:
        problem = error
    for name in reversed(build_names(store)):
        try:
            build = read_build(store, name)
        except StorageError:
            continue
        _log.warning("%s: taking the newest, %s", problem, name)
        return build
    raise StorageError(f"{problem}; nor can another build be read") from problem


def named_by_latest(store: Store) -> Build:
    """Return the build that `latest` names. Raises StorageError: it names none that can be read."""
    try:
        return read_build(store, str(unseal(store.read_bytes(LATEST)).get("build")))
    except FileNotFoundError:
        raise StorageError(f"{LATEST} below {store.root} is gone") from None
    except (ValueError, StorageError) as error:
        raise StorageError(f"{LATEST} below {store.root} does not name a build: {error}") from error


def is_build_name(text: str) -> bool:
    """Whether a text is the name of a build: date, time and label."""
    return re.fullmatch(BUILD_NAME, text) is not None


def manifest_path(name: str, ending: str = _MANIFEST) -> str:
    """Return the path of a build's manifest, relative to the root."""
    return f"{_FOLDER}/{name}{ending}"


def build_names(store: Store, ending: str = _MANIFEST) -> list[str]:
    """Return the names of all builds whose manifests have an ending, oldest first."""
    stems = (file.removesuffix(ending) for file in store.sizes(_FOLDER) if file.endswith(ending))
    return sorted(filter(is_build_name, stems))


def set_aside_manifest(store: Store, name: str) -> None:
    """Rename a damaged manifest: a person can still look at it, and pruning keeps what it may have named."""
    store.rename(manifest_path(name), manifest_path(name, SET_ASIDE))


def read_build(store: Store, name: str) -> Build:
    """Return a build. Raises DamagedFieldsError: its manifest cannot be read or is another's; StorageError: no such."""
    file = manifest_path(name)
    try:
        if not is_build_name(name):  # such as the pointer
            raise FileNotFoundError(file)
        build = of_kind(Build, unseal(store.read_bytes(file)))
        build = replace(build, config=redacted_values(build.config))
        if build.name != name:
            raise ValueError(f"it is that of {build.name}")
    except FileNotFoundError:
        names = ", ".join(build_names(store)) or "none"
        raise StorageError(f"no build {name!r} below {store.root}; existing builds: {names}") from None
    except ValueError as error:
        raise DamagedFieldsError(f"{file} below {store.root} is not a build manifest: {error}") from error
    return build


def pin_build(store: Store, name: str) -> None:
    """Protect a build from pruning until it is unpinned. Raises StorageError: there is none that can be read."""
    read_build(store, name)
    store.write_bytes(pin_path(name), seal({"build": name}))
    enlist(store, pin_path(name))


def unpin_build(store: Store, name: str) -> None:
    """Remove the pin of a build. Raises ValueError: it is not pinned."""
    if name not in pinned_builds(store):
        raise ValueError(f"build {name!r} is not pinned; pinned are: {', '.join(pinned_builds(store)) or 'none'}")
    write_off(store, [pin_path(name)], "unpinned")
    store.delete(pin_path(name))


def pinned_builds(store: Store) -> list[str]:
    """Return the names of the pinned builds, oldest first; a pin protects also if its content is damaged."""
    return sorted(filter(is_build_name, store.sizes(_PINS)))


def pin_path(name: str) -> str:
    """Return the path of a build's pin, relative to the root."""
    return f"{_PINS}/{name}"
