"""Which URLs of an article are fetched, and why the others are not."""

from typing import Any

import pyarrow as pa

from storage.schemas import ARTICLES, FRONTIER, SEARCH
from tasks.crawl.frontier import build_frontier
from tasks.engine.hashing import shard_of
from tasks.fetching.settings import CrawlSettings


def articles(**references: list[str]) -> pa.Table:
    rows = [
        {"article_id": name, "title": name, "references": urls, "drop_reason": "dropped" if name == "dropped" else None}
        for name, urls in references.items()
    ]
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def results(*rows: tuple[str, str | None, int, str | None]) -> pa.Table:
    names = ("article_id", "url", "rank", "reason")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=SEARCH.schema)


def build(table: pa.Table, search: pa.Table | None = None, **settings: Any) -> list[tuple[Any, ...]]:
    frontier = build_frontier(table, search, CrawlSettings(**settings), article_shard=3, host_shards=7)
    assert frontier.schema.equals(FRONTIER.schema)
    columns = ("article_id", "url", "provenance", "rank", "drop_reason")
    return [tuple(row[name] for name in columns) for row in frontier.to_pylist()]


def test_citations_before_search_results_each_with_its_fate() -> None:
    cited = ["http://A.test/x#1", "http://a.test/x", "mailto:me@a.test", "nonsense", "http://a.test:22/"]
    found = results(
        ("one", "http://b.test/", 1, None),
        ("one", "http://a.test/x#2", 0, None),
        ("one", "http://b.test", 2, None),
        ("one", None, 3, "query_failed"),
        ("two", "http://b.test/", 0, None),
    )
    assert build(articles(one=cited, two=[], dropped=["http://a.test/"]), found) == [
        ("one", "http://a.test/x", "citation", 0, None),
        ("one", "http://a.test/x", "citation", 1, "duplicate_url"),
        ("one", "mailto:me@a.test", "citation", 2, "bad_scheme"),
        ("one", "nonsense", "citation", 3, "bad_url"),
        ("one", "http://a.test:22/", "citation", 4, "bad_port"),
        ("one", "http://a.test/x", "search", 0, "already_cited"),
        ("one", "http://b.test/", "search", 1, None),
        ("one", "http://b.test/", "search", 2, "duplicate_url"),
        ("two", "http://b.test/", "search", 0, None),
    ]


def test_mirrors_of_the_encyclopedia_are_left_out() -> None:
    cited = [
        "https://en.wikipedia.org/wiki/One",
        "https://web.archive.org/web/2020/https://de.wikipedia.org/wiki/Eins",
        "https://web.archive.org/web/2020/https://news.test/one",
        "https://mirror.test/one",
    ]
    reasons = [row[4] for row in build(articles(one=cited), mirror_hosts=["Wikipedia.org", "mirror.test"])]
    assert reasons == ["mirror_host", "mirror_host", None, "mirror_host"]


def test_shards() -> None:
    table = articles(one=["http://a.test/1", "http://b.test:8080/", "http://www.c.co.uk/", "http://m.c.co.uk/", "bad"])
    rows = build_frontier(table, None, CrawlSettings(), article_shard=3, host_shards=7).to_pylist()
    assert {row["article_shard"] for row in rows} == {3}
    assert [row["host"] for row in rows] == ["a.test", "b.test:8080", "www.c.co.uk", "m.c.co.uk", None]
    domains = ["a.test", "b.test", "c.co.uk", "c.co.uk"]
    assert [row["host_shard"] for row in rows] == [*(shard_of(domain, 7) for domain in domains), 0]


def test_no_articles() -> None:
    assert build(articles()) == []
