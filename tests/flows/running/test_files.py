"""A deployment's parameters name files below its folder and the operator's, by whatever way."""

from pathlib import Path
from typing import Any

import pytest

from flows.config import BuildConfig
from flows.running.files import check_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a run works in, with a file, and a link to a file beside the folder."""
    (tmp_path / "secret").write_text("hush")
    (work := tmp_path / "work").mkdir()
    (work / "notes.txt").write_text("a")
    (work / "link").symlink_to(tmp_path / "secret")
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "../secret",
        "link",
        "data/../../secret",
        "file:///etc/passwd",
        "File:/%65tc",
        "/",
    ],
)
def test_a_file_elsewhere_is_refused(folder: Path, text: str) -> None:
    for value in (text, [text], {"paths": [text]}, Path(text), BuildConfig(root=text)):
        with pytest.raises(ValueError, match=r"^sources: .* is outside .*WIKISUM_FILES"):
            check_files({"title": "x", "sources": value}, {})


@pytest.mark.parametrize(
    "value",
    [
        "notes.txt",
        "data",
        "",
        "AC/DC",
        "https://example.org/../etc/passwd",
        "s3://bucket/wikisum?endpoint_override=minio:9000",
        "a\0b",
        "x" * 5000,
        "x" * 300,
        None,
        3,
        ["notes.txt", "https://example.org"],
        BuildConfig(),
    ],
)
def test_what_names_no_file_elsewhere_passes(folder: Path, value: Any) -> None:
    check_files({"sources": value}, {})


def test_the_operator_names_further_folders(folder: Path, tmp_path: Path) -> None:
    given = {"WIKISUM_FILES": f"{tmp_path / 'models'}:{tmp_path / 'corpora'}"}
    check_files({"to": str(tmp_path / "corpora" / "new")}, given)
    check_files({"to": str(folder / "new")}, given)
    with pytest.raises(ValueError, match="is outside"):
        check_files({"to": str(tmp_path / "corpora-of-others")}, given)
