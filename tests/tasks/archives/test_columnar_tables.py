"""The files of a table: in a folder, in an object store, and named by a list on the web."""

import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest

from tasks.archives.columnar import find_tables
from tasks.fetching.http import Patience
from tasks.fetching.settings import CommonCrawlSettings, CrawlSettings
from tests.storage.object_store import BUCKET, uri
from tests.tasks.archives.index_table import LIST, Captured, ColumnarCrawl, crawl_folder, write_part
from tests.tasks.fetching.loopback_server import FAST, LoopbackServer, answer

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.columnar.PATIENCE", Patience(20.0, 1, 0.01, 0.05))


def settings(*tables: str) -> CrawlSettings:
    common = {"tables": tables, "data_url": "http://data.cc.test/data", "requests_per_second": 10_000.0}
    return CrawlSettings.model_validate({**FAST, "common_crawl": common})


def names(chosen: CrawlSettings, server: LoopbackServer | None = None) -> list[list[str]]:
    tables = find_tables(chosen, {} if server is None else {"*.test": server.address})
    return [[file.name for file in table] for table in tables]


def write_tables(folder: Path) -> None:
    for subset in ("warc", "crawldiagnostics", "robotstxt"):
        for part in range(2):
            write_part(
                folder / crawl_folder(subset=subset) / f"part-{part:05d}.c000.gz.parquet", [Captured("http://a.test/")]
            )
    (folder / crawl_folder() / "_SUCCESS").write_text("")
    (folder / crawl_folder() / "notes.txt").write_text("no table")


PARTS = [
    f"{crawl_folder(subset=subset)}/part-0000{part}.c000.gz.parquet"
    for subset in ("crawldiagnostics", "warc")
    for part in range(2)
]


def test_folder_gives_its_captures_of_pages_and_redirects(tmp_path: Path) -> None:
    write_tables(tmp_path)
    assert names(settings(str(tmp_path), str(tmp_path / crawl_folder()))) == [
        PARTS,
        ["part-00000.c000.gz.parquet", "part-00001.c000.gz.parquet"],
    ]


def test_changed_file_is_another_one(tmp_path: Path) -> None:
    path = write_part(tmp_path / "a.parquet", [Captured("http://a.test/")])
    before = find_tables(settings(str(tmp_path)), {})[0].recipe()
    os.utime(path, ns=(1, 1))
    assert find_tables(settings(str(tmp_path)), {})[0].recipe() != before


def test_object_store_is_listed_too(s3: int, tmp_path: Path) -> None:
    write_tables(tmp_path)
    store, _ = pafs.FileSystem.from_uri(uri(s3, "tables"))
    pafs.copy_files(str(tmp_path), f"{BUCKET}/tables", destination_filesystem=store)
    assert names(settings(uri(s3, "tables"))) == [PARTS]


@pytest.mark.parametrize("compressed", [True, False])
def test_list_on_the_web_names_the_files(compressed: bool, tmp_path: Path) -> None:
    write_tables(tmp_path)
    with ColumnarCrawl() as server:
        server.put_tables(tmp_path)
        if not compressed:
            lines = gzip.decompress(bytes(server.pages[f"/data/{LIST}"]).partition(b"\r\n\r\n")[2])  # type: ignore[arg-type]
            server.pages[f"/data/{LIST}"] = answer(lines, Content_Type="text/plain")
        found = find_tables(settings(f"http://data.cc.test/data/{LIST}"), {"*.test": server.address})
    assert [str(file) for file in found[0]] == [f"http://data.cc.test/data/{name}" for name in PARTS]


LISTS: dict[str, tuple[bytes, type[Exception], str]] = {
    "404": (answer(b"", "404 Not Found"), FileNotFoundError, "paths.gz answered HTTP 404; expected a list"),
    "HTML": (answer(b"<html>Please log in</html>"), ValueError, "has the line '<html>Please'; expected a file name"),
    "elsewhere": (answer(b"../../etc/passwd.parquet"), ValueError, "has the line '../../etc/passwd.parquet'"),
    "another host": (answer(b"//169.254.169.254/x.parquet"), ValueError, "expected a file name"),
    "bytes": (answer(b"\xff\xfe\x00"), ValueError, "is not a list of file names"),
    "no gzip": (answer(b"\x1f\x8bxx"), ValueError, "is not a list of file names"),
    "cut gzip": (answer(gzip.compress(b"a.parquet\nb.parquet")[:-9]), ValueError, "is not a list of file names"),
    "two gzips": (answer(gzip.compress(b"a.parquet\n") * 2), ValueError, "is not a list of file names"),
    "only other files": (answer(b"a/subset=robotstxt/x.parquet\nb.gz"), FileNotFoundError, "no Parquet file of subset"),
    "empty": (answer(b""), FileNotFoundError, "has no Parquet file of subset=warc; expected a folder"),
    "away": (b"", ConnectionError, "paths.gz could not be read: connection_reset"),
}


@pytest.mark.parametrize("name", LISTS)
def test_list_that_is_none_is_an_error_that_names_it(name: str) -> None:
    reply, kind, message = LISTS[name]
    with (
        LoopbackServer({f"/data/{LIST}": reply}) as server,
        pytest.raises(kind, match=r"common_crawl\.tables") as raised,
    ):
        names(settings(f"http://data.cc.test/data/{LIST}"), server)
    assert message in str(raised.value)


def test_table_of_redirects_alone_is_refused(tmp_path: Path) -> None:
    write_part(tmp_path / crawl_folder(subset="crawldiagnostics") / "a.parquet", [Captured("http://a.test/")])
    with pytest.raises(FileNotFoundError, match="has no Parquet file of subset=warc"):
        names(settings(str(tmp_path)))


@pytest.mark.parametrize("named", ["nowhere", "", "s4://bucket/x", "http://"])
def test_table_that_is_nowhere_is_an_error_that_names_it(named: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((FileNotFoundError, ValueError), match=f"'{named}'"):
        find_tables(settings(named), {})


def test_both_kinds_of_index_are_refused() -> None:
    with pytest.raises(ValueError, match="indexes and tables are both set: expected one"):
        CrawlSettings.model_validate({"common_crawl": {"tables": ["x"], "indexes": ["http://index.cc.test/i"]}})


def test_keys_of_builds_without_tables_stay_and_the_wanted_time_counts() -> None:
    """Where a table lies decides nothing: its files are arguments of the stages that read them."""
    assert CommonCrawlSettings(near="2016").recipe() == CommonCrawlSettings().recipe() == {}
    plain = {"indexes": [], "data_url": "https://data.commoncrawl.org/"}
    assert CommonCrawlSettings(tables=("somewhere",)).recipe() == plain
    assert CommonCrawlSettings(tables=("elsewhere",), near="2016").recipe() == {**plain, "near": "2016"}
