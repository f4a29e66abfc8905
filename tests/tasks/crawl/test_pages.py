"""The crawl as a whole: one row per URL, budgets, progress, faults of our own, connection reuse."""

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from storage.schemas import PAGES
from tasks.crawl import shard_crawl
from tasks.fetching.http import Client
from tasks.fetching.progress import CrawlProgress
from tasks.fetching.settings import CrawlSettings
from tests.tasks.fetching.loopback_server import (
    FAST,
    PAGE,
    QUICK,
    LoopbackServer,
    answer,
    crawl,
    crawl_pages,
    frontier,
    local_journal,
)


def test_table_is_sorted_and_has_each_kept_url_once(tmp_path: Path) -> None:
    urls = ["http://b.test/2", "http://a.test/1", "http://b.test/2"]
    table = frontier([*urls, "http://a.test/dropped"])
    reasons = pa.array([None, None, None, "mirror_host"], pa.string())
    table = table.set_column(table.schema.get_field_index("drop_reason"), table.schema.field("drop_reason"), reasons)
    with LoopbackServer({"/1": answer(), "/2": answer()}) as server:
        pages = crawl_pages(
            table,
            None,
            CrawlSettings(**FAST),
            patience=QUICK,
            journal=local_journal(tmp_path),
            connect_to={"*.test": server.address},
            progress=lambda _: None,
        )
    assert pages.schema.equals(PAGES.schema)
    assert pages.column("url").to_pylist() == ["http://a.test/1", "http://b.test/2"]
    assert pages.column("host").to_pylist() == ["a.test", "b.test"]
    assert sorted(server.paths()) == ["/1", "/2"]


def test_empty_frontier(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        assert crawl(server, [], local_journal(tmp_path)) == {}


def test_two_crawls_agree_on_all_but_the_unstable_columns(tmp_path: Path) -> None:
    urls = [f"http://{host}.test/{n}" for host in "abc" for n in range(5)]
    with LoopbackServer({f"/{n}": answer(PAGE + b"%d" % n) for n in range(4)}) as server:
        first, second = (crawl(server, urls, local_journal(tmp_path / name)) for name in "ab")
    for row in [*first.values(), *second.values()]:
        for name in PAGES.unstable:
            del row[name]
    assert list(first.items()) == list(second.items())


@pytest.mark.parametrize("budget", [{"budget_pages": 3}, {"budget_seconds": 0.3}])
def test_budget(budget: dict[str, float], tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(9)]
    with LoopbackServer({f"/{n}": answer() for n in range(9)}) as server:
        rows = crawl(server, urls, local_journal(tmp_path), host_delay_seconds=0.1, **budget)
        reasons = [rows[url]["reason"] for url in urls]
        fetched = reasons.count(None)
        assert reasons == [None] * fetched + ["budget_spent"] * (9 - fetched)
        by_time = "budget_seconds" in budget
        assert fetched < 9 if by_time else fetched == 3
        # What the budget left out is not in the journal: a later run with a larger one fetches it.
        rows = crawl(server, urls, local_journal(tmp_path))
    assert [row["reason"] for row in rows.values()] == [None] * 9
    # What was under way when the time was over was asked for without an answer.
    asked = sorted(set(server.paths()) if by_time else server.paths())
    assert asked == [f"/{n}" for n in range(9)]


def test_progress_adds_up(tmp_path: Path) -> None:
    seen: list[CrawlProgress] = []
    with LoopbackServer({"/1": answer(), "/2": answer()}) as server:
        urls = [f"http://a.test/{n}" for n in (1, 2, 3)]
        crawl(server, urls[:1], local_journal(tmp_path))
        crawl(server, urls, local_journal(tmp_path), progress=seen.append)
    last = seen[-1]
    assert (last.done, last.total, last.ok, dict(last.failed)) == (3, 3, 1, {"http_404": 1})
    assert last.bytes == len(PAGE) + len(b"missing")
    assert last.remaining_seconds == 0.0


def test_fault_of_ours_costs_one_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Client.request

    def broken(self: Client, url: str, **options: object) -> object:
        if url.endswith("/1"):
            raise ZeroDivisionError("a fault of ours")
        return real(self, url, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Client, "request", broken)
    with LoopbackServer({f"/{n}": answer() for n in range(3)}) as server:
        rows = crawl(server, [f"http://a.test/{n}" for n in range(3)], local_journal(tmp_path))
    assert [row["reason"] for row in rows.values()] == [None, "internal_error", None]


def test_row_that_cannot_be_made_costs_one_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shard_crawl.page_row

    def broken(visit: object, *rest: object) -> object:
        if getattr(visit, "url", "").endswith("/1") and not isinstance(rest[0], Exception):
            raise ZeroDivisionError("a fault of ours")
        return real(visit, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(shard_crawl, "page_row", broken)
    with LoopbackServer({f"/{n}": answer() for n in range(3)}) as server:
        rows = crawl(server, [f"http://a.test/{n}" for n in range(3)], local_journal(tmp_path))
    assert [row["reason"] for row in rows.values()] == [None, "internal_error", None]


def test_connection_of_a_host_is_used_again(tmp_path: Path) -> None:
    connections: set[int] = set()
    with LoopbackServer(keep_alive=True) as server:
        for n in range(6):
            server.pages[f"/{n}"] = lambda e: (connections.add(e.sock.getpeername()[1]), e.send(answer()))
        rows = crawl(server, [f"http://a.test/{n}" for n in range(6)], local_journal(tmp_path))
    assert all(row["reason"] is None for row in rows.values())
    assert len(connections) == 1


def test_connection_closed_between_requests_costs_no_attempt(tmp_path: Path) -> None:
    """A server that closes idle connections without saying so: no page pays for it."""
    with LoopbackServer({f"/{n}": answer() for n in range(30)}) as server:
        rows = crawl(server, [f"http://a.test/{n}" for n in range(30)], local_journal(tmp_path), retries=0)
    assert {row["reason"] for row in rows.values()} == {None}
    assert {row["attempts"] for row in rows.values()} == {1}


def test_threads_end_with_the_crawl(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer()}) as server:
        crawl(server, ["http://a.test/"], local_journal(tmp_path))
    for thread in threading.enumerate():
        if thread.name.startswith("crawl-"):
            thread.join(5)
            assert not thread.is_alive()
