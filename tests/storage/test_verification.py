"""Verification finds damage that nobody reads, sets it aside, says how far it is, and goes on after an interruption."""

import os
import re
import time
import uuid
from pathlib import Path

import pytest

from flows.verify import verify_root
from storage.builds import Build, latest_build, named_by_latest, pin_build, pin_path, point_to, save_build, unpin_build
from storage.errors import StorageError
from storage.inventory import CHAMPION, FORMAT_FILE, LATEST, write_off
from storage.recipes import find_record, save_record
from storage.registry import (
    FROZEN,
    Champion,
    FrozenSplit,
    Version,
    promote_version,
    read_champion,
    save_frozen,
    save_version,
)
from storage.sealed import seal
from storage.store import Store
from storage.verification import JOURNAL, Verification, verify
from tests.storage.object_store import uri
from tests.storage.test_directories import FILE, KEY, NAME, published
from tests.storage.test_store import documents, record_of

BUILD = "20260101-000001-abcdef"
MANIFEST = f"builds/{BUILD}.json"
VERSION = "registry/versions/000001.json"


def filled(root: Path) -> Store:
    """Two shards, a model, and a build that names them."""
    store = Store(str(root))
    records = [record_of(store, documents([0, number]), number) for number in range(2)]
    for record in records:
        save_record(store, record)
    model = published(store)
    stages = {"documents": {str(record.shard): record.path for record in records}}
    save_build(store, Build(BUILD, "", {}, stages, {NAME: model.path}, {}))
    pin_build(store, BUILD)
    save_version(store, Version(1, "", "2026-W01", BUILD, None, {NAME: model.path}, records[0].path, {}, {}, {}))
    promote_version(store, 1, at="monday", why="the first")
    save_frozen(store, FrozenSplit(BUILD, 1, [records[0].path], []))
    return store


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def described(root: Path) -> list[Path]:
    """Every file that verification reads, or holds against what is there."""
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_a_whole_root_is_found_whole_and_the_progress_says_how_fast(tmp_path: Path) -> None:
    store = filled(tmp_path)
    read = [path for path in described(tmp_path) if not {"builds", "registry", FORMAT_FILE} & set(path.parts)]
    told: list[str] = []
    found = verify(store, repair=True, progress=told.append)
    size = sum(path.stat().st_size for path in read)
    assert (found.files, found.bytes, found.damaged) == (len(read), size, {}) and len(read) == 6
    megabytes = f"{size / 1e6:,.1f}"
    assert f" of 6 files, 0.0 of {megabytes} MB at " in told[0]
    speed = r"[\d,]+\.\d MB/s"
    assert re.fullmatch(rf"6 of 6 files, {megabytes} of {megabytes} MB at {speed}, about 0 s left; 0 damaged", told[-1])
    assert not store.exists(JOURNAL)


@pytest.mark.parametrize("number", range(12))
def test_one_byte_flipped_in_any_file_is_found(tmp_path: Path, number: int) -> None:
    store = filled(tmp_path)
    path = [path for path in described(tmp_path) if path.name != FORMAT_FILE][number]
    name = path.relative_to(tmp_path).as_posix()
    flip(path)
    found = verify(store, repair=False)
    implied = {MANIFEST: {LATEST, CHAMPION}, VERSION: {CHAMPION}, f"{NAME}/{KEY}.json": {CHAMPION}}
    assert found.damaged.keys() == {name} | implied.get(name, set()), "what names it is useless too"


def test_damage_is_set_aside_so_that_the_next_build_computes_it(tmp_path: Path) -> None:
    store = filled(tmp_path)
    shard, model = sorted((tmp_path / "documents").glob("*.parquet"))[1], tmp_path / NAME / KEY / FILE
    flip(shard)
    flip(model)
    (tmp_path / LATEST).write_bytes(b"{}")
    found = verify(store, repair=True)
    assert sorted(found.damaged) == [LATEST, f"documents/{shard.name}", f"{NAME}/{KEY}/{FILE}", CHAMPION]
    assert found.advice[LATEST] == f"mended: it names {BUILD}"
    assert [path.name for path in (shard, model) if path.with_name(f"{path.name}.damaged").exists()] == [
        shard.name,
        FILE,
    ]
    key = shard.name.split(".")[1]
    assert find_record(store, store.sizes("documents"), "documents", 1, key) is None
    assert named_by_latest(store).name == BUILD
    again = verify(store, repair=True).damaged
    assert list(again) == [MANIFEST, CHAMPION], "they name what is to be computed again"
    assert "which is missing (3 in all)" in again[MANIFEST]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    store = filled(tmp_path)
    flip(next((tmp_path / "documents").glob("*.parquet")))
    store.write_bytes(JOURNAL, seal(vars(Verification(after="zzz", begun=time.time()))))
    before = {path: path.read_bytes() for path in described(tmp_path)}
    assert len(verify(store, repair=False).damaged) == 1, "it continues no pass either"
    assert {path: path.read_bytes() for path in described(tmp_path)} == before


def test_an_interrupted_pass_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path)
    first = min((tmp_path / "documents").glob("*.parquet"))
    flip(first)
    for path in described(tmp_path):
        os.utime(path, (1.7e9, 1.7e9))
    interrupted(store, monkeypatch, at=FILE)
    read: list[str] = []

    def noting(self: Store, name: str) -> object:
        read.append(name)
        return reading(self, name)

    reading = Store.reading
    monkeypatch.setattr(Store, "reading", noting)
    found = verify(store, repair=True)
    assert read == [f"{NAME}/{KEY}/{FILE}"], "what is left"
    assert (found.earlier, found.files) == (4, 6)
    assert sorted(found.damaged) == [MANIFEST, f"documents/{first.name}", CHAMPION, FROZEN]


def test_a_damaged_pointer_to_the_latest_build_heals(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = filled(tmp_path)
    for damage in (b"", b"{}", seal({"build": 3}), seal({"build": "none of that name"}), b"[]", b"\xff\xfe"):
        store.write_bytes(LATEST, damage)
        build = latest_build(store)
        assert build is not None
        assert build.name == BUILD
        assert "does not name a build" in caplog.text
        caplog.clear()
    store.write_bytes(MANIFEST, b"{}")
    with pytest.raises(
        StorageError, match=r"builds/latest\.json below .* does not name a build: .*; nor can another build be read"
    ):
        latest_build(store)


def interrupted(store: Store, monkeypatch: pytest.MonkeyPatch, *, at: str) -> None:
    """Begin a pass that ends before it reads a file."""
    reading = Store.reading

    def failing(self: Store, name: str) -> object:
        if name.endswith(at):
            raise RuntimeError("killed")
        return reading(self, name)

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(Store, "reading", failing)
        verify(store, repair=True, workers=1)
    assert store.exists(JOURNAL)


def test_damage_done_since_an_interruption_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path)
    first, second = sorted((tmp_path / "documents").glob("*.parquet"))
    interrupted(store, monkeypatch, at=second.name)
    flip(first)
    assert f"documents/{first.name}" in verify(store, repair=True).damaged
    interrupted(store, monkeypatch, at=FILE)
    second.unlink()
    assert f"documents/{second.name}" in verify(store, repair=True).damaged


def test_a_pass_of_another_day_begins_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path)
    first, second = sorted((tmp_path / "documents").glob("*.parquet"))
    old = time.time() - 2 * 86_400
    for path in described(tmp_path):
        os.utime(path, (old, old))
    monkeypatch.setattr("time.time", lambda: old + 3600)
    interrupted(store, monkeypatch, at=second.name)
    monkeypatch.undo()
    flip(first)
    os.utime(first, (old, old))  # as a disk does it
    found = verify(store, repair=True)
    assert (f"documents/{first.name}" in found.damaged, found.files, found.earlier) == (True, 6, 0)


def test_a_file_that_could_not_be_read_is_read_again_by_the_pass_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)
    for path in described(tmp_path):
        os.utime(path, (1.7e9, 1.7e9))
    first = min((tmp_path / "documents").glob("*.parquet"))
    content = first.read_bytes()
    first.unlink()
    first.mkdir()
    interrupted(store, monkeypatch, at=FILE)
    first.rmdir()
    first.write_bytes(content)
    os.utime(first, (1.7e9, 1.7e9))
    found = verify(store, repair=True)
    assert (found.earlier, found.damaged, found.advice) == (3, {}, {})


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"after": 3}',
        b'{"after": "zzz", "files": 6, "bytes": 9, "damaged": {}, "seconds": 1}',
        seal({"after": "zzz", "begun": 1.0}),
        seal({"surprise": 1}),
        seal({"after": "zzz", "begun": 9e12}),
    ],
)
def test_a_journal_that_cannot_be_trusted_begins_a_new_pass(tmp_path: Path, journal: bytes) -> None:
    store = filled(tmp_path)
    flip(next((tmp_path / "documents").glob("*.parquet")))
    store.write_bytes(JOURNAL, journal)
    found = verify(store, repair=True)
    assert (len(found.damaged), found.files) == (1, 6), "of what names the damaged file, its record was read already"
    assert not store.exists(JOURNAL)


def test_a_damaged_manifest_is_set_aside_once_and_said_to_be_no_file_that_a_build_computes(tmp_path: Path) -> None:
    store = filled(tmp_path)
    save_build(store, Build("20260102-000001-abcdef", "", {}, {}, {}, {}))
    unpin_build(store, BUILD)
    write_off(store, [CHAMPION], "as if there had been none")
    store.delete(CHAMPION)
    flip(tmp_path / MANIFEST)
    _, told = verify_root(str(tmp_path), dry_run=True)
    assert "set aside" not in told
    _, told = verify_root(str(tmp_path), dry_run=False)
    line, last = told.splitlines()
    assert line.startswith(f"{MANIFEST}: ")
    assert line.endswith("; set aside; until it is pruned, pruning deletes nothing that is older")
    assert last.endswith(" s; 1 damaged")
    assert (tmp_path / f"{MANIFEST}.damaged").exists()
    assert verify_root(str(tmp_path), dry_run=False)[0] == {}


def test_damage_in_the_registry_is_told_with_what_to_do(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.write_bytes(FROZEN, seal({"build": BUILD, "seed": 1, "articles": ["articles/gone"], "paragraphs": []}))
    store.write_bytes(pin_path("20250101-000001-abcdef"), seal({"build": "20250101-000001-abcdef"}))
    store.write_bytes(pin_path(BUILD), b"")
    store.write_bytes("registry/versions/000002.json", store.read_bytes(VERSION))
    found = verify(store, repair=True)
    assert found.damaged[FROZEN] == "it names articles/gone, which is missing (2 in all)"
    assert found.damaged[pin_path("20250101-000001-abcdef")] == "there is no such build"
    assert found.advice[pin_path(BUILD)] == f"pin it again: wikisum prune --pin {BUILD}"
    assert found.damaged["registry/versions/000002.json"].endswith("is the file of version 1")
    assert found.damaged.keys() == found.advice.keys()
    assert len(found.damaged) == 4
    store.write_bytes(CHAMPION, seal({"version": 9, "history": []}))
    found = verify(store, repair=False)
    assert "no version 9" in found.damaged[CHAMPION]
    found = verify(store, repair=True)
    assert "it has not the 1 changes of the champion" in found.damaged[CHAMPION]
    assert found.advice[CHAMPION] == "mended: it names version 1"
    assert read_champion(store) == Champion(1, [{"version": 1, "at": "monday", "why": "the first"}])


def test_a_mistyped_root_is_refused_and_not_made(tmp_path: Path) -> None:
    for dry_run in (True, False):
        with pytest.raises(StorageError, match=r"root '.*/typo' does not exist"):
            verify_root(str(tmp_path / "typo"), dry_run=dry_run)
    assert list(tmp_path.iterdir()) == []


def test_an_object_store_is_verified_alike(s3: int) -> None:
    root = uri(s3, uuid.uuid4().hex)
    with pytest.raises(StorageError, match="does not exist"):
        verify_root(root, dry_run=True)
    store = Store(root)
    record = record_of(store, documents([0, 1]), 0)
    save_record(store, record)
    save_build(store, Build(BUILD, "", {}, {"documents": {"0": record.path}}, {}, {}))
    save_build(store, Build("20260102-000001-abcdef", "", {}, {}, {}, {}))
    point_to(store, BUILD)
    assert verify(store, repair=True).damaged == {}
    store.write_bytes(MANIFEST, b"{}")
    found = verify(store, repair=True)
    assert found.advice[LATEST] == "mended: it names 20260102-000001-abcdef"
    assert sorted(store.sizes("builds")) == [
        "20260101-000001-abcdef.json.damaged",
        "20260102-000001-abcdef.json",
        "latest.json",
    ]
    store.write_bytes(JOURNAL, seal({**vars(Verification(after="zzz", begun=time.time() - 60))}))
    store.write_bytes(record.path, b"short")
    assert list(verify(store, repair=True).damaged) == [record.path]
    assert verify(store, repair=True).damaged == {}


def test_in_so_many_weeks_every_file_is_read_once(tmp_path: Path) -> None:
    store = filled(tmp_path)
    flip(next(path for path in described(tmp_path) if path.suffix == ".parquet"))
    parts = [verify(store, repair=False, part=(number, 3)) for number in range(3)]
    assert sum(part.files for part in parts) == verify(store, repair=False).files == 6
    assert [len(part.damaged) for part in parts].count(1) == 1


def test_a_pass_over_another_part_is_not_continued(tmp_path: Path) -> None:
    store = filled(tmp_path)
    begun = Verification(after="zzz", files=6, begun=time.time(), part="0/2")
    store.write_bytes(JOURNAL, seal(vars(begun)))
    assert verify(store, repair=False).earlier == 0
