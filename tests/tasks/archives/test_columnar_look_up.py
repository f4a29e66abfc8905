"""Look-ups in files of the columnar index, against the rule of the CDX look-up and against a plain search."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from storage.schemas import CAPTURES, URL_LOOKUPS
from tasks.archives.columnar import find_tables, look_up_in_file
from tasks.fetching.http import Patience
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import surt_key
from tests.storage.object_store import BUCKET, uri
from tests.tasks.archives.index_table import LIST, Captured, ColumnarCrawl, write_part
from tests.tasks.archives.test_common_crawl import CommonCrawl
from tests.tasks.archives.test_common_crawl import looked_up as cdx_look_up
from tests.tasks.archives.test_common_crawl import options as cdx_options
from tests.tasks.fetching.loopback_server import FAST, answer

URL = "http://a.test/x"
DATA = "http://data.cc.test/data/"


def looked_up(
    where: Path | str, urls: Iterable[str], connect_to: dict[str, str] | None = None, **common: Any
) -> list[dict[str, Any]]:
    """The captures of URLs in the only file of a table."""
    common = {"tables": [str(where)], "data_url": DATA, "requests_per_second": 10_000.0, **common}
    settings = CrawlSettings.model_validate({**FAST, "common_crawl": common})
    ((file,),) = find_tables(settings, connect_to or {})
    rows = [{"url": url, "key": surt_key(url), "host_shard": 5, "file": 0} for url in urls]
    lookups = pa.Table.from_pylist(rows, schema=URL_LOOKUPS.schema)
    table = look_up_in_file(lookups, settings, file=file, connect_to=connect_to or {})
    assert table.schema.equals(CAPTURES.schema)
    found: list[dict[str, Any]] = table.to_pylist()
    assert {row["host_shard"] for row in found} <= {5}
    return found


def offsets(rows: list[dict[str, Any]]) -> list[int]:
    return [row["offset"] for row in rows]


def test_capture_says_where_the_record_is(tmp_path: Path) -> None:
    write_part(tmp_path / "a.parquet", [Captured(URL, offset=7, length=99), Captured("http://b.test/")])
    (row,) = looked_up(tmp_path, [URL, "http://a.test/none"])
    assert row["captured_at"].isoformat() == "2026-01-02T03:04:05+00:00"
    assert {name: row[name] for name in ("url", "file", "offset", "decoded", "length", "reason")} == {
        "url": URL,
        "file": f"{DATA}crawl-data/CC-MAIN-2026-43/segments/1.2/warc/a.warc.gz",
        "offset": 7,
        "decoded": False,
        "length": 99,
        "reason": None,
    }


def test_every_spelling_of_a_url_gets_its_captures(tmp_path: Path) -> None:
    write_part(tmp_path / "a.parquet", [Captured("https://www.a.test/X/", offset=1), Captured("http://a.test/y")])
    urls = [URL, "https://a.test/x", "http://a.test/y"]
    assert [(row["url"], row["offset"]) for row in looked_up(tmp_path, urls)] == [
        (URL, 1),
        ("https://a.test/x", 1),
        ("http://a.test/y", 0),
    ]


YEARS = [Captured(URL, at=f"20{year}-01-01T00:00:00Z", offset=year) for year in (24, 26, 23, 25)]


def from_cdx_server(server: CommonCrawl, captures: list[Captured], tmp_path: Path, near: str) -> list[int]:
    """Offsets of the captures that the look-up in a CDX server gives."""
    for one in captures:
        stamp = one.at[:19].replace("-", "").replace("T", "").replace(":", "")
        server.add(
            URL,
            b"",
            timestamp=stamp,
            status=str(one.status),
            offset=str(one.offset),
            **({"truncated": one.truncated} if one.truncated else {}),
        )
    table = cdx_look_up(server, tmp_path, [URL], cdx_options(server, common_crawl={"near": near}))
    found: list[int] = table.column("offset").to_pylist()
    return found


MOVED = Captured(URL, at="2020-01-01T00:00:00Z", status=301, offset=2)
CUT = Captured(URL, at="2027-01-01T00:00:00Z", truncated="length", offset=9)
GONE = Captured(URL, at="2027-01-01T00:00:00Z", status=404, offset=9)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("captures", "near", "expected"),
    [
        (YEARS, "", [26, 25]),
        (YEARS, "202312", [24, 23]),
        (YEARS, "2022", [23, 24]),
        ([*YEARS, GONE], "", [26, 25]),
        ([*YEARS, CUT], "", [26, 25]),
        ([GONE, MOVED], "", [2]),
        ([Captured(URL, truncated="time", offset=1), CUT], "", [9]),
    ],
)
def test_captures_are_chosen_as_from_a_cdx_server(
    captures: list[Captured], near: str, expected: list[int], tmp_path: Path
) -> None:
    write_part(tmp_path / "a.parquet", captures)
    assert offsets(looked_up(tmp_path, [URL], near=near)) == expected
    with CommonCrawl() as server:
        assert from_cdx_server(server, captures, tmp_path, near) == expected


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"file": "../../etc/passwd"}, "index_bad_answer"),
        ({"file": "//169.254.169.254/x"}, "index_bad_answer"),
        ({"offset": -1}, "index_bad_answer"),
        ({"offset": None}, "index_bad_answer"),
        ({"length": 0}, "index_bad_answer"),
        ({"file": None}, "index_bad_answer"),
        ({"status": None}, "index_bad_answer"),
        ({"length": 2_000_000_000}, "too_large"),
    ],
)
def test_row_that_cannot_be_right_is_refused(fields: dict[str, Any], reason: str, tmp_path: Path) -> None:
    write_part(tmp_path / "alone" / "a.parquet", [Captured(URL, **fields)])
    (row,) = looked_up(tmp_path / "alone", [URL])
    assert (row["reason"], row["file"] is None) == (reason, reason == "index_bad_answer")
    write_part(tmp_path / "both" / "a.parquet", [Captured(URL, **fields), Captured(URL, at="2020-01-01T00:00:00Z")])
    assert None in {row["reason"] for row in looked_up(tmp_path / "both", [URL])}


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("statistics", [True, False])
def test_any_order_finds_what_a_plain_search_finds(
    is_sorted: bool, statistics: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.archives.columnar.BATCH_ROWS", 16)  # several of a row group
    chance = random.Random(3)
    captures = [
        Captured(
            f"http://{chance.choice('abc')}.test/{chance.randrange(40)}",
            at=f"2026-{1 + number % 12:02d}-{1 + number % 28:02d}T00:00:00Z",
            status=chance.choice([200, 200, 404]),
            offset=number,
        )
        for number in range(300)
    ]
    path = write_part(tmp_path / "a.parquet", captures, rows=37, is_sorted=is_sorted)
    if not statistics:
        pq.write_table(pq.read_table(path), path, row_group_size=37, write_statistics=False)
    urls = [f"http://{letter}.test/{number}" for letter in "abd" for number in range(0, 60, 3)]
    expected: dict[str, list[int]] = {}
    for url in urls:
        of_url = sorted((one for one in captures if one.url == url), key=lambda one: one.at, reverse=True)
        good = [one.offset for one in of_url if one.status == 200]
        if of_url:
            expected[url] = good[:2] or [of_url[0].offset]
    found: dict[str, list[int]] = {}
    for row in looked_up(tmp_path, urls):
        found.setdefault(row["url"], []).append(row["offset"])
    assert len(expected) > 20
    assert found == expected


def test_tables_of_earlier_years_are_read(tmp_path: Path) -> None:
    """Before 2019 there was no content_truncated, and times were written as INT96."""
    path = write_part(tmp_path / "a.parquet", [Captured(URL, offset=3)])
    table = pq.read_table(path)
    table = table.remove_column(table.schema.get_field_index("content_truncated"))
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)
    assert pa.types.is_timestamp(pq.read_schema(path).field("fetch_time").type)
    (row,) = looked_up(tmp_path, [URL])
    assert (row["offset"], row["captured_at"].isoformat()) == (3, "2026-01-02T03:04:05+00:00")


PAGES = [Captured(f"http://a.test/{number:05d}?{'x' * 300}{number * 7919}", offset=number) for number in range(4_000)]


@pytest.mark.integration
def test_only_columns_and_row_groups_that_may_have_a_url_are_asked_for(tmp_path: Path) -> None:
    path = write_part(tmp_path / "table" / "a.parquet", PAGES, rows=400)
    with ColumnarCrawl() as server:
        server.put_tables(tmp_path / "table")
        connect_to = {"*.test": server.address}
        rows = looked_up(f"{DATA}{LIST}", [PAGES[1_234].url], connect_to)
        one, requests = server.bytes_of(".parquet"), len(server.requests)
        server.requests.clear()
        assert looked_up(f"{DATA}{LIST}", [PAGES[1_234].url.replace("01234?", "01234?0")], connect_to) == []
        none = server.bytes_of(".parquet")
    group = pq.ParquetFile(path).metadata.row_group(3)
    sizes = {group.column(n).path_in_schema: group.column(n).total_compressed_size for n in range(group.num_columns)}
    footer = 65_536 + 1
    assert offsets(rows) == [1_234]
    assert none == footer + sizes["url_surtkey"]
    assert none < one < footer + sizes["url_surtkey"] + 5_000 + sizes["url"] / 2
    assert requests <= 6


@pytest.mark.integration
def test_large_columns_come_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.remote_files.PIECE_BYTES", 10_000)
    write_part(tmp_path / "a.parquet", PAGES, rows=2_000)
    with ColumnarCrawl() as server:
        server.put_tables(tmp_path)
        rows = looked_up(f"{DATA}{LIST}", [page.url for page in PAGES[::100]], {"*.test": server.address})
        assert max(size for _, size in server.requests) == 10_000
    assert offsets(rows) == list(range(0, 4_000, 100))


@pytest.mark.integration
def test_file_in_an_object_store_is_read(tmp_path: Path, s3: int) -> None:
    path = write_part(tmp_path / "a.parquet", PAGES, rows=400)
    store, _ = pafs.FileSystem.from_uri(uri(s3, "look-up"))
    pafs.copy_files(str(path), f"{BUCKET}/look-up/a.parquet", destination_filesystem=store)
    assert offsets(looked_up(uri(s3, "look-up"), [page.url for page in PAGES[::50]])) == list(range(0, 4_000, 50))


@pytest.mark.integration
@pytest.mark.parametrize("reply", [answer(b"", "404 Not Found"), answer(b"x" * 70_000), b""])
def test_file_that_the_web_does_not_give_is_named(
    reply: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.archives.remote_files.PATIENCE", Patience(20.0, 1, 0.01, 0.05))
    write_part(tmp_path / "a.parquet", PAGES)
    with ColumnarCrawl() as server:
        server.put_tables(tmp_path)
        server.pages["/data/a.parquet"] = reply
        with pytest.raises(ConnectionError, match=r"data/a\.parquet could not be read: archive_"):
            looked_up(f"{DATA}{LIST}", [URL], {"*.test": server.address})


@pytest.mark.integration
def test_file_that_is_lost_while_it_is_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.remote_files.PATIENCE", Patience(20.0, 1, 0.01, 0.05))
    write_part(tmp_path / "a.parquet", PAGES, rows=400)
    with ColumnarCrawl() as server:
        server.put_tables(tmp_path)
        real = server.pages["/data/a.parquet"]
        gone = answer(b"", "503 Slow Down")
        server.pages["/data/a.parquet"] = lambda e: real(e) if e.hit < 2 else e.send(gone)  # type: ignore[operator]
        with pytest.raises(ConnectionError, match=r"data/a\.parquet could not be read: archive_failed"):
            looked_up(f"{DATA}{LIST}", [PAGES[0].url], {"*.test": server.address})


def test_damaged_column_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = write_part(tmp_path / "a.parquet", PAGES[:100], rows=100)
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 60] = b"\xff" * 60
    path.write_bytes(bytes(content))
    with pytest.raises(Exception, match=r"a\.parquet .*damaged"):
        looked_up(tmp_path, [PAGES[0].url])


def test_file_in_which_nothing_is_sought_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no table")
    assert looked_up(tmp_path, []) == []
