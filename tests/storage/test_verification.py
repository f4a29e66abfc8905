"""Verification finds damage that nobody reads, sets it aside, says how far it is, and goes on after an interruption."""

import json
from pathlib import Path

import pytest

from storage.builds import LATEST, Build, latest_build, save_build
from storage.errors import StorageError
from storage.recipes import find_record, save_record
from storage.store import Store
from storage.verification import JOURNAL, VerificationProgress, verify
from tests.storage.test_directories import FILE, KEY, NAME, published
from tests.storage.test_store import documents, record_of


def filled(root: Path) -> Store:
    """Two shards, a model, and a build that names them."""
    store = Store(str(root))
    records = [record_of(store, documents([0, number]), number) for number in range(2)]
    for record in records:
        save_record(store, record)
    model = published(store)
    stages = {"documents": {str(record.shard): record.path for record in records}}
    save_build(store, Build("20260101-000001-abcdef", "", {}, stages, {NAME: model.path}, {}))
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
    read = [path for path in described(tmp_path) if "builds" not in path.parts]
    told: list[VerificationProgress] = []
    found = verify(store, repair=True, progress=told.append)
    size = sum(path.stat().st_size for path in read)
    assert (found.files, found.bytes, found.damaged) == (len(read), size, {}) and len(read) == 6
    assert (told[0].of_files, told[0].of_bytes) == (6, size)
    assert (told[-1].files, told[-1].bytes) == (6, size)
    line = str(VerificationProgress(2, 6, 5_000_000, 25_000_000, 2e6, 1))
    assert line == "2 of 6 files, 5.0 of 25.0 MB at 2.0 MB/s, about 10 s left; 1 damaged"
    assert not store.exists(JOURNAL)


@pytest.mark.parametrize("number", range(8))
def test_one_byte_flipped_in_any_file_is_found(tmp_path: Path, number: int) -> None:
    store = filled(tmp_path)
    path = described(tmp_path)[number]
    name = path.relative_to(tmp_path).as_posix()
    flip(path)
    found = verify(store, repair=False)
    expected = [name, LATEST] if name.startswith("builds/2") else [name]  # then the pointer names no build either
    assert list(found.damaged) == expected


def test_damage_is_set_aside_so_that_the_next_build_computes_it(tmp_path: Path) -> None:
    store = filled(tmp_path)
    shard, model = sorted((tmp_path / "documents").glob("*.parquet"))[1], tmp_path / NAME / KEY / FILE
    flip(shard)
    flip(model)
    (tmp_path / LATEST).write_bytes(b"{}")
    found = verify(store, repair=True)
    assert sorted(found.damaged) == [LATEST, f"documents/{shard.name}", f"{NAME}/{KEY}/{FILE}"]
    assert [path.name for path in (shard, model) if path.with_name(f"{path.name}.damaged").exists()] == [
        shard.name,
        FILE,
    ]
    key = shard.name.split(".")[1]
    assert find_record(store, store.sizes("documents"), "documents", 1, key) is None
    assert json.loads((tmp_path / LATEST).read_text()) == {"build": "20260101-000001-abcdef"}
    again = verify(store, repair=True).damaged
    assert list(again) == ["builds/20260101-000001-abcdef.json"], "it names what is to be computed again"
    assert "which is missing (2 files in all)" in again["builds/20260101-000001-abcdef.json"]


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    store = filled(tmp_path)
    flip(next((tmp_path / "documents").glob("*.parquet")))
    before = {path: path.read_bytes() for path in described(tmp_path)}
    assert len(verify(store, repair=False).damaged) == 1
    assert {path: path.read_bytes() for path in described(tmp_path)} == before


def test_an_interrupted_pass_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path)
    first, second = sorted((tmp_path / "documents").glob("*.parquet"))
    flip(first)
    reading = Store.reading

    def failing(self: Store, name: str) -> object:
        if name.endswith(second.name):
            raise StorageError("the store is away")
        return reading(self, name)

    with monkeypatch.context() as patched, pytest.raises(StorageError, match="the store is away"):
        patched.setattr(Store, "reading", failing)
        verify(store, repair=False, workers=1)
    read: list[str] = []

    def noting(self: Store, name: str) -> object:
        read.append(name)
        return reading(self, name)

    monkeypatch.setattr(Store, "reading", noting)
    found = verify(store, repair=False)
    assert f"documents/{first.name}" not in read
    assert (found.files, list(found.damaged)) == (6, [f"documents/{first.name}"])


def test_a_damaged_pointer_to_the_latest_build_heals(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = filled(tmp_path)
    for damage in (b"", b"{}", b"garbage", b'{"build": 3}', b'{"build": "none of that name"}', b"[]", b"\xff\xfe"):
        store.write_bytes(LATEST, damage)
        build = latest_build(store)
        assert build is not None
        assert build.name == "20260101-000001-abcdef"
        assert "does not name a build" in caplog.text
        caplog.clear()
    store.write_bytes("builds/20260101-000001-abcdef.json", b"{}")
    with pytest.raises(StorageError, match=r"builds/latest\.json .* names no build that can be read"):
        latest_build(store)
