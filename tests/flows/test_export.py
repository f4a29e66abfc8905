"""The command and the flow `export` on a small corpus."""

from pathlib import Path

import pytest

from flows.export import export
from tests.flows.command_line import commands_in_this_process
from tests.tasks.exchange import corpus_root

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "root"
    corpus_root.make_corpus(root)
    return root


def test_the_command_says_how_much_it_would_write_or_stops_with_one_line(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "to"
    with commands_in_this_process(monkeypatch, capfd) as run:
        done = run("export", "--root", str(root), "--to", str(to), "--columns", "summary,urls", "--dry-run")
        refused = run("export", "--root", str(root), "--to", str(root), "--dry-run")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("4 articles: train 3 (files: 1), ")
    assert second == f"dry run: nothing was written to {to}"
    assert not to.exists()
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == (
        f"wikisum export stopped: {root} holds 'articles' and no export: expected an empty or new folder"
    )


def test_the_flow_exports(root: Path, tmp_path: Path, prefect_server: None) -> None:
    assert export(str(root), str(tmp_path / "to"), page_text="all").startswith("4 articles in 4 files, ")
    assert (tmp_path / "to/export.json").is_file()
    with pytest.raises(ValueError, match="page_text: Input should be 'licensed', 'free', 'all' or 'none', got 'some'"):
        export(str(root), str(tmp_path / "other"), page_text="some")
