"""What nothing computes again comes back on an emptied root, whole or named."""

import shutil
from pathlib import Path

import pytest

from flows.running.commands import backup as backup_command
from flows.running.commands import restore as restore_command
from storage.backup import back_up, restore
from storage.builds import pinned_builds
from storage.errors import StorageError
from storage.registry import Version, missing_files, read_champion, read_frozen, read_version, save_version
from storage.root import prepare_root
from storage.store import Store
from tests.storage.test_verification import BUILD, filled, flip

JOURNAL = "pages/.scratch-00000.0123456789abcdef/journal.jsonl"
PAGES = "pages/part-00000.0123456789abcdef.parquet"


def worked_on(root: Path) -> Store:
    """A root with a champion, a frozen split, a pin, an unfinished crawl, a crawled page, and what is none of these."""
    store = filled(root)
    prepare_root(store)
    others = {JOURNAL: b"{}", PAGES: b"page", "registry/cards/000001.md": b"card", "notes.txt": b"mine"}
    for name, data in others.items():
        store.write_bytes(name, data)
    return store


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_an_emptied_root_gets_back_what_nothing_computes_again(tmp_path: Path) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    before = files(root)
    done = back_up(store, copy)
    assert (done.files, done.present, done.damaged) == (len(files(to)) - 1, 0, {})
    assert done.bytes == sum(len(data) for name, data in files(to).items() if name != "root.json")
    assert back_up(store, copy).files == 0, "nothing has changed"
    shutil.rmtree(root)
    restore(copy, store)
    champion, frozen = read_champion(store), read_frozen(store)
    assert champion is not None
    assert frozen is not None
    assert missing_files(store, read_version(store, champion.version)) == []
    assert all(store.exists(name) for name in frozen.articles)
    assert pinned_builds(store) == [BUILD]
    left_out = before.keys() - files(root).keys()
    other_shard = {name for name in before if name.startswith("documents/part-00001")}
    assert left_out == {PAGES, "notes.txt", *other_shard}
    assert files(root).items() <= before.items()


def test_pages_are_copied_where_asked_for_and_a_restore_replaces_nothing(tmp_path: Path) -> None:
    store, copy = worked_on(tmp_path / "root"), Store(str(tmp_path / "copy"))
    back_up(store, copy, pages=True)
    store.delete(PAGES)
    save_version(store, Version(2, "", "2026-W02", BUILD, None, {}, "", {}, {}, {}))
    store.write_bytes("registry/cards/000001.md", b"written since")
    assert restore(copy, store).files == 1
    assert store.read_bytes(PAGES) == b"page"
    assert store.read_bytes("registry/cards/000001.md") == b"written since"
    assert back_up(store, copy).files == 2, "the new version and the card"
    assert copy.read_bytes("registry/cards/000001.md") == b"written since"


@pytest.mark.parametrize("kind", ["shard", "record", "manifest"])
def test_damage_never_replaces_a_good_copy(tmp_path: Path, kind: str) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    store, copy = worked_on(root), Store(str(to))
    frozen = read_frozen(store)
    assert frozen is not None
    (shard,) = frozen.articles
    name = {"shard": shard, "record": shard.replace(".parquet", ".json"), "manifest": f"builds/{BUILD}.json"}[kind]
    if kind == "manifest":
        back_up(store, copy)
    good = files(to).get(name)
    flip(root / name)
    with pytest.raises(StorageError, match=rf"{name} is damaged and was not copied: "):
        backup_command(to=str(to), root=str(root))
    assert files(to).get(name) == good


def test_the_commands_say_what_they_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, to = tmp_path / "root", tmp_path / "copy"
    worked_on(root)
    backup_command(to=str(to), root=str(root))
    shutil.rmtree(root)
    restore_command(copy=str(to), root=str(root))
    saved, back = capsys.readouterr().out.splitlines()
    assert saved.endswith(f" bytes copied to {to}; 0 were there")
    assert back == saved.replace(str(to), str(root))
    with pytest.raises(StorageError, match="does not exist"):
        restore_command(copy=str(tmp_path / "nowhere"), root=str(root))


@pytest.mark.parametrize("place", ["root", "root/copy"])
def test_a_copy_in_the_root_itself_is_refused(tmp_path: Path, place: str) -> None:
    store = worked_on(tmp_path / "root")
    before = files(tmp_path / "root")
    with pytest.raises(StorageError, match=r"is in the root .*, and lost with it: expected another place"):
        back_up(store, Store(str(tmp_path / place)))
    assert files(tmp_path / "root") == before


def test_nothing_is_restored_from_what_is_no_backup(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    with pytest.raises(StorageError, match=r"music' has no root\.json and no builds: expected the folder"):
        restore_command(copy=str(tmp_path / "music"), root=str(tmp_path / "root"))
    assert not (tmp_path / "root").exists()
