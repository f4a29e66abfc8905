"""What nothing computes again comes back on an emptied root, whole or named; generations share files."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.backup import backup as backup_flow
from flows.running.commands import backup as backup_command
from flows.running.commands import restore as restore_command
from flows.verify import verify_root
from storage.backup import back_up, restore
from storage.builds import Build, pinned_builds, save_build
from storage.errors import StorageError
from storage.generations import Generation, check, new_name, read_generations
from storage.inventory import CHAMPION, FORMAT_FILE, read_inventory, take_stock, write_off
from storage.pruning import carry_out, plan_pruning
from storage.registry import (
    FROZEN,
    Version,
    missing_files,
    promote_version,
    read_champion,
    read_frozen,
    read_version,
    save_version,
)
from storage.sealed import seal
from storage.store import Store
from tests.storage.object_store import uri
from tests.storage.test_directories import FILE, KEY, NAME
from tests.storage.test_verification import BUILD, MANIFEST, VERSION, filled, flip

JOURNAL = "pages/.scratch-00000.0123456789abcdef/journal.jsonl"
PAGES = "pages/part-00000.0123456789abcdef.parquet"
SPENT = "spending/2026-11/" + "a" * 32 + "-01234567.json"
MODEL = f"{NAME}/{KEY}/{FILE}"


def worked_on(root: Path) -> Store:
    """A root with a champion, a frozen split, a pin, an unfinished crawl, a crawled page, and what is none of these."""
    store = filled(root)
    others = {JOURNAL: b"{}", PAGES: b"page", "registry/cards/000001.md": b"card", "notes.txt": b"mine"}
    for name, data in {**others, SPENT: seal({"search": 1.5})}.items():
        store.write_bytes(name, data)
    return store


def files(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def copied(to: Path, name: str) -> Path:
    """The file of the newest generation that holds the content of a file of the root."""
    generations, _ = read_generations(Store(str(to)))
    sha256 = generations[max(generations)].files[name]
    return to / "files" / sha256[:2] / sha256


def test_an_emptied_root_gets_back_what_nothing_computes_again(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    before, inventory = files(root), read_inventory(store)
    done = back_up(store, copy)
    contents = set(before.values()) - {before["notes.txt"], before[PAGES]}
    contents -= {data for name, data in before.items() if name.startswith("documents/part-00001")}
    assert {data for name, data in files(to).items() if name.startswith("files/")} == contents
    assert (done.files, done.bytes, done.damaged) == (len(contents), sum(map(len, contents)), {})
    assert list(read_generations(copy)[0]) == [done.generation]
    again = back_up(store, copy)
    assert (again.files, again.generation) == (0, done.generation), "nothing has changed"
    shutil.rmtree(root)
    assert restore(copy, store).damaged == {}
    champion, frozen = read_champion(store), read_frozen(store)
    assert champion is not None
    assert frozen is not None
    assert missing_files(store, read_version(store, champion.version)) == []
    assert all(store.exists(name) for name in frozen.articles)
    assert pinned_builds(store) == [BUILD]
    assert read_inventory(store) == inventory, "it is the same root"
    left_out = before.keys() - files(root).keys()
    other_shard = {name for name in before if name.startswith("documents/part-00001")}
    assert left_out == {PAGES, "notes.txt", *other_shard}
    assert files(root).items() <= before.items()


def test_a_mistake_on_the_root_replaces_no_generation(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    first, card = back_up(store, copy).generation, store.read_bytes("registry/cards/000001.md")
    save_version(store, replace(read_version(store, 1), number=2, parent=1))
    promote_version(store, 2, at="tuesday", why="a mistake")
    store.write_bytes("registry/cards/000001.md", b"overwritten")
    second = back_up(store, copy)
    assert second.files == 4, "version, pointer, inventory, card"
    assert sorted(read_generations(copy)[0]) == [first, second.generation]
    shutil.rmtree(root)
    restore_command(copy=str(to), root=str(root), generation=first)
    champion = read_champion(store)
    assert champion is not None
    assert (champion.version, store.read_bytes("registry/cards/000001.md")) == (1, card)
    with pytest.raises(StorageError, match=rf"has no generation 'x': expected one of {first}, {second.generation}"):
        restore_command(copy=str(to), root=str(root), generation="x")


def test_old_generations_go_with_the_files_that_only_they_name(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    names = []
    for number in range(4):
        store.write_bytes("registry/cards/000001.md", f"card {number}".encode())
        names.append(back_up(store, copy, keep=2).generation)
    assert sorted(read_generations(copy)[0]) == names[2:]
    cards = {data for data in files(to).values() if data.startswith(b"card")}
    assert cards == {b"card 2", b"card 3"}
    assert check(copy).damaged == {}
    flip(to / "generations" / f"{names[2]}.json")
    store.write_bytes("registry/cards/000001.md", b"card 4")
    names.append(back_up(store, copy, keep=1).generation)
    assert b"card 2" in files(to).values(), "a generation that cannot be read may name it"
    with pytest.raises(ValueError, match="keep is 0"):
        back_up(store, copy, keep=0)


def test_pages_are_copied_where_asked_for_and_a_restore_replaces_nothing_that_is_whole(tmp_path: Path) -> None:
    store, copy = worked_on(tmp_path / "root"), Store(str(tmp_path / "copy"))
    back_up(store, copy, pages=True)
    store.delete(PAGES)
    save_version(store, Version(2, "", "2026-W02", BUILD, None, {}, "", {}, {}, {}))
    store.write_bytes("registry/cards/000001.md", b"written since")
    for replaced in (False, True):
        done = restore(copy, store, replace_damaged=replaced)
        assert (done.files, done.damaged) == (int(not replaced), {})
    assert store.read_bytes(PAGES) == b"page"
    assert store.read_bytes("registry/cards/000001.md") == b"written since"
    assert back_up(store, copy).files == 3, "the new version, the card and the inventory"


@pytest.mark.parametrize("kind", ["shard", "record", "manifest"])
def test_damage_never_replaces_a_good_copy(tmp_path: Path, kind: str) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    frozen = read_frozen(store)
    assert frozen is not None
    (shard,) = frozen.articles
    name = {"shard": shard, "record": shard.replace(".parquet", ".json"), "manifest": MANIFEST}[kind]
    back_up(store, copy)
    good = copied(to, name).read_bytes()
    flip(root / name)
    store.write_bytes("registry/cards/000001.md", b"written since")
    if kind == "shard":
        backup_command(to=str(to), root=str(root))  # its record says what it must be, and that is there
    else:
        with pytest.raises(StorageError, match=rf"{name} was not copied: "):
            backup_command(to=str(to), root=str(root))
    assert len(read_generations(copy)[0]) == 2
    assert copied(to, name).read_bytes() == good
    restore_command(copy=str(to), root=str(root), replace_damaged=True)
    assert (root / name).read_bytes() == good


def test_a_damaged_shard_is_not_copied_into_a_new_backup(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    frozen = read_frozen(store)
    assert frozen is not None
    flip(root / frozen.articles[0])
    bad = (root / frozen.articles[0]).read_bytes()
    with pytest.raises(StorageError, match=rf"{frozen.articles[0]} was not copied: its sha256 is "):
        backup_command(to=str(to), root=str(root))
    assert bad not in files(to).values()


@pytest.mark.parametrize("name", [MANIFEST, VERSION, CHAMPION, FROZEN, FORMAT_FILE, SPENT, MODEL, "shard", "record"])
@pytest.mark.parametrize("damage", ["flip", "empty", "gone", "folder", "pipe"])
def test_what_is_damaged_is_named_and_comes_back_where_asked_for(tmp_path: Path, name: str, damage: str) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    frozen = read_frozen(store)
    assert frozen is not None
    (shard,) = frozen.articles
    name = {"shard": shard, "record": shard.replace(".parquet", ".json")}.get(name, name)
    back_up(store, Store(str(to)))
    before = files(root)
    path = root / name
    if damage == "flip":
        flip(path)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage == "pipe":
        os.mkfifo(path)
    if damage in ("flip", "empty"):
        with pytest.raises(StorageError, match=rf"{name}.*--replace-damaged"):
            restore_command(copy=str(to), root=str(root))
        assert path.read_bytes() != before[name]
    if damage == "folder":
        with pytest.raises(StorageError, match=re_name(name)):
            restore_command(copy=str(to), root=str(root), replace_damaged=True)
        path.rmdir()
    restore_command(copy=str(to), root=str(root), replace_damaged=True)
    assert files(root) == before
    assert verify_root(str(root), dry_run=True)[0] == {}


def re_name(name: str) -> str:
    return rf"{name}|{Path(name).name}"


@pytest.mark.parametrize("ahead", [60, 61])
def test_a_generation_is_named_a_second_after_a_newer_one(ahead: int) -> None:
    """Such as that of a machine whose clock is a minute ahead."""
    now = datetime.now(UTC)
    newest, expected = (f"{now + timedelta(seconds=seconds):%Y%m%d-%H%M%S}" for seconds in (ahead, ahead + 1))
    assert new_name({newest: Generation("a", now.isoformat(), {})}) == expected


def test_a_flipped_byte_in_the_backup_is_found_and_the_next_backup_mends_it(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    backup_command(to=str(to), root=str(root))
    flip(copied(to, CHAMPION))
    copied(to, VERSION).unlink()
    shutil.rmtree(root / "registry")
    with pytest.raises(StorageError, match=r"2 damaged\n") as raised:
        backup_flow.fn("no root", str(to), check=True)
    assert re.search(rf"its content has changed; it is {CHAMPION} of \S+$", str(raised.value), re.MULTILINE)
    assert f"it is gone; it is {VERSION} of " in str(raised.value)
    with pytest.raises(StorageError, match=rf"{CHAMPION} was not copied: ") as raised:
        restore_command(copy=str(to), root=str(root))
    assert f"{VERSION} was not copied: " in str(raised.value)
    assert store.exists(FROZEN), "all that is whole came back"


def test_the_next_backup_copies_again_what_was_damaged_in_it(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    back_up(store, copy)
    good = copied(to, MODEL).read_bytes()
    flip(copied(to, MODEL))
    assert len(check(copy).damaged) == 1
    assert back_up(store, copy).files == 1
    assert copied(to, MODEL).read_bytes() == good
    assert check(copy).damaged == {}


def test_the_commands_say_what_they_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    worked_on(root)
    inventory = read_inventory(Store(str(root)))
    assert inventory is not None
    backup_command(to=str(to), root=str(root))
    backup_command(to=str(to), check=True)
    shutil.rmtree(root)
    restore_command(copy=str(to), root=str(root))
    saved, generation, read, back = capsys.readouterr().out.splitlines()
    name = generation.partition(":")[0]
    assert saved.endswith(f" bytes copied to generation {name} of {to}; 1 were there")  # two files with one content
    assert generation == f"{name}: 14 files of root {inventory.id}"
    assert read.startswith("13 files, ")
    assert read.endswith(" read; 0 damaged")
    assert back.startswith("14 files, ")
    assert back.endswith(f" bytes copied from generation {name} of {to}; 0 were there")
    with pytest.raises(StorageError, match="does not exist"):
        restore_command(copy=str(tmp_path / "nowhere"), root=str(root))


def test_two_roots_do_not_share_a_backup(tmp_path: Path) -> None:
    first, second = worked_on(tmp_path / "first"), worked_on(tmp_path / "second")
    copy = Store(str(tmp_path / "copy"))
    back_up(first, copy)
    before = files(tmp_path / "copy")
    one, other = read_inventory(first), read_inventory(second)
    assert one is not None
    assert other is not None
    refused = rf"is a backup of root {one.id}, and this one is {other.id}: expected a folder for each root"
    for command in (lambda: back_up(second, copy), lambda: restore(copy, second)):
        with pytest.raises(StorageError, match=refused):
            command()
    assert files(tmp_path / "copy") == before
    begun = Store(str(tmp_path / "third"))
    take_stock(begun)  # a root in which nothing was finished becomes the one that is restored
    assert restore(copy, begun).damaged == {}
    assert read_inventory(begun) == one


def test_what_was_pruned_does_not_come_back(tmp_path: Path) -> None:
    store, copy = Store(str(tmp_path / "root")), Store(str(tmp_path / "copy"))
    names = [f"20260101-00000{number}-abcdef" for number in range(3)]
    for name in names:
        save_build(store, Build(name, "", {"name": name}, {}, {}, {}, name))
    back_up(store, copy)
    carry_out(store, plan_pruning(store, 1))
    assert (restore(copy, store).files, sorted(store.sizes("builds"))) == (0, [f"{names[2]}.json", "latest.json"])
    store.delete(f"builds/{names[2]}.json")
    assert restore(copy, store).files == 1


def test_a_backup_that_lacks_what_the_inventory_lists_says_so(tmp_path: Path) -> None:
    store, copy = worked_on(tmp_path / "root"), Store(str(tmp_path / "copy"))
    back_up(store, copy)
    save_version(store, replace(read_version(store, 1), number=2, parent=1))
    store.delete("registry/versions/000002.json")
    done = restore(copy, store)
    assert done.damaged == {"registry/versions/000002.json": "it is gone, and the root's inventory lists it"}
    with pytest.raises(StorageError, match=r"registry/versions/000002\.json below .* it is gone"):
        back_up(store, copy)


def test_no_link_is_followed_in_the_backup_or_the_root(tmp_path: Path) -> None:
    root, to, secret = tmp_path / "root", tmp_path / "copy", tmp_path / "secret"
    secret.mkdir()
    (secret / "passwd.json").write_bytes(seal({"root": "x"}))
    store, copy = worked_on(root), Store(str(to))
    (root / "registry" / "linked").symlink_to(secret)
    with pytest.raises(StorageError, match=r"registry/linked was not copied: it is a symbolic link"):
        backup_command(to=str(to), root=str(root))
    (root / "registry" / "linked").unlink()
    (root / "registry" / "passwd.json").symlink_to(secret / "passwd.json")
    with pytest.raises(StorageError, match=r"registry/passwd\.json was not copied: it is a symbolic link"):
        backup_command(to=str(to), root=str(root))
    (root / "registry" / "passwd.json").unlink()
    assert not any(b'"root": "x"' in data for data in files(to).values())
    file = copied(to, CHAMPION)
    file.unlink()
    file.symlink_to(secret / "passwd.json")  # in the backup: other content than its name says
    (to / "files" / "zz").symlink_to(secret)
    (to / "builds").symlink_to(secret)  # and names that no generation has
    shutil.rmtree(root)
    (root / "registry").parent.mkdir()
    (root / "registry").symlink_to(secret)
    with pytest.raises(StorageError, match=r"registry was not copied: it is a symbolic link"):
        restore_command(copy=str(to), root=str(root))
    assert sorted(path.name for path in secret.iterdir()) == ["passwd.json"], "nothing was written through the link"
    (root / "registry").unlink()
    with pytest.raises(StorageError, match=rf"{CHAMPION} was not copied: its sha256 is "):
        restore_command(copy=str(to), root=str(root))
    assert not any(b'"root": "x"' in data for data in files(root).values())
    assert store.exists(FROZEN)
    assert copy.exists("generations/" + max(read_generations(copy)[0]) + ".json")


@pytest.mark.parametrize("name", ["../outside.json", "/etc/wikisum", "builds/../../outside", "notes.txt", "builds//x"])
def test_a_generation_names_nothing_outside_a_root(tmp_path: Path, name: str) -> None:
    store, copy = worked_on(tmp_path / "root"), Store(str(tmp_path / "deep" / "copy"))
    back_up(store, copy)
    sha256 = hashlib.sha256(b"evil").hexdigest()
    copy.write_bytes(f"files/{sha256[:2]}/{sha256}", b"evil")
    inventory = read_inventory(store)
    assert inventory is not None
    copy.write_bytes("generations/8.json", seal({"root": inventory.id, "created": "", "files": {name: sha256}}))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert restore(copy, store).damaged == {name: "no file of a root has such a name"}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    copy.write_bytes("generations/9.json", seal({"root": inventory.id, "created": "", "files": {MANIFEST: "../../x"}}))
    with pytest.raises(StorageError, match="has no generation '9' \\(a file in it has no SHA-256"):
        restore(copy, store, generation="9")


@pytest.mark.parametrize("place", ["root", "root/copy"])
def test_a_copy_in_the_root_itself_is_refused(tmp_path: Path, place: str) -> None:
    store = worked_on(tmp_path / "root")
    before = files(tmp_path / "root")
    with pytest.raises(StorageError, match=r"is in the root .*, and lost with it: expected another place"):
        back_up(store, Store(str(tmp_path / place)))
    assert files(tmp_path / "root") == before


def test_a_copy_of_an_earlier_version_is_left_alone(tmp_path: Path) -> None:
    store, copy = worked_on(tmp_path / "root"), Store(str(tmp_path / "copy"))
    copy.write_bytes(FORMAT_FILE, seal({"format": 2}))
    with pytest.raises(StorageError, match=r"has a root\.json: it is a root, or a copy that an earlier version made"):
        back_up(store, copy)
    with pytest.raises(StorageError, match=r"no generation that can be read.* is a root by itself"):
        restore(copy, Store(str(tmp_path / "other")))


def test_nothing_is_restored_from_what_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    with pytest.raises(StorageError, match=r"music' has no generation that can be read: expected the folder"):
        restore_command(copy=str(tmp_path / "music"), root=str(tmp_path / "root"))
    assert files(tmp_path / "root") == {}


@pytest.mark.parametrize("after", range(1, 14, 3))
def test_a_kill_at_any_file_leaves_a_backup_and_a_root_that_are_whole_or_go_on(tmp_path: Path, after: int) -> None:
    """A generation is written last, and so is the inventory of a root that is restored."""
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    program = (
        "import os, signal, sys; from contextlib import contextmanager\n"
        "import storage.backup as backup; from storage.store import Store\n"
        "kill, copying = int(sys.argv[4]), backup._copy\n"
        "def counted(*given):\n"
        "    global kill\n"
        "    kill -= 1\n"
        "    if not kill: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return copying(*given)\n"
        "backup._copy = counted\n"
        "getattr(backup, sys.argv[1])(Store(sys.argv[2]), Store(sys.argv[3]))"
    )

    def killed(what: str, source: Path, target: Path) -> None:
        command = [sys.executable, "-c", program, what, str(source), str(target), str(after)]
        assert subprocess.run(command, cwd=Path(__file__).parents[2]).returncode == -signal.SIGKILL

    killed("back_up", root, to)
    assert read_generations(copy) == ({}, {})
    before = files(root)
    assert back_up(store, copy).present >= after - 1
    assert check(copy).damaged == {}
    shutil.rmtree(root)
    killed("restore", to, root)
    assert restore(copy, store).damaged == {}
    assert files(root).items() <= before.items()
    assert read_inventory(store) is not None


@pytest.mark.integration
def test_a_backup_on_an_object_store(tmp_path: Path, s3: int) -> None:
    root = tmp_path / "root"
    store, copy = worked_on(root), Store(uri(s3, uuid.uuid4().hex))
    back_up(store, copy)
    save_version(store, replace(read_version(store, 1), number=2, parent=1))
    done = back_up(store, copy, keep=1)
    assert (done.files, list(read_generations(copy)[0])) == (2, [done.generation])
    assert check(copy).damaged == {}
    sha256 = read_generations(copy)[0][done.generation].files[VERSION]
    copy.write_bytes(f"files/{sha256[:2]}/{sha256}", b"short")
    assert list(check(copy).damaged) == [f"files/{sha256[:2]}/{sha256}"]
    back_up(store, copy)
    shutil.rmtree(root)
    assert restore(copy, store).damaged == {}
    assert read_version(store, 1).label == "2026-W01"
    elsewhere = Store(uri(s3, uuid.uuid4().hex))
    assert restore(copy, elsewhere).damaged == {}
    assert read_inventory(elsewhere) == read_inventory(store)


@pytest.mark.parametrize("what", ["shard", "record", "both", "model", "model's record"])
def test_what_is_gone_from_the_root_is_named_and_stays_in_the_backup(tmp_path: Path, what: str) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    backup_command(to=str(to), root=str(root))
    before = files(root)
    frozen = read_frozen(store)
    assert frozen is not None
    (shard,) = frozen.articles
    record = shard.replace(".parquet", ".json")
    model, its_record = MODEL, f"{NAME}/{KEY}.json"
    lost = {
        "shard": [shard],
        "record": [record],
        "both": [record, shard],
        "model": [model],
        "model's record": [its_record],
    }[what]
    for name in lost:
        (root / name).unlink()
    for _ in range(2):  # it is no news of the first time only
        with pytest.raises(StorageError) as raised:
            backup_command(to=str(to), root=str(root))
        head, *named = str(raised.value).splitlines()
        assert head.startswith("0 files, 0 bytes copied")
        why = "it is gone from the root, which still names it: restore it from a backup (wikisum restore)"
        assert named == [f"{name} was not copied: {why}" for name in lost]
    restore_command(copy=str(to), root=str(root))
    assert files(root) == before
    backup_command(to=str(to), root=str(root))


def test_a_first_backup_names_what_the_root_has_lost_before(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    version = read_version(store, 1)
    (root / version.vocabulary).unlink()
    with pytest.raises(StorageError, match=rf"{version.vocabulary} was not copied: it is gone"):
        backup_command(to=str(to), root=str(root))


def test_crawled_pages_of_the_backup_that_a_build_names_are_missed(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    save_build(store, Build("20260101-000002-abcdef", "", {}, {"pages": {"0": PAGES}}, {}, {}))
    backup_command(to=str(to), root=str(root), pages=True)
    (root / PAGES).unlink()
    with pytest.raises(StorageError, match=rf"{PAGES} was not copied: it is gone"):
        backup_command(to=str(to), root=str(root))
    restore_command(copy=str(to), root=str(root))
    assert store.read_bytes(PAGES) == b"page"


def test_what_was_pruned_is_not_missed(tmp_path: Path) -> None:
    """The articles of the first week's test split go with its build, but for those that are frozen."""
    root, to = tmp_path / "root", tmp_path / "copy"
    store = worked_on(root)
    other = next(iter(sorted(name for name in files(root) if name.startswith("documents/part-00001"))))
    shard = other.removesuffix(".json").removesuffix(".parquet") + ".parquet"
    first = read_version(store, 1)
    save_version(store, replace(first, number=2, recent={"2026-W02": {"articles": shard}}))
    save_version(store, replace(first, number=3))
    backup_command(to=str(to), root=str(root))
    assert copied(to, shard).exists()
    store.delete(MANIFEST)
    for name in (shard, shard.replace(".parquet", ".json")):
        store.delete(name)
    write_off(store, [MANIFEST], "pruned")
    backup_command(to=str(to), root=str(root))
    with pytest.raises(KeyError):
        copied(to, shard)
