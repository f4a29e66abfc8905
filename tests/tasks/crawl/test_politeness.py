"""Whose turn it is, with a clock of the test's own; and what a server sees of it."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.fetching.queues import HostQueues
from tests.tasks.fetching.loopback_server import Exchange, LoopbackServer, answer, crawl, local_journal


def test_one_host_waits_between_starts_while_others_go_on() -> None:
    queues: HostQueues[str] = HostQueues(delay=10.0)
    for item in ("a1", "a2", "b1"):
        queues.put(item[0], item)
    assert queues.take(0.0) == ("a", "a1")
    assert queues.take(0.0) == ("b", "b1")
    assert queues.take(0.0) is None
    queues.finish("a")
    queues.finish("b")
    assert queues.take(9.9) is None
    assert queues.next_time() == 10.0
    assert queues.take(10.0) == ("a", "a2")
    assert queues.waiting == 0


def test_a_host_has_one_item_at_a_time() -> None:
    queues: HostQueues[int] = HostQueues(delay=0.0)
    for item in range(2):
        queues.put("a", item)
    assert [queues.take(0.0), queues.take(0.0)] == [("a", 0), None]
    queues.finish("a")
    assert queues.take(0.0) == ("a", 1)


def test_not_before_pause_and_delay() -> None:
    queues: HostQueues[str] = HostQueues(delay=1.0)
    queues.put("a", "later", not_before=5.0)
    queues.put("a", "now")
    assert queues.take(0.0) == ("a", "now")
    queues.finish("a")
    queues.pause("a", until=7.0)
    queues.set_delay("a", 3.0)
    assert queues.take(6.9) is None
    assert queues.take(7.0) == ("a", "later")
    queues.finish("a")
    queues.put("a", "last")
    assert queues.take(9.9) is None
    assert queues.take(10.0) == ("a", "last")


def test_drain_empties_a_host_in_order() -> None:
    queues: HostQueues[int] = HostQueues(delay=0.0)
    for item in range(3):
        queues.put("a", item)
    queues.put("b", 9)
    assert queues.drain("a") == [0, 1, 2]
    assert queues.drain("unknown") == []
    assert queues.take(0.0) == ("b", 9)
    assert queues.take(0.0) is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 5)), max_size=30), st.floats(0.1, 3), st.floats(0, 4))
def test_every_item_starts_once_and_starts_are_spaced(
    items: list[tuple[str, float]], delay: float, duration: float
) -> None:
    queues: HostQueues[int] = HostQueues(delay)
    for number, (host, not_before) in enumerate(items):
        queues.put(host, number, not_before=not_before)
    starts: dict[str, list[float]] = {"a": [], "b": [], "c": []}
    running: list[tuple[float, str]] = []
    seen: list[int] = []
    now = 0.0
    while len(seen) < len(items):
        for end, host in sorted(running):
            if end <= now:
                running.remove((end, host))
                queues.finish(host)
        while (turn := queues.take(now)) is not None:
            host, number = turn
            assert now >= items[number][1]
            starts[host].append(now)
            seen.append(number)
            running.append((now + duration, host))
            assert sum(name == host for _, name in running) == 1
        times = [end for end, _ in running] + [t for t in [queues.next_time()] if t is not None]
        now = max(now, min(times, default=now))
    assert sorted(seen) == list(range(len(items)))
    assert all(later - earlier >= delay - 1e-9 for times in starts.values() for earlier, later in pairwise(times))


def test_server_sees_spaced_requests_to_one_host_and_none_overlapping(tmp_path: Path) -> None:
    inside = {"a.test": 0, "b.test": 0}
    most = dict(inside)

    def page(exchange: Exchange) -> None:
        inside[exchange.host] += 1
        most[exchange.host] = max(most[exchange.host], inside[exchange.host])
        exchange.sock.settimeout(0.05)
        exchange.drip(b"", 0)
        inside[exchange.host] -= 1
        exchange.send(answer())

    urls = [f"http://{host}/{n}" for host in inside for n in range(5)]
    with LoopbackServer({f"/{n}": page for n in range(5)}) as server:
        rows = crawl(server, urls, local_journal(tmp_path), host_delay_seconds=1.0)
    assert all(row["reason"] is None for row in rows.values())
    for host in inside:
        times = [hit.at for hit in server.log if hit.host == host]
        assert len(times) == 6  # robots.txt first
        # Half the delay: the server notes a request later than the client sends it, by what a busy machine takes.
        assert all(later - earlier > 0.5 for earlier, later in pairwise(times))
    assert most == {"a.test": 1, "b.test": 1}
    hosts = [hit.host for hit in server.log]
    assert hosts != sorted(hosts)  # the hosts took turns


def test_crawl_delay_and_request_rate_are_kept(tmp_path: Path) -> None:
    rules = answer(b"User-agent: *\nCrawl-delay: 1\n", Content_Type="text/plain")
    with LoopbackServer({"/robots.txt": rules, "/1": answer(), "/2": answer(), "/3": answer()}) as server:
        crawl(server, [f"http://a.test/{n}" for n in (1, 2, 3)], local_journal(tmp_path))
    pages = [hit.at for hit in server.log if hit.path != "/robots.txt"]
    assert len(pages) == 3
    assert all(later - earlier > 0.5 for earlier, later in pairwise(pages))


def test_redirect_waits_for_its_host_and_obeys_its_robots(tmp_path: Path) -> None:
    closed = answer(b"User-agent: *\nDisallow: /\n", Content_Type="text/plain")
    with LoopbackServer({"//b.test/robots.txt": closed, "//b.test/x": answer()}) as server:
        server.pages["//a.test/"] = answer(b"", "301 Moved", Location="http://b.test/x")
        rows = crawl(server, ["http://a.test/"], local_journal(tmp_path))
    row = rows["http://a.test/"]
    assert (row["reason"], row["final_url"]) == ("robots_disallowed", "http://b.test/x")
    assert server.paths("b.test") == []


def sent_to(target: str, seconds: str = "0") -> bytes:
    return f'<html><head><meta http-equiv="Refresh" content="{seconds}; url={target}"></head><p>Moved.'.encode()


def test_a_page_that_sends_its_readers_elsewhere_is_a_redirect_that_obeys_robots(tmp_path: Path) -> None:
    closed = answer(b"User-agent: *\nDisallow: /secret\n", Content_Type="text/plain")
    pages = {"//b.test/robots.txt": closed, "//b.test/x": answer(b"<p>Here."), "//b.test/secret": answer()}
    pages |= {f"/hop{n}": answer(sent_to(f"/hop{n + 1}")) for n in range(9)}
    with LoopbackServer(pages) as server:
        server.pages["//a.test/open"] = answer(sent_to("http://b.test/x"))
        server.pages["//a.test/closed"] = answer(sent_to("http://b.test/secret"))
        urls = ["http://a.test/open", "http://a.test/closed", "http://a.test/hop0"]
        rows = crawl(server, urls, local_journal(tmp_path))
    found = [(rows[url]["reason"], rows[url]["final_url"]) for url in urls]
    assert found == [
        (None, "http://b.test/x"),
        ("robots_disallowed", "http://b.test/secret"),
        (None, "http://a.test/hop5"),  # the last page within the limit of redirects is kept
    ]
    assert server.paths("b.test") == ["/x"]


@pytest.mark.parametrize(
    "body",
    [
        sent_to("/page"),  # itself
        sent_to("/other", "600"),
        sent_to("javascript:alert(1)"),
        b'<html><meta http-equiv="refresh" content="5"><p>News.',
        b'<html><noscript><meta http-equiv="refresh" content="0; url=/other"></noscript><p>News.',
    ],
)
def test_a_page_that_stays_or_has_no_place_to_go_is_a_page(tmp_path: Path, body: bytes) -> None:
    with LoopbackServer({"/page": answer(body), "/other": answer()}) as server:
        row = crawl(server, ["http://a.test/page"], local_journal(tmp_path))["http://a.test/page"]
    assert (row["reason"], row["final_url"], row["body"]) == (None, "http://a.test/page", body)


def test_retry_after_keeps_the_whole_host_waiting(tmp_path: Path) -> None:
    def once(exchange: Exchange) -> None:
        exchange.send(answer(b"", "429 Slow", Retry_After="9") if exchange.hit == 0 else answer())

    with LoopbackServer({"/1": once, "/2": answer()}) as server:
        rows = crawl(server, ["http://a.test/1", "http://a.test/2"], local_journal(tmp_path), max_backoff_seconds=1.0)
    assert [row["reason"] for row in rows.values()] == [None, None]
    first, *others = [hit.at for hit in server.log if hit.path != "/robots.txt"]
    assert len(others) == 2
    assert all(later - first > 0.5 for later in others)


def test_host_that_keeps_failing_is_given_up_and_others_are_not(tmp_path: Path) -> None:
    urls = [f"http://dead.test/{n}" for n in range(50)] + ["http://good.test/"]
    with LoopbackServer({"/": answer()}) as server:
        server.pages.update({f"//dead.test/{n}": b"" for n in range(50)})
        rows = crawl(server, urls, local_journal(tmp_path), failures=6)
    reasons = [rows[url]["reason"] for url in urls]
    assert reasons.count("host_unavailable") >= 44
    assert set(reasons[:-1]) == {"connection_reset", "host_unavailable"}
    assert reasons[-1] is None
    assert len(server.paths("dead.test")) == 6
