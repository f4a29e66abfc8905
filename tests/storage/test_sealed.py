"""Whatever bit of a sealed file flips, what is read is what was written, or nothing."""

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from storage.builds import (
    Build,
    manifest_path,
    named_by_latest,
    pin_build,
    pin_path,
    pinned_builds,
    read_build,
    save_build,
)
from storage.directories import directory_path, read_directory_record
from storage.errors import StorageError
from storage.inventory import CHAMPION, LATEST
from storage.recipes import read_record, record_path
from storage.registry import (
    FROZEN,
    FrozenSplit,
    Version,
    promote_version,
    read_champion,
    read_frozen,
    read_version,
    save_frozen,
    save_version,
    version_path,
)
from storage.sealed import of_kind, seal, unseal
from storage.store import Store
from tests.storage.test_directories import KEY, NAME, published
from tests.storage.test_store import documents, record_of

BUILD = "20260101-000001-abcdef"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A root with a file of every sealed kind."""
    store = Store(str(tmp_path_factory.mktemp("root")))
    shard = record_of(store, documents([0, 1]), 0)
    store.write_bytes(record_path("documents", 0, shard.key), seal(asdict(shard)))
    model = published(store)
    save_build(store, Build(BUILD, "", {}, {"documents": {"0": shard.path}}, {NAME: model.path}, {}))
    pin_build(store, BUILD)
    save_version(store, Version(1, "", "2026-W01", BUILD, None, {NAME: model.path}, shard.path, {}, {"f1": 0.5}, {}))
    promote_version(store, 1, at="monday", why="the first")
    save_frozen(store, FrozenSplit(BUILD, 7, [shard.path], []))
    return store


def shard_record(store: Store) -> str:
    return f"documents/{next(name for name in store.sizes('documents') if name.endswith('.json'))}"


@pytest.mark.parametrize(
    ("file", "read"),
    [
        (shard_record, lambda store: read_record(store, shard_record(store))),
        (
            f"{directory_path(NAME, KEY)}.json",
            lambda store: read_directory_record(store, f"{directory_path(NAME, KEY)}.json"),
        ),
        (manifest_path(BUILD), lambda store: read_build(store, BUILD)),
        (LATEST, named_by_latest),
        (pin_path(BUILD), pinned_builds),
        (version_path(1), lambda store: read_version(store, 1)),
        (CHAMPION, read_champion),
        (FROZEN, read_frozen),
    ],
    ids=["shard", "directory", "build", "latest", "pin", "version", "champion", "frozen"],
)
def test_every_flipped_bit_is_noticed_or_harmless(
    store: Store, file: str | Callable[[Store], str], read: Callable[[Store], Any]
) -> None:
    name = file if isinstance(file, str) else file(store)
    path = Path(store.path(name))
    whole, expected = path.read_bytes(), read(store)
    noticed = 0
    with path.open("r+b", buffering=0) as changed:
        for bit in range(8 * len(whole)):
            place = bit // 8
            os.pwrite(changed.fileno(), bytes([whole[place] ^ 1 << bit % 8]), place)
            try:
                assert read(store) == expected, f"bit {bit}: {path.read_bytes()!r}"
            except (ValueError, StorageError):
                noticed += 1
            os.pwrite(changed.fileno(), whole[place : place + 1], place)
    assert noticed == 0 if file == pin_path(BUILD) else noticed > 7 * len(whole)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1}', "it has no seal"),
        (b"[]", "expected a JSON object, found list"),
        (seal({"a": 1}).replace(b'"a"', b'"b"'), "its fields do not match its sha256"),
        (seal({"a": 1}).replace(b'"sha256"', b'"sha257"'), "it has no seal"),
        (b"", "Expecting value"),
        (b"{\xff\xfe", "decode"),
    ],
)
def test_what_is_not_sealed_is_named(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unseal(data)


def test_what_was_sealed_comes_back() -> None:
    assert unseal(seal({"a": {1: "ä"}, "b": None})) == {"a": {"1": "ä"}, "b": None}


def test_a_missing_field_is_named_and_an_unknown_one_left_out() -> None:
    fields = asdict(FrozenSplit("b", 1))
    assert of_kind(FrozenSplit, {**fields, "colour": "red"}) == FrozenSplit("b", 1)
    with pytest.raises(ValueError, match="it has no field 'seed': expected the fields of a FrozenSplit"):
        of_kind(FrozenSplit, {"build": "b"})
