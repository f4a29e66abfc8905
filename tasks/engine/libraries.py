"""The libraries that decide what a stage makes, and the stages of a root that were made with other versions of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from storage.builds import SUMMARIZER, Build, latest_build
from storage.directories import read_directory_record
from storage.keyed_libraries import KeyedLibraries, read_keyed_libraries, save_keyed_libraries
from storage.recipes import read_record
from storage.store import Store
from tasks.engine.provenance import DECIDING, LIBRARIES, running_code
from tasks.engine.recipe import Recipe

Changes = dict[str, dict[str, set[str]]]  # dataset or directory -> library -> other versions that made parts of it


def deciding(made: str) -> Collection[str]:
    """Return the libraries that decide what a dataset or directory holds."""
    return DECIDING.get(made.partition("/")[0], ())


def with_libraries(recipe: Recipe, keyed: KeyedLibraries) -> Recipe:
    """Return a recipe with the versions that its key holds, as notes."""
    versions = keyed.get(recipe.name)
    return recipe if versions is None else replace(recipe, notes={**recipe.notes, **versions})


def changed_libraries(
    codes_of: Iterable[tuple[str, Mapping[str, str]]], libraries: Collection[str] = LIBRARIES
) -> Changes:
    """Return which stages were made with other versions of some libraries that decide them. `codes_of`: as of
    `codes`."""
    here, changes = running_code(), defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    for made, code in codes_of:
        for library in deciding(made):
            version = code.get(library)
            if library in libraries and version is not None and version != here.get(library):
                changes[made][library].add(version)
    return {made: dict(of_it) for made, of_it in changes.items()}


def codes(store: Store, build: Build) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield dataset or directory, and the versions of code and libraries that made it, for each record that a build
    names; a damaged one is left out."""
    for file in build.files:
        with suppress(FileNotFoundError, ValueError):
            shard = read_record(store, file.replace(".parquet", ".json"))
            yield shard.stage, shard.code
    for path in build.directories:
        with suppress(FileNotFoundError, ValueError):
            directory = read_directory_record(store, f"{path}.json")
            yield directory.name, directory.code


def keyed_libraries(store: Store, recompute_on: Collection[str]) -> KeyedLibraries:
    """Return the versions that the keys of a root hold, with those of here for each stage of the latest build that
    another version of the libraries `recompute_on` has made: so that these stages are made again."""
    keyed = read_keyed_libraries(store)
    if not recompute_on:
        return keyed
    here, anew = running_code(), {made: dict(versions) for made, versions in keyed.items()}
    builds = {build.name: build for build in (latest_build(store), latest_build(store, having=SUMMARIZER)) if build}
    for build in builds.values():
        for made, changed in changed_libraries(codes(store, build), recompute_on).items():
            anew.setdefault(made, {}).update({library: here.get(library, "none") for library in changed})
    return anew


def key_libraries(store: Store, recompute_on: Collection[str]) -> KeyedLibraries:
    """Return `keyed_libraries`, which the root has from now on; the caller holds it."""
    keyed = keyed_libraries(store, recompute_on)
    if keyed != read_keyed_libraries(store):
        save_keyed_libraries(store, keyed)
    return keyed
