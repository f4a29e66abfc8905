"""Delete what no kept build and no kept model version needs: mark what their manifests name, sweep the rest.

Builds are counted by content: a run that finds everything done writes a manifest, but counts as the same build. A build
is kept because it is pinned, because a model version needs it, or because it is among the newest.

Files that no manifest names belong to a build that was interrupted or failed, or were left by a killed process. They
are deleted once `keep` later builds have finished; temporary and damaged files are deleted after one.

Retraining prunes only what retraining made, because other builds may be kept below the same root.

Only files with names that this project gives are considered; everything else below the root, other roots in its folders
included, is left alone. The caller holds the root's lock, so that no build is running meanwhile.
"""

import json
from collections import Counter
from collections.abc import Iterable
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
        sizes: file to delete -> its bytes, in the order of deletion.
        kept_bytes: bytes of the files that kept builds and versions need.
        young: files that no manifest names, kept because too few builds have finished since.
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
        """Return folder -> (files, bytes) to delete."""
        files: Counter[str] = Counter()
        size: Counter[str] = Counter()
        for name, count in self.sizes.items():
            folder = "/".join(name.split("/")[: 2 if name.startswith("models/") else 1])
            files[folder] += 1
            size[folder] += count
        return {folder: (files[folder], size[folder]) for folder in sorted(files)}


@dataclass(frozen=True)
class _Distinct:
    """A build with all manifests of the same content.

    Attributes:
        names: of its manifests, oldest first.
        build: their content; None for a single manifest that cannot be read.
    """

    names: tuple[str, ...]
    build: Build | None


def plan_pruning(store: Store, keep: int, *, retrained: bool = False) -> Pruning:
    """Find the files that can be deleted.

    Args:
        store: the root, whose lock the caller holds.
        keep: how many of the newest distinct builds and of the newest model versions to keep. Also kept: the champion,
            the champion before it, the builds of kept versions, pinned builds, the latest build, and the test articles
            on which versions are judged.
        retrained: delete only builds that belong to a model version, and only files that these name; `keep` counts
            only such builds.

    Raises:
        ValueError: `keep` is less than 1.
        StorageError: the manifest of a build to keep cannot be read, so its files are unknown.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}: expected at least 1, because the latest build is always kept")
    every_version = {number: read_version(store, number) for number in version_numbers(store)}
    versions = _kept_versions(store, keep)
    builds = _distinct_builds(store)
    of_versions = {version.build for version in every_version.values()}
    counted = [build for build in builds if not retrained or of_versions.intersection(build.names)]
    names = _kept_builds(store, builds, counted, keep, [every_version[number].build for number in versions])
    kept = _marked(store, [read_build(store, name) for name in names], [every_version[number] for number in versions])
    gone = [build.build for build in counted if build.build is not None and not set(names).intersection(build.names)]
    named = _named(gone, every_version.values())
    manifests = {name for build in counted for name in build.names} - set(names)
    unfinished = None if retrained else _finished(store, counted[-keep:][0].names[0] if len(counted) >= keep else None)
    trash = None if retrained else _finished(store, builds[-1].names[-1] if builds else None)
    sizes: dict[str, int] = {}
    bytes_kept = young = 0
    turn = {}
    for name, info in store.files().items():
        file = parse_file_name(name)
        if file is None:
            continue
        needed = _needed(file, *kept)
        if file.kind == "build":
            unneeded = file.named in manifests
        elif needed:
            unneeded = False
        else:
            bound = trash if file.trash else unfinished
            unneeded = _needed(file, *named) or (bound is not None and info.mtime is not None and info.mtime <= bound)
            young += not unneeded
        if unneeded:
            sizes[name] = info.size
            # Manifests, then records, then the rest: at any moment everything that is still named is complete.
            turn[name] = 0 if file.kind == "build" else 1 if file.record else 2
        elif file.kind == "build" or needed:
            bytes_kept += info.size
    ordered = dict(sorted(sizes.items(), key=lambda item: (turn[item[0]], item[0])))
    return Pruning(tuple(names), tuple(versions), ordered, bytes_kept, young)


def carry_out(store: Store, pruning: Pruning) -> None:
    """Delete what `plan_pruning` found, in its order; if killed half-way, everything still named is complete."""
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
    """Return all builds, sorted by their newest manifests, oldest first."""
    found: dict[str, _Distinct] = {}
    for name in build_names(store):
        try:
            build = read_build(store, name)
        except StorageError:  # it ages like any other build, and stops pruning only while it has to be kept
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

    For each build: its oldest manifest, which says when it finished, its newest, and those needed by name.
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
    """Return when a manifest was written; None without a manifest: then age is no reason to delete."""
    if name is None:
        return None
    info = store.filesystem.get_file_info(store.path(f"builds/{name}.json"))
    moment: datetime | None = info.mtime
    return moment.astimezone(UTC) if moment is not None else None


def _needed(file: FileName, files: set[str], directories: set[str]) -> bool:
    """Whether a file belongs to one of these shards or directories; trash never does."""
    return not file.trash and file.named in {"shard": files, "directory": directories}.get(file.kind, ())


def _remove_empty(store: Store, folder: str) -> None:
    """Remove a folder inside that of a stage or model if it is empty, then its parents likewise."""
    while "/" in folder:
        if store.filesystem.get_file_info(pafs.FileSelector(store.path(folder), allow_not_found=True)):
            return
        store.delete_folder(folder)
        folder = folder.rpartition("/")[0]
