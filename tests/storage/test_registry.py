"""Versions that never change, and one pointer that is always whole."""

from pathlib import Path

import pytest

from storage.builds import Build, save_build
from storage.directories import publish_directory
from storage.errors import DamagedFieldsError, StorageError
from storage.inventory import CHAMPION
from storage.registry import (
    FrozenSplit,
    Version,
    missing_files,
    promote_version,
    read_champion,
    read_frozen,
    read_version,
    save_frozen,
    save_version,
    version_numbers,
    version_of,
    version_path,
)
from storage.store import Store

KEY = "0123456789abcdef"


def version(number: int, label: str = "2026-W47") -> Version:
    return Version(
        number,
        "2026-11-20T10:15:00+00:00",
        label,
        "20261120-101500-abcdef",
        None,
        {"models/ranker": f"models/ranker/{KEY}"},
        f"vocabulary/part-00000.{KEY}.parquet",
        {"seed": 1},
        {"rougeL": 0.3},
        {"promoted": True},
        {"ranked": [1, 8]},
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A root that holds the files of the versions."""
    store = Store(str(tmp_path))
    folder = tmp_path / "models" / "ranker" / KEY
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    publish_directory(
        store,
        folder,
        name="models/ranker",
        key=KEY,
        published=["model.safetensors"],
        settings={},
        inputs={},
        metrics={},
        seconds=1.0,
    )
    store.write_bytes(f"vocabulary/part-00000.{KEY}.parquet", b"pieces")
    save_build(store, Build("20261120-101500-abcdef", "2026-11-20T10:15:00+00:00", {}, {}, {}, {}))
    return store


def test_a_version_is_read_as_it_was_saved_and_never_changes(store: Store) -> None:
    save_version(store, version(1))
    assert read_version(store, 1) == version(1)
    with pytest.raises(StorageError, match=r"version 1 below .* exists already and never changes"):
        save_version(store, version(1, "2026-W48"))
    assert read_version(store, 1).label == "2026-W47"


@pytest.mark.parametrize("other", [1, 3])
def test_the_file_of_another_version_is_refused(store: Store, other: int) -> None:
    save_version(store, version(2))
    save_version(store, version(other))
    store.write_bytes(version_path(2), store.read_bytes(version_path(other)))
    with pytest.raises(DamagedFieldsError, match=rf"000002\.json below .* is the file of version {other}"):
        read_version(store, 2)


def test_an_unknown_version_is_answered_with_those_there_are(store: Store) -> None:
    with pytest.raises(StorageError, match=r"no version 3 below .*; existing versions: none"):
        read_version(store, 3)
    save_version(store, version(2))
    save_version(store, version(10))
    with pytest.raises(StorageError, match=r"no version 3 below .*; existing versions: 2, 10"):
        read_version(store, 3)
    assert version_numbers(store) == [2, 10]


def test_the_newest_version_of_a_period_is_found(store: Store) -> None:
    for number, label in ((1, "2026-W46"), (2, "2026-W47"), (3, "2026-W47"), (4, "2026-W48")):
        save_version(store, version(number, label))
    found = version_of(store, "2026-W47")
    assert found is not None
    assert found.number == 3
    assert version_of(store, "2026-W49") is None


def test_the_champion_before_is_the_last_other_one_not_the_first(store: Store) -> None:
    for number in (1, 2, 3):
        save_version(store, version(number))
        champion = promote_version(store, number, at="", why="")
    assert champion.previous == 2
    assert promote_version(store, 3, at="", why="again").previous == 2


def test_the_pointer_remembers_every_champion_and_the_way_back(store: Store) -> None:
    assert read_champion(store) is None
    for number in (1, 2):
        save_version(store, version(number))
    assert promote_version(store, 1, at="monday", why="the first version").previous is None
    assert promote_version(store, 2, at="tuesday", why="better").previous == 1
    assert promote_version(store, 1, at="wednesday", why="by hand").previous == 2
    champion = read_champion(store)
    assert champion is not None
    assert (champion.version, [entry["version"] for entry in champion.history]) == (1, [1, 2, 1])
    assert champion.history[1] == {"version": 2, "at": "tuesday", "why": "better"}


@pytest.mark.parametrize(
    "gone",
    [
        f"models/ranker/{KEY}.json",
        f"models/ranker/{KEY}/model.safetensors",
        f"vocabulary/part-00000.{KEY}.parquet",
        "builds/20261120-101500-abcdef.json",
    ],
)
def test_a_version_whose_files_are_not_all_there_is_not_promoted(store: Store, gone: str) -> None:
    save_version(store, version(1))
    promote_version(store, 1, at="monday", why="the first version")
    before = store.read_bytes(CHAMPION)
    save_version(store, version(2))
    store.delete(gone)
    assert len(missing_files(store, version(2))) == 1
    with pytest.raises(
        StorageError, match=r"version 2 below .* cannot be used: .* is gone \(pruned\) or damaged\. Choose one of none"
    ):
        promote_version(store, 2, at="tuesday", why="better")
    assert store.read_bytes(CHAMPION) == before


def test_the_frozen_split_is_pinned_once(store: Store) -> None:
    assert read_frozen(store) is None
    split = FrozenSplit("20261120-101500-abcdef", 1, ["articles/a"], ["paragraphs/a"])
    save_frozen(store, split)
    assert read_frozen(store) == split
    with pytest.raises(StorageError, match="the frozen test split never changes"):
        save_frozen(store, FrozenSplit("another", 1))


@pytest.mark.parametrize("file", ["registry/champion.json", "registry/frozen.json", "registry/versions/000001.json"])
def test_a_damaged_file_is_named(store: Store, file: str) -> None:
    store.write_bytes(file, b'{"surprise": 1}')
    read = {"champion": read_champion, "frozen": read_frozen, "000001": lambda s: read_version(s, 1)}
    with pytest.raises(StorageError, match=file):
        read[Path(file).stem](store)
