"""Dead links and the archive that stands in for them, against a server that speaks the Internet Archive's interface."""

import gzip
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from storage.schemas import PAGES
from tasks.archives.wayback import DEAD, Wayback
from tasks.crawl.crawl import crawl_shard
from tasks.engine.job import Scratch
from tasks.fetching.http import Patience
from tasks.fetching.reasons import PageReason
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.visit import refused_row
from tests.tasks.crawl.test_earlier import build
from tests.tasks.fetching.loopback_server import FAST, QUICK, Exchange, Handler, LoopbackServer, answer, frontier

pytestmark = pytest.mark.integration

STAMP = "20130919044612"
BODY = b"<html><p>As it once was.</p></html>"
MADE = {"Memento_Datetime": "Thu, 19 Sep 2013 04:46:12 GMT"}


class Archive(LoopbackServer):
    """Availability at //api.ia.test/available, captures below //ia.test/web/; every other page is gone."""

    def __init__(self, captures: Mapping[str, bytes]) -> None:
        super().__init__({"//api.ia.test/available": self._available})
        self.captures = captures
        self.pages.update({f"//ia.test/web/{STAMP}id_/{url}": content for url, content in captures.items()})

    def asked(self) -> list[str]:
        """URLs whose availability was asked for, in order."""
        return [parse_qs(urlsplit(path).query)["url"][0] for path in self.paths("api.ia.test")]

    def _available(self, exchange: Exchange) -> None:
        url = parse_qs(urlsplit(exchange.path).query)["url"][0]
        found = {"closest": closest(url)} if url in self.captures else {}
        exchange.send(answer(json.dumps({"url": url, "archived_snapshots": found}).encode(), Content_Type="text/json"))


def closest(url: str, **fields: Any) -> dict[str, Any]:
    return {
        "status": "200",
        "available": True,
        "url": f"http://ia.test/web/{STAMP}/{url}",
        "timestamp": STAMP,
        **fields,
    }


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.wayback.PATIENCE", Patience(20.0, 1, 0.01, 0.05, failures=3))
    at_test_hosts(monkeypatch)


def at_test_hosts(monkeypatch: pytest.MonkeyPatch, delay_seconds: float = 0.0) -> None:
    """Have the archive asked at test hosts, without pauses."""
    monkeypatch.setattr("tasks.archives.wayback.AVAILABILITY_URL", "http://api.ia.test/available")
    monkeypatch.setattr("tasks.archives.wayback.PAGES_URL", "http://ia.test/web/")
    monkeypatch.setattr("tasks.archives.wayback.DELAY_SECONDS", delay_seconds)


def options(**wayback: Any) -> CrawlSettings:
    return CrawlSettings(**{**FAST, "wayback": {"enabled": True, **wayback}})


def crawled(
    server: LoopbackServer, tmp_path: Path, urls: list[str], settings: CrawlSettings, patience: Patience = QUICK
) -> list[dict[str, Any]]:
    batches = crawl_shard(
        frontier(urls),
        settings,
        shard=0,
        host_shards=1,
        root=str(tmp_path / "root"),
        scratch=Scratch(pafs.LocalFileSystem(), str(tmp_path / "scratch")),
        connect_to={"*.test": server.address},
        progress=lambda _: None,
        patience=patience,
    )
    return pa.Table.from_batches(batches, schema=PAGES.schema).to_pylist()


GONE, DIRECT, ALIVE, LOST = (
    "http://a.test/gone?x=1&y=2",
    "http://b.test/direct",
    "http://a.test/alive",
    "http://a.test/z",
)


@pytest.fixture
def archive() -> Iterator[Archive]:
    packed = answer(gzip.compress(BODY), Content_Encoding="gzip", ETag='"archive"', **MADE)
    moved = answer(b"", "302 Found", Location=f"/web/{STAMP}id_/http://b.test/there")
    with Archive({GONE: packed, DIRECT: moved}) as server:
        server.pages[f"//ia.test/web/{STAMP}id_/http://b.test/there"] = answer(BODY, **MADE)
        server.pages["//a.test/alive"] = answer(b"<p>alive")
        yield server


def test_dead_links_come_from_the_archive_and_say_so(archive: Archive, tmp_path: Path) -> None:
    rows = crawled(archive, tmp_path, [GONE, DIRECT, ALIVE, LOST], options())
    assert [(row["url"], row["reason"], row["body"], row["archive"]) for row in rows] == [
        (ALIVE, None, b"<p>alive", None),
        (GONE, None, BODY, "http://ia.test/web/"),
        (LOST, "http_404", None, None),
        (DIRECT, None, BODY, "http://ia.test/web/"),
    ]
    assert rows[1]["final_url"] == f"http://ia.test/web/{STAMP}id_/{GONE}"
    assert rows[3]["final_url"] == f"http://ia.test/web/{STAMP}id_/http://b.test/there"
    assert (rows[1]["host"], rows[1]["status"], rows[1]["etag"]) == ("a.test", 200, None)
    assert archive.asked() == [GONE, LOST, DIRECT]


def test_off_by_default(archive: Archive, tmp_path: Path) -> None:
    assert not CrawlSettings().wayback.enabled
    rows = crawled(archive, tmp_path, [GONE], options(enabled=False))
    assert rows[0]["reason"] == "http_404"
    assert archive.paths("api.ia.test") == []


def test_resumed_shard_asks_for_nothing_again(archive: Archive, tmp_path: Path) -> None:
    first = crawled(archive, tmp_path, [GONE, DIRECT, LOST], options())
    requests = len(archive.log)
    again = crawled(archive, tmp_path, [GONE, DIRECT, LOST], options())
    assert [(row["url"], row["body"], row["reason"]) for row in again] == [
        (row["url"], row["body"], row["reason"]) for row in first
    ]
    assert len(archive.log) == requests


def test_page_of_the_archive_stays_while_the_archive_is_away(archive: Archive, tmp_path: Path) -> None:
    def week(name: str) -> dict[str, dict[str, Any]]:
        return build(tmp_path, archive, [GONE, LOST], refresh=name, **options().model_dump(exclude={"refresh"}))[0]

    first = week("1")
    there = archive.pages.pop("//api.ia.test/available")
    second = week("2")
    assert second[GONE] == {**first[GONE], "stale_reason": "index_failed"}
    assert (second[LOST]["reason"], second[LOST]["stale_reason"]) == ("index_failed", None)
    archive.pages["//api.ia.test/available"] = there
    asked = len(archive.asked())
    third = week("2")  # is done, and asks for nothing
    assert (third, len(archive.asked())) == (second, asked)
    fourth = week("3")
    assert (fourth[GONE]["body"], fourth[GONE]["stale_reason"], fourth[LOST]["reason"]) == (BODY, None, "http_404")
    assert fourth[GONE]["fetched_at"] > second[GONE]["fetched_at"]


@pytest.mark.parametrize("held", [True, False])
def test_resumed_shard_keeps_the_page_of_an_archive_that_is_away(held: bool, archive: Archive, tmp_path: Path) -> None:
    build(tmp_path / "root", archive, [GONE], **options().model_dump())
    del archive.pages["//api.ia.test/available"]
    again = options().model_copy(update={"refresh": "again"})
    assert crawled(archive, tmp_path, [GONE], again)[0]["stale_reason"] == "index_failed"  # and no record was written
    if not held:
        for file in (tmp_path / "root" / "pages").iterdir():
            file.unlink()
    requests = len(archive.asked())
    row = crawled(archive, tmp_path, [GONE], again)[0]
    if held:
        assert (row["body"], row["stale_reason"], len(archive.asked())) == (BODY, "index_failed", requests)
    else:
        assert (row["body"], row["reason"]) == (None, "index_failed")


def test_only_pages_that_are_gone_are_looked_for(archive: Archive, tmp_path: Path) -> None:
    archive.pages["//a.test/gone"] = answer(b"", "403 Forbidden")
    rows = crawled(archive, tmp_path, [GONE], options())
    assert rows[0]["reason"] == "http_403"
    assert archive.asked() == []
    assert {reason for reason in DEAD if not reason.startswith("http_")} <= set(PageReason)


@pytest.mark.parametrize(
    ("robots", "reason"),
    [
        (b"", "connection_reset"),
        (lambda exchange: exchange.reset(), "connection_reset"),
        (lambda exchange: exchange.sock.recv(1), "timeout"),
        (answer(b"", "503 Busy"), "robots_unreachable"),
    ],
)
def test_host_that_is_dead_at_its_robots_txt_is_looked_for(
    robots: Handler, reason: str, archive: Archive, tmp_path: Path
) -> None:
    archive.pages["//b.test/robots.txt"] = robots
    lost = "http://b.test/lost"
    patience = replace(QUICK, read_seconds=2.0) if reason == "timeout" else QUICK
    rows = crawled(archive, tmp_path, [DIRECT, lost], options(), patience)
    dead = reason != "robots_unreachable"  # a server that answers is not dead
    assert [(row["reason"], row["body"]) for row in rows] == [(None, BODY) if dead else (reason, None), (reason, None)]
    assert archive.asked() == ([DIRECT, lost] if dead else [])


def rescued(server: Archive, settings: CrawlSettings, url: str = GONE, **columns: Any) -> dict[str, Any]:
    dead = {**refused_row(url, "http_404"), "status": 404, **columns}
    with Wayback(settings, {"*.test": server.address}) as found:
        return found.row(dead)


def test_time_is_that_of_the_settings_and_requests_wait(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    at_test_hosts(monkeypatch, delay_seconds=1.0)
    begun = time.monotonic()  # before the first request, which the server of a busy machine notes late
    rescued(archive, options(timestamp="2015"))
    assert archive.paths("api.ia.test")[0].endswith("&timestamp=2015")
    times = [hit.at for hit in archive.log]
    assert len(times) == 2
    assert times[1] - begun > 0.95  # clocks are kept and told in milliseconds


def test_address_of_an_archive_is_not_looked_for_in_it(archive: Archive) -> None:
    for url in ("http://web.archive.org/web/2012/http://a.test/", "http://ia.test/web/2012/http://a.test/"):
        assert rescued(archive, options(), url)["reason"] == "http_404"
    assert archive.log == []


JSON = {"Content_Type": "application/json"}
AVAILABILITY: dict[str, tuple[bytes, str]] = {
    "500": (answer(b"", "500 Oops"), "index_failed"),
    "429 for ever": (answer(b"", "429 Slow", Retry_After="1"), "index_failed"),
    "403": (answer(b"", "403 Forbidden"), "index_failed"),
    "redirect to a private address": (answer(b"", "302 Found", Location="http://169.254.169.254/"), "index_failed"),
    "HTML": (answer(b"<html>busy"), "index_bad_answer"),
    "truncated JSON": (answer(b'{"archived_snapshots": {"clo', **JSON), "index_bad_answer"),
    "no object": (answer(b"[]", **JSON), "index_bad_answer"),
    "snapshots are none": (answer(b'{"archived_snapshots": 3}', **JSON), "index_bad_answer"),
    "closest is none": (answer(b'{"archived_snapshots": {"closest": "x"}}', **JSON), "index_bad_answer"),
    "time leads elsewhere": (
        answer(json.dumps({"archived_snapshots": {"closest": closest(GONE, timestamp="../../x")}}).encode(), **JSON),
        "index_bad_answer",
    ),
    "nested deep": (answer(b"[" * 90_000, **JSON), "index_bad_answer"),
    "longer than allowed": (answer(b"x" * 150_000), "index_failed"),
    "shorter than announced": (answer(b"{}", Content_Length="99"), "index_failed"),
    "a capture of an error": (
        answer(json.dumps({"archived_snapshots": {"closest": closest(GONE, status="404")}}).encode(), **JSON),
        "http_404",
    ),
    "none": (answer(b'{"archived_snapshots": {}}', **JSON), "http_404"),
    "nothing": (answer(b"", **JSON), "index_bad_answer"),
    "a list of none": (answer(b'{"archived_snapshots": []}', **JSON), "index_bad_answer"),
    "closest is null": (answer(b'{"archived_snapshots": {"closest": null}}', **JSON), "index_bad_answer"),
    "an error with status 200": (answer(b'{"error": "overloaded"}', **JSON), "index_bad_answer"),
}


@pytest.mark.parametrize("name", AVAILABILITY)
def test_hostile_availability(name: str, archive: Archive) -> None:
    reply, reason = AVAILABILITY[name]
    archive.pages["//api.ia.test/available"] = reply
    row = rescued(archive, options())
    assert (row["reason"], row["status"], row["body"]) == (reason, 404, None)
    assert reason in {*PageReason, "http_404"}


CAPTURE: dict[str, tuple[bytes, str]] = {
    "500": (answer(b"", "500 Oops"), "archive_failed"),
    "404": (answer(b"", "404 Not Found"), "http_404"),
    "PDF": (answer(b"%PDF-1.7", **MADE), "http_404"),
    "empty": (answer(b"", **MADE), "http_404"),
    "the archive's own page": (answer(b"<html><p>The archive is busy. Try again later."), "archive_bad_answer"),
    "nothing of the archive's own": (answer(b""), "archive_bad_answer"),
    "bomb": (answer(gzip.compress(bytes(30_000_000)), Content_Encoding="gzip"), "http_404"),
    "wrong encoding": (answer(b"no gzip", Content_Encoding="gzip"), "http_404"),
    "cut off": (answer(BODY, Content_Length="999"), "http_404"),
    "redirect out of the archive": (answer(b"", "302 Found", Location="http://a.test/"), "archive_bad_answer"),
    "redirect to a private address": (
        answer(b"", "302 Found", Location="http://169.254.169.254/web/"),
        "archive_bad_answer",
    ),
    "redirect to a file": (answer(b"", "302 Found", Location="file:///etc/passwd"), "http_404"),
    "redirect to itself": (answer(b"", "302 Found", Location=f"/web/{STAMP}id_/{GONE}"), "http_404"),
}


@pytest.mark.parametrize("name", CAPTURE)
def test_hostile_capture(name: str, archive: Archive) -> None:
    reply, reason = CAPTURE[name]
    archive.pages[f"//ia.test/web/{STAMP}id_/{GONE}"] = reply
    row = rescued(archive, options())
    assert (row["reason"], row["status"], row["body"], row["archive"]) == (reason, 404, None, None)


def test_archive_that_fails_again_and_again_is_left_alone(archive: Archive) -> None:
    archive.pages["//api.ia.test/available"] = answer(b"", "403 Forbidden")
    with Wayback(options(), {"*.test": archive.address}) as found:
        rows = [found.row({**refused_row(f"http://a.test/{n}", "dns_error")}) for n in range(6)]
    assert [row["reason"] for row in rows] == ["index_failed"] * 6
    assert len(archive.asked()) == 3


def test_archive_is_not_asked_at_a_private_address() -> None:
    settings = CrawlSettings(wayback={"enabled": True})
    with LoopbackServer() as server, Wayback(settings, {}) as found:
        found._index._client._guard._resolver = lambda host, port: ["127.0.0.1"]
        assert found.row({**refused_row(GONE, "http_404")})["reason"] == "index_failed"
        assert server.log == []
