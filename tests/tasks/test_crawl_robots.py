"""robots.txt after RFC 9309, also where it is none."""

from pathlib import Path

import pytest

from tasks.crawl.robots import ROBOTS_BYTES, parse_rules
from tests.tasks.loopback_server import PAGE, Handler, LoopbackServer, answer, crawl, local_journal


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
    "a web page that speaks of rules": (answer(b"<html>\nUser-agent: *\nDisallow: /\n</html>"), None, None),
    "empty": (text(b""), None, None),
    "binary": (text(bytes(range(256)) * 20), None, None),
    "byte order mark": (text(b"\xef\xbb\xbf" + RULES), None, "robots_disallowed"),
    "NUL bytes": (text(b"User-agent: *\n\x00Disallow: /private\x00\n"), None, "robots_disallowed"),
    "10 MB, rules first": (text(RULES + FILLER), None, "robots_disallowed"),
    "10 MB, rules last": (text(FILLER + RULES), None, None),
    "one line of 10 MB": (text(b"Disallow: /" + b"x" * 10_000_000), None, None),
    "many stars": (text(b"User-agent: *\nDisallow: /" + b"*a" * 5000 + b"\n"), None, None),
    "server error": (text(b"", "500 Oops"), "robots_unreachable", "robots_unreachable"),
    "too many requests": (text(b"", "429 Slow"), "robots_unreachable", "robots_unreachable"),
    "no answer": (lambda e: e.sock.recv(1), "robots_unreachable", "robots_unreachable"),
    "endless redirects": (lambda e: e.send(answer(b"", "302 F", Location=f"{e.path}?{e.hit}")), None, None),
    "moved": (answer(b"", "301 Moved", Location="http://other.test/rules"), None, "robots_disallowed"),
    "not HTTP": (b"nonsense\r\n\r\n", "robots_unreachable", "robots_unreachable"),
    "absurd delay": (text(b"User-agent: *\nCrawl-delay: 1e300\n"), None, None),
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
            max_crawl_delay_seconds=0.1,
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


def test_rule_cut_at_the_limit_is_left_out() -> None:
    rule = b"Disallow: /only-this-folder\n"
    head = b"User-agent: *\n"
    body = head + b"#" * (ROBOTS_BYTES - len(head) - 15) + b"\n" + rule
    rules = parse_rules(body)
    assert rules is not None
    assert rules.can_fetch("http://a.test/only", "reader")
