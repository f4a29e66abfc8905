"""Registry and pruning on a real S3-compatible server: no renames, no folders, and a pointer all the same."""

import uuid

import pytest

from storage.builds import Build, build_names, save_build
from storage.pruning import carry_out, plan_pruning
from storage.registry import Version, promote_version, read_champion, save_version, version_numbers
from storage.store import Store
from tests.storage.object_store import uri


@pytest.fixture
def store(s3: int) -> Store:
    return Store(uri(s3, uuid.uuid4().hex))


def shard(store: Store, key: int) -> str:
    file = f"examples/part-00000.{key:016x}.parquet"
    store.write_bytes(file, b"rows")
    store.write_bytes(file.replace(".parquet", ".json"), b"{}")
    return file


def test_a_bucket_is_pruned_to_what_the_last_build_and_the_champion_need(store: Store) -> None:
    files = [shard(store, number) for number in range(4)]
    store.write_bytes("examples/notes.txt", b"mine")
    for number, file in enumerate(files[:3]):
        name = f"20260101-{number:06d}-abcdef"
        save_build(store, Build(name, "", {}, {"examples": {"0": file}}, {}, {}))
        save_version(store, Version(number + 1, "", f"W{number}", name, None, {}, file, {}, {}, {}))
        if number == 0:
            promote_version(store, 1, at="monday", why="the first version")
    champion = read_champion(store)
    assert champion is not None
    assert (champion.version, version_numbers(store)) == (1, [1, 2, 3])
    found = plan_pruning(store, keep=1)
    assert (found.versions, found.young) == ((1, 3), 0)
    carry_out(store, found)
    assert build_names(store) == ["20260101-000000-abcdef", "20260101-000002-abcdef"]
    names = [f"part-00000.{number:016x}.{ending}" for number in (0, 2) for ending in ("json", "parquet")]
    assert sorted(store.sizes("examples")) == sorted([*names, "notes.txt"])
    assert plan_pruning(store, keep=1).sizes == {}


def test_a_damaged_manifest_of_a_bucket_is_set_aside_and_what_is_older_stays(store: Store) -> None:
    names = [f"20260101-{number:06d}-abcdef" for number in range(3)]
    for number, name in enumerate(names):
        save_build(store, Build(name, "", {}, {"examples": {"0": shard(store, number)}}, {}, {}))
    store.write_bytes("builds/.DS_Store", b"\0")
    store.write_bytes(f"builds/{names[1]}.json", b"{}")
    found = plan_pruning(store, keep=2)
    assert (found.aside, found.sizes) == ((names[1],), {})
    carry_out(store, found)
    assert set(store.sizes("builds")) == {
        ".DS_Store",
        f"{names[0]}.json",
        f"{names[1]}.json.damaged",
        f"{names[2]}.json",
        "latest.json",
    }
    assert plan_pruning(store, keep=2).aside == ()
    assert set(plan_pruning(store, keep=1).sizes) >= {f"builds/{names[0]}.json", f"builds/{names[1]}.json.damaged"}
