"""Files are read for their digests once a process: the check before a run asks for them, and the run again."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tasks.sources.records import RecordsSource
from tasks.sources.settings import RecordsSettings


def settle(file: Path) -> None:
    """Let the file have lain still for a minute."""
    before = time.time_ns() - 60_000_000_000
    os.utime(file, ns=(before, before))


def digests(file: Path) -> list[str]:
    return [part.digest for part in RecordsSource(RecordsSettings(paths=(str(file),))).partitions()]


def test_a_file_that_has_not_changed_is_digested_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"title": "Ada", "lead": "Ada was."}) + "\n")
    settle(file)
    opened: list[Path] = []
    real = Path.open

    def noted(path: Path, *given: Any, **more: Any) -> Any:
        opened.append(path)
        return real(path, *given, **more)

    monkeypatch.setattr(Path, "open", noted)
    first = digests(file)
    assert file in opened
    opened.clear()
    assert digests(file) == first
    assert file not in opened


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    """It can change within one tick of its clock, and keep its size."""
    file = tmp_path / "a.jsonl"
    for _ in range(20):
        file.write_text(json.dumps({"title": "Ada", "lead": "Ada was."}) + "\n")
        first = digests(file)
        file.write_text(json.dumps({"title": "Bob", "lead": "Bob was."}) + "\n")
        assert digests(file) != first
