"""Redirects of the columnar index: which are taken, what is looked up next, and that every chain of them ends."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.schemas import CAPTURES, INDEX_FILES
from tasks.archives.columnar import find_tables, look_up_in_file
from tasks.archives.columnar_sought import seek
from tasks.archives.replay import Replay
from tasks.fetching.settings import CrawlSettings
from tests.tasks.archives.index_table import Captured, crawl_folder, write_part
from tests.tasks.archives.test_columnar_look_up import looked_up
from tests.tasks.fetching.loopback_server import FAST, frontier

URL = "http://a.test/x"
NEWER = "2027-01-01T00:00:00Z"


def redirect(url: str, target: str | None, **fields: Any) -> Captured:
    return Captured(url, status=301, redirect=target, **fields)


@pytest.mark.parametrize(
    ("capture", "target"),
    [
        (redirect(URL, "http://B.test/there#part"), "http://b.test/there"),
        (redirect(URL, "https://www.a.test/X/"), None),  # another spelling of the URL itself: it has the same key
        (redirect(URL, "/there"), None),
        (redirect(URL, "mailto:x@b.test"), None),
        (redirect(URL, None), None),
        (Captured(URL, status=404, redirect="http://b.test/"), None),
    ],
)
def test_file_without_pages_gives_redirects_that_lead_to_another_url(
    capture: Captured, target: str | None, tmp_path: Path
) -> None:
    write_part(tmp_path / "pages" / "a.parquet", [capture])
    (row,) = looked_up(tmp_path / "pages", [URL])
    assert (row["redirect"], row["reason"]) == (target, None)
    failures = tmp_path / "all" / crawl_folder(subset="crawldiagnostics") / "a.parquet"
    write_part(failures, [capture])
    write_part(tmp_path / "all" / crawl_folder() / "a.parquet", [])
    rows = looked_up_in(tmp_path / "all", [URL])
    assert [row["redirect"] for row in rows] == ([] if target is None else [target])


def test_redirect_to_another_url_comes_before_a_newer_one_to_another_spelling(tmp_path: Path) -> None:
    """Sites answer http by https, which the index has under the same key, and that address by another one."""
    there = redirect("https://a.test/x", "http://b.test/there", offset=1)
    write_part(tmp_path / "a.parquet", [redirect(URL, "https://a.test/x", at=NEWER), there])
    (row,) = looked_up(tmp_path, [URL])
    assert (row["offset"], row["redirect"]) == (1, "http://b.test/there")


def test_tables_before_2019_name_no_targets(tmp_path: Path) -> None:
    path = write_part(tmp_path / "a.parquet", [redirect(URL, "http://b.test/", offset=3)])
    table = pq.read_table(path)
    pq.write_table(table.remove_column(table.schema.get_field_index("fetch_redirect")), path)
    (row,) = looked_up(tmp_path, [URL])
    assert (row["offset"], row["redirect"]) == (3, None)


INDEX: Any = [(pa.Table.from_pylist([{"first": None, "last": None}], schema=INDEX_FILES.schema),)]


def captured(*rows: tuple[str, str | None, str | None]) -> pa.Table:
    """Captures of URLs with their redirect and reason."""
    names = ("url", "redirect", "reason")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=CAPTURES.schema)


def sought(urls: list[str], *passes: pa.Table) -> list[str]:
    """The URLs of the next pass, after passes with these captures."""
    earlier = {"earlier": pa.concat_tables(passes[:-1])} if passes[:-1] else {}
    captures = {"captures": passes[-1]} if passes else {}
    found: list[str] = seek(frontier(urls), index=INDEX, shard=7, **captures, **earlier).column("url").to_pylist()
    return found


A, B, C, D = (f"http://{letter}.test/" for letter in "abcd")


def test_targets_of_redirects_are_sought_next() -> None:
    assert sought([A], captured((A, B, None), (A, C, None))) == [B, C]


def test_what_was_looked_up_is_not_sought_again() -> None:
    first = captured((A, B, None))
    assert sought([A, B], first) == []
    assert sought([A], first, captured((B, A, None))) == []
    # The second pass looked B up and there was no capture; the third does not look it up again
    assert sought([A, C], captured((A, B, None), (C, D, None)), captured((D, B, None))) == []


def test_redirect_of_a_url_with_a_page_is_not_followed() -> None:
    assert sought([A], captured((A, B, None), (A, None, None))) == []
    assert sought([A], captured((A, B, None), (A, None, "too_large"))) == [B]


def test_a_page_is_read_before_a_newer_redirect() -> None:
    """The two captures that an index has of a URL, the redirect a year newer."""
    place = {"url": A, "host_shard": 0, "file": "http://data.cc.test/a", "decoded": False, "length": 9}
    rows = [
        {**place, "offset": 1, "captured_at": datetime(2026, 1, 1, tzinfo=UTC), "redirect": B},
        {**place, "offset": 2, "captured_at": datetime(2025, 1, 1, tzinfo=UTC)},
    ]
    with Replay(pa.Table.from_pylist(rows, schema=CAPTURES.schema), CrawlSettings()) as replay:
        first = replay.first(A)
    assert first is not None
    assert (first.offset, first.redirect) == (2, False)


SITES = [f"http://s{number}.test/" for number in range(8)]


def looked_up_in(folder: Path, urls: list[str]) -> list[dict[str, Any]]:
    """The captures of URLs in all files of a table, in one pass."""
    return next_pass(folder, sought_everywhere(folder, urls)).to_pylist()


def sought_everywhere(folder: Path, urls: list[str], *passes: pa.Table) -> pa.Table:
    ((files),) = find_tables(CrawlSettings.model_validate({"common_crawl": {"tables": [str(folder)]}}), {})
    rows = [{"first": None, "last": None}] * len(files)
    index: Any = [(pa.Table.from_pylist(rows, schema=INDEX_FILES.schema),)]
    earlier = {"earlier": pa.concat_tables(passes[:-1])} if passes[:-1] else {}
    return seek(frontier(urls), index=index, shard=7, **({"captures": passes[-1]} if passes else {}), **earlier)


def next_pass(folder: Path, lookups: pa.Table) -> pa.Table:
    settings = CrawlSettings.model_validate({**FAST, "common_crawl": {"tables": [str(folder)]}})
    ((files),) = find_tables(settings, {})
    tables = []
    for number, file in enumerate(files):
        of_file = pa.Table.from_pylist(
            [row for row in lookups.to_pylist() if row["file"] == number], schema=lookups.schema
        )
        tables.append(look_up_in_file(of_file, settings, file=file, connect_to={}))
    return pa.concat_tables(tables)


def reachable(url: str, moves: Mapping[str, str], pages: set[str]) -> set[str]:
    """All URLs that a chain of redirects from a URL leads to, itself included."""
    seen: set[str] = set()
    while url not in seen:
        seen.add(url)
        if url in pages or url not in moves:
            break
        url = moves[url]
    return seen


@given(
    moves=st.dictionaries(st.sampled_from(SITES), st.sampled_from(SITES), max_size=8),
    pages=st.sets(st.sampled_from(SITES), max_size=3),
    urls=st.sets(st.sampled_from(SITES), min_size=1, max_size=4),
)
def test_every_url_of_a_chain_is_looked_up_once_and_loops_end(
    moves: dict[str, str], pages: set[str], urls: set[str]
) -> None:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_part(folder / crawl_folder() / "a.parquet", [Captured(url) for url in sorted(pages)])
        failures = folder / crawl_folder(subset="crawldiagnostics") / "a.parquet"
        write_part(failures, [redirect(url, target) for url, target in sorted(moves.items())])
        passes: list[pa.Table] = []
        looked: list[str] = []
        while (lookups := sought_everywhere(folder, sorted(urls), *passes)).num_rows:
            looked += sorted(set(lookups.column("url").to_pylist()))
            passes.append(next_pass(folder, lookups))
            assert len(passes) <= len(SITES)
    assert len(looked) == len(set(looked))
    assert set(looked) == set().union(*(reachable(url, moves, pages) for url in urls))
    found = pa.concat_tables(passes).to_pylist()
    assert {row["url"] for row in found if row["redirect"] is None} == pages & set(looked)
