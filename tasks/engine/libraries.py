"""The libraries that decide what a stage makes, and the stages of a root that were made with other versions of them."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from storage.builds import SUMMARIZER, Build, latest_build
from storage.directories import read_directory_record
from storage.keyed_libraries import KeyedLibraries
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


def changed_libraries(store: Store, build: Build, libraries: Collection[str] = LIBRARIES) -> Changes:
    """Return which stages of a build were made with other versions of some libraries that decide them."""
    here, changes = running_code(), defaultdict[str, dict[str, set[str]]](lambda: defaultdict(set))
    for made, code in codes(store, build):
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


def keyed_anew(store: Store, keyed: KeyedLibraries, libraries: Collection[str]) -> KeyedLibraries:
    """Return the versions that keys hold, with those of here for each stage of the latest build that another version of
    some libraries has made: so that these stages are made again."""
    if not libraries:
        return keyed
    here, anew = running_code(), {made: dict(versions) for made, versions in keyed.items()}
    builds = {build.name: build for build in (latest_build(store), latest_build(store, having=SUMMARIZER)) if build}
    for build in builds.values():
        for made, changed in changed_libraries(store, build, libraries).items():
            anew.setdefault(made, {}).update({library: here.get(library, "none") for library in changed})
    return anew
