"""The server of the mini web, asked over real connections for every fate a URL can have."""

import gzip
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from pyarrow.fs import LocalFileSystem

from tasks.articles.articles import merge_articles, read_articles
from tasks.crawl.frontier import build_frontier
from tasks.engine.job import Scratch
from tasks.fetching.journal import Journal
from tasks.fetching.robots import read_rules
from tasks.fetching.settings import CrawlSettings
from tasks.search.search import search_articles
from tasks.search.settings import WebSearchSettings
from tasks.sources.choice import open_source, running_web
from tasks.sources.miniweb.links import FAULT_RATES, Fate, Link
from tasks.sources.miniweb.server import MiniwebServer
from tasks.sources.settings import MiniwebSettings, RecordsSettings, SourceSettings
from tests.tasks.fetching.loopback_server import QUICK, crawl_pages
from tests.tasks.sources.test_miniweb_pages import has_text

SETTINGS = MiniwebSettings(topics=3000, oversized_bytes=300_000)


@dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


@pytest.fixture(scope="module")
def server() -> Iterator[MiniwebServer]:
    with MiniwebServer(SETTINGS) as running:
        yield running


def ask(server: MiniwebServer, url: str, method: str = "GET", **headers: str) -> Reply:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as connection:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, target, headers={"Host": parts.netloc or server.address, **headers})
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read())


def follow(server: MiniwebServer, url: str, hops: int = 6) -> tuple[str, Reply]:
    for _ in range(hops):
        reply = ask(server, url)
        if "Location" not in reply.headers:
            break
        url = reply.headers["Location"]
    return url, reply


def some(server: MiniwebServer, fate: Fate) -> Link:
    """Return the first link with this fate."""
    links = (server.web.links.link(topic, slot) for topic in range(3000) for slot in (*range(4), 40, 41))
    return next(link for link in links if link.fate is fate)


@pytest.mark.parametrize("fate", [fate for fate in Fate if fate not in (Fate.GUIDE, Fate.LOOP, Fate.FORBIDDEN)])
def test_links_come_to_what_is_expected(server: MiniwebServer, fate: Fate) -> None:
    link = some(server, fate)
    if fate is Fate.FLAKY:
        assert ask(server, link.url).status == 500
    final, reply = follow(server, link.url)
    assert (reply.status, final) == (link.status, link.final_url)
    if has_text(link):
        assert (
            b"</article>" in reply.body or b'class="entry-content"' in reply.body or b'<div class="text">' in reply.body
        )


@pytest.mark.parametrize(
    ("fate", "statuses"),
    [
        (Fate.MOVED, [301, 200]),
        (Fate.FOUND, [302, 200]),
        (Fate.TEMPORARY, [307, 200]),
        (Fate.CHAIN, [302, 302, 302, 200]),
    ],
)
def test_redirects(server: MiniwebServer, fate: Fate, statuses: list[int]) -> None:
    url, seen = some(server, fate).url, []
    while url:
        reply = ask(server, url)
        seen.append(reply.status)
        url = reply.headers.get("Location", "")
    assert seen == statuses


def test_a_loop_never_ends(server: MiniwebServer) -> None:
    start = some(server, Fate.LOOP).url
    url, reply = follow(server, start, hops=2)
    assert (url, reply.status) == (start, 302)


def test_a_flaky_page_fails_once(server: MiniwebServer) -> None:
    links = (server.web.links.link(topic, 5) for topic in range(3000))
    url = next(link for link in links if link.fate is Fate.FLAKY).url
    assert [ask(server, url).status for _ in range(3)] == [500, 200, 200]
    assert server.requests[url] == 3
    server.requests.clear()
    assert ask(server, url).status == 200


def test_wrong_charsets(server: MiniwebServer) -> None:
    utf8, latin1 = ask(server, some(server, Fate.CALLED_LATIN1).url), ask(server, some(server, Fate.CALLED_UTF8).url)
    assert utf8.headers["Content-Type"] == "text/html; charset=iso-8859-1"
    assert "© 2026" in utf8.body.decode("utf-8")
    assert latin1.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "© 2026" in latin1.body.decode("iso-8859-1")
    with pytest.raises(UnicodeDecodeError):
        latin1.body.decode("utf-8")


def test_a_pdf_is_valid(server: MiniwebServer) -> None:
    reply = ask(server, some(server, Fate.PDF).url)
    assert reply.headers["Content-Type"] == "application/pdf"
    assert reply.body.startswith(b"%PDF-1.4")
    table = int(reply.body.split(b"startxref\n")[1].split(b"\n")[0])
    entries = reply.body[table:].split(b"\n")[3:8]
    for number, entry in enumerate(entries, 1):
        assert reply.body[int(entry.split()[0]) :].startswith(b"%d 0 obj" % number)


def test_oversized_pages_come_in_chunks_or_as_a_bomb(server: MiniwebServer) -> None:
    links = [server.web.links.link(topic, slot) for topic in range(3000) for slot in range(4)]
    replies = [ask(server, link.url) for link in links if link.fate is Fate.OVERSIZED][:12]
    zipped = [reply for reply in replies if reply.headers.get("Content-Encoding") == "gzip"]
    chunked = [reply for reply in replies if reply.headers.get("Transfer-Encoding") == "chunked"]
    assert zipped and chunked and len(zipped) + len(chunked) == len(replies)
    assert len(zipped[0].body) < 20_000 < 300_000 < len(gzip.decompress(zipped[0].body))
    assert len(chunked[0].body) > 300_000


def test_robots(server: MiniwebServer) -> None:
    link = some(server, Fate.FORBIDDEN)
    judge = read_rules(ask(server, f"http://{urlsplit(link.url).netloc}/robots.txt").body, "anyone").judge()
    assert judge(link.url) == "robots_disallowed"
    assert judge(link.url.replace("/private/", "/entry/")) is None
    assert ask(server, link.url).status == 200  # served all the same: who obeys never sees it
    assert read_rules(ask(server, "http://academy.miniweb.test/robots.txt").body, "anyone").delay == 0.02
    assert ask(server, "http://journal.miniweb.test/robots.txt").status == 404


def test_search_in_the_json_of_searxng(server: MiniwebServer) -> None:
    title = server.web.world.title(2345)
    reply = ask(server, f"http://search.miniweb.test/search?q={quote(title)}&format=json")
    assert reply.headers["Content-Type"] == "application/json"
    answer = json.loads(reply.body)
    assert answer["query"] == title
    assert [result["url"] for result in answer["results"]] == [
        link.url for link in server.web.links.search_results(2345)
    ]
    unknown = ask(server, "http://search.miniweb.test/search?q=Nothing+at+all&format=json")
    assert json.loads(unknown.body)["results"] == []


@pytest.mark.parametrize(
    "url",
    [
        "http://nowhere.miniweb.test/",
        "http://atlas.miniweb.test/entry/x-1-0.html",
        "http://atlas.miniweb.test/entry/x-1-19.html",
        "http://go.miniweb.test/hop/3/1-99999999999",
        "http://atlas.miniweb.test/old/1-0",
        "http://visit.miniweb.test/regions/x-g0-77.html",
        "http://atlas.miniweb.test/loop/a/999999999999-1",
    ],
)
def test_other_urls_are_not_found(server: MiniwebServer, url: str) -> None:
    assert ask(server, url).status == 404


def test_an_unchanged_page_is_not_sent_again(server: MiniwebServer) -> None:
    url = some(server, Fate.OK).url
    first = ask(server, url)
    again = ask(server, url, **{"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_a_head_request_has_no_body(server: MiniwebServer) -> None:
    url = some(server, Fate.OK).url
    head = ask(server, url, "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(ask(server, url).body)


def test_a_connection_is_kept(server: MiniwebServer) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)) as connection:
        connection.connect()
        first = connection.sock
        for link in server.web.expected(0)[:5]:
            parts = urlsplit(link.url)
            connection.request("GET", parts.path, headers={"Host": parts.netloc})
            connection.getresponse().read()
            assert connection.sock is first


def test_a_browser_can_walk_through_the_web(server: MiniwebServer) -> None:
    index = ask(server, "/").body.decode()
    assert '<a href="/host/atlas.miniweb.test/">' in index
    assert '<a href="/100">more</a>' in index
    link = some(server, Fate.OK)
    page = ask(server, link.url.replace("http://", "/host/")).body.decode()
    assert 'href="/host/' in page
    assert 'href="http://' not in page
    moved = ask(server, some(server, Fate.MOVED).url.replace("http://", "/host/"))
    assert moved.headers["Location"].startswith("/host/")


def test_two_servers_of_one_world_say_the_same() -> None:
    with MiniwebServer(SETTINGS) as one, MiniwebServer(SETTINGS) as two:
        for link in one.web.expected(7):
            first, second = ask(one, link.url), ask(two, link.url)
            assert (first.status, first.body) == (second.status, second.body)


def test_running_web() -> None:
    with running_web(SourceSettings(miniweb=MiniwebSettings(topics=1))) as connect_to:
        address = connect_to["*.miniweb.test"]
        host, port = address.split(":")
        with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as connection:
            connection.request("GET", "/", headers={"Host": "mirror.miniweb.test"})
            assert connection.getresponse().status == 200
    with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as connection, pytest.raises(OSError):
        connection.request("GET", "/")
    with running_web(SourceSettings(kind="records", records=RecordsSettings(paths=("a",)))) as connect_to:
        assert connect_to == {}


def test_every_fault_is_tried_here() -> None:
    assert set(FAULT_RATES) | {Fate.OK, Fate.GUIDE, Fate.CLONE, Fate.NEAR_CLONE} == set(Fate)


def test_a_crawl_comes_to_what_is_expected(tmp_path: Path) -> None:
    """Every URL of fifteen topics, found by search or citation, ends in the crawl's ledger as its fate says."""
    source = SourceSettings(miniweb=MiniwebSettings(topics=15, oversized_bytes=11_000_000))
    (partition,) = open_source(source).partitions()
    articles = merge_articles(
        read_articles(partition=partition, source=source, source_name="miniweb", article_shards=1, seed=1)
    )
    reasons = {
        Fate.NOT_FOUND: "http_404",
        Fate.GONE: "http_410",
        Fate.LOOP: "redirect_loop",
        Fate.PDF: "not_html",
        Fate.OVERSIZED: "too_large",
        Fate.FORBIDDEN: "robots_disallowed",
        Fate.EMPTY: "empty_body",
    }
    with MiniwebServer(source.miniweb) as server, Journal(LocalFileSystem(), str(tmp_path)) as journal:
        searching = WebSearchSettings(provider="searxng", endpoint="http://search.miniweb.test/search", delay_seconds=0)
        scratch = Scratch(LocalFileSystem(), str(tmp_path / "search"))
        search = search_articles(articles, searching, scratch=scratch, connect_to=server.connect_to)
        crawling = CrawlSettings(host_delay_seconds=0)
        frontier = build_frontier(articles, search, crawling, article_shard=0, host_shards=1)
        options = {"connect_to": server.connect_to, "progress": lambda _: None, "patience": QUICK}
        pages = crawl_pages(frontier, None, crawling, journal=journal, **options)
        expected = {link.url: reasons.get(link.fate) for topic in range(15) for link in server.web.expected(topic)}
    assert dict(zip(pages["url"].to_pylist(), pages["reason"].to_pylist(), strict=True)) == expected
    assert len(set(expected.values())) > 3
    assert not any("/private/" in url for url in server.requests)
