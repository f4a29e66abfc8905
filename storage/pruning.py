"""Delete what no kept build and no kept model version needs: mark what their manifests name, sweep the rest.

Only files whose names this project gives are ever looked at; anything else below the root is left alone, and so are
other roots in folders of it. A file that is younger than the newest build's manifest is left too (for a run that has
just written one, younger than the one before): it belongs to a build that was interrupted and will go on.
The caller holds the root's lock, so that no build is running meanwhile.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow.fs as pafs

from storage.builds import LATEST, Build, build_names, latest_build, read_build
from storage.registry import read_champion, read_frozen, read_version, version_numbers
from storage.schemas import DATASETS
from storage.store import Store

_KEY = "[0-9a-f]{16}"
_SHARD = re.compile(rf"^(?P<stage>[a-z_]+)/part-\d{{5}}\.{_KEY}\.(parquet|json)(?P<damaged>\.damaged)?$")
_SCRATCH = re.compile(rf"^(?P<stage>[a-z_]+)/\.scratch-\d{{5}}\.{_KEY}/")
_DIRECTORY = re.compile(rf"^(?P<path>(?:reports|tables|(?:models|efficiency)/[^/]+)/{_KEY})(?:\.json|/.+)$")
_RECORD = re.compile(rf"[./]{_KEY}\.json$")
_TEMPORARY = re.compile(r"(^|/)\.[^/]+\.[0-9a-f]{32}\.tmp$|^\.probe-[0-9a-f]{32}$")
_BUILD = re.compile(r"^builds/(?P<name>[^/]+)\.json$")
_FOLDERS = frozenset({*DATASETS, "models", "efficiency", "reports", "tables", "builds", "registry"})


@dataclass(frozen=True)
class Pruning:
    """What pruning would delete, or has deleted.

    Attributes:
        builds: names of the builds kept, oldest first.
        versions: numbers of the model versions kept.
        sizes: file -> bytes, of those to delete, in the order they go.
        kept_bytes: bytes of the files that kept builds and versions need.
        young: files left alone because they are younger than the newest build, or the one before the caller's own.
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


def plan_pruning(store: Store, keep: int, *, own: str | None = None) -> Pruning:
    """Find what can go.

    Args:
        store: the root, whose lock the caller holds.
        keep: how many of the newest builds, and of the newest model versions, are kept. The champion, the champion
            before it and the builds of kept versions are kept beside them, and so is the frozen test split.
        own: name of the caller's own build, which has only just been finished: files younger than the build before it
            are left, for they may be of another one that was interrupted; None = those younger than the latest.

    Raises:
        ValueError: `keep` is less than 1.
        StorageError: a manifest cannot be read; nothing can be told then.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}: expected at least 1, for the latest build is always kept")
    versions = _kept_versions(store, keep)
    names = _kept_builds(store, keep, versions)
    builds = [read_build(store, name) for name in names]
    files, directories = _marked(store, builds, versions)
    newest = _finished(store, own)
    going: dict[str, int] = {}
    kept = young = 0
    for info in _files(store):
        name = info.path[len(store.base) :].lstrip("/")
        if not _ours(name):
            continue
        if _needed(name, files, directories, names):
            kept += info.size
        elif newest is None or info.mtime is None or info.mtime > newest:
            young += 1
        else:
            going[name] = info.size
    ordered = dict(sorted(going.items(), key=lambda item: (_turn(item[0]), item[0])))
    return Pruning(tuple(names), tuple(versions), ordered, kept, young)


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


def _kept_builds(store: Store, keep: int, versions: list[int]) -> list[str]:
    names = build_names(store)
    kept = {*names[-keep:], *(read_version(store, number).build for number in versions)}
    latest = latest_build(store)
    if latest is not None:
        kept.add(latest.name)
    return sorted(kept & set(names))


def _marked(store: Store, builds: list[Build], versions: list[int]) -> tuple[set[str], set[str]]:
    """Return the shard files and the directories that are needed."""
    files = {file for build in builds for stage in build.stages.values() for file in stage.values()}
    directories = {path for build in builds for path in build.models.values()}
    directories |= {build.report for build in builds if build.report is not None}
    for number in versions:
        version = read_version(store, number)
        files.add(version.vocabulary)
        directories |= set(version.models.values())
    frozen = read_frozen(store)
    if frozen is not None:
        files |= {*frozen.articles, *frozen.paragraphs}
    return files, directories


def _finished(store: Store, own: str | None) -> datetime | None:
    """Return when the build before `own`, or the latest, was finished; None where there is none, and nothing may go."""
    if own is not None:
        name = max((name for name in build_names(store) if name < own), default=None)
    else:
        latest = latest_build(store)
        name = None if latest is None else latest.name
    if name is None:
        return None
    info = store.filesystem.get_file_info(store.path(f"builds/{name}.json"))
    moment: datetime | None = info.mtime
    return moment.astimezone(UTC) if moment is not None else None


def _files(store: Store) -> Iterator[pafs.FileInfo]:
    selector = pafs.FileSelector(store.path(""), recursive=True, allow_not_found=True)
    infos = store.filesystem.get_file_info(selector)
    return (info for info in infos if info.type == pafs.FileType.File)


def _ours(name: str) -> bool:
    folder, below, _ = name.partition("/")
    if below and folder not in _FOLDERS:
        return False
    if match := _SHARD.match(name) or _SCRATCH.match(name):
        return match["stage"] in DATASETS
    return name != LATEST and any(pattern.search(name) for pattern in (_TEMPORARY, _DIRECTORY, _BUILD))


def _needed(name: str, files: set[str], directories: set[str], builds: list[str]) -> bool:
    if match := _SHARD.match(name):
        return not match["damaged"] and f"{name.rpartition('.')[0]}.parquet" in files
    if match := _DIRECTORY.match(name):
        return match["path"] in directories and not (_TEMPORARY.search(name) or name.endswith(".damaged"))
    if match := _BUILD.match(name):
        return match["name"] in builds
    return False


def _turn(name: str) -> int:
    """Return when a file goes: manifests, then records, then the rest, so that what is named is whole at any moment."""
    if _BUILD.match(name):
        return 0
    return 1 if _RECORD.search(name) else 2


def _remove_empty(store: Store, folder: str) -> None:
    """Remove a folder below that of a stage or model if nothing is left in it, and then those around it."""
    while "/" in folder:
        if store.filesystem.get_file_info(pafs.FileSelector(store.path(folder), allow_not_found=True)):
            return
        store.delete_folder(folder)
        folder = folder.rpartition("/")[0]
