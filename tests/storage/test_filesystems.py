"""Paths and URIs as filesystems: what no filesystem takes, and how long Google's client may be silent."""

from pathlib import Path

import pyarrow.fs as pafs
import pytest

from storage.errors import StorageError
from storage.filesystems import open_filesystem
from storage.store import Store


@pytest.mark.parametrize("root", ["data\udcff", "a\0b", "s3://bucket/\udcff"])
def test_a_root_that_no_file_can_hold_is_refused_by_name(root: str) -> None:
    with pytest.raises(StorageError, match="cannot be opened: expected text that UTF-8 can write, without NUL"):
        Store(root)


@pytest.mark.parametrize(
    ("uri", "asked"),
    [
        ("gs://bucket/x", "gs://bucket/x?retry_limit_seconds=10"),
        ("gcs://bucket/x?scheme=http", "gcs://bucket/x?scheme=http&retry_limit_seconds=10"),
        ("gs://bucket/x?retry_limit_seconds=600", "gs://bucket/x?retry_limit_seconds=600"),
        ("s3://bucket/x", "s3://bucket/x"),
    ],
)
def test_google_s_client_gives_up_soon_unless_the_uri_says_otherwise(
    uri: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Recorder:
        @staticmethod
        def from_uri(named: str) -> tuple[None, str]:
            seen.append(named)
            return None, "bucket/x"

    monkeypatch.setattr(pafs, "FileSystem", Recorder)
    assert open_filesystem(uri) == (None, "bucket/x")
    assert seen == [asked]


def test_a_path_is_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    filesystem, path = open_filesystem("data/x")
    assert isinstance(filesystem, pafs.LocalFileSystem)
    assert path == str(tmp_path / "data/x")
