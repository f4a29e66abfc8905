"""What `wikisum doctor` says of a root, also of one that an earlier commit wrote and this one continues."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.tiny_runs import PROJECT, TINY
from flows.doctor import examine
from storage.builds import latest_build, save_build
from storage.errors import StorageError
from storage.inventory import FORMAT, FORMAT_FILE, take_stock
from storage.recipes import read_record, save_record
from storage.sealed import seal
from storage.store import Store
from tasks.engine.provenance import running_code
from tests.end_to_end.faults import build

BEFORE = "8c00272f"  # the commit before `doctor`; there is no released tag yet


def diagnosis(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    examine(str(root), Console())
    return capsys.readouterr().out


def test_an_empty_root_and_a_newer_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(str(tmp_path))
    inventory = take_stock(store)
    assert diagnosis(tmp_path, capsys).splitlines() == [
        f"root {tmp_path}: format 3, id {inventory.id}, builds: 0, versions of models: 0",
        "No build has finished here: `wikisum build --dry-run` says what one would do.",
    ]
    store.write_bytes(FORMAT_FILE, seal({"format": FORMAT + 1}))
    with pytest.raises(StorageError, match=f"has format {FORMAT + 1}, and this version of wikisum reads format"):
        examine(str(tmp_path), Console())


def git(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.mark.integration
@pytest.mark.slow
def test_a_root_of_an_earlier_commit_is_explained_and_continued(
    tmp_path: Path, tiny_environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    if git("cat-file", "-e", f"{BEFORE}^{{commit}}").returncode:
        pytest.skip(f"this checkout has no history: commit {BEFORE} is missing")
    earlier, root = tmp_path / "earlier", tmp_path / "data"
    assert git("clone", "--quiet", "--shared", "--no-checkout", str(PROJECT), str(earlier)).returncode == 0
    assert git("-C", str(earlier), "checkout", "--quiet", BEFORE).returncode == 0

    def corpus(project: Path) -> str:
        command = [sys.executable, "-m", "flows", "corpus", "--root", str(root), *TINY]
        done = subprocess.run(command, cwd=project, env=tiny_environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    corpus(earlier)
    said = diagnosis(root, capsys)
    assert f"root {root}: format 2, without identity, builds: 1, versions of models: 0" in said
    assert f", commit {BEFORE}" in said
    assert "setting extraction.rescue_below is 0.95, which is not taken here" in said  # of an extractor that is gone
    corpus(PROJECT)
    assert "Every stage is done: nothing is left to compute." in diagnosis(root, capsys)


@pytest.mark.integration
@pytest.mark.slow
def test_settings_that_this_version_does_not_take_are_named(
    undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(undisturbed, tmp_path / "data")
    store = Store(str(root))
    build = latest_build(store)
    assert build is not None
    assert "not taken here" not in diagnosis(root, capsys)
    config = {**build.config, "gone": {"since": 1}, "seed": -1}
    save_build(store, replace(build, config=config))
    said = diagnosis(root, capsys)
    assert "setting gone is {'since': 1}, which is not taken here: no such setting; docs/upgrading.md lists" in said
    assert "setting seed is -1, which is not taken here: " in said


@pytest.mark.integration
@pytest.mark.slow
def test_what_another_version_of_a_library_made_is_named_and_made_again(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(undisturbed, tmp_path / "data")
    store = Store(str(root))
    assert "other versions of libraries" not in diagnosis(root, capsys)
    for file in sorted(root.glob("documents/*.json")):
        record = read_record(store, f"documents/{file.name}")
        save_record(store, replace(record, code={**record.code, "trafilatura": "1.0"}))
    change = f"trafilatura 1.0 -> {running_code()['trafilatura']}"
    assert f"documents was made with other versions of libraries that decide it: {change}\n" in diagnosis(root, capsys)
    assert "computing" not in build(root, tiny_environment, tmp_path / "plain")
    said = build(root, tiny_environment, tmp_path / "asked", "--recompute-changed-libraries")
    computed = [line.partition(" - ")[2] for line in said.splitlines() if ": computing" in line]
    new = f"is new: {running_code()['trafilatura']!r}"
    assert computed == [
        f"documents: computing 2 of 2: note trafilatura {new}",
        f"reports: computing 1 of 1: setting counts.documents.notes.trafilatura {new}",  # which shows it
    ]
    assert "other versions of libraries" not in diagnosis(root, capsys)
    assert "computing" not in build(root, tiny_environment, tmp_path / "again")
