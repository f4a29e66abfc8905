"""What a crawl takes over from an earlier one of the same host shard, and what it asks for again."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partialmethod
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from storage.recipes import ShardRecord
from storage.schemas import FRONTIER, PAGES
from storage.store import Store
from tasks.crawl.crawl import crawl_shard
from tasks.engine.recipe import Recipe, gathered
from tasks.engine.stage import Executor, Run
from tasks.fetching.settings import CrawlSettings
from tests.patience import PATIENCE
from tests.tasks.fetching.loopback_server import (
    FAST,
    HASTY,
    Exchange,
    Gate,
    Handler,
    LoopbackServer,
    answer,
    frontier,
    take_patience,
)

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]
DATE = "Tue, 03 Mar 2026 10:00:00 GMT"
LATER = "Wed, 04 Mar 2026 10:00:00 GMT"
NOT_MODIFIED = {"status": "304 Not Modified", "Content_Type": "", "Content_Length": ""}


def body(name: object, size: int = 20_000) -> bytes:
    return f"<html><body><p>Page {name}.</p>{'x' * size}</body></html>".encode()


def page(content: bytes, **headers: str) -> Handler:
    """A page whose server answers 304 to its own ETag, or to its own Last-Modified."""

    def handle(exchange: Exchange) -> None:
        asked = exchange.headers
        matches = (
            asked["if-none-match"] == headers.get("ETag")
            if "if-none-match" in asked
            else asked.get("if-modified-since", "") == headers.get("Last_Modified")
        )
        exchange.send(answer(b"", **NOT_MODIFIED, **headers) if matches else answer(content, **headers))

    return handle


def build(
    root: Path, server: LoopbackServer | None, urls: Iterable[str], *, host_shards: int = 1, **settings: Any
) -> tuple[dict[str, dict[str, Any]], ShardRecord]:
    """Walk frontier and pages as a build does; return the rows of host shard 0 by URL, and its record."""
    patience = take_patience(settings)
    store = Store(str(root))
    run = Run(store, Executor())
    found = run.stage(Recipe(FRONTIER, frontier, arguments={"urls": sorted(urls)}), shards=1, inputs={})
    pages = run.stage(
        Recipe(
            PAGES,
            crawl_shard,
            settings=CrawlSettings(**{**FAST, **settings}),
            arguments={"host_shards": host_shards},
            per_shard={"shard": range(1)},
        ),
        shards=1,
        inputs={"frontier": gathered(found)},
        context={
            "root": store.root,
            "connect_to": {} if server is None else {"*.test": server.address},
            "progress": lambda _: None,
            "patience": patience,
        },
        scratch="scratch",
    )
    record = pages.records[0]
    table = store.read_table(record.path, record.written.sha256)
    assert table.schema.equals(PAGES.schema)
    return {row["url"]: row for row in table.to_pylist()}, record


def stable(rows: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in PAGES.unstable} for row in rows.values()]


def test_added_url_costs_one_request(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(6)]
    with LoopbackServer({f"/{n}": answer(body(n)) for n in range(6)}) as server:
        first, _ = build(tmp_path, server, urls[:5])
        server.log.clear()
        second, _ = build(tmp_path, server, urls)
        assert server.paths() == ["/5"]
    assert [row["body"] for row in second.values()] == [body(n) for n in range(6)]
    assert {url: second[url] for url in first} == first


def test_removed_url_costs_none(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(6)]
    with LoopbackServer({f"/{n}": answer(body(n)) for n in range(6)}) as server:
        first, _ = build(tmp_path, server, urls)
        server.log.clear()
        second, _ = build(tmp_path, server, urls[3:])
        assert server.log == []
    assert list(second.items()) == list(first.items())[3:]


def test_failures_are_tried_again(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(4)]
    with LoopbackServer({"/0": answer(body(0)), "/1": answer(b"", "503 Busy"), "/2": answer(b"")}) as server:
        first, _ = build(tmp_path, server, urls[:3])
        assert [row["reason"] for row in first.values()] == [None, "http_503", "empty_body"]
        server.log.clear()
        server.pages.update({f"/{n}": answer(body(n)) for n in (1, 2, 3)})
        second, _ = build(tmp_path, server, urls)
        assert sorted(server.paths()) == ["/1", "/2", "/3"]
    assert [row["reason"] for row in second.values()] == [None] * 4


def test_unchanged_web_moves_few_bytes_and_changes_no_digest(tmp_path: Path) -> None:
    urls = [f"http://{host}.test/{n}" for host in "abc" for n in range(20)]
    with LoopbackServer(keep_alive=True) as server:
        for n in range(20):
            headers = ({"ETag": f'"{n}"'}, {"Last_Modified": DATE}, {"ETag": f'W/"{n}"', "Last_Modified": DATE})[n % 3]
            server.pages[f"/{n}"] = page(body(n), **headers)
        first, old = build(tmp_path, server, urls)
        moved = server.bytes_sent
        server.log.clear()
        second, new = build(tmp_path, server, urls, refresh="2026-W10")
        again = server.bytes_sent - moved
        assert len(server.paths()) == 60
        assert all(hit.conditional for hit in server.log if hit.path != "/robots.txt")
    assert again < 0.02 * moved
    assert stable(second) == stable(first)
    assert new.key != old.key
    assert new.written.digest == old.written.digest
    for url in urls:
        assert second[url]["fetched_at"] > first[url]["fetched_at"]
        assert (second[url]["etag"], second[url]["attempts"]) == (first[url]["etag"], 1)


def test_a_confirmed_page_has_what_the_files_of_its_site_say_now(tmp_path: Path) -> None:
    url, forbids = "http://a.test/0", answer(b"User-agent: *\nDisallow: /\n", Content_Type="text/plain")
    with LoopbackServer({"/0": page(body(0), ETag='"0"', X_Robots_Tag="noai"), "/ai.txt": forbids}) as server:
        plain, _ = build(tmp_path, server, [url])
        asked, _ = build(tmp_path, server, [url], reservation_files=True)  # not taken over: nobody had asked
        confirmed, _ = build(tmp_path, server, [url], reservation_files=True, refresh="b")
        del server.pages["/ai.txt"]
        later, _ = build(tmp_path, server, [url], reservation_files=True, refresh="c")
        assert [hit.conditional for hit in server.log if hit.path == "/0"] == [False, False, True, True]
    rights = [rows[url]["rights_headers"] for rows in (plain, asked, confirmed, later)]
    header, file = "x-robots-tag: noai", "ai.txt: disallow"
    assert rights == [[header], [header, file], [header, file], [header]]


def test_changed_pages_are_fetched(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(4)]
    with LoopbackServer({f"/{n}": page(body(n), ETag='"1"', Last_Modified=DATE) for n in range(4)}) as server:
        _, old = build(tmp_path, server, urls)
        server.pages["/1"] = page(body("new"), ETag='"2"', Last_Modified=LATER)
        server.pages["/2"] = answer(b"gone", "410 Gone")
        second, new = build(tmp_path, server, urls, refresh="b")
    assert [row["body"] for row in second.values()] == [body(0), body("new"), None, body(3)]
    assert [row["reason"] for row in second.values()] == [None, None, "http_410", None]
    assert second[urls[1]]["etag"] == '"2"'
    assert new.written.digest != old.written.digest


def test_same_refresh_asks_nothing_and_a_new_one_asks_again(tmp_path: Path) -> None:
    urls = ["http://a.test/0", "http://a.test/1"]
    with LoopbackServer({"/0": answer(body(0)), "/1": answer(body(1))}) as server:
        build(tmp_path, server, urls, refresh="monday")
        server.log.clear()
        build(tmp_path, server, urls, refresh="monday", budget_pages=100)
        assert server.log == []
        build(tmp_path, server, urls, refresh="tuesday")
        assert server.paths() == ["/0", "/1"]


def test_server_that_ignores_validators(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer(body(0), ETag='"1"', Last_Modified=DATE)}) as server:
        _, old = build(tmp_path, server, ["http://a.test/"])
        rows, new = build(tmp_path, server, ["http://a.test/"], refresh="b")
    assert rows["http://a.test/"]["body"] == body(0)
    assert new.written.digest == old.written.digest


@pytest.mark.parametrize("etag", ['"2"', 'W/"2"'])
def test_confirmation_of_another_page_is_not_believed(tmp_path: Path, etag: str) -> None:
    def confused(exchange: Exchange) -> None:
        conditional = "if-none-match" in exchange.headers
        exchange.send(answer(b"", **NOT_MODIFIED, ETag=etag) if conditional else answer(body("two"), ETag=etag))

    with LoopbackServer({"/": answer(body("one"), ETag='"1"')}) as server:
        build(tmp_path, server, ["http://a.test/"])
        server.log.clear()
        server.pages["/"] = confused
        rows, _ = build(tmp_path, server, ["http://a.test/"], refresh="b")
        assert [(hit.path, hit.conditional) for hit in server.log[1:]] == [("/", True), ("/", False)]
    assert (rows["http://a.test/"]["body"], rows["http://a.test/"]["etag"]) == (body("two"), etag)


def test_confirmation_nobody_asked_for_is_a_fault(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer(b"", **NOT_MODIFIED), "/good": answer(body(0))}) as server:
        urls = ["http://a.test/", "http://a.test/good"]
        rows, _ = build(tmp_path, server, urls)
        assert [row["reason"] for row in rows.values()] == ["http_304", None]
        # No validators were stored: the next request is not conditional either.
        server.pages["/good"] = answer(b"", **NOT_MODIFIED)
        rows, _ = build(tmp_path, server, urls, refresh="b")
    assert [row["reason"] for row in rows.values()] == ["http_304", "http_304"]


def test_confirmation_with_a_body_spoils_no_other_page(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(8)]

    def talkative(exchange: Exchange) -> None:
        conditional = "if-none-match" in exchange.headers
        exchange.send(answer(body("no"), "304 Not Modified") if conditional else answer(body("a"), ETag='"1"'))

    with LoopbackServer({f"/{n}": talkative for n in range(8)}, keep_alive=True) as server:
        build(tmp_path, server, urls)
        rows, _ = build(tmp_path, server, urls, refresh="b")
    assert [(row["reason"], row["body"]) for row in rows.values()] == [(None, body("a"))] * 8


def test_validators_belong_to_the_url_that_gave_them(tmp_path: Path) -> None:
    moved = answer(b"", "301 Moved", Location="http://b.test/x", ETag='"redirect"')
    with LoopbackServer({"//a.test/": moved, "//b.test/x": page(body("x"), ETag='"x"')}) as server:
        first, _ = build(tmp_path, server, ["http://a.test/"])
        server.log.clear()
        second, _ = build(tmp_path, server, ["http://a.test/"], refresh="b")
        asked = [(hit.host, hit.conditional) for hit in server.log if hit.path != "/robots.txt"]
        assert asked == [("a.test", False), ("b.test", True)]
        assert stable(second) == stable(first)
        # It leads elsewhere now: what is there is asked for without validators.
        server.log.clear()
        server.pages["//a.test/"] = answer(b"", "301 Moved", Location="http://b.test/y")
        server.pages["//b.test/y"] = page(body("y"), ETag='"x"')
        third, _ = build(tmp_path, server, ["http://a.test/"], refresh="c")
        assert not any(hit.conditional for hit in server.log)
    assert (third["http://a.test/"]["final_url"], third["http://a.test/"]["body"]) == ("http://b.test/y", body("y"))


def test_compressed_page_is_confirmed_by_the_validator_of_its_compressed_form(tmp_path: Path) -> None:
    packed = gzip.compress(body(0))
    handler = page(packed, ETag='"1-gzip"', Content_Encoding="gzip", Vary="Accept-Encoding")
    with LoopbackServer({"/": handler}) as server:
        first, _ = build(tmp_path, server, ["http://a.test/"])
        moved = server.bytes_sent
        second, _ = build(tmp_path, server, ["http://a.test/"], refresh="b")
        assert server.bytes_sent - moved < len(packed) + 300
    assert second["http://a.test/"]["body"] == body(0)
    assert stable(second) == stable(first)


def test_robots_txt_that_now_forbids_ends_a_page(tmp_path: Path) -> None:
    closed = answer(b"User-agent: *\nDisallow: /1\n", Content_Type="text/plain")
    urls = ["http://a.test/0", "http://a.test/1"]
    with LoopbackServer({f"/{n}": page(body(n), ETag='"1"') for n in range(2)}) as server:
        build(tmp_path, server, urls)
        server.log.clear()
        server.pages["/robots.txt"] = closed
        rows, _ = build(tmp_path, server, urls, refresh="b")
        assert server.paths() == ["/0"]
    assert [row["reason"] for row in rows.values()] == [None, "robots_disallowed"]


@pytest.mark.parametrize(
    ("etag", "modified"),
    [("*", ""), ("unquoted", "yesterday"), ('"a\x7fb"', ""), ('"a b"', "Tue, 99 Foo 2026 10:00:00 GMT"), ("", "")],
)
def test_what_is_no_validator_is_not_sent_back(tmp_path: Path, etag: str, modified: str) -> None:
    with LoopbackServer({"/": answer(body(0), ETag=etag, Last_Modified=modified)}) as server:
        build(tmp_path, server, ["http://a.test/"])
        rows, _ = build(tmp_path, server, ["http://a.test/"], refresh="b")
        assert len(server.paths()) == 2
        assert not any(hit.conditional for hit in server.log)
    assert rows["http://a.test/"]["reason"] is None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (answer(b"", "503 Busy"), "http_503"),
        (answer(b"", "429 Slow"), "rate_limited"),
        (b"", "connection_reset"),
        (lambda exchange: time.sleep(0.8), "timeout"),
    ],
)
def test_passing_fault_keeps_a_stored_page_and_says_so(
    tmp_path: Path, fault: bytes | Callable[[Exchange], object], reason: str
) -> None:
    with LoopbackServer({"/": page(body(0), ETag='"1"')}) as server:
        first, old = build(tmp_path, server, ["http://a.test/"])
        good, server.pages["/"] = server.pages["/"], fault
        limits = HASTY if reason == "timeout" else {}
        second, new = build(tmp_path, server, ["http://a.test/"], refresh="b", retries=0, **limits)
        assert new.written.digest == old.written.digest
        assert second == {"http://a.test/": {**first["http://a.test/"], "stale_reason": reason}}
        # It stays due, so that the same refresh asks for it again.
        server.pages.update({"/": good, "/new": answer(body("new"))})
        server.log.clear()
        third, _ = build(tmp_path, server, ["http://a.test/", "http://a.test/new"], refresh="b", retries=0)
        assert sorted(server.paths()) == ["/", "/new"]
    assert third["http://a.test/"]["stale_reason"] is None
    assert third["http://a.test/"]["fetched_at"] > first["http://a.test/"]["fetched_at"]


@pytest.mark.parametrize(
    ("robots", "reason"),
    [
        (b"", "connection_reset"),
        (lambda exchange: time.sleep(0.8), "timeout"),
        (answer(b"", "503 Busy"), "robots_unreachable"),
        (answer(b"User-agent: *\nCrawl-delay: 60\n", Content_Type="text/plain"), "crawl_delay_too_long"),
    ],
)
def test_robots_txt_that_cannot_be_had_keeps_a_stored_page(
    tmp_path: Path, robots: bytes | Callable[[Exchange], object], reason: str
) -> None:
    with LoopbackServer({"/": page(body(0), ETag='"1"')}) as server:
        first, _ = build(tmp_path, server, ["http://a.test/"])
        server.pages["/robots.txt"] = robots
        limits = HASTY if reason == "timeout" else {}
        second, _ = build(tmp_path, server, ["http://a.test/"], refresh="b", retries=0, **limits)
    assert second == {"http://a.test/": {**first["http://a.test/"], "stale_reason": reason}}


def test_host_that_refuses_at_its_robots_txt_keeps_a_stored_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer({"/": page(body(0), ETag='"1"')}) as server:
        first, _ = build(tmp_path, server, ["http://a.test/"])
        monkeypatch.setattr(LoopbackServer, "address", server.address)
    second, _ = build(tmp_path, server, ["http://a.test/"], refresh="b", retries=0)  # nobody listens there now
    assert second == {"http://a.test/": {**first["http://a.test/"], "stale_reason": "connect_error"}}


@pytest.mark.parametrize("first", [{"robots": False}, {"max_bytes": 100_000}, {"accepted_types": ("text/html",)}])
def test_nothing_is_taken_over_from_settings_under_which_a_page_might_differ(
    tmp_path: Path, first: dict[str, Any]
) -> None:
    with LoopbackServer({"/": page(body(0), ETag='"1"')}) as server:
        build(tmp_path, server, ["http://a.test/"], **first)
        build(tmp_path, server, ["http://a.test/"])
        assert server.paths() == ["/", "/"]
        assert not any(hit.conditional for hit in server.log)


def test_a_setting_that_concerns_only_failures_changes_no_page(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer(body(0))}) as server:
        build(tmp_path, server, ["http://a.test/"])
        server.log.clear()
        build(tmp_path, server, ["http://a.test/"], wayback={"enabled": True})
        assert server.log == []
        build(tmp_path, server, ["http://a.test/"], wayback={"enabled": True}, budget_pages=9)
        assert server.log == []


def test_nothing_is_taken_over_from_another_number_of_host_shards(tmp_path: Path) -> None:
    with LoopbackServer({"/": page(body(0), ETag='"1"')}) as server:
        build(tmp_path, server, ["http://a.test/"], host_shards=2)
        build(tmp_path, server, ["http://a.test/"])
        assert server.paths() == ["/", "/"]


def test_damaged_shard_is_left_with_a_warning_for_the_next_older_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    urls = [f"http://a.test/{n}" for n in range(4)]
    with LoopbackServer({f"/{n}": answer(body(n)) for n in range(4)}) as server:
        build(tmp_path, server, urls[:1])
        _, newest = build(tmp_path, server, urls[:3])
        damaged = tmp_path / newest.path
        data = bytearray(damaged.read_bytes())
        data[len(data) // 2] ^= 1
        damaged.write_bytes(data)
        server.log.clear()
        rows, _ = build(tmp_path, server, urls)
        assert server.paths() == ["/1", "/2", "/3"]  # page 0 is in the older shard
    assert [row["body"] for row in rows.values()] == [body(n) for n in range(4)]
    assert "its pages are not reused" in caplog.text


BUDGETS = [{"budget_pages": 3}, {"budget_seconds": 0.45}]


@pytest.mark.parametrize("budget", BUDGETS)
def test_spent_budget_ends_the_rest_with_a_reason_and_a_larger_one_fetches_just_that(
    tmp_path: Path, budget: dict[str, float]
) -> None:
    urls = [f"http://a.test/{n}" for n in range(9)]
    with LoopbackServer({f"/{n}": answer(body(n)) for n in range(9)}) as server:
        rows, first = build(tmp_path, server, urls, host_delay_seconds=0.1, **budget)
        fetched = [url for url in urls if rows[url]["reason"] is None]
        by_time = "budget_seconds" in budget  # a busy machine may fetch nothing in that time
        assert fetched == urls[:3] or (by_time and len(fetched) < 9)
        assert {rows[url]["reason"] for url in urls if url not in fetched} == {"budget_spent"}
        assert first.drops == {"budget_spent": 9 - len(fetched)}
        server.log.clear()
        again, _ = build(tmp_path, server, urls, **budget)
        assert again == rows
        assert server.log == []  # done is done: the same budget buys nothing more
        raised = {name: 100 * value for name, value in budget.items()}
        rows, second = build(tmp_path, server, urls, **raised)
        asked, missing = server.paths(), {f"/{url[-1]}" for url in urls if url not in fetched}
        # What was under way when the time was over may be noted by the server only now, beside the second request.
        assert missing == set(asked) if by_time else sorted(missing) == sorted(asked)
    assert second.key != first.key
    assert [row["body"] for row in rows.values()] == [body(n) for n in range(9)]


def test_recrawls_with_small_budgets_get_round_and_lose_no_page(tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(9)]
    with LoopbackServer({f"/{n}": page(body(n), ETag=f'"{n}"') for n in range(9)}) as server:
        build(tmp_path, server, urls[:6])
        rows: dict[str, dict[str, Any]] = {}
        asked: list[list[str]] = []
        for week in range(3):
            server.log.clear()
            rows, record = build(tmp_path, server, urls, refresh=f"week {week}", budget_pages=4)
            asked.append(server.paths())
            assert record.drops == {}
            stale = [url[-1] for url in urls if rows[url]["stale_reason"] == "budget_spent"]
            assert len(stale) == 5
        # First what was never fetched, then from the oldest on.
        assert asked[0] == ["/6", "/7", "/8", "/0"]
        assert set(asked[1]) == {"/1", "/2", "/3", "/4"}
        assert asked[2][0] == "/5"
    assert [row["body"] for row in rows.values()] == [body(n) for n in range(9)]


RECRAWL = """
import sys
from pathlib import Path
from tests.tasks.crawl.test_earlier import build
class Server:
    address = sys.argv[1]
urls = [f"http://h{n % 4}.test/{n}" for n in range(60)]
build(Path(sys.argv[2]), Server, urls, refresh="b", host_delay_seconds=0.05)
"""


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_killed_recrawl_resumes(tmp_path: Path, stop: signal.Signals) -> None:
    """Confirmations noted before the kill are not asked for again, and their bodies are found in the earlier shard."""
    urls = [f"http://h{n % 4}.test/{n}" for n in range(60)]
    pages, gate = {f"/{n}": page(body(n), ETag=f'"{n}"') for n in range(60)}, Gate(20)
    with LoopbackServer(dict(pages)) as server:
        build(tmp_path, server, urls)
        server.log.clear()
        server.pages = {path: gate.before(one) for path, one in pages.items()}
        crawler = subprocess.Popen(
            [sys.executable, "-c", RECRAWL, server.address, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        while len(server.paths()) < 20 and crawler.poll() is None:
            time.sleep(0.01)
        crawler.send_signal(stop)
        gate.open()
        assert crawler.wait(PATIENCE) != 0
        before = set(server.paths())
        assert 20 <= len(before) < 60
    with LoopbackServer(pages) as server:  # a new one: the old one may still read what was sent before the kill
        rows, _ = build(tmp_path, server, urls, refresh="b", host_delay_seconds=0.05)
        after = server.paths()
        assert all(hit.conditional for hit in server.log if hit.path != "/robots.txt")
    assert {url: row["body"] for url, row in rows.items()} == {url: body(url.rpartition("/")[2]) for url in urls}
    assert len(set(after)) == len(after)
    assert before | set(after) == set(pages)
    # Asked for twice: what was under way when it was killed, at most one a host.
    assert len(before & set(after)) <= 4


def test_confirmations_of_a_shard_that_is_gone_are_asked_for_again(tmp_path: Path) -> None:
    """A kill, and then the earlier shard is lost: the journal's rows without bodies are worth nothing."""
    urls = [f"http://h{n % 4}.test/{n}" for n in range(60)]
    pages, gate = {f"/{n}": page(body(n), ETag=f'"{n}"') for n in range(60)}, Gate(20)
    with LoopbackServer(dict(pages)) as server:
        _, record = build(tmp_path, server, urls)
        server.log.clear()
        server.pages = {path: gate.before(one) for path, one in pages.items()}
        crawler = subprocess.Popen(
            [sys.executable, "-c", RECRAWL, server.address, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        while len(server.paths()) < 20 and crawler.poll() is None:
            time.sleep(0.01)
        crawler.kill()
        gate.open()
        crawler.wait(PATIENCE)
    os.truncate(tmp_path / record.path, 1000)
    with LoopbackServer(pages) as server:  # a new one: the old one may still read what was sent before the kill
        rows, _ = build(tmp_path, server, urls, refresh="b")
        assert len(server.paths()) == 60
        assert not any(hit.conditional for hit in server.log)
    assert {url: row["body"] for url, row in rows.items()} == {url: body(url.rpartition("/")[2]) for url in urls}


def test_shards_of_many_row_groups_are_read_group_by_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "write_table", partialmethod(Store.write_table, group_bytes=50_000))
    monkeypatch.setattr("tasks.fetching.journal.BATCH_BYTES", 30_000)
    urls = [f"http://{host}.test/{n}" for host in "abc" for n in range(10)]
    pages = {f"/{n}": page(body(n), ETag='"1"') if n % 2 else answer(body(n)) for n in range(9)}
    with LoopbackServer(pages) as server:
        first, old = build(tmp_path, server, urls)
        second, new = build(tmp_path, server, urls[2:], refresh="b")
    assert stable(second) == stable(first)[2:]
    table = pq.ParquetFile(tmp_path / old.path)
    assert table.num_row_groups > 5
    assert new.written.rows == 28
