"""Records say which code made them; keys and data do not depend on it."""

import json
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from tasks.engine import shard
from tasks.engine.provenance import running_code
from tests.patience import PATIENCE
from tests.tasks.engine.test_stage import build


def git(folder: Path, *arguments: str) -> str:
    call = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout.strip()


def test_a_checkout_names_its_commit_and_whether_files_are_changed(tmp_path: Path) -> None:
    checkout, below = tmp_path / "checkout", tmp_path / "checkout" / "below"
    below.mkdir(parents=True)
    assert "commit" not in running_code(tmp_path)
    git(checkout, "init", "-q")
    (checkout / "file").write_text("one")
    git(checkout, "add", "file")
    git(checkout, "commit", "-q", "-m", "one")
    git(checkout, "tag", "-m", "named", "v1")
    running_code.cache_clear()
    commit = git(checkout, "rev-parse", "HEAD")
    assert running_code(checkout)["commit"] == commit
    assert "commit" not in running_code(below), "somebody else's checkout around it"
    (checkout / "file").write_text("two")
    running_code.cache_clear()
    assert running_code(checkout)["commit"] == f"{commit}-dirty"


def test_records_name_the_code_and_nothing_else_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, dict[str, bytes]] = {}
    for commit in ("one", "two"):
        monkeypatch.setattr(shard, "running_code", lambda commit=commit: {"version": "1", "commit": commit})
        root = tmp_path / commit
        build(root)
        files[commit] = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.*")}
        records = [name for name in files[commit] if name.endswith(".json")]
        assert len(records) == 11
        for name in records:
            fields = json.loads(files[commit].pop(name))
            assert fields["code"] == {"version": "1", "commit": commit}
            files[commit][name] = str(fields.get("written", fields.get("digest"))).encode()
    assert files["one"] == files["two"]
    monkeypatch.setattr(shard, "running_code", lambda: {"commit": "three"})
    assert build(tmp_path / "one")[1] == []


def test_the_libraries_that_decide_content_stand_beside_the_code() -> None:
    code = running_code()
    for name in ("torch", "trafilatura", "sentencepiece", "scikit-learn"):
        assert code[name] == metadata.version(name)
    assert code["python"] == platform.python_version()
