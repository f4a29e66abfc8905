"""The registry of models: numbered versions that never change, and one pointer to the champion among them.

A version says what it was made of (its build, the champion it started from, every setting) and where its files are.
The pointer is one small file, replaced atomically, which also lists all earlier champions: so there is always exactly
one champion, and one can roll back to an earlier one."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from storage.builds import read_build
from storage.directories import find_directory
from storage.errors import DamagedFieldsError, StorageError
from storage.inventory import CHAMPION, check_never_there, enlist, read_inventory
from storage.redaction import redacted_values
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

FOLDER = "registry"
FROZEN = f"{FOLDER}/frozen.json"
_VERSIONS = f"{FOLDER}/versions"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Version:
    """Models that belong together, and where they come from."""

    number: int  # 1, 2, ...
    created: str  # UTC time, ISO 8601
    label: str  # the period it was made for, such as 2026-W47
    build: str  # name of the build whose examples it was trained on
    parent: int | None  # the champion it was judged against. None for the first version.
    models: Mapping[str, str]  # models/ranker, models/summarizer and others -> directory relative to the root
    vocabulary: str  # file of its vocabulary, relative to the root
    settings: Mapping[str, Any]  # the whole configuration it was made with
    scores: Mapping[str, float]  # metric -> mean value on the frozen test split, 0-1 except for ratios
    verdict: Mapping[str, Any]  # result of the comparison with the parent; `promoted` says whether it was
    computed: Mapping[str, Sequence[int]] = field(default_factory=dict)  # stage -> shards computed, of all
    # Week -> files of the `articles` and `paragraphs` that came in then; the second test split on which it was judged,
    # which the next version's split continues
    recent: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    start: int | None = None  # the version from whose models training continued where they fit; None = from scratch


@dataclass(frozen=True)
class Champion:
    """The pointer."""

    version: int  # number of the version in use
    history: Sequence[Mapping[str, Any]]  # each `version`, `at` (UTC, ISO 8601) and `why`, oldest first

    @property
    def previous(self) -> int | None:
        """The champion before this one, to roll back to; None for the first."""
        return next((entry["version"] for entry in reversed(self.history) if entry["version"] != self.version), None)


@dataclass(frozen=True)
class FrozenSplit:
    """The test split on which every version is judged, fixed when the first champion was made."""

    build: str  # name of the build it was taken from
    seed: int  # of the configuration; it decides the splits, so with another seed test articles would be trained on
    articles: Sequence[str] = field(default_factory=tuple)  # files of the articles, by shard
    paragraphs: Sequence[str] = field(default_factory=tuple)  # files of their candidate paragraphs, by shard


def save_version(store: Store, version: Version) -> None:
    """Write a version, once. Raises StorageError: there is one of that number, or the file could not be written."""
    path = version_path(version.number)
    if store.exists(path):
        raise StorageError(f"version {version.number} below {store.root} exists already and never changes")
    store.write_bytes(path, seal(asdict(version)))
    enlist(store, path)


def read_version(store: Store, number: int) -> Version:
    """Return a version. Raises DamagedFieldsError: its file cannot be read or is another's; StorageError: no such."""
    path = version_path(number)
    try:
        version = _read(store, path, Version)
    except FileNotFoundError:
        check_never_there(store, path)
        numbers = ", ".join(map(str, version_numbers(store))) or "none"
        raise StorageError(f"no version {number} below {store.root}; existing versions: {numbers}") from None
    if version.number != number:
        raise DamagedFieldsError(f"{path} below {store.root} is the file of version {version.number}")
    return replace(version, settings=redacted_values(version.settings))


def version_numbers(store: Store) -> list[int]:
    """Return the numbers of all versions, lowest first."""
    return sorted(int(name[:6]) for name in store.sizes(_VERSIONS) if re.fullmatch(r"\d{6}\.json", name))


def newest_version(store: Store) -> Version | None:
    """Return the version that was made last, or None before the first."""
    number = max(version_numbers(store), default=None)
    return None if number is None else read_version(store, number)


def version_of(store: Store, label: str) -> Version | None:
    """Return the newest version made for a period, or None; versions that cannot be read are warned of and left out."""
    for number in reversed(version_numbers(store)):
        try:
            version = read_version(store, number)
        except DamagedFieldsError as error:
            _log.warning("%s: it is not looked at", error)
            continue
        if version.label == label:
            return version
    return None


def read_champion(store: Store) -> Champion | None:
    """Return the pointer, or None before the first champion. Raises DamagedFieldsError: the file cannot be read;
    MissingFilesError: it is gone."""
    return _read_if_made(store, CHAMPION, Champion)


def promote_version(store: Store, number: int, *, at: str, why: str) -> Champion:
    """Make a version the champion, atomically: readers see the old champion or the new one. An earlier champion's
    number rolls back to it; `at` is a UTC time in ISO 8601, and `why` is for people, in the history. Raises
    StorageError: the version does not exist, or some of its files are missing (it has been pruned)."""
    check_usable(store, number)
    before = read_champion(store)
    switch = {"version": number, "at": at, "why": why}
    champion = Champion(number, [*(before.history if before else ()), switch])
    store.write_bytes(CHAMPION, seal(asdict(champion)))
    enlist(store, champion=switch)
    return champion


def mend_champion(store: Store) -> Champion | None:
    """Write the pointer again as the inventory lists its changes, and return it; None if the version is not there."""
    inventory = read_inventory(store)
    if inventory is None or not inventory.champion_changes:
        return None
    changes = inventory.champion_changes
    champion = Champion(changes[-1]["version"], changes)
    if not store.exists(version_path(champion.version)):
        return None
    store.write_bytes(CHAMPION, seal(asdict(champion)))
    return champion


def check_usable(store: Store, number: int) -> None:
    """Check that a version can be the champion. Raises StorageError: it, or some of its files, are gone (pruned)."""
    missing = missing_files(store, read_version(store, number))
    if missing:
        raise StorageError(
            f"version {number} below {store.root} cannot be used: {missing[0]} is gone (pruned) or damaged. Choose one "
            f"of {', '.join(str(other) for other in version_numbers(store) if usable(store, other)) or 'none'}"
        )


def usable(store: Store, number: int) -> bool:
    """Whether a version can be read and all its files exist."""
    try:
        return not missing_files(store, read_version(store, number))
    except DamagedFieldsError:
        return False


def missing_files(store: Store, version: Version) -> list[str]:
    """Return which of a version's models, vocabulary and build are missing or cannot be read."""
    missing = [path for path in version.models.values() if find_directory(store, path) is None]
    if not store.exists(version.vocabulary):
        missing.append(version.vocabulary)
    try:
        read_build(store, version.build)
    except StorageError:
        missing.append(f"builds/{version.build}.json")
    return missing


def save_frozen(store: Store, split: FrozenSplit) -> None:
    """Fix the test split, once: scores on two splits cannot be compared. Raises StorageError: one is fixed already."""
    if store.exists(FROZEN):
        raise StorageError(f"{FROZEN} below {store.root} exists already: the frozen test split never changes")
    store.write_bytes(FROZEN, seal(asdict(split)))
    enlist(store, FROZEN)


def read_frozen(store: Store) -> FrozenSplit | None:
    """Return the frozen test split, None before the first champion. Raises DamagedFieldsError: it cannot be read;
    MissingFilesError: it is gone."""
    return _read_if_made(store, FROZEN, FrozenSplit)


def version_path(number: int) -> str:
    """Return the path of a version's file, relative to the root."""
    return f"{_VERSIONS}/{number:06d}.json"


Entry = TypeVar("Entry", Version, Champion, FrozenSplit)


def _read(store: Store, path: str, kind: type[Entry]) -> Entry:
    try:
        return of_kind(kind, unseal(store.read_bytes(path)))
    except ValueError as error:
        raise DamagedFieldsError(f"{path} below {store.root} cannot be read: {error}") from error


def _read_if_made(store: Store, path: str, kind: type[Entry]) -> Entry | None:
    if store.exists(path):
        return _read(store, path, kind)
    check_never_there(store, path)
    return None
