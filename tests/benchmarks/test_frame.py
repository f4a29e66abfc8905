"""The frame of the benchmarks: options from a function's parameters, and work in a process of its own."""

import os
from pathlib import Path
from typing import Literal

import pytest

from benchmarks.frame import OptionError, apart, command, fastest

calls: list[dict[str, object]] = []


def main(
    folder: Path,
    pages: int = 5,
    half: Literal[0, 1] | None = None,
    names: tuple[str, ...] = ("a",),
    dry_run: bool = False,
) -> int:
    if pages < 0:
        raise OptionError(f"expected --pages of 0 or more, got {pages}")
    calls.append({"folder": folder, "pages": pages, "half": half, "names": tuple(names), "dry_run": dry_run})
    return 3


def called(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr("sys.argv", ["main", *arguments])
    with pytest.raises(SystemExit) as ended:
        command(main, "What it measures.")
    return ended.value.code


def test_parameters_are_options(monkeypatch: pytest.MonkeyPatch) -> None:
    calls.clear()
    assert called(monkeypatch, "here") == 3
    assert called(monkeypatch, "here", "--pages", "7", "--half", "1", "--names", "b", "c", "--dry-run") == 3
    assert calls == [
        {"folder": Path("here"), "pages": 5, "half": None, "names": ("a",), "dry_run": False},
        {"folder": Path("here"), "pages": 7, "half": 1, "names": ("b", "c"), "dry_run": True},
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: folder"),
        (["here", "--half", "2"], "invalid choice: 2"),
        (["here", "--pages", "many"], "invalid int value: 'many'"),
        (["here", "--pages", "-1"], "expected --pages of 0 or more, got -1"),
    ],
)
def test_mistakes_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert called(monkeypatch, *arguments) == 2
    assert complaint in capsys.readouterr().err


def test_work_in_another_process_comes_back_or_says_why_not() -> None:
    assert apart(os.path.join, "a", "b") == "a/b"
    with pytest.raises(SystemExit, match=r"^posix:listdir failed:\n[\s\S]*FileNotFoundError"):
        apart(os.listdir, "/no/such/folder")


def test_the_least_of_the_rounds_counts_and_rounds_alternate() -> None:
    order: list[str] = []
    ticks = iter([0.0, 5.0, 10.0, 11.0, 20.0, 22.0, 30.0, 39.0])
    functions = {name: (lambda name=name: order.append(name)) for name in ("ours", "peer")}
    assert fastest(functions, 2, lambda: next(ticks)) == {"ours": 2.0, "peer": 1.0}
    assert order == ["ours", "peer", "ours", "peer"]
