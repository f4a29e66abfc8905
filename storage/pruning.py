"""Delete what no kept build and no kept model version needs: mark what their manifests name, sweep the rest.

Builds are counted by what they hold: a run that finds everything done writes a manifest, but is no further build. A
build is kept for its name (a pin), for a version of the models, or for being among the newest.

What no manifest names belongs to a build that was interrupted or failed, or is what a dead process left. Such a build
counts as a finished one: what it made goes when `keep` other builds have been finished since. Temporary and damaged
files go with the next one.

Retraining prunes what it made itself and nothing else, for others may keep their builds below the same root.

Only files whose names this project gives are ever looked at; anything else below the root is left alone, and so are
other roots in folders of it. The caller holds the root's lock, so that no build is running meanwhile.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow.fs as pafs

from storage.builds import Build, build_names, latest_build, read_build
from storage.errors import StorageError
from storage.file_names import FileName, parse_file_name
from storage.pins import pinned_builds
from storage.registry import Version, read_champion, read_frozen, read_version, version_numbers
from storage.store import Store


@dataclass(frozen=True)
class Pruning:
    """What pruning would delete, or has deleted.

    Attributes:
        builds: names of the builds kept, oldest first.
        versions: numbers of the model versions kept.
        sizes: file -> bytes, of those to delete, in the order they go.
        kept_bytes: bytes of the files that kept builds and versions need.
        young: files left alone because no manifest names them, and too few builds were finished since.
    """

    builds: tuple[str, ...]
    versions: tuple[int, ...]
    sizes: dict[str, int]
    kept_bytes: int
    young: int

    @property
    def bytes(self) -> int:
        """Bytes to delete."""
        return sum(self.sizes.values())

    def by_folder(self) -> dict[str, tuple[int, int]]:
        """Return folder -> (files, bytes) of what goes."""
        files: Counter[str] = Counter()
        size: Counter[str] = Counter()
        for name, count in self.sizes.items():
            folder = "/".join(name.split("/")[: 2 if name.startswith("models/") else 1])
            files[folder] += 1
            size[folder] += count
        return {folder: (files[folder], size[folder]) for folder in sorted(files)}


@dataclass(frozen=True)
class _Distinct:
    """A build, however many manifests say the same of it.

    Attributes:
        names: of its manifests, oldest first.
        build: what they say; None where the manifest, which is then the only one, cannot be read.
    """

    names: tuple[str, ...]
    build: Build | None


def plan_pruning(store: Store, keep: int, *, retrained: bool = False) -> Pruning:
    """Find what can go.

    Args:
        store: the root, whose lock the caller holds.
        keep: how many of the newest builds that differ, and of the newest model versions, are kept. The champion, the
            champion before it, the builds of kept versions, pinned builds and the latest one are kept beside them, and
            so are the test articles versions are judged on.
        retrained: only builds that are behind a model version, and only what these name, can go; `keep` counts them
            alone.

    Raises:
        ValueError: `keep` is less than 1.
        StorageError: the manifest of a build to keep cannot be read; nothing can be told then.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}: expected at least 1, for the latest build is always kept")
    every_version = {number: read_version(store, number) for number in version_numbers(store)}
    versions = _kept_versions(store, keep)
    builds = _distinct_builds(store)
    own = {version.build for version in every_version.values()}
    counted = [build for build in builds if not retrained or own.intersection(build.names)]
    names = _kept_builds(store, builds, counted, keep, [every_version[number].build for number in versions])
    kept = _marked(store, [read_build(store, name) for name in names], [every_version[number] for number in versions])
    gone = [build.build for build in counted if build.build is not None and not set(names).intersection(build.names)]
    named = _named(gone, every_version.values())
    manifests = {name for build in counted for name in build.names} - set(names)
    unfinished = None if retrained else _finished(store, counted[-keep:][0].names[0] if len(counted) >= keep else None)
    trash = None if retrained else _finished(store, builds[-1].names[-1] if builds else None)
    going: dict[str, int] = {}
    bytes_kept = young = 0
    turns = {}
    for info in _files(store):
        name = info.path[len(store.base) :].lstrip("/")
        file = parse_file_name(name)
        if file is None:
            continue
        needed = _needed(file, *kept)
        if file.kind == "build":
            goes = file.named in manifests
        elif needed:
            goes = False
        else:
            bound = trash if file.trash else unfinished
            goes = _needed(file, *named) or (bound is not None and info.mtime is not None and info.mtime <= bound)
            young += not goes
        if goes:
            going[name] = info.size
            # Manifests, then records, then the rest, so that what is named is whole at any moment.
            turns[name] = 0 if file.kind == "build" else 1 if file.record else 2
        elif file.kind == "build" or needed:
            bytes_kept += info.size
    ordered = dict(sorted(going.items(), key=lambda item: (turns[item[0]], item[0])))
    return Pruning(tuple(names), tuple(versions), ordered, bytes_kept, young)


def carry_out(store: Store, pruning: Pruning) -> None:
    """Delete what `plan_pruning` found, in its order; killed half-way, all that is still named is whole."""
    for name in pruning.sizes:
        store.delete(name)
    if store.is_local:
        for folder in sorted({name.rpartition("/")[0] for name in pruning.sizes}, key=len, reverse=True):
            _remove_empty(store, folder)


def _kept_versions(store: Store, keep: int) -> list[int]:
    numbers = version_numbers(store)
    champion = read_champion(store)
    needed = {champion.version, champion.previous} if champion else set()
    return sorted({*numbers[-keep:], *(number for number in needed if number is not None)})


def _distinct_builds(store: Store) -> list[_Distinct]:
    """Return all builds by the time of their newest manifests, oldest first."""
    found: dict[str, _Distinct] = {}
    for name in build_names(store):
        try:
            build = read_build(store, name)
        except StorageError:  # of no use; it goes as any other does, and stops pruning only while it is to be kept
            found[name] = _Distinct((name,), None)
            continue
        content = json.dumps([build.stages, build.models, build.report], sort_keys=True)
        before = found.pop(content, None)
        found[content] = _Distinct((*(before.names if before else ()), name), build)
    return list(found.values())


def _kept_builds(
    store: Store, builds: list[_Distinct], counted: list[_Distinct], keep: int, of_versions: list[str]
) -> list[str]:
    """Return the names of the manifests that stay.

    Of one build these are the oldest, which says when it was finished, the newest, and those asked for by name.
    """
    ends = {name for build in counted[-keep:] for name in (build.names[0], build.names[-1])}
    kept = {*ends, *of_versions, *pinned_builds(store)}
    latest = latest_build(store)
    if latest is not None:
        kept.add(latest.name)
    others = {name for build in builds if build not in counted for name in build.names}
    return sorted((kept | others) & set(build_names(store)))


def _marked(store: Store, builds: list[Build], versions: list[Version]) -> tuple[set[str], set[str]]:
    """Return the shard files and the directories that are needed."""
    files, directories = _named(builds, versions)
    frozen = read_frozen(store)
    if frozen is not None:
        files |= {*frozen.articles, *frozen.paragraphs}
    return files, directories


def _named(builds: Iterable[Build], versions: Iterable[Version]) -> tuple[set[str], set[str]]:
    """Return the shard files and the directories that manifests name."""
    files: set[str] = set()
    directories: set[str] = set()
    for build in builds:
        files.update(file for stage in build.stages.values() for file in stage.values())
        directories.update(build.models.values())
        if build.report is not None:
            directories.add(build.report)
    for version in versions:
        files.add(version.vocabulary)
        files.update(file for week in version.recent.values() for file in week.values())
        directories.update(version.models.values())
    return files, directories


def _finished(store: Store, name: str | None) -> datetime | None:
    """Return when a manifest was written; None where there is none, and nothing may go for its age."""
    if name is None:
        return None
    info = store.filesystem.get_file_info(store.path(f"builds/{name}.json"))
    moment: datetime | None = info.mtime
    return moment.astimezone(UTC) if moment is not None else None


def _files(store: Store) -> Iterator[pafs.FileInfo]:
    selector = pafs.FileSelector(store.path(""), recursive=True, allow_not_found=True)
    infos = store.filesystem.get_file_info(selector)
    return (info for info in infos if info.type == pafs.FileType.File)


def _needed(file: FileName, files: set[str], directories: set[str]) -> bool:
    """Whether a file belongs to a shard or directory that is named; what is trash never does."""
    return not file.trash and file.named in {"shard": files, "directory": directories}.get(file.kind, ())


def _remove_empty(store: Store, folder: str) -> None:
    """Remove a folder below that of a stage or model if nothing is left in it, and then those around it."""
    while "/" in folder:
        if store.filesystem.get_file_info(pafs.FileSelector(store.path(folder), allow_not_found=True)):
            return
        store.delete_folder(folder)
        folder = folder.rpartition("/")[0]
