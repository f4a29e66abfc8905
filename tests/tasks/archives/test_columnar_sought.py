"""The shuffle of URLs from hosts to files of the index."""

from typing import Any

import pyarrow as pa
import pytest

from storage.schemas import INDEX_FILES, URL_LOOKUPS
from tasks.archives.columnar_sought import seek
from tests.tasks.fetching.loopback_server import frontier


def index(*tables: list[tuple[str | None, str | None]]) -> Any:
    """Shards of `index_files`: of each table the first and last keys of its files."""
    return [
        (pa.Table.from_pylist([{"first": first, "last": last} for first, last in files], schema=INDEX_FILES.schema),)
        for files in tables
    ]


def found(urls: list[str], *tables: list[tuple[str | None, str | None]]) -> list[tuple[int, str, str]]:
    table = seek(frontier(urls), index=index(*tables), shard=7)
    assert table.schema.equals(URL_LOOKUPS.schema)
    assert set(table.column("host_shard").to_pylist()) <= {7}
    return [(row["file"], row["key"], row["url"]) for row in table.to_pylist()]


def test_url_goes_to_the_file_of_each_table_that_may_have_its_key() -> None:
    urls = ["http://c.test/", "https://www.a.test/X", "http://a.test/x", "http://z.test/"]
    first = [("test,a)/", "test,b)/z"), ("test,c)/", "test,c)/")]
    second = [("test,b)/", "test,z)/")]
    assert found(urls, first, second) == [
        (0, "test,a)/x", "http://a.test/x"),
        (0, "test,a)/x", "https://www.a.test/X"),
        (1, "test,c)/", "http://c.test/"),
        (2, "test,c)/", "http://c.test/"),
        (2, "test,z)/", "http://z.test/"),
    ]


def test_overlapping_and_unknown_files_are_all_asked() -> None:
    files: list[tuple[str | None, str | None]] = [("a", "z"), (None, None), ("test,b)/", "z"), ("", "")]
    assert found(["http://a.test/"], files) == [(0, "test,a)/", "http://a.test/"), (1, "test,a)/", "http://a.test/")]


def test_refused_and_repeated_urls_are_looked_up_once_or_not_at_all() -> None:
    rows = frontier(["http://a.test/", "http://a.test/", "http://b.test/"]).to_pylist()
    rows[2]["drop_reason"] = "mirror_host"
    table = seek(pa.Table.from_pylist(rows, schema=frontier([]).schema), index=index([("a", "z")]), shard=7)
    assert table.column("url").to_pylist() == ["http://a.test/"]


@pytest.mark.parametrize("tables", [(), ([],), ([("x", "z")],)])
def test_nothing_is_sought_where_no_file_may_have_it(tables: Any) -> None:
    assert found(["http://a.test/"], *tables) == []
