"""robots.txt after RFC 9309, also where it is none."""

import gzip
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.crawl.site_rules import rules_cache
from tasks.fetching.robots import (
    MAX_RULES,
    MAX_WILDCARD_RULES,
    MAX_WILDCARDS,
    ROBOTS_BYTES,
    PathRules,
    path_of,
    read_rules,
)
from tests.tasks.fetching.loopback_server import HASTY, PAGE, Handler, LoopbackServer, answer, crawl, local_journal


def text(body: bytes, status: str = "200 OK") -> bytes:
    return answer(body, status, Content_Type="text/plain")


RULES = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n"
FILLER = b"# nothing of interest\n" * 500_000  # 11 MB

CASES: dict[str, tuple[Handler, str | None, str | None]] = {
    # name: (robots.txt, reason of /page, reason of /private/page)
    "rules": (text(RULES), None, "robots_disallowed"),
    "rules for us": (text(b"User-agent: reader\nDisallow: /\nUser-agent: *\nDisallow:\n"), *["robots_disallowed"] * 2),
    "rules for others": (text(b"User-agent: other\nDisallow: /\n"), None, None),
    "missing": (text(b"no", "404 Not Found"), None, None),
    "forbidden": (text(b"no", "403 Forbidden"), None, None),
    "a web page": (answer(PAGE), None, None),
    "rules in a web page": (answer(b"<html>\nUser-agent: *\nDisallow: /\n</html>"), *["robots_disallowed"] * 2),
    "empty": (text(b""), None, None),
    "binary": (text(bytes(range(256)) * 20), *["robots_unreachable"] * 2),
    "compressed rules that no header calls so": (text(gzip.compress(RULES * 20)), *["robots_unreachable"] * 2),
    "byte order mark": (text(b"\xef\xbb\xbf" + RULES), None, "robots_disallowed"),
    "NUL bytes": (text(b"User-agent: *\n\x00Disallow: /private\x00\n"), None, "robots_disallowed"),
    "10 MB, rules first": (text(RULES + FILLER), None, "robots_disallowed"),
    "10 MB, rules last": (text(FILLER + RULES), None, None),
    "one line of 10 MB": (text(b"Disallow: /" + b"x" * 10_000_000), None, None),
    "many stars": (text(b"User-agent: *\nDisallow: /" + b"*a" * 5000 + b"\n"), None, None),
    "server error": (text(b"", "500 Oops"), "robots_unreachable", "robots_unreachable"),
    "too many requests": (text(b"", "429 Slow"), "robots_unreachable", "robots_unreachable"),
    "no answer": (lambda e: e.sock.recv(1), "timeout", "timeout"),
    "reset": (lambda e: e.reset(), "connection_reset", "connection_reset"),
    "endless redirects": (lambda e: e.send(answer(b"", "302 F", Location=f"{e.path}?{e.hit}")), None, None),
    "moved": (answer(b"", "301 Moved", Location="http://other.test/rules"), None, "robots_disallowed"),
    "not HTTP": (b"nonsense\r\n\r\n", "robots_unreachable", "robots_unreachable"),
    "cut headers": (b"HTTP/1.1 200 OK\r\nContent-Ty", "robots_unreachable", "robots_unreachable"),
    "half of compressed rules": (
        answer(gzip.compress(RULES)[:-20], Content_Encoding="gzip"),
        *["robots_unreachable"] * 2,
    ),
    "a part of the rules": (text(RULES[:20], "206 Partial Content"), *["robots_unreachable"] * 2),
    "delay that is kept": (text(b"User-agent: *\nCrawl-delay: 0.1\n"), None, None),
    "delay over the limit": (text(b"User-agent: *\nCrawl-delay: 0.2\n"), *["crawl_delay_too_long"] * 2),
    "absurd delay": (text(b"User-agent: *\nCrawl-delay: 1e300\n"), *["crawl_delay_too_long"] * 2),
    "rate over the limit": (text(b"User-agent: *\nRequest-rate: 1/60\n"), *["crawl_delay_too_long"] * 2),
    "delay of others": (text(b"User-agent: other\nCrawl-delay: 60\n"), None, None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_robots_allows(name: str, tmp_path: Path) -> None:
    robots, page, private = CASES[name]
    pages: dict[str, Handler] = {"//site.test/robots.txt": robots, "//other.test/rules": text(RULES)}
    with LoopbackServer({**pages, "/page": answer(), "/private/page": answer()}) as server:
        rows = crawl(
            server,
            ["http://site.test/page", "http://site.test/private/page"],
            local_journal(tmp_path),
            user_agent="reader/1.0",
            longest_crawl_delay=0.1,
            **(HASTY if page == "timeout" else {}),
        )
    assert rows["http://site.test/page"]["reason"] == page
    assert rows["http://site.test/private/page"]["reason"] == private


def test_robots_is_asked_once_per_origin_and_not_at_all_where_switched_off(tmp_path: Path) -> None:
    urls = [f"http://site.test/{n}" for n in range(5)]
    with LoopbackServer({f"/{n}": answer() for n in range(5)}) as server:
        crawl(server, urls, local_journal(tmp_path / "a"))
        assert [hit.path for hit in server.log].count("/robots.txt") == 1
        server.log.clear()
        crawl(server, urls, local_journal(tmp_path / "b"), robots=False)
        assert [hit.path for hit in server.log].count("/robots.txt") == 0


def test_dead_host_is_named_so_after_its_robots(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        closed = f"127.0.0.1:{server.port}"
    with LoopbackServer() as server:
        rows = crawl(
            server, ["http://dead.test/a", "http://dead.test/b"], local_journal(tmp_path), connect_to={"*.test": closed}
        )
    assert [row["reason"] for row in rows.values()] == ["connect_error", "connect_error"]


def test_delay_over_the_limit_costs_one_request(tmp_path: Path) -> None:
    rules = text(b"User-agent: *\nCrawl-delay: 31\n")
    with LoopbackServer({"//slow.test/robots.txt": rules, "//good.test/": answer()}) as server:
        rows = crawl(server, ["http://slow.test/", "http://good.test/"], local_journal(tmp_path))
        assert [hit.path for hit in server.log if hit.host == "slow.test"] == ["/robots.txt"]
    assert {url: row["reason"] for url, row in rows.items()} == {
        "http://good.test/": None,
        "http://slow.test/": "crawl_delay_too_long",
    }


def test_rule_cut_at_the_limit_is_left_out() -> None:
    rule = b"Disallow: /only-this-folder\n"
    head = b"User-agent: *\n"
    body = head + b"#" * (ROBOTS_BYTES - len(head) - 15) + b"\n" + rule
    assert read_rules(body, "reader").judge()("http://a.test/only") is None
    whole = head + rule
    assert read_rules(whole, "reader").judge()("http://a.test/only-this-folder") == "robots_disallowed"


def test_many_rules_for_others_cost_nothing() -> None:
    body = b"User-agent: other\n" + b"Disallow: /*x*y\n" * 20_000 + b"User-agent: reader\nDisallow: /private\n"
    robots = read_rules(body, "reader")
    assert robots.refusal is None
    assert len(robots.rules) < 100
    assert robots.judge()("http://a.test/private") == "robots_disallowed"


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        (b"Disallow: /%d\n", MAX_RULES),
        (b"Disallow: /*%d\n", MAX_WILDCARD_RULES),
        (b"Disallow: /%d" + b"*x" * 1_000 + b"\n", MAX_WILDCARDS // 1_000),
    ],
)
def test_rules_are_bounded(rule: bytes, most: int) -> None:
    body = b"User-agent: *\n" + b"".join(rule % number for number in range(most))
    assert read_rules(body, "reader").refusal is None
    assert read_rules(body + rule % most, "reader").refusal == "robots_too_complex"


def test_host_with_too_many_rules_is_not_asked_and_others_are(tmp_path: Path) -> None:
    wild = b"User-agent: *\n" + b"".join(b"Disallow: /*%d*a\n" % number for number in range(30_000))
    urls = [f"http://wild.test/{'a' * 3000}/{n}" for n in range(300)] + [f"http://h{n}.test/" for n in range(20)]
    with LoopbackServer({"//wild.test/robots.txt": text(wild[:ROBOTS_BYTES]), "/": answer()}) as server:
        rows = crawl(server, urls, local_journal(tmp_path))
    assert {rows[url]["reason"] for url in urls[:300]} == {"robots_too_complex"}
    assert {rows[url]["reason"] for url in urls[300:]} == {None}
    assert server.paths("wild.test") == []


def test_robots_is_read_and_applied_in_a_thread_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[str] = set()

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            threads.add(threading.current_thread().name)
            return function(*arguments)

        return call

    monkeypatch.setattr("tasks.fetching.robots.read_rules", noted(read_rules))
    monkeypatch.setattr(PathRules, "allows", noted(PathRules.allows))
    moved = answer(b"", "301 Moved", Location="http://b.test/private/x")
    with LoopbackServer({"/robots.txt": text(RULES), "/page": answer(), "/moved": moved}) as server:
        urls = [f"http://a.test/{name}" for name in ("page", "moved", "private/a")]
        rows = crawl(server, urls, local_journal(tmp_path))
    assert [rows[url]["reason"] for url in urls] == [None, "robots_disallowed", "robots_disallowed"]
    assert threads == {"crawl-robots"}


def test_forgotten_robots_is_asked_for_again_and_still_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.crawl.shard_crawl.AHEAD", 1)
    monkeypatch.setattr("tasks.crawl.shard_crawl.rules_cache", lambda: rules_cache(1))
    urls = [f"http://{host}.test/{path}" for host in "abc" for path in ("1", "2", "3", "private/1")]
    with LoopbackServer({"/robots.txt": text(RULES), **{f"/{n}": answer() for n in (1, 2, 3)}}) as server:
        rows = crawl(server, urls, local_journal(tmp_path))
    assert [rows[url]["reason"] for url in urls] == [None, None, None, "robots_disallowed"] * 3
    assert sorted(server.paths()) == sorted(["/1", "/2", "/3"] * 3)
    assert [hit.path for hit in server.log].count("/robots.txt") > 3


@pytest.mark.parametrize(
    ("pattern", "refused", "allowed"),
    [
        ("/*%", ["/a%20b", "/%25", "/caf%C3%A9"], ["/a", "/"]),
        ("/*%2", ["/a%20b", "/%2F"], ["/%C3%A9", "/2"]),
        ("/a%*b", ["/a%20b", "/a%25/b"], ["/ab"]),
        ("/50%off", ["/50%off", "/50%25off"], ["/50%20off", "/50off"]),
        ("/50%$", ["/50%", "/50%25"], ["/50%20"]),
    ],
)
def test_an_escape_that_a_pattern_cuts_is_any_escape(pattern: str, refused: list[str], allowed: list[str]) -> None:
    rules = PathRules([(False, pattern)])
    assert [path for path in refused if rules.allows(path_of(f"http://a.test{path}"))] == []
    assert [path for path in allowed if not rules.allows(path_of(f"http://a.test{path}"))] == []
