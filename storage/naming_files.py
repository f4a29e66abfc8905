"""Check the small files that name others: manifests, pins, the pointer to the latest build, and the registry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from storage.builds import (
    LATEST,
    Build,
    build_names,
    latest_build,
    manifest_path,
    named_by_latest,
    point_to,
    read_build,
    set_aside_manifest,
)
from storage.errors import DamagedFieldsError, StorageError
from storage.pins import pin_path, pinned_builds
from storage.registry import (
    CHAMPION,
    FROZEN,
    missing_files,
    read_champion,
    read_frozen,
    read_version,
    version_numbers,
    version_path,
)
from storage.sealed import unseal
from storage.store import Store

_RESTORE = "nothing computes it again: restore it from a backup"


@dataclass(frozen=True)
class FileFault:
    """What is wrong with a file."""

    problem: str
    advice: str  # what was done about it, or what a person can do


def check_naming_files(store: Store, listing: Mapping[str, int], *, repair: bool) -> dict[str, FileFault]:
    """Return what is wrong with the files that name others: file -> finding. The caller holds the root's lock;
    `listing` has every file below it. With `repair`, manifests that cannot be read are set aside, and `latest` names
    the newest build again. Raises StorageError: the store does not answer."""
    found = {**dict(_manifests(store, listing, repair=repair)), **dict(_pins(store)), **dict(_registry(store, listing))}
    if LATEST in listing:
        try:
            named_by_latest(store)
        except StorageError as error:
            found[LATEST] = FileFault(_why(error), "the next build writes it again")
            if repair and build_names(store):
                newest = latest_build(store)
                assert newest is not None
                point_to(store, newest.name)
                found[LATEST] = FileFault(_why(error), f"mended: it names {newest.name}")
    return found


def _manifests(store: Store, listing: Mapping[str, int], *, repair: bool) -> Iterator[tuple[str, FileFault]]:
    """Yield manifests that cannot be read, or that name what is not there."""
    for name in build_names(store):
        try:
            build = read_build(store, name)
        except DamagedFieldsError as error:
            advice = "until it is pruned, pruning deletes nothing that is older"
            if repair:
                set_aside_manifest(store, name)
                advice = f"set aside; {advice}"
            yield manifest_path(name), FileFault(_why(error), advice)
            continue
        missing = [file for file in _files(build) if file not in listing]
        if missing:
            problem = f"it names {missing[0]}, which is missing ({len(missing)} files in all)"
            yield manifest_path(name), FileFault(problem, "run that build again, or prune it")


def _why(error: StorageError) -> str:
    """Return what an error says of a file, without its name."""
    return str(error.__cause__ or error)


def _files(build: Build) -> list[str]:
    """Return the files a manifest names: those of shards, and the records of models and report."""
    directories = [*build.models.values(), *([build.report] if build.report else [])]
    return [
        *(file for stage in build.stages.values() for file in stage.values()),
        *(f"{path}.json" for path in directories),
    ]


def _pins(store: Store) -> Iterator[tuple[str, FileFault]]:
    """Yield pins that are damaged, or whose build is gone."""
    builds = set(build_names(store))
    for name in pinned_builds(store):
        again = f"pin it again: wikisum prune --pin {name}"
        try:
            pinned = unseal(store.read_bytes(pin_path(name))).get("build")
        except ValueError as error:
            yield pin_path(name), FileFault(f"it cannot be read: {error}", again)
            continue
        if pinned != name:
            yield pin_path(name), FileFault(f"it is the pin of {pinned}", again)
        elif name not in builds:
            yield pin_path(name), FileFault("there is no such build", f"unpin it: wikisum prune --unpin {name}")


def _registry(store: Store, listing: Mapping[str, int]) -> Iterator[tuple[str, FileFault]]:
    """Yield damaged versions and pointers, a champion whose files are gone, a frozen split whose files are gone."""
    for number in version_numbers(store):
        try:
            read_version(store, number)
        except DamagedFieldsError as error:
            yield version_path(number), FileFault(_why(error), _RESTORE)
    try:
        champion = read_champion(store)
        if champion is not None and (missing := missing_files(store, read_version(store, champion.version))):
            yield (
                CHAMPION,
                FileFault(
                    f"version {champion.version}, the champion, lacks {missing[0]} ({len(missing)} in all)",
                    "restore it from a backup, or promote another version: wikisum promote --to NUMBER",
                ),
            )
    except StorageError as error:
        yield CHAMPION, FileFault(_why(error), _RESTORE)
    try:
        frozen = read_frozen(store)
    except DamagedFieldsError as error:
        yield FROZEN, FileFault(_why(error), _RESTORE)
        return
    missing = [file for file in (*frozen.articles, *frozen.paragraphs) if file not in listing] if frozen else []
    if missing:
        yield FROZEN, FileFault(f"it names {missing[0]}, which is missing ({len(missing)} in all)", _RESTORE)
