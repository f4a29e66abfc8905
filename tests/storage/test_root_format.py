"""A root has a format number; a program that does not know it says so and touches nothing."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.config import BuildConfig
from flows.prune import prune
from flows.running.session import planning_session
from flows.verify import verify_root
from storage.errors import MissingFilesError, StorageError
from storage.inventory import FORMAT, FORMAT_FILE, check_format, missing, take_stock
from storage.root import check_root, opened_root
from storage.sealed import seal, unseal
from storage.store import Store
from tasks.cited_summary.systems import find_system
from tests.storage.object_store import uri


@pytest.fixture(params=["folder", pytest.param("object store", marks=pytest.mark.integration)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return Store(str(tmp_path / "root"))
    return Store(uri(request.getfixturevalue("s3"), uuid.uuid4().hex))


def openings(store: Store) -> list[Callable[[], object]]:
    """The ways in which commands open a root, none of which writes there."""
    return [
        lambda: take_stock(store),
        lambda: check_root(store),
        lambda: verify_root(store.root, dry_run=True),
        lambda: prune.fn(store.root, 3, dry_run=True),
        lambda: find_system(store.root),
        lambda: planning_session(BuildConfig(root=store.root)),
    ]


def test_a_root_gets_format_and_identity_when_it_is_made_and_keeps_them(store: Store) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        check_root(store)
    take_stock(store)
    written = store.read_bytes(FORMAT_FILE)
    fields = unseal(written)
    assert (fields["format"], fields["files"], fields["champions"]) == (3, {}, [])
    assert re.fullmatch("[0-9a-f]{32}", fields["id"])
    take_stock(store)
    check_root(store)
    assert (store.names(), store.read_bytes(FORMAT_FILE)) == ([FORMAT_FILE], written)
    store.delete(FORMAT_FILE)
    assert take_stock(store).id != fields["id"], "it is drawn by chance"


def test_a_root_of_the_format_before_is_read_and_its_next_run_lists_what_it_has(store: Store) -> None:
    store.write_bytes(FORMAT_FILE, seal({"format": 2}))
    store.write_bytes("builds/20260101-000001-abcdef.json", b"{}")
    store.write_bytes("builds/mine.json", b"{}")
    check_root(store)
    assert unseal(store.read_bytes(FORMAT_FILE)) == {"format": 2}
    assert missing(store) == {}
    with opened_root(store):
        assert take_stock(store).files == {"builds/20260101-000001-abcdef.json": ""}
    store.delete("builds/20260101-000001-abcdef.json")
    assert list(missing(store)) == ["builds/20260101-000001-abcdef.json"]


def test_a_root_of_which_only_shards_are_left_is_no_new_one(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write_bytes("articles/mine.parquet", b"of another program")
    check_format(store)
    store.write_bytes("articles/part-00000.0123456789abcdef.parquet", b"")
    with pytest.raises(MissingFilesError, match=r"root\.json below .* is gone, but articles/part-00000\.0123"):
        take_stock(store)


def test_a_root_of_which_only_builds_are_left_is_refused_by_whoever_opens_it(store: Store) -> None:
    """It is no new root, nor one of which nothing was lost."""
    store.write_bytes("registry/versions/000001.json", b"{}")
    refused = (
        r"root\.json below .*, the root's format and inventory, is gone, but registry/versions/000001\.json is there"
    )
    more = (lambda: opened_root(store).__enter__(), lambda: verify_root(store.root, dry_run=False))
    for opening in (*openings(store), *more):
        with pytest.raises(MissingFilesError, match=refused):
            opening()
    assert store.names() == ["registry"]
    verify_root(store.root, dry_run=False, accept_loss=True)
    assert take_stock(store).files == {"registry/versions/000001.json": ""}


def test_a_folder_that_is_no_root_does_not_become_one(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    with pytest.raises(StorageError, match=r"has no root\.json"):
        verify_root(str(tmp_path / "music"), dry_run=False, accept_loss=True)
    assert list((tmp_path / "music").iterdir()) == []


def test_a_newer_root_is_refused_in_one_sentence_by_whoever_opens_it(store: Store) -> None:
    store.write_bytes(FORMAT_FILE, seal({"format": FORMAT + 1, "surprise": True}))
    refused = (
        rf"root '.*' has format {FORMAT + 1}, and this version of wikisum reads format {FORMAT}: use the version that "
        r"wrote it or a later one \(docs/upgrading\.md\)$"
    )
    for opening in openings(store):
        with pytest.raises(StorageError, match=refused):
            opening()
    assert store.names() == [FORMAT_FILE]


def test_a_damaged_number_is_named(store: Store) -> None:
    store.write_bytes(FORMAT_FILE, seal({"format": FORMAT}).replace(str(FORMAT).encode(), b"9", 1))
    with pytest.raises(StorageError, match=r"root\.json below .* inventory, cannot be read \(its fields"):
        check_root(store)
