"""URLs that wait: in which order they are given out, and how few of them are anything but bytes."""

import gc
from pathlib import Path

import pyarrow as pa
import pytest

from tasks.crawl import shard_crawl
from tasks.fetching.queues import Backlog, HostQueues, UrlList
from tasks.fetching.visit import Visit
from tests.tasks.fetching.loopback_server import LoopbackServer, answer, crawl, local_journal


def test_urls_are_distinct_and_in_order() -> None:
    urls = UrlList(pa.array(["http://b.test/1", "http://a.test/2", "http://b.test/1", "http://a.test/10"]))
    assert list(urls) == ["http://a.test/10", "http://a.test/2", "http://b.test/1"]
    assert (len(urls), urls[1]) == (3, "http://a.test/2")
    assert list(UrlList(pa.array([], pa.string()))) == []


def test_origins_come_by_what_was_never_fetched_then_by_their_size() -> None:
    fetched = {"http://a.test/1": 5.0, "http://c.test/1": 9.0, "http://c.test/2": 3.0}
    urls = UrlList(
        pa.chunked_array(
            [[*fetched, "http://b.test/1", "https://b.test/1", "https://b.test/2", "http://skipped.test/"]]
        )
    )
    wanted = [place for place, url in enumerate(urls) if "skipped" not in url]
    backlog = Backlog(urls, wanted, lambda url: fetched.get(url, 0.0))
    given = [(origin, backlog.urls(start, stop)) for origin, start, stop in backlog.origins()]
    assert given == [
        ("https://b.test", ["https://b.test/1", "https://b.test/2"]),
        ("http://b.test", ["http://b.test/1"]),
        ("http://c.test", ["http://c.test/2", "http://c.test/1"]),
        ("http://a.test", ["http://a.test/1"]),
    ]
    assert len(backlog) == 6
    assert not list(Backlog(urls, [], lambda url: 0.0).origins())


def test_few_visits_exist_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    gc.freeze()  # `gc.get_objects` names only what is made from here on: a long test run holds millions of objects
    most = 0
    take = HostQueues.take

    def counted(self: HostQueues[Visit], now: float) -> tuple[str, Visit] | None:
        nonlocal most
        most = max(most, sum(type(each) is Visit for each in gc.get_objects()))
        return take(self, now)

    monkeypatch.setattr(HostQueues, "take", counted)
    rules = answer(b"User-agent: *\nDisallow: /private\n", Content_Type="text/plain")
    urls = [f"http://a.test/{'private/' if n % 2 else ''}{n}" for n in range(600)]
    with LoopbackServer({"/robots.txt": rules, **{f"/{n}": answer() for n in range(0, 600, 2)}}) as server:
        rows = crawl(server, urls, local_journal(tmp_path))
    assert [rows[url]["reason"] for url in urls] == [None, "robots_disallowed"] * 300
    assert most < 100  # some thirty ahead of their turn, what is under way, and what is being released


def test_origins_are_begun_with_few_at_a_time_and_hosts_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_crawl, "ORIGINS", 3)
    monkeypatch.setattr(shard_crawl, "WAITING", 6)
    known: list[int] = []
    take = HostQueues.take

    def counted(self: HostQueues[Visit], now: float) -> tuple[str, Visit] | None:
        known.append(len(self))
        return take(self, now)

    monkeypatch.setattr(HostQueues, "take", counted)
    urls = [f"http://h{host}.test/{n}" for host in range(60) for n in range(2)]
    with LoopbackServer({"/0": answer(), "/1": answer(b"", "301 Moved", Location="http://h0.test/0")}) as server:
        rows = crawl(server, urls, local_journal(tmp_path), connections=2)
    assert [row["reason"] for row in rows.values()] == [None] * 120
    assert max(known) < 30
