"""A root knows what was finished on it: what is gone is named, and is never taken for what has not been yet."""

import signal
import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from flows.config import BuildConfig
from flows.doctor import examine
from flows.promote import run as promote_command
from flows.prune import prune
from flows.retrain import challenge
from flows.running.session import planning_session
from flows.verify import verify_root
from storage.backup import back_up
from storage.builds import Build, pin_build, pin_path, save_build, unpin_build
from storage.errors import MissingFilesError
from storage.inventory import (
    CHAMPION,
    FORMAT_FILE,
    LATEST,
    check_whole,
    enlist,
    missing,
    read_inventory,
    take_stock,
    write_off,
)
from storage.pruning import carry_out, plan_pruning
from storage.registry import FROZEN, Version, promote_version, read_champion, read_frozen, read_version, save_version
from storage.root import opened_root
from storage.sealed import seal
from storage.store import Store
from tasks.retraining.champion_change import move_late_pointer, promote_by_hand
from tests.storage.object_store import uri
from tests.storage.test_verification import BUILD, MANIFEST, VERSION, filled

PIN = pin_path(BUILD)
LISTED = [MANIFEST, PIN, VERSION, FROZEN, CHAMPION]


def test_an_inventory_lists_what_was_finished(tmp_path: Path) -> None:
    store = filled(tmp_path)
    inventory = read_inventory(store)
    assert inventory is not None
    assert inventory.files == dict.fromkeys([LATEST, MANIFEST, PIN, FROZEN, VERSION], "")
    assert inventory.champions == [{"version": 1, "at": "monday", "why": "the first"}]
    assert missing(store) == {}
    check_whole(store)


@pytest.mark.parametrize("name", LISTED)
def test_whoever_would_go_on_without_a_listed_file_names_it(tmp_path: Path, name: str) -> None:
    store, elsewhere = filled(tmp_path / "root"), Store(str(tmp_path / "backup"))
    (tmp_path / "root" / name).unlink()
    before = {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()}
    config = BuildConfig(root=store.root)
    for command in (
        lambda: challenge(planning_session(config)),
        lambda: promote_command(store.root, 1),
        lambda: promote_by_hand(store, 1),
        lambda: plan_pruning(store, 1),
        lambda: prune.fn(store.root, 1, dry_run=True),
        lambda: back_up(store, elsewhere),
        lambda: examine(store.root, Console(quiet=True)),
    ):
        with pytest.raises(MissingFilesError, match=rf"{name} below .* gone, and the root's inventory lists "):
            command()
    assert name in verify_root(store.root, dry_run=True)[0]
    assert {path: path.read_bytes() for path in (tmp_path / "root").rglob("*") if path.is_file()} == before
    assert not (tmp_path / "backup").exists()


def test_a_lost_pointer_is_no_beginning_and_is_mended_by_the_inventory(tmp_path: Path) -> None:
    store = filled(tmp_path)
    version = read_version(store, 1)
    save_version(store, replace(version, number=2, parent=1))
    promote_version(store, 2, at="tuesday", why="better")
    champion = read_champion(store)
    store.delete(CHAMPION)
    lost = "registry/champion.json below .* lists version 2 as champion since tuesday: wikisum verify writes it again"
    with pytest.raises(MissingFilesError, match=lost):
        read_champion(store)
    with pytest.raises(MissingFilesError, match=lost):
        move_late_pointer(store)
    damaged, said = verify_root(str(tmp_path), dry_run=False)
    assert list(damaged) == [CHAMPION]
    assert "mended: it names version 2" in said
    assert read_champion(store) == champion


def test_a_pointer_of_before_is_no_pointer_of_now(tmp_path: Path) -> None:
    store = filled(tmp_path)
    earlier = store.read_bytes(CHAMPION)
    save_version(store, replace(read_version(store, 1), number=2, parent=1))
    promote_version(store, 2, at="tuesday", why="better")
    store.write_bytes(CHAMPION, earlier)
    with pytest.raises(MissingFilesError, match=r"champion\.json below .*: it has not the 2 changes of the champion"):
        check_whole(store)


def test_a_run_that_loses_the_inventory_begins_no_new_one(tmp_path: Path) -> None:
    """A new one would list only what is written after the loss. Of an empty root the first file begins one."""
    store = filled(tmp_path / "lost")
    store.delete(FORMAT_FILE)
    with pytest.raises(MissingFilesError, match="the root's format and inventory, is gone, but builds/"):
        enlist(store, VERSION)
    assert not store.exists(FORMAT_FILE)
    new = Store(str(tmp_path / "new"))
    new.write_bytes(VERSION, b"{}")
    enlist(new, VERSION)
    inventory = read_inventory(new)
    assert inventory is not None
    assert inventory.files == {VERSION: ""}


@pytest.mark.parametrize("folder", ["registry", "builds", "registry/versions"])
def test_whole_folders_are_missed_too(tmp_path: Path, folder: str) -> None:
    store = filled(tmp_path)
    store.delete_folder(folder)
    gone = sorted(name for name in LISTED if name.startswith(f"{folder}/"))
    assert sorted(missing(store)) == gone
    with pytest.raises(MissingFilesError, match=rf"^{folder}/.* and the root.s inventory lists"):
        plan_pruning(store, 1)


def test_a_newer_version_that_was_refused_is_not_promoted_for_want_of_a_champion(tmp_path: Path) -> None:
    """Also where no inventory is there to compare with: it was judged against another."""
    store = Store(str(tmp_path))
    version = Version(2, "", "2026-W02", BUILD, 1, {}, "", {}, {}, {"promoted": True, "reason": "better than 1"})
    save_version(store, version)
    move_late_pointer(store)
    assert read_champion(store) is None


def test_a_loss_is_accepted_by_a_person_alone_and_stays_written_down(tmp_path: Path) -> None:
    store = filled(tmp_path)
    for name in (VERSION, CHAMPION, FROZEN):
        store.delete(name)
    with pytest.raises(ValueError, match="a dry run writes nothing"):
        verify_root(str(tmp_path), dry_run=True, accept_loss=True)
    assert sorted(verify_root(str(tmp_path), dry_run=False)[0]) == sorted([VERSION, CHAMPION, FROZEN])
    _, said = verify_root(str(tmp_path), dry_run=False, accept_loss=True)
    assert said.count("written off as lost") == 3
    check_whole(store)
    assert (read_champion(store), read_frozen(store)) == (None, None)
    inventory = read_inventory(store)
    assert inventory is not None
    assert inventory.files[VERSION].startswith("lost 20")
    assert [change["version"] for change in inventory.champions] == [1, None]
    save_version(store, Version(2, "", "2026-W02", BUILD, None, {}, "", {}, {}, {}))
    enlist(store, champion={"version": 2, "at": "now", "why": "a new first"})
    store.write_bytes(CHAMPION, seal({"version": 2, "history": [{"version": 2, "at": "now", "why": "a new first"}]}))
    check_whole(store)


def test_pruning_and_unpinning_are_no_loss(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    names = [f"20260101-00000{number}-abcdef" for number in range(3)]
    for name in names:
        save_build(store, Build(name, "", {"name": name}, {"documents": {"0": name}}, {}, {}))
    pin_build(store, names[0])
    unpin_build(store, names[0])
    carry_out(store, plan_pruning(store, 1))
    inventory = read_inventory(store)
    assert inventory is not None
    assert inventory.files[f"builds/{names[0]}.json"].startswith("pruned 20")
    assert inventory.files[pin_path(names[0])].startswith("unpinned 20")
    assert missing(store) == {}


@pytest.mark.parametrize("name", [MANIFEST, VERSION, FROZEN, PIN])
def test_what_a_killed_run_wrote_and_did_not_list_is_listed_by_the_next(tmp_path: Path, name: str) -> None:
    store = filled(tmp_path)
    inventory = read_inventory(store)
    assert inventory is not None
    fields = vars(inventory) | {"files": {other: "" for other in inventory.files if other != name}}
    store.write_bytes(FORMAT_FILE, seal(fields | {"champions": []}))
    with opened_root(store):
        assert read_inventory(store) == replace(inventory, files=dict(sorted(inventory.files.items())))


@pytest.mark.parametrize("step", ["version", "champion", "frozen", "build"])
def test_a_kill_before_the_inventory_is_written_ends_well(tmp_path: Path, step: str) -> None:
    """The file is there, its line in the inventory is not; the next holder adds it."""
    filled(tmp_path)
    steps = {
        "version": "save_version(store, replace(read_version(store, 1), number=2, parent=1))",
        "champion": "promote_version(store, 1, at='tuesday', why='again')",
        "frozen": "(store.delete('registry/frozen.json'), save_frozen(store, FrozenSplit('b', 1)))",
        "build": "save_build(store, Build('20260102-000001-abcdef', '', {}, {}, {}, {}))",
    }
    program = (
        "import os, signal, sys; from dataclasses import replace\n"
        "import storage.inventory; from storage.builds import *; from storage.registry import *\n"
        "from storage.registry import FrozenSplit; from storage.store import Store\n"
        "storage.inventory.save_inventory = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store = Store(sys.argv[1])\n{steps[step]}\nsys.exit(0)"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parents[2])
    assert ended.returncode == (0 if step == "frozen" else -signal.SIGKILL), "a frozen split was listed before"
    store = Store(str(tmp_path))
    with opened_root(store):
        check_whole(store)
    inventory = read_inventory(store)
    assert inventory is not None
    assert (len(inventory.files), len(inventory.champions)) == (
        5 + (step in ("version", "build")),
        1 + (step == "champion"),
    )


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["list", "off", "take", "delete"]), st.sampled_from(LISTED[:4])), max_size=12
)


@settings(max_examples=40, deadline=None)
@given(operations=OPERATIONS)
def test_an_inventory_only_grows_and_misses_what_was_deleted(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, str]]
) -> None:
    store = Store(str(tmp_path_factory.mktemp("root")))
    take_stock(store)
    listed, there = set[str](), set[str]()
    ever = set[str]()
    for operation, name in operations:
        match operation:
            case "list":
                store.write_bytes(name, seal({}))
                enlist(store, name)
                listed, there = listed | {name}, there | {name}
            case "off":
                write_off(store, [name], "pruned")
                store.delete(name)
                listed, there = listed - {name}, there - {name}
            case "delete":
                store.delete(name)
                there = there - {name}
            case "take":
                take_stock(store)
        inventory = read_inventory(store)
        assert inventory is not None
        assert set(missing(store)) == listed - there
        assert ever <= inventory.files.keys()
        ever |= inventory.files.keys()


def test_two_roots_have_two_identities_and_a_root_keeps_its_own(tmp_path: Path) -> None:
    first, second = (take_stock(Store(str(tmp_path / name))) for name in ("a", "b"))
    assert first.id != second.id
    assert take_stock(Store(str(tmp_path / "a"))) == first


@pytest.mark.integration
def test_an_object_store_misses_what_is_gone(s3: int) -> None:
    store = Store(uri(s3, uuid.uuid4().hex))
    with opened_root(store):
        save_version(store, Version(1, "", "2026-W01", BUILD, None, {}, "", {}, {}, {}))
        promoted = {"version": 1, "at": "monday", "why": "the first"}
        store.write_bytes(CHAMPION, seal({"version": 1, "history": [promoted]}))
        enlist(store, champion=promoted)
        save_build(store, Build(BUILD, "", {}, {}, {}, {}))
    check_whole(store)
    for name in (VERSION, CHAMPION, MANIFEST):
        data = store.read_bytes(name)
        store.delete(name)
        assert list(missing(store)) == [name]
        store.write_bytes(name, data)
    store.delete(FORMAT_FILE)
    with pytest.raises(MissingFilesError, match=r"root\.json below .* is gone, but builds/2026"):
        opened_root(store).__enter__()


def test_a_record_that_is_gone_is_named_by_the_build_that_needs_its_shard(tmp_path: Path) -> None:
    store = filled(tmp_path)
    record = max((tmp_path / "documents").glob("*.json"))
    record.unlink()
    damaged, _ = verify_root(store.root, dry_run=True)
    assert damaged == {MANIFEST: f"it names documents/{record.name}, which is missing (1 in all)"}


def test_a_lost_pointer_to_the_latest_build_is_found_again(tmp_path: Path) -> None:
    from storage.builds import latest_build

    store = filled(tmp_path)
    store.delete(LATEST)
    build = latest_build(store)
    assert build is not None
    assert build.name == BUILD
    damaged, said = verify_root(store.root, dry_run=False)
    assert list(damaged) == [LATEST]
    assert f"mended: it names {BUILD}" in said
    assert verify_root(store.root, dry_run=True)[0] == {}
