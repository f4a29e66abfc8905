"""Delete what no kept build and no kept model version needs: mark what their manifests name, sweep the rest.

Builds are counted by content: a run that finds everything done writes a manifest, but counts as the same build. A build
is kept because it is pinned, because a model version needs it, or because it is among the newest.

Files that no manifest names belong to a build that was interrupted or failed, or were left by a killed process. They
are deleted once `keep` later builds have finished; temporary and damaged files are deleted after one.

A damaged manifest counts as a build of its time, and so does the file of a damaged model version. As long as it would
be kept, nothing that is older than it is deleted, because it may have named that. Once enough later builds have
finished it goes as well.

Retraining prunes only what retraining made, because other builds may be kept below the same root.

Only files with names that this project gives are considered; everything else below the root, other roots in its folders
included, is left alone. The caller holds the root's lock, so that no build is running meanwhile."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import pyarrow.fs as pafs

from storage.builds import (
    SET_ASIDE,
    SUMMARIZER,
    Build,
    build_names,
    latest_build,
    manifest_path,
    pinned_builds,
    read_build,
    set_aside_manifest,
)
from storage.errors import DamagedFieldsError
from storage.file_names import FileName, parse_file_name
from storage.inventory import check_whole, write_off
from storage.registry import Version, read_champion, read_frozen, read_version, version_numbers, version_path
from storage.store import Store

_log = logging.getLogger(__name__)
_NEVER = datetime.min.replace(tzinfo=UTC)  # before any file was written
Listing = Mapping[str, pafs.FileInfo]
Fate = Literal["kept", "young", "gone"]


@dataclass(frozen=True)
class Pruning:
    """What pruning would delete, or has deleted."""

    builds: tuple[str, ...]  # names of the builds kept, oldest first
    versions: tuple[int, ...]  # numbers of the model versions kept
    sizes: dict[str, int]  # file to delete -> its bytes, in the order of deletion
    kept_bytes: int  # bytes of the files that kept builds and versions need
    young: int  # files that no manifest names, kept because too few builds have finished since
    damaged: dict[str, str] = field(default_factory=dict)  # kept and unreadable file -> why; nothing older goes
    aside: tuple[str, ...] = ()  # builds whose damaged manifests are to be set aside

    @property
    def bytes(self) -> int:
        """Bytes to delete."""
        return sum(self.sizes.values())

    def by_folder(self) -> dict[str, tuple[int, int]]:
        """Return folder -> (files, bytes) to delete."""
        files, size = Counter[str](), Counter[str]()
        for name, count in self.sizes.items():
            folder = "/".join(name.split("/")[: 2 if name.startswith("models/") else 1])
            files[folder] += 1
            size[folder] += count
        return {folder: (files[folder], size[folder]) for folder in sorted(files)}


@dataclass(frozen=True)
class _Distinct:
    """A build with all manifests of the same content."""

    names: tuple[str, ...]  # of its manifests, oldest first
    build: Build | None  # their content; None for a single manifest that cannot be read
    problem: str = ""  # why it cannot be read


def plan_pruning(store: Store, keep: int, *, retrained: bool = False) -> Pruning:
    """Find the files that can be deleted.

    Args:
        store: the root, whose lock the caller holds. keep: how many of the newest distinct builds and of the newest
        model versions to keep. It also keeps the champion, the champion before it, the builds of kept versions, pinned
        builds, the latest build, and the test articles on which versions are judged. `retrained`: delete only builds
        that belong to a model version, and only files that these name; `keep` counts only such builds.

    Raises:
        ValueError: `keep` is less than 1.
        MissingFilesError: the inventory lists a file that is gone, so what that needs is unknown.
        StorageError: the pointer to the champion or the frozen split cannot be read, so what they need is unknown."""
    if keep < 1:
        raise ValueError(f"keep is {keep}: expected at least 1, because the latest build is always kept")
    check_whole(store)
    listing = store.files()
    every_version, unread = _read_versions(store)
    champion = read_champion(store)
    champions = {champion.version, champion.previous} if champion else set()
    numbers = sorted({*version_numbers(store)[-keep:], *(number for number in champions if number is not None)})
    versions = [every_version[number] for number in numbers if number in every_version]
    builds = _distinct_builds(store)
    trained = {version.build for version in every_version.values()}
    counted = [build for build in builds if trained.intersection(build.names)] if retrained else builds
    names = _kept_builds(store, builds, counted, keep, [version.build for version in versions])
    files = {name: _manifest(listing, name) for build in builds for name in build.names}
    finished = {name: listing[file].mtime for name, file in files.items()}
    damaged = {
        files[build.names[0]]: build.problem for build in builds if build.build is None and build.names[0] in names
    }
    damaged |= {version_path(number): unread[number] for number in numbers if number in unread}
    # What was written until then stays, as a damaged manifest may name it; goes if no manifest names it; goes as trash.
    held = max((listing[file].mtime for file in damaged if file in listing), default=_NEVER)
    unfinished = _NEVER if retrained or len(counted) < keep else finished[counted[-keep].names[0]]
    trash = _NEVER if retrained or not builds else finished[builds[-1].names[-1]]
    names |= {name for name, written in finished.items() if written <= held}
    needed = _named([build.build for build in builds if build.build and names.intersection(build.names)], versions)
    if (frozen := read_frozen(store)) is not None:
        needed.update((*frozen.articles, *frozen.paragraphs))
    others = [item.build for item in counted if item.build and not names.intersection(item.names)]
    named = _named(others, every_version.values())
    manifests = {name for build in counted for name in build.names} - names

    def fate(file: FileName, written: datetime) -> Fate:
        """Return whether a file is needed, too young to be deleted without a need, or to be deleted."""
        if file.kind == "build":
            return "gone" if file.named in manifests else "kept"
        if file.trash:
            return "gone" if written <= trash else "young"
        if file.named in needed:
            return "kept"
        unneeded = written > held and (file.named in named or written <= unfinished)
        return "gone" if unneeded else "young"

    sizes, kept_bytes, young = _sorted_out(listing, fate)
    aside = tuple(file.named for name in damaged if (file := parse_file_name(name)) and not file.damaged)
    return Pruning(tuple(sorted(names)), tuple(numbers), sizes, kept_bytes, young, damaged, aside)


def _sorted_out(listing: Listing, fate: Callable[[FileName, datetime], Fate]) -> tuple[dict[str, int], int, int]:
    """Return the files to delete in their order with their bytes, the bytes that are needed, and how many are young."""
    gone: dict[str, FileName] = {}
    kept_bytes = young = 0
    for name, info in listing.items():
        file = parse_file_name(name)
        if file is None:
            continue
        match fate(file, info.mtime):
            case "gone":
                gone[name] = file
            case "kept":
                kept_bytes += info.size
            case "young":
                young += 1

    def turn(name: str) -> tuple[int, str]:
        # Manifests, then records, then the rest: at any moment everything that is still named is complete.
        return 0 if gone[name].kind == "build" else 1 if gone[name].record else 2, name

    return {name: listing[name].size for name in sorted(gone, key=turn)}, kept_bytes, young


def carry_out(store: Store, pruning: Pruning) -> None:
    """Set damaged manifests aside and delete what was found, in its order: at any moment all that is named is whole."""
    for file, problem in pruning.damaged.items():
        _log.warning("%s cannot be read (%s): nothing older than it is deleted while it counts as kept", file, problem)
    for name in pruning.aside:
        set_aside_manifest(store, name)
    gone = (parse_file_name(name) for name in pruning.sizes)
    write_off(store, {manifest_path(file.named) for file in gone if file and file.kind == "build"}, "pruned")
    for name in pruning.sizes:
        store.delete(name)
    if store.is_local:
        for folder in sorted({name.rpartition("/")[0] for name in pruning.sizes}, key=len, reverse=True):
            _remove_empty(store, folder)


def _read_versions(store: Store) -> tuple[dict[int, Version], dict[int, str]]:
    """Return the versions by number, and why others cannot be read."""
    versions: dict[int, Version] = {}
    problems = {}
    for number in version_numbers(store):
        try:
            versions[number] = read_version(store, number)
        except DamagedFieldsError as error:
            problems[number] = str(error)
    return versions, problems


def _distinct_builds(store: Store) -> list[_Distinct]:
    """Return all builds, sorted by their newest manifests, oldest first."""
    result: dict[str, _Distinct] = {}
    for name in sorted({*build_names(store), *(aside := build_names(store, SET_ASIDE))}):
        try:
            if name in aside:
                raise DamagedFieldsError("it was set aside")
            build = read_build(store, name)
        except DamagedFieldsError as error:  # it ages like any other build
            result[name] = _Distinct((name,), None, str(error))
            continue
        content = json.dumps([build.stages, build.models, build.report], sort_keys=True)
        before = result.pop(content, None)
        result[content] = _Distinct((*(before.names if before else ()), name), build)
    return list(result.values())


def _kept_builds(
    store: Store, builds: list[_Distinct], counted: list[_Distinct], keep: int, of_versions: list[str]
) -> set[str]:
    """Return the manifests that stay: of a build the oldest, which says when it finished, the newest, those needed."""
    ends = {name for build in counted[-keep:] for name in (build.names[0], build.names[-1])}
    kept = {*ends, *of_versions, *pinned_builds(store)}
    if any(build.build for build in builds):
        needed = (latest_build(store), latest_build(store, having=SUMMARIZER))
        kept.update(build.name for build in needed if build is not None)
    others = {name for build in builds if build not in counted for name in build.names}
    return (kept | others) & {name for build in builds for name in build.names}


def _manifest(listing: Listing, name: str) -> str:
    """Return the path of a build's manifest, which may have been set aside."""
    return next(path for path in (manifest_path(name), manifest_path(name, SET_ASIDE)) if path in listing)


def _named(builds: Iterable[Build], versions: Iterable[Version]) -> set[str]:
    """Return the shard files and the directories that manifests name."""
    names = set[str]()
    for build in builds:
        names.update(build.files, build.directories)
    for version in versions:
        names.update(
            [version.vocabulary], version.models.values(), *(week.values() for week in version.recent.values())
        )
    return names


def _remove_empty(store: Store, folder: str) -> None:
    """Remove a folder inside that of a stage or model if it is empty, then its parents likewise."""
    while "/" in folder:
        if store.filesystem.get_file_info(pafs.FileSelector(store.path(folder), allow_not_found=True)):
            return
        store.delete_folder(folder)
        folder = folder.rpartition("/")[0]
