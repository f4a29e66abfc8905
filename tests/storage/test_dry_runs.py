"""Dry runs write nothing, so that they work where nothing can be; verification goes past what it cannot read."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.prune import prune
from flows.verify import verify_root
from storage.builds import pin_path
from storage.errors import RootBusyError, StorageError
from storage.inventory import CHAMPION, FORMAT_FILE
from storage.leases import LOCK
from storage.registry import FROZEN
from storage.root import reading_root, root_lock
from storage.sealed import seal
from storage.store import Store
from storage.verification import verify
from tests.storage.object_store import uri
from tests.storage.test_directories import FILE, KEY, NAME
from tests.storage.test_verification import BUILD, MANIFEST, VERSION, filled, flip

MODEL = f"{NAME}/{KEY}/{FILE}"
SPENT = "spending/2026-11/" + "a" * 32 + "-01234567.json"


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Mount a folder over itself so that nobody, root included, can write there; skip where that is not allowed."""
    if subprocess.run(["mount", "--bind", folder, folder], capture_output=True).returncode:
        pytest.skip("this user cannot mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True, capture_output=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True, capture_output=True)


def test_dry_runs_work_on_a_disk_that_takes_no_writes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    store = filled(root)
    with read_only(root):
        with pytest.raises(StorageError):
            store.write_bytes("probe", b"")
        assert verify_root(str(root), dry_run=True)[0] == {}
        assert prune.fn(str(root), 1, dry_run=True).startswith("would prune 0 files")


def test_dry_runs_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no mount can show it: whatever would change a file fails."""
    filled(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a dry run writes")

    for name in ("writing", "rename", "delete", "delete_folder"):
        monkeypatch.setattr(Store, name, refuse)
    verify_root(str(tmp_path), dry_run=True)
    prune.fn(str(tmp_path), 1, dry_run=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert not (tmp_path / LOCK).exists()


def test_a_dry_run_waits_for_no_run_and_is_no_run_itself(tmp_path: Path) -> None:
    store = filled(tmp_path)
    with root_lock(store), pytest.raises(RootBusyError, match=rf"process {os.getpid()} on "):
        verify_root(str(tmp_path), dry_run=True)
    with reading_root(store):
        verify_root(str(tmp_path), dry_run=True)
        with pytest.raises(RootBusyError, match="another process"), root_lock(store):
            pass
    with root_lock(store):
        pass


@pytest.mark.integration
def test_a_dry_run_on_an_object_store_writes_nothing(s3: int) -> None:
    store = Store(uri(s3, "dry-run"))
    store.write_bytes(FORMAT_FILE, seal({"format": 2}))
    store.write_bytes("documents/x", b"")
    before = {name: info.mtime for name, info in store.files().items()}
    assert verify_root(store.root, dry_run=True)[0] == {}
    prune.fn(store.root, 1, dry_run=True)
    assert {name: info.mtime for name, info in store.files().items()} == before
    with root_lock(store), pytest.raises(RootBusyError, match=f"process {os.getpid()} on "):
        verify_root(store.root, dry_run=True)


NAMES = ["shard", "record", MODEL, f"{NAME}/{KEY}.json", MANIFEST, pin_path(BUILD), VERSION, CHAMPION, FROZEN, SPENT]


@pytest.mark.parametrize("kind", ["folder", "pipe", "mode 600"])
@pytest.mark.parametrize("name", NAMES)
def test_verification_goes_on_after_a_file_that_cannot_be_read(
    tmp_path: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path)
    store.write_bytes(SPENT, seal({"search": 1.0}))
    first, second = sorted((tmp_path / "documents").glob("*.parquet"))
    flip(second)  # which comes later, and is found
    name = {"shard": f"documents/{first.name}", "record": f"documents/{first.stem}.json"}.get(name, name)
    if kind == "mode 600":
        reading = Store._stream

        def refused(self: Store, path: str) -> object:
            if path == name:
                raise PermissionError(13, "Permission denied", self.path(path))
            return reading(self, path)

        monkeypatch.setattr(Store, "_stream", refused)
    else:
        (tmp_path / name).unlink()
        (tmp_path / name).mkdir() if kind == "folder" else os.mkfifo(tmp_path / name)
    for repair in (False, True):
        found = verify(store, repair=repair)
        named = set(found.damaged) | {word for problem in found.damaged.values() for word in problem.split(", ")}
        assert any(name in text for text in named), "by its own name, or by what names it"
        assert f"documents/{second.name}" in found.damaged or repair
    assert kind == "mode 600" or not (tmp_path / name).is_file() or name == CHAMPION, "left as it is, or mended"


def test_only_read_errors_of_the_machine_name_the_file(tmp_path: Path) -> None:
    """A program of another user, as one who may read the folder and not the file."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    filled(tmp_path)
    shard = min((tmp_path / "documents").glob("*.parquet"))
    shard.chmod(0o600)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    program = (
        "import os, sys; from flows.verify import verify_root\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "damaged, said = verify_root(sys.argv[1], dry_run=True)\n"
        "print(*damaged, sep='\\n'); sys.exit('left as it is' not in said)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, [f"documents/{shard.name}"]), done.stderr


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "-1.0", "-Infinity", "true", '"1"', "null"])
def test_amounts_that_are_none_are_named(tmp_path: Path, amount: str) -> None:
    store = filled(tmp_path)
    store.write_bytes(SPENT, seal({"search": json.loads(amount)}))
    found = verify(store, repair=True)
    assert list(found.damaged) == [SPENT]
    assert "search were spent: expected a number of at least 0" in found.damaged[SPENT]


def test_a_damaged_file_of_what_was_spent_is_named(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.write_bytes(SPENT, seal({"search": 1.0, "cores": 0.5}))
    assert verify(store, repair=True).damaged == {}
    flip(tmp_path / SPENT)
    assert list(verify(store, repair=True).damaged) == [SPENT]
