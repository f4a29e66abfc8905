"""The command and the flow `export` on a small corpus."""

import subprocess
import sys
from pathlib import Path

import pytest

from flows.export import export
from tests.tasks.exchange import corpus_root

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "root"
    corpus_root.make_corpus(root)
    return root


def command(*options: str) -> "subprocess.CompletedProcess[str]":
    call = [sys.executable, "-m", "flows", "export", *options]
    return subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, check=False)


def test_the_command_says_how_much_it_would_write(root: Path, tmp_path: Path) -> None:
    done = command("--root", str(root), "--to", str(tmp_path / "to"), "--columns", "summary,urls", "--dry-run")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("4 articles: train 3 (files: 1), ")
    assert second == f"dry run: nothing was written to {tmp_path / 'to'}"
    assert not (tmp_path / "to").exists()


def test_the_command_stops_with_one_line(root: Path, tmp_path: Path) -> None:
    done = command("--root", str(root), "--to", str(root), "--dry-run")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"wikisum export stopped: {root} holds 'articles' and no export: expected an empty or new folder"
    )


def test_the_flow_exports(root: Path, tmp_path: Path, prefect_server: None) -> None:
    assert export(str(root), str(tmp_path / "to"), page_text="all").startswith("4 articles in 4 files, ")
    assert (tmp_path / "to/export.json").is_file()
    with pytest.raises(ValueError, match="page_text: Input should be 'licensed', 'free', 'all' or 'none', got 'some'"):
        export(str(root), str(tmp_path / "other"), page_text="some")
