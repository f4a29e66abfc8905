"""Faults of a root, its backup and the database: when they are seen, and what is said."""

import os
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prefect.settings import PREFECT_HOME, temporary_settings

from flows.running.checks import BACKUP, DATABASE_BYTES, large_database, root_faults
from storage.backup import back_up
from storage.registry import save_version
from storage.store import Store
from tests.storage.test_registry import version
from tests.storage.test_verification import BUILD, filled


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A root with a build and a version, and the variable that names its backup."""
    monkeypatch.setenv(BACKUP, str(tmp_path / "copy"))
    return filled(tmp_path / "root")


def texts(root: Store) -> list[str]:
    return [fault.text for fault in root_faults(root)]


def age(root: Store, days: float) -> str:
    """Let all files of a root be of some days ago; return that day."""
    made = datetime.now(UTC) - timedelta(days=days)
    for name in root.files():
        os.utime(root.path(name), (made.timestamp(),) * 2)
    return f"{made:%Y-%m-%d}"


def test_a_backup_is_old_only_if_it_lacks_something_old(root: Store, tmp_path: Path) -> None:
    age(root, 7.9)
    assert texts(root) == []
    day = age(root, 8.1)
    (never,) = texts(root)
    assert never.startswith(f"the backup {tmp_path}/copy, which has no generation, lacks ")
    assert never.endswith(f" files of {root.root} since {day}: wikisum backup")
    generation = back_up(root, Store(str(tmp_path / "copy"))).generation
    age(root, 400)
    assert texts(root) == []  # nothing is new: no generation is missing
    save_version(root, version(2))
    day = age(root, 9)
    assert texts(root) == [
        f"the backup {tmp_path}/copy, whose newest generation is {generation}, lacks 1 files of {root.root} since "
        f"{day}: wikisum backup"
    ]


def test_a_backup_that_cannot_be_read_is_named(root: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BACKUP, "ftp://host/copy")
    (fault,) = texts(root)
    assert fault.startswith("the age of the backup ftp://host/copy is unknown: root ")


def test_each_lost_file_is_a_fault_of_its_own(root: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BACKUP)
    listed = sorted(name for name in root.files() if name.startswith("registry/versions/"))
    root.delete(listed[0])
    (first,) = root_faults(root)
    assert first.text.startswith(f"{listed[0]} below {root.root}: it is gone, and the root's inventory lists it: ")
    assert list(root_faults(root)) == [first]
    root.delete(f"builds/{BUILD}.json")
    (both,) = root_faults(root)
    assert "(2 in all)" in both.text
    assert both.of != first.of


def test_a_large_database_is_named_with_its_size(tmp_path: Path) -> None:
    file, log = tmp_path / "prefect.db", tmp_path / "prefect.db-wal"
    with temporary_settings({PREFECT_HOME: tmp_path}):
        assert list(large_database(None)) == []
        for path, size in ((file, DATABASE_BYTES - 1), (log, 1)):
            path.touch()
            os.truncate(path, size)
        assert list(large_database(None)) == []
        os.truncate(log, 2)
        (fault,) = large_database(None)
    assert fault.of == socket.gethostname()
    assert fault.text == (
        f"the database of Prefect sqlite+aiosqlite:///{file} has 2.1 GB, expected at most 2.1: delete old runs and "
        "events"
    )
