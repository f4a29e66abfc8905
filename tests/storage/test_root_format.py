"""A root has a format number; a program that does not know it says so and touches nothing."""

import uuid
from pathlib import Path

import pytest

from flows.config import BuildConfig
from flows.prune import prune
from flows.running.session import planning_session
from flows.verify import verify_root
from storage.errors import StorageError
from storage.root import FORMAT, FORMAT_FILE, check_root, prepare_root
from storage.sealed import seal, unseal
from storage.store import Store
from tasks.cited_summary.systems import find_system
from tests.storage.object_store import uri


@pytest.fixture(params=["folder", pytest.param("object store", marks=pytest.mark.integration)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return Store(str(tmp_path / "root"))
    return Store(uri(request.getfixturevalue("s3"), uuid.uuid4().hex))


def test_a_root_gets_its_number_when_it_is_made_and_keeps_it(store: Store) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        check_root(store)
    prepare_root(store)
    written = store.read_bytes(FORMAT_FILE)
    assert unseal(written) == {"format": FORMAT}
    prepare_root(store)
    check_root(store)
    assert (store.names(), store.read_bytes(FORMAT_FILE)) == ([FORMAT_FILE], written)


def test_a_root_of_before_the_numbers_is_read_and_gets_one_from_its_next_build(store: Store) -> None:
    store.write_bytes("builds/latest.json", b"{}")
    check_root(store)
    assert not store.exists(FORMAT_FILE)
    prepare_root(store)
    assert store.exists(FORMAT_FILE)


def test_a_newer_root_is_refused_in_one_sentence_by_whoever_opens_it(store: Store) -> None:
    store.write_bytes(FORMAT_FILE, seal({"format": FORMAT + 1, "surprise": True}))
    refused = (
        rf"root '.*' has format {FORMAT + 1}, and this version of wikisum reads format {FORMAT}: use the version that "
        r"wrote it or a later one \(docs/upgrading\.md\)$"
    )
    for opening in (
        lambda: prepare_root(store),
        lambda: check_root(store),
        lambda: verify_root(store.root, dry_run=True),
        lambda: prune.fn(store.root, 3, dry_run=True),
        lambda: find_system(store.root),
        lambda: planning_session(BuildConfig(root=store.root)),
    ):
        with pytest.raises(StorageError, match=refused):
            opening()
    assert store.names() == [FORMAT_FILE]


def test_a_damaged_number_is_named(store: Store) -> None:
    store.write_bytes(FORMAT_FILE, seal({"format": FORMAT}).replace(str(FORMAT).encode(), b"9", 1))
    with pytest.raises(StorageError, match=r"root\.json below .*, the root's format, cannot be read \(its fields"):
        check_root(store)
