"""Builds: which shards and models belong together. Written last, so a build that is named is whole."""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from storage.errors import StorageError
from storage.sealed import seal, unseal
from storage.store import Store

LATEST = "builds/latest.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Build:
    """The manifest of one finished build.

    Attributes:
        name: build name; sorts by time.
        created: UTC time, ISO 8601.
        config: the whole configuration.
        stages: stage -> shard number (as a string) -> file relative to the root.
        models: model -> directory relative to the root.
        counts: stage -> rows, drops by reason, bytes and seconds, added up over its shards.
        report: the report's path relative to the root, or None.
    """

    name: str
    created: str
    config: Mapping[str, Any]
    stages: Mapping[str, Mapping[str, str]]
    models: Mapping[str, str]
    counts: Mapping[str, Mapping[str, Any]]
    report: str | None = None


def save_build(store: Store, build: Build, *, latest: bool = True) -> None:
    """Write a manifest, then, unless it is not to be the latest, point `latest` to it; both writes are atomic."""
    store.write_bytes(f"builds/{build.name}.json", seal(asdict(build)))
    if latest:
        store.write_bytes(LATEST, json.dumps({"build": build.name}).encode())


def latest_build(store: Store) -> Build | None:
    """Return the build `latest` points to, or None before the first one.

    Where the pointer is damaged, or its build cannot be read, it is the newest build that can, with a warning; the next
    build writes the pointer anew.

    Raises:
        StorageError: no build can be read.
    """
    if not store.exists(LATEST):
        return None
    try:
        return read_build(store, str(json.loads(store.read_bytes(LATEST))["build"]))
    except (ValueError, KeyError, TypeError, StorageError) as error:
        problem = error
    for name in reversed(build_names(store)):
        try:
            build = read_build(store, name)
        except StorageError:
            continue
        _log.warning("%s below %s does not name a build (%s): taking the newest, %s", LATEST, store.root, problem, name)
        return build
    raise StorageError(f"{LATEST} below {store.root} names no build that can be read: {problem}") from problem


def build_names(store: Store) -> list[str]:
    """Return the names of all builds, oldest first."""
    return sorted(file.removesuffix(".json") for file in store.sizes("builds") if file != LATEST.rpartition("/")[2])


def read_build(store: Store, name: str) -> Build:
    """Return a build by name.

    Raises:
        StorageError: there is none of that name, or its manifest cannot be read.
    """
    try:
        return Build(**unseal(store.read_bytes(f"builds/{name}.json")))
    except FileNotFoundError:
        there = ", ".join(build_names(store)) or "none"
        raise StorageError(f"no build {name!r} below {store.root}; there are: {there}") from None
    except (ValueError, TypeError) as error:
        raise StorageError(f"builds/{name}.json below {store.root} is not a build manifest: {error}") from error
