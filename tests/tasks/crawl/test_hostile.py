"""Hostile and broken servers: each URL ends with its reason, and the good page beside it is never lost."""

import gzip
import hashlib
import itertools
import json
import random
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest
from backports import zstd

from tasks.fetching.reasons import PageReason
from tests.tasks.fetching.loopback_server import PAGE, Exchange, Handler, LoopbackServer, answer, crawl, local_journal

pytestmark = pytest.mark.integration

ZEROS = bytes(20_000_000)
HTML_BOMB = b"<html>" + ZEROS


def nested_gzip(layers: int) -> bytes:
    data = HTML_BOMB
    for _ in range(layers):
        data = gzip.compress(data)
    return data


def forever(first: bytes, block: bytes) -> Callable[[Exchange], None]:
    """Send a start and then a block for as long as the client takes it."""

    def handle(exchange: Exchange) -> None:
        exchange.send(first)
        for _ in itertools.repeat(None, 100_000):
            exchange.send(block)

    return handle


def then_reset(data: bytes) -> Callable[[Exchange], None]:
    def handle(exchange: Exchange) -> None:
        exchange.send(data)
        time.sleep(0.05)  # else the reset overtakes the data
        exchange.reset()

    return handle


def drip(start: bytes, rest: bytes, seconds: float = 0.1) -> Callable[[Exchange], None]:
    def handle(exchange: Exchange) -> None:
        exchange.send(start)
        exchange.drip(rest, seconds)

    return handle


def hang(start: bytes) -> Callable[[Exchange], None]:
    def handle(exchange: Exchange) -> None:
        exchange.send(start)
        exchange.sock.recv(1)  # until the client gives up

    return handle


def first(failing: bytes) -> Callable[[Exchange], None]:
    """Fail once, then serve the page."""

    def handle(exchange: Exchange) -> None:
        exchange.send(failing if exchange.hit == 0 else answer())

    return handle


def redirect(to: str, status: str = "302 Found", body: bytes = b"") -> bytes:
    return answer(body, status, Location=to)


# Incompressible words, so that half of the compressed page is half of the page.
LONG_PAGE = b"<html><p>" + random.Random(2).randbytes(3_000).hex().encode() + b"</p></html>"
COMPRESSED = {
    "gzip": gzip.compress(LONG_PAGE),
    "deflate": zlib.compress(LONG_PAGE),
    "br": brotli.compress(LONG_PAGE),
    "zstd": zstd.compress(LONG_PAGE),
}
TWO_MEMBERS = gzip.compress(PAGE) * 2
RAW_DEFLATE = zlib.compress(LONG_PAGE, wbits=-15)
FRAMES = ("closed", "length", "chunks")


def framed(data: bytes, encoding: str, how: str) -> bytes:
    """A page in an encoding, whose end the connection's says, its length, or its chunks."""
    start = HTML + f"Content-Encoding: {encoding}\r\n".encode()
    if how == "length":
        return start + b"Content-Length: %d\r\n\r\n" % len(data) + data
    if how == "chunks":
        return start + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(data) + data + b"\r\n0\r\n\r\n"
    return start + b"Connection: close\r\n\r\n" + data


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

CASES: dict[str, tuple[Handler, str | None]] = {
    # Bodies that do not arrive
    "reset in the body": (then_reset(HTML + b"Content-Length: 5000\r\n\r\n<html>half"), "connection_reset"),
    "reset in the headers": (then_reset(b"HTTP/1.1 200 OK\r\nContent-Ty"), "connection_reset"),
    "closed before an answer": (b"", "connection_reset"),
    "body shorter than its length": (HTML + b"Content-Length: 5000\r\n\r\n<html>half", "truncated_body"),
    "body longer than its length": (HTML + b"Content-Length: 13\r\n\r\n<html>1</html>and more", None),
    "truncated chunk": (CHUNKED + b"ff\r\n<html>half", "truncated_body"),
    "no last chunk": (CHUNKED + b"6\r\n<html>\r\n", "truncated_body"),
    "chunk size that is none": (CHUNKED + b"zz\r\n<html>\r\n0\r\n\r\n", "malformed_response"),
    "negative chunk size": (CHUNKED + b"-5\r\n<html>\r\n0\r\n\r\n", "malformed_response"),
    "chunk size as Python writes it": (CHUNKED + b"0x6\r\n<html>\r\n0\r\n\r\n", "malformed_response"),
    "chunk size with an underscore": (CHUNKED + b"0_6\r\n<html>\r\n0\r\n\r\n", "malformed_response"),
    "chunk longer than its size": (CHUNKED + b"3\r\n<html>\r\n0\r\n\r\n", "malformed_response"),
    "endless chunk size": (forever(CHUNKED, b"1" * 65_536), "malformed_response"),
    "chunk extensions": (CHUNKED + b"6 ;a=b;c\r\n<html>\r\n0;last\r\n\r\n", None),
    "chunks without a last line end": (CHUNKED + b"6\r\n<html>\r\n0\r\n", None),
    "headers cut in a line": (b"HTTP/1.1 200 OK\r\nContent-Type: text/ht", "truncated_headers"),
    "headers cut between lines": (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", "truncated_headers"),
    "status line cut": (b"HTTP/1.1 200 O", "truncated_headers"),
    "headers cut, then a page": (first(b"HTTP/1.1 200 OK\r\nContent-Ty"), None),
    "early hints cut": (b"HTTP/1.1 103 Early Hints\r\nLink: </a>", "truncated_headers"),
    "headers of an error cut": (b"HTTP/1.1 404 Not Found\r\nContent-", "truncated_headers"),
    "a part, unasked": (answer(PAGE[:30], "206 Partial Content", Content_Range="bytes 0-29/75"), "partial_content"),
    "length that is no number": (HTML + b"Content-Length: many\r\n\r\n" + PAGE, None),
    "two lengths that differ": (HTML + b"Content-Length: 75\r\nContent-Length: 3\r\n\r\n" + PAGE, "malformed_response"),
    "no length at all": (HTML + b"\r\n" + PAGE, None),
    # Slow ones
    "body of a byte now and then": (drip(HTML + b"Content-Length: 500\r\n\r\n", b"<html>" * 80), "timeout"),
    "chunk line of a byte now and then": (drip(CHUNKED, b"0" * 500), "timeout"),
    "headers of a byte now and then": (drip(b"HTTP/1.1 200 OK\r\n", b"X-Slow: " + b"y" * 500), "timeout"),
    "status line of a byte now and then": (drip(b"", b"HTTP/1.1 200 " + b"O" * 500), "timeout"),
    "silence": (hang(b""), "timeout"),
    "silence after the headers": (hang(HTML + b"Content-Length: 500\r\n\r\n<html>"), "timeout"),
    "processing": (b"HTTP/1.1 102 Processing\r\n\r\n" * 3 + answer(), None),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + answer(), None),
    "all interim answers": (b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 H\r\n\r\nHTTP/1.1 100 C\r\n\r\n" + answer(), None),
    "early hints and no more": (b"HTTP/1.1 103 Early Hints\r\n\r\n", "connection_reset"),
    "another protocol": (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "http_101"),
    "endless early hints": (forever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 2000), "timeout"),
    "endless interim answers": (forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000), "timeout"),
    # Large ones
    "oversized page": (answer(b"<html>" + b"x" * 300_000), "too_large"),
    "endless page": (forever(HTML + b"\r\n<html>", b"x" * 65_536), "too_large"),
    "endless chunks": (forever(CHUNKED + b"6\r\n<html>\r\n", b"10000\r\n" + b"x" * 65_536 + b"\r\n"), "too_large"),
    "gzip bomb": (answer(gzip.compress(HTML_BOMB), Content_Encoding="gzip"), "too_large"),
    "deflate bomb": (answer(zlib.compress(HTML_BOMB), Content_Encoding="deflate"), "too_large"),
    "br bomb": (answer(brotli.compress(HTML_BOMB, quality=5), Content_Encoding="br"), "too_large"),
    "zstd bomb": (answer(zstd.compress(HTML_BOMB), Content_Encoding="zstd"), "too_large"),
    "bomb in a bomb": (answer(nested_gzip(3), Content_Encoding="gzip, gzip, gzip"), "too_large"),
    "too many encodings": (answer(nested_gzip(3), Content_Encoding=", ".join(["gzip"] * 50)), "bad_encoding"),
    "bomb behind an error": (answer(gzip.compress(ZEROS), "404 Not Found", Content_Encoding="gzip"), "http_404"),
    "100 MB header line": (forever(b"HTTP/1.1 200 OK\r\nX-Big: ", b"x" * 65_536), "headers_too_large"),
    "endless headers": (forever(b"HTTP/1.1 200 OK\r\n", b"X-Many: of them\r\n" * 100), "headers_too_large"),
    "endless status line": (forever(b"HTTP/1.1 200 ", b"O" * 65_536), "headers_too_large"),
    # What is not as it says
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n", "malformed_response"),
    "binary noise": (bytes(range(256)) * 8 + b"\r\n\r\n", "malformed_response"),
    "status that is no number": (b"HTTP/1.1 abc OK\r\n\r\n", "malformed_response"),
    "header without a colon": (b"HTTP/1.1 200 OK\r\nNonsense\r\nContent-Type: text/html\r\n\r\n" + PAGE, None),
    "plain text under gzip": (answer(PAGE, Content_Encoding="gzip"), "bad_encoding"),
    "unknown encoding": (answer(PAGE, Content_Encoding="rot13"), None),
    **{
        f"cut {name}, {how}": (framed(cut(data), name, how), "truncated_body")
        for name, data in COMPRESSED.items()
        for how in FRAMES
    },
    **{f"whole {name}, {how}": (framed(data, name, how), None) for name, data in COMPRESSED.items() for how in FRAMES},
    "cut gzip, then the page": (first(framed(cut(COMPRESSED["gzip"]), "gzip", "length")), None),
    "gzip without its last bytes": (framed(COMPRESSED["gzip"][:-1], "gzip", "closed"), "truncated_body"),
    "a member of gzip, half of another": (framed(TWO_MEMBERS[:-9], "gzip", "length"), "truncated_body"),
    "two members of gzip": (framed(TWO_MEMBERS, "gzip", "length"), None),
    "padded gzip": (framed(gzip.compress(PAGE) + bytes(30), "gzip", "length"), None),
    "gzip and a line end": (framed(gzip.compress(PAGE) + b"\r\n", "gzip", "closed"), None),
    "raw deflate": (framed(RAW_DEFLATE, "deflate", "closed"), None),
    "cut raw deflate": (framed(cut(RAW_DEFLATE), "deflate", "closed"), "truncated_body"),
    "br in gzip, cut": (framed(cut(gzip.compress(COMPRESSED["br"])), "br, gzip", "closed"), "truncated_body"),
    "cut br in gzip": (framed(gzip.compress(cut(COMPRESSED["br"])), "br, gzip", "closed"), "truncated_body"),
    "damaged gzip": (framed(COMPRESSED["gzip"][:40] + b"\xff" * 900, "gzip", "length"), "bad_encoding"),
    "damaged zstd": (framed(COMPRESSED["zstd"][:4] + b"\xff" * 40, "zstd", "length"), "bad_encoding"),
    **{f"nothing under {name}": (framed(b"", name, "length"), "empty_body") for name in COMPRESSED},
    "PDF labelled HTML": (answer(b"%PDF-1.7\n" + bytes(5000)), "not_html"),
    "noise labelled HTML": (answer(random.Random(1).randbytes(200_000)), "not_html"),
    "text, then noise": (answer(b"words, " * 500 + random.Random(1).randbytes(100_000)), "not_html"),
    "endless noise": (forever(HTML + b"\r\n", random.Random(1).randbytes(65_536)), "not_html"),
    "PDF": (answer(b"%PDF-1.7\n" + bytes(5000), Content_Type="application/pdf"), "not_html"),
    "endless video": (forever(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", b"v" * 9999), "not_html"),
    "octets that are HTML": (answer(PAGE, Content_Type="application/octet-stream"), None),
    "octets that are none": (answer(bytes(range(256)) * 9, Content_Type="application/octet-stream"), "not_html"),
    "HTML without a type": (answer(PAGE, Content_Type=""), None),
    "type that is nonsense": (answer(PAGE, Content_Type=";;;/"), None),
    "unknown character set": (answer(PAGE, Content_Type="text/html; charset=klingon-8"), None),
    "NUL bytes": (answer(b"<html>a\x00b\x00c" + bytes(500) + b"</html>"), None),
    "line of 150 KB": (answer(b"<html>" + b"x" * 150_000), None),
    "tables nested 10,000 deep": (answer(b"<html>" + b"<table>" * 10_000), None),
    "empty success": (answer(b""), "empty_body"),
    "blank success": (answer(b" \r\n\t "), "empty_body"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "empty_body"),
    "not modified, unasked": (b"HTTP/1.1 304 Not Modified\r\n\r\n", "http_304"),
    "status of a teapot": (answer(b"no", "418 I'm a teapot"), "http_418"),
    "status out of range": (answer(b"no", "999 Request denied"), "http_999"),
    # Redirects
    "redirect without a place": (answer(b"", "302 Found"), "bad_redirect"),
    "redirect to itself": (lambda e: e.send(redirect(e.path)), "redirect_loop"),
    "endless redirects": (lambda e: e.send(redirect(f"/?{e.path[2:]}x")), "too_many_redirects"),
    "redirect to a file": (redirect("file:///etc/passwd"), "bad_scheme"),
    "redirect to a script": (redirect("javascript:alert(1)"), "bad_scheme"),
    "redirect to a mail port": (redirect("http://site.test:25/"), "bad_port"),
    "redirect to nonsense": (redirect("http://[:::/"), "bad_url"),
    "redirect to loopback": (redirect("http://127.0.0.1:8080/"), "private_address"),
    "redirect to metadata": (redirect("http://169.254.169.254/latest/meta-data/"), "private_address"),
    "redirect to mapped loopback": (redirect("http://[::ffff:127.0.0.1]/"), "private_address"),
    "redirect to loopback as a number": (redirect("http://2130706433/"), "private_address"),
    "redirect to localhost": (redirect("http://localhost/"), "private_address"),
    "redirect with a bomb": (answer(gzip.compress(ZEROS), "302 F", Location="/good", Content_Encoding="gzip"), None),
    "redirect with an endless body": (forever(b"HTTP/1.1 302 F\r\nLocation: /good\r\n\r\n", b"x" * 65_536), None),
    # What passes by, and what does not
    "500, then a page": (first(answer(b"", "500 Oops")), None),
    "503, then a page": (first(answer(b"", "503 Busy", Retry_After="0")), None),
    "closed once, then a page": (first(b""), None),
    "always 500": (answer(b"", "500 Oops"), "http_500"),
    "always 503": (answer(b"", "503 Busy", Retry_After="100000"), "http_503"),
    "429 storm": (answer(b"", "429 Slow Down", Retry_After="100000"), "rate_limited"),
    "429 with a date": (answer(b"", "429 Slow", Retry_After="Fri, 31 Dec 2199 23:59:59 GMT"), "rate_limited"),
    "429 with nonsense": (answer(b"", "429 Slow", Retry_After="-5 or so"), "rate_limited"),
    "gone": (answer(b"", "410 Gone"), "http_410"),
}


def host(name: str) -> str:
    return f"h{list(CASES).index(name)}.test"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """A crawl of all cases at once, each on its own host beside a good page; of those that end by time another."""
    pages: dict[str, Handler] = {f"//{host(name)}/": handler for name, (handler, _) in CASES.items()}
    pages["/good"] = answer()
    slow = [name for name, (_, reason) in CASES.items() if reason == "timeout"]
    found: dict[str, dict[str, Any]] = {}
    with LoopbackServer(pages) as server:
        for names, limits in (
            (slow, {"read_seconds": 2.0, "total_seconds": 4.0}),
            ([name for name in CASES if name not in slow], {}),
        ):
            urls = [f"http://{host(name)}{path}" for name in names for path in ("/", "/good")]
            journal = local_journal(tmp_path_factory.mktemp("hostile"))
            found |= crawl(server, urls, journal, **limits, connections=len(names))
    return found


@pytest.mark.parametrize("name", CASES)
def test_hostile_answer_ends_with_its_reason(name: str, rows: dict[str, dict[str, Any]]) -> None:
    reason = CASES[name][1]
    row = rows[f"http://{host(name)}/"]
    assert row["reason"] == reason
    assert (row["body"] is None) == (reason is not None)
    assert row["bytes"] <= 200_000 + 65_536
    assert reason is None or reason in set(PageReason) or reason.startswith("http_")


def test_no_good_page_is_lost(rows: dict[str, dict[str, Any]]) -> None:
    good = [rows[f"http://{host(name)}/good"]["body"] for name in CASES]
    assert good == [PAGE] * len(CASES)


def test_there_are_at_least_forty_cases() -> None:
    assert len(CASES) >= 40


def test_a_cookie_wall_that_wants_another_cookie_each_time_ends(tmp_path: Path) -> None:
    cookies: list[str | None] = []

    def wall(exchange: Exchange) -> None:
        cookies.append(exchange.headers.get("cookie"))
        exchange.send(answer(b"", "302 Found", Location="/wall", Set_Cookie=f"seen={exchange.hit}; Path=/"))

    with LoopbackServer({"/wall": wall}) as server:
        rows = crawl(server, ["http://site.test/wall"], local_journal(tmp_path))
    assert rows["http://site.test/wall"]["reason"] == "too_many_redirects"
    assert cookies == [None, "seen=0", "seen=1", "seen=2", "seen=3", "seen=4"]


def test_a_cookie_lasts_for_the_redirects_of_one_visit_and_reaches_no_other_site(tmp_path: Path) -> None:
    cookies: list[tuple[str, str | None]] = []

    def page(exchange: Exchange) -> None:
        cookie = exchange.headers.get("cookie")
        cookies.append((exchange.path, cookie))
        if cookie is None:
            exchange.send(answer(b"", "302 Found", Location="/set"))
        else:
            exchange.send(answer(b"", "302 Found", Location="http://other.test/page"))

    def plain(exchange: Exchange) -> None:
        cookies.append((exchange.path, exchange.headers.get("cookie")))
        exchange.send(answer())

    wall = answer(b"", "302 Found", Location="/page", Set_Cookie="seen=1; Path=/")
    with LoopbackServer({"//site.test/page": page, "/set": wall, "//other.test/page": plain, "/next": plain}) as server:
        urls = ["http://site.test/page", "http://site.test/next"]
        rows = crawl(server, urls, local_journal(tmp_path), connections=1)
    assert [rows[url]["reason"] for url in urls] == [None, None]
    assert rows[urls[0]]["final_url"] == "http://other.test/page"
    assert sorted(cookies, key=str) == [("/next", None), ("/page", "seen=1"), ("/page", None), ("/page", None)]


def test_closed_port(tmp_path: Path) -> None:
    with LoopbackServer({"/good": answer()}) as server:
        closed = server.port
    with LoopbackServer({"/good": answer()}) as server:
        rows = crawl(
            server,
            ["http://closed.test/", "http://site.test/good"],
            local_journal(tmp_path),
            connect_to={"closed.test": f"127.0.0.1:{closed}", "*.test": server.address},
        )
    assert rows["http://closed.test/"]["reason"] == "connect_error"
    assert rows["http://site.test/good"]["reason"] is None


def test_rows_hold_what_came(tmp_path: Path) -> None:
    page = answer(PAGE, ETag='"v1"', Last_Modified="Fri, 20 Nov 2026 10:00:00 GMT")
    with LoopbackServer({"/moved": redirect("/page?x=1"), "/page?x=1": page}) as server:
        rows = crawl(server, ["http://site.test/moved"], local_journal(tmp_path))
    row = rows["http://site.test/moved"]
    assert (row["status"], row["final_url"], row["attempts"]) == (200, "http://site.test/page?x=1", 1)
    assert (row["mime"], row["charset"], row["bytes"]) == ("text/html", "utf-8", len(PAGE))
    assert (row["etag"], row["last_modified"]) == ('"v1"', "Fri, 20 Nov 2026 10:00:00 GMT")
    assert row["body"] == PAGE
    assert row["sha256"] == hashlib.sha256(PAGE).hexdigest()


def test_request_says_who_asks(tmp_path: Path) -> None:
    seen: list[str] = []

    def page(exchange: Exchange) -> None:
        seen.append(json.dumps(exchange.headers))
        exchange.send(answer())

    with LoopbackServer({"/": page}) as server:
        crawl(server, ["http://site.test/"], local_journal(tmp_path), user_agent="reader/2", contact="me@site.test")
    headers = json.loads(seen[0])
    assert headers["user-agent"] == "reader/2 (+me@site.test)"
    assert headers["accept-encoding"] == "gzip,deflate,br,zstd"
    assert headers["host"] == "site.test"
