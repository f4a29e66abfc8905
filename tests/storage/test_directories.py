"""Published directories: what belongs to one, and how many processes fetch it at once."""

import os
import shutil
import tempfile
import uuid
from pathlib import Path
from threading import Event

import pytest

from storage.builds import Build, save_build
from storage.directories import (
    SNAPSHOT,
    DirectoryRecord,
    _Snapshots,
    fetch_directory,
    find_directory,
    publish_directory,
    working_directory,
)
from storage.errors import CorruptShardError
from storage.pruning import carry_out, plan_pruning
from storage.sealed import unseal
from storage.store import Store
from tests.storage.object_store import uri

NAME, KEY = "models/ranker", "0123456789abcdef"
FILE = "model.safetensors"


@pytest.fixture
def remote(s3: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A store on an object store, with a temporary folder of the test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Store(uri(s3, uuid.uuid4().hex))


def published(store: Store) -> DirectoryRecord:
    folder = working_directory(store, NAME, KEY)
    (folder / FILE).write_bytes(b"weights")
    return publish_directory(
        store, folder, name=NAME, key=KEY, published=[FILE], settings={}, inputs={}, metrics={}, seconds=1.0
    )


def test_a_directory_made_anew_beside_damaged_files_survives_pruning(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    folder = working_directory(store, NAME, KEY)
    (folder / f"{FILE}.damaged").write_bytes(b"weigh")
    (folder / f".{FILE}.{0:032x}.tmp").write_bytes(b"wei")
    (folder / ".writing-state.json.tmp").write_bytes(b"{")
    record = published(store)
    assert list(record.files) == [FILE]
    save_build(store, Build("20260101-000001-abcdef", "", {}, {}, {NAME: record.path}, {}))
    carry_out(store, plan_pruning(store, 1))
    assert find_directory(store, record.path) == record


def test_a_file_fetched_again_is_replaced_and_not_written_over(remote: Store) -> None:
    record = published(remote)
    path = working_directory(remote, NAME, KEY) / FILE
    path.write_bytes(b"another")
    with path.open("rb") as reading:  # as a process does that loads the model
        assert fetch_directory(remote, record) == path.parent
        assert reading.read() == b"another"
    assert path.read_bytes() == b"weights"
    assert [file.name for file in path.parent.iterdir()] == [FILE]


def test_a_file_that_is_gone_from_an_object_store_is_named(remote: Store) -> None:
    record = published(remote)
    (working_directory(remote, NAME, KEY) / FILE).unlink()
    remote.delete(f"{record.path}/{FILE}")
    with pytest.raises(CorruptShardError, match=r"models/ranker/0123456789abcdef/model\.safetensors is damaged"):
        fetch_directory(remote, record)


def test_checkpoints_that_are_replaced_while_they_are_linked_are_sent_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, folder, location = Store(str(tmp_path / "store")), tmp_path / "work", f"{NAME}/{KEY}/{SNAPSHOT}"
    first, second = folder / "checkpoints" / "step-1", folder / "checkpoints" / "step-2"
    first.mkdir(parents=True)
    (first / "state").write_bytes(b"1")
    (first / "state.damaged").write_bytes(b"0")
    snapshots, link = _Snapshots(store, folder, location), os.link

    def replaced(source: Path, target: Path) -> None:
        link(source, target)
        shutil.copytree(first, second)
        shutil.rmtree(first)

    monkeypatch.setattr(os, "link", replaced)
    snapshots.take(until=Event())
    assert store.sizes(location) == {}
    monkeypatch.undo()
    snapshots.take(until=Event())
    files = unseal(store.read_bytes(f"{location}/manifest.json"))["files"]
    assert list(files) == ["checkpoints/step-2/state"]
    assert store.read_bytes(f"{location}/{files['checkpoints/step-2/state']}") == b"1"


def test_a_snapshot_replaces_a_folder_only_if_it_is_later(tmp_path: Path) -> None:
    store, folder, location = Store(str(tmp_path / "store")), tmp_path / "work", f"{NAME}/{KEY}/{SNAPSHOT}"
    snapshots = _Snapshots(store, folder, location)

    def states(step: int) -> list[str]:
        """What the folder holds after a restart, where it held this checkpoint before."""
        shutil.rmtree(folder, ignore_errors=True)
        write(step, "here")
        snapshots.restore()
        return sorted(path.read_text() for path in folder.rglob("state"))

    def write(step: int, text: str) -> None:
        state = folder / "checkpoints" / f"step-{step}" / "state"
        state.parent.mkdir(parents=True)
        state.write_text(text)

    write(2, "sent")
    snapshots.take(until=Event())
    assert [states(step) for step in (1, 2, 3)] == [["sent"], ["here"], ["here"]]
