"""Pages by an index and ranged reads, against a real server that speaks both over an archive written here."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow.fs as pafs
import pytest

from storage.schemas import CAPTURES
from tasks.archives.common_crawl import look_up_shard
from tasks.archives.remote_files import GAP_BYTES
from tasks.engine.job import Scratch
from tasks.fetching.answers import Answers
from tasks.fetching.http import Patience
from tasks.fetching.reasons import CaptureReason, PageReason
from tasks.fetching.settings import CrawlSettings
from tests.patience import PATIENCE
from tests.tasks.archives.test_archive import http, record
from tests.tasks.fetching.loopback_server import (
    FAST,
    Exchange,
    LoopbackServer,
    answer,
    crawl_pages,
    frontier,
    local_journal,
)

pytestmark = pytest.mark.integration

PLAIN = {"Content_Type": "text/plain"}
FILE = "crawl-data/CC-MAIN-2026-43/segments/1.2/warc/a.warc.gz"
OLD, NEW = "20250102030405", "20260102030405"


class CommonCrawl(LoopbackServer):
    """An index of captures at /index, and their archive file below /data/."""

    def __init__(self) -> None:
        super().__init__({"/index": self._index, f"/data/{FILE}": self._range})
        self.file = b""
        self.lines: dict[str, list[dict[str, str]]] = {}

    def add(
        self, url: str, content: bytes, *, timestamp: str = NEW, status: str = "200", apart: bool = False, **more: str
    ) -> None:
        date = f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}T00:00:00Z"
        member = gzip.compress(record(url, content, date=date), mtime=0)
        line = {
            "urlkey": "-",
            "timestamp": timestamp,
            "url": url,
            "mime": "text/html",
            "mime-detected": "text/html",
            "status": status,
            "digest": "-",
            "length": str(len(member)),
            "offset": str(len(self.file)),
            "filename": FILE,
            **more,
        }
        self.lines.setdefault(url, []).append(line)
        self.file += member + (bytes(GAP_BYTES + 1) if apart else b"")

    def look_ups(self) -> list[str]:
        """URLs that were looked up, in order."""
        queries = [parse_qs(urlsplit(path).query) for path in self.paths() if path.startswith("/index")]
        urls = [query["url"][0] for query in queries if "showNumPages" not in query]
        return [url for url in urls if not url.endswith(".invalid/")]  # how an index says that it has none

    def reads(self) -> int:
        return sum(path.startswith("/data") for path in self.paths())

    def _index(self, exchange: Exchange) -> None:
        query = parse_qs(urlsplit(exchange.path).query)
        assert (query["output"], query["matchType"]) == (["json"], ["exact"])
        if "showNumPages" in query:
            exchange.send(answer(b'{"pages": 0, "pageSize": 5, "blocks": 0}', **PLAIN))
            return
        lines = self.lines.get(query["url"][0], [])[: int(query["limit"][0])]
        if lines:
            exchange.send(answer("".join(json.dumps(line) + "\n" for line in lines).encode(), **PLAIN))
        else:
            exchange.send(answer(b'{"message": "No Captures found"}', "404 Not Found", **PLAIN))

    def _range(self, exchange: Exchange) -> None:
        first, last = (int(text) for text in exchange.headers["range"].removeprefix("bytes=").split("-"))
        body = self.file[first : last + 1]
        exchange.send(part(body, first, len(self.file)))


def part(body: bytes, first: int, total: int) -> bytes:
    place = f"bytes {first}-{first + len(body) - 1}/{total}"
    return answer(body, "206 Partial Content", Content_Type="application/octet-stream", Content_Range=place)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("common_crawl", "remote_files"):
        monkeypatch.setattr(f"tasks.archives.{module}.PATIENCE", Patience(20.0, 1, 0.01, 0.05))


@pytest.fixture
def archive() -> Iterator[CommonCrawl]:
    with CommonCrawl() as server:
        yield server


def options(server: LoopbackServer, **settings: Any) -> CrawlSettings:
    common = {
        "indexes": ["http://index.cc.test/index"],
        "data_url": "http://data.cc.test/data",
        "delay_seconds": 0.0,
        "requests_per_second": 10_000.0,
        **settings.pop("common_crawl", {}),
    }
    return CrawlSettings(**{**FAST, "common_crawl": common, **settings})


def looked_up(server: LoopbackServer, tmp_path: Path, urls: list[str], settings: CrawlSettings) -> Any:
    return look_up_shard(
        frontier(urls),
        settings,
        shard=3,
        scratch=Scratch(pafs.LocalFileSystem(), str(tmp_path / "look-ups")),
        connect_to={"*.test": server.address},
        progress=lambda _: None,
    )


def pages(server: LoopbackServer, tmp_path: Path, urls: list[str], **settings: Any) -> dict[str, dict[str, Any]]:
    chosen = options(server, **settings)
    captures = looked_up(server, tmp_path, urls, chosen)
    assert captures.schema.equals(CAPTURES.schema)
    assert set(captures.column("reason").to_pylist()) - {None} <= set(CaptureReason)
    with local_journal(tmp_path) as journal:
        table = crawl_pages(
            frontier(urls),
            captures,
            chosen,
            journal=journal,
            connect_to={"*.test": server.address},
            progress=lambda _: None,
        )
    rows = {row["url"]: row for row in table.to_pylist()}
    assert sorted(rows) == sorted(urls)
    assert {row["reason"] for row in rows.values()} - {None} <= {*PageReason, "http_404"}
    return rows


URL = "http://a.test/x?q=a*"


def test_page_comes_by_index_and_range(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add("http://a.test/first", http(b"<p>first"))
    archive.add(URL, http(b"<p>old"), timestamp=OLD)
    archive.add(URL, http(gzip.compress(b"<p>new"), "200 OK", "Content-Encoding: gzip"))
    rows = pages(archive, tmp_path, [URL, "http://a.test/none"])
    row = rows[URL]
    assert (row["reason"], row["body"], row["final_url"], row["status"]) == (None, b"<p>new", URL, 200)
    assert row["fetched_at"].isoformat() == "2026-01-02T00:00:00+00:00"
    assert row["archive"] == f"http://data.cc.test/data/{FILE}"
    assert rows["http://a.test/none"]["reason"] == "not_in_archive"
    assert archive.look_ups() == ["http://a.test/none", URL]
    assert archive.reads() == 1


def test_older_capture_stands_in_for_one_that_cannot_be_used(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, http(b"<p>old"), timestamp=OLD)
    archive.add(URL, http(b"%PDF-1.7"))
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>old"
    assert archive.reads() == 2


def test_neighbours_in_a_file_cost_one_request(archive: CommonCrawl, tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(6)]
    for number, url in enumerate(urls):
        archive.add(url, http(b"<p>" + url.encode()), apart=number == 3)
    rows = pages(archive, tmp_path, urls)
    assert [rows[url]["body"] for url in urls] == [b"<p>" + url.encode() for url in urls]
    assert archive.reads() == 2  # four records, a gap, and two


def test_every_range_waits_for_its_turn_on_this_machine(
    archive: CommonCrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[tuple[str, float]] = []

    @contextmanager
    def turn(service: str, delay: float) -> Iterator[None]:
        turns.append((service, delay))
        yield

    monkeypatch.setattr("tasks.archives.remote_files.turn", turn)
    urls = [f"http://a.test/{n}" for n in range(3)]
    for url in urls:
        archive.add(url, http(b"<p>page"), apart=True)
    pages(archive, tmp_path, urls, common_crawl={"requests_per_second": 25.0})
    assert turns == [("files of data.cc.test", 0.04)] * archive.reads() == [("files of data.cc.test", 0.04)] * 3


def test_broken_neighbour_costs_no_other_page(archive: CommonCrawl, tmp_path: Path) -> None:
    """The index is of an older version of the file, which has lost its end."""
    urls = [f"http://a.test/{n}" for n in range(3)]
    for url in urls:
        archive.add(url, http(b"<p>" + url.encode()))
    archive.file = archive.file[:-10]
    rows = pages(archive, tmp_path, urls)
    assert [rows[url]["reason"] for url in urls] == [None, None, "archive_bad_answer"]
    assert archive.reads() == 4  # together, then one by one


def test_record_of_another_url_is_refused_and_an_older_one_stands_in(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add("http://b.test/moved", http(b"<p>another"))
    archive.add(URL, http(b"<p>page"))
    archive.lines[URL][0].update(archive.lines["http://b.test/moved"][0], url=URL)
    assert pages(archive, tmp_path / "alone", [URL])[URL]["reason"] == "archive_bad_answer"
    archive.add(URL, http(b"<p>old"), timestamp=OLD)
    assert pages(archive, tmp_path / "both", [URL])[URL]["body"] == b"<p>old"


@pytest.mark.parametrize(
    "written", ["https://www.a.test/x?q=A*", "http://www2.a.test:80//x?q=a%2A", "http://a.test/X/?q=a*"]
)
def test_record_under_another_spelling_of_the_url_is_that_page(
    written: str, archive: CommonCrawl, tmp_path: Path
) -> None:
    archive.add(written, http(b"<p>page"))
    archive.lines[URL] = archive.lines[written]
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>page"


@pytest.mark.parametrize(("near", "body"), [("", b"<p>2026"), ("2024", b"<p>2023"), ("20250101", b"<p>2025")])
def test_capture_closest_to_the_wanted_time_is_read(
    near: str, body: bytes, archive: CommonCrawl, tmp_path: Path
) -> None:
    for year in ("2023", "2025", "2026"):
        archive.add(URL, http(f"<p>{year}".encode()), timestamp=f"{year}0102030405")
    assert pages(archive, tmp_path, [URL], common_crawl={"near": near})[URL]["body"] == body


@pytest.mark.parametrize("near", ["20", "201613", "2016-11", "yesterday"])
def test_time_that_is_none_is_refused(near: str) -> None:
    with pytest.raises(ValueError, match=rf"expected YYYYMMDDhhmmss or its beginning.*got '{near}'"):
        CrawlSettings(common_crawl={"near": near})


def cut_record(kept: int = 40, **headers: str) -> bytes:
    """A whole gzip member of a record that ends before its length."""
    whole = record(URL, http(b"<p>" + b"first half. " * 20), **headers)
    return gzip.compress(whole.removesuffix(b"\r\n\r\n")[:-kept] if kept else whole)


@pytest.mark.parametrize(
    "member", [cut_record(), cut_record(kept=0, WARC_Truncated="length"), cut_record(WARC_Truncated="time")]
)
def test_truncated_record_is_refused_and_an_older_one_stands_in(
    member: bytes, archive: CommonCrawl, tmp_path: Path
) -> None:
    archive.add(URL, http(b""))
    archive.file = member
    archive.lines[URL][0].update(length=str(len(member)))
    assert pages(archive, tmp_path / "alone", [URL])[URL]["reason"] == "truncated_body"
    archive.add(URL, http(b"<p>old"), timestamp=OLD)
    assert pages(archive, tmp_path / "both", [URL])[URL]["body"] == b"<p>old"


def test_capture_that_the_index_calls_truncated_is_not_read_where_there_is_a_whole_one(
    archive: CommonCrawl, tmp_path: Path
) -> None:
    archive.add(URL, http(b"<p>old"), timestamp=OLD)
    for _ in range(3):
        archive.add(URL, http(b"<p>half"), truncated="length")
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>old"
    assert archive.reads() == 1


def test_page_behind_an_interim_answer_is_read(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + http(b"<p>page"))
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>page"


def test_redirects_are_looked_up_too(archive: CommonCrawl, tmp_path: Path) -> None:
    moved = http(b"", "301 Moved", "Location: //b.test/there")
    archive.add(URL, moved, status="301", redirect="http://b.test/there")
    archive.add("http://b.test/there", http(b"<p>there"))
    archive.add(
        "http://a.test/loop", http(b"", "302 M", "Location: /loop"), status="302", redirect="http://a.test/loop"
    )
    archive.add("http://a.test/gone", http(b"", "404 Not Found"), status="404")
    rows = pages(archive, tmp_path, [URL, "http://a.test/loop", "http://a.test/gone"])
    assert (rows[URL]["body"], rows[URL]["final_url"]) == (b"<p>there", "http://b.test/there")
    assert rows["http://a.test/loop"]["reason"] == "redirect_loop"
    assert rows["http://a.test/gone"]["reason"] == "http_404"


def test_redirect_to_another_url_comes_before_one_to_another_spelling(archive: CommonCrawl, tmp_path: Path) -> None:
    """Both are under one key; the newer one leads only to https."""
    secure = URL.replace("http:", "https:")
    archive.add(
        URL, http(b"", "301 M", "Location: //b.test/there"), timestamp=OLD, status="301", redirect="http://b.test/there"
    )
    archive.add(URL, http(b"", "301 M", f"Location: {secure}"), status="301", redirect=secure)
    archive.add("http://b.test/there", http(b"<p>there"))
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>there"
    assert archive.look_ups() == [URL, "http://b.test/there"]


def test_redirect_to_what_could_not_be_looked_up_is_not_called_missing(archive: CommonCrawl, tmp_path: Path) -> None:
    moved = http(b"", "301 Moved", "Location: //b.test/there")
    archive.add(URL, moved, status="301", redirect="http://b.test/there")
    real = archive.pages["/index"]
    archive.pages["/index"] = lambda e: e.send(answer(b"", "403 Forbidden")) if "b.test" in e.path else real(e)
    rows = pages(archive, tmp_path, [URL], fetch_missing=True)
    assert (rows[URL]["reason"], rows[URL]["final_url"]) == ("index_failed", "http://b.test/there")


def test_second_index_is_asked_where_the_first_has_nothing(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, http(b"<p>second"))
    archive.pages["/empty"] = lambda e: e.send(answer(b'{"pages": 0}' if "showNumPages" in e.path else b"", **PLAIN))
    both = {"indexes": ["http://index.cc.test/empty", "http://index.cc.test/index"]}
    assert pages(archive, tmp_path, [URL], common_crawl=both)[URL]["body"] == b"<p>second"


def test_what_no_archive_has_is_fetched_where_the_settings_say_so(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, http(b"<p>archived"))
    archive.pages["/live"] = answer(b"<p>live")
    rows = pages(archive, tmp_path, [URL, "http://a.test/live"], fetch_missing=True)
    assert [(row["body"], row["archive"]) for row in rows.values()] == [
        (b"<p>live", None),
        (b"<p>archived", f"http://data.cc.test/data/{FILE}"),
    ]


def test_pages_of_the_archive_are_of_no_budget(archive: CommonCrawl, tmp_path: Path) -> None:
    archived, live = [[f"http://{host}.test/{n}" for n in range(4)] for host in ("a", "b")]
    for number in range(4):
        archive.add(archived[number], http(b"<p>archived %d" % number))
        archive.pages[f"/{number}"] = answer(b"<p>live %d" % number)
    for _ in range(2):  # again, and resumed
        rows = pages(archive, tmp_path, archived + live, fetch_missing=True, host_delay_seconds=0.05, budget_pages=2)
        assert [rows[url]["reason"] for url in archived] == [None] * 4
        assert [rows[url]["reason"] for url in live] == [None, None, "budget_spent", "budget_spent"]


def test_nothing_is_asked_twice_after_a_stop(
    archive: CommonCrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://a.test/{n}" for n in range(8)]
    for url in urls:
        archive.add(url, http(b"<p>" + url.encode()))

    class KilledError(Exception):
        pass

    class Killed(Answers):
        def add(self, url: str, rows: list[dict[str, Any]]) -> None:
            super().add(url, rows)
            if len(self) == 5:
                raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr("tasks.archives.common_crawl.Answers", Killed)
        looked_up(archive, tmp_path, urls, options(archive))
    torn = next((tmp_path / "look-ups").iterdir())
    torn.write_bytes(torn.read_bytes() + b'{"url": "http://a.test/5", "ro')
    rows = pages(archive, tmp_path, urls)
    assert [row["reason"] for row in rows.values()] == [None] * 8
    assert archive.look_ups() == urls
    pages(archive, tmp_path, urls)
    assert (archive.look_ups(), archive.reads()) == (urls, 1)  # the records are neighbours: one request for all


KILLED_CRAWL = """
import json, sys
from pathlib import Path
from tasks.fetching.http import Patience
from tasks.fetching.settings import CrawlSettings
from tasks.archives import remote_files
from tests.tasks.archives.test_common_crawl import look_up_and_read
remote_files.CONNECTIONS = 1  # so that nothing else is read at the time of the fifth read
look_up_and_read(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), CrawlSettings(**json.loads(sys.argv[4])))
"""


def look_up_and_read(address: str, folder: Path, urls: list[str], settings: CrawlSettings) -> list[dict[str, Any]]:
    """Both stages of a shard, in folders that outlive a stop."""
    connect_to = {"*.test": address}
    scratch = Scratch(pafs.LocalFileSystem(), str(folder / "look-ups"))
    captures = look_up_shard(
        frontier(urls), settings, shard=0, scratch=scratch, connect_to=connect_to, progress=lambda _: None
    )
    with local_journal(folder) as journal:
        table = crawl_pages(
            frontier(urls), captures, settings, journal=journal, connect_to=connect_to, progress=lambda _: None
        )
    return table.to_pylist()


@pytest.mark.parametrize(("sign", "look_ups", "reads"), [("a.test%2F4", 9, 8), ("bytes", 8, 9)])
def test_killed_shard_repeats_only_what_it_was_waiting_for(
    sign: str, look_ups: int, reads: int, archive: CommonCrawl, tmp_path: Path
) -> None:
    """Killed by SIGKILL in its fifth look-up, or in its fifth read of a record."""
    urls = [f"http://a.test/{n}" for n in range(8)]
    for url in urls:
        archive.add(url, http(b"<p>" + url.encode()), apart=True)
    settings = options(archive)
    running: list[subprocess.Popen[bytes]] = []

    def killing(real: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
        def handle(exchange: Exchange) -> None:
            fifth = sign == "bytes" and exchange.headers.get("range") and archive.reads() == 5
            if running and (sign in exchange.path or fifth):
                running.pop().kill()
                return
            real(exchange)

        return handle

    for path in ("/index", f"/data/{FILE}"):
        archive.pages[path] = killing(archive.pages[path])  # type: ignore[arg-type]
    call = [
        sys.executable,
        "-c",
        KILLED_CRAWL,
        archive.address,
        str(tmp_path),
        json.dumps(urls),
        settings.model_dump_json(),
    ]
    with subprocess.Popen(call, cwd=Path(__file__).parents[3]) as process:
        running.append(process)
        assert process.wait(PATIENCE) == -9
    rows = look_up_and_read(archive.address, tmp_path, urls, settings)
    assert [row["reason"] for row in rows] == [None] * 8
    assert (len(archive.look_ups()), archive.reads()) == (look_ups, reads)
    assert sorted(set(archive.look_ups())) == urls


def raw(text: bytes, status: str = "200 OK", **headers: str) -> Callable[[CommonCrawl, Exchange], bytes]:
    return lambda server, exchange: answer(text, status, **{**PLAIN, **headers})


def cut(server: CommonCrawl, exchange: Exchange) -> bytes:
    return answer(json.dumps(server.lines[URL][0]).encode()[:-30], **PLAIN)


def cut_later(server: CommonCrawl, exchange: Exchange) -> bytes:
    """The end of the body is lost, and so is the line of a capture that may be the better one."""
    line = json.dumps(server.lines[URL][0]).encode()
    return answer(line + b"\n" + line[:-30], **PLAIN)


def only_there(text: bytes) -> Callable[[CommonCrawl, Exchange], bytes]:
    """Something for the URL alone; of others the index has no capture."""
    none = answer(b'{"message": "No Captures found for: x"}', "404 Not Found", **PLAIN)
    return lambda server, exchange: answer(text, **PLAIN) if "a.test" in exchange.path else none


def without(server: CommonCrawl, exchange: Exchange) -> bytes:
    """A sound line after one that is none."""
    return answer(b"{}\n" + json.dumps(server.lines[URL][0]).encode(), **PLAIN)


def changed(**fields: Any) -> Callable[[CommonCrawl, Exchange], bytes]:
    return lambda server, exchange: answer(json.dumps({**server.lines[URL][0], **fields}).encode(), **PLAIN)


INDEX: dict[str, tuple[Callable[[CommonCrawl, Exchange], bytes], str | None]] = {
    "500": (raw(b"", "500 Oops"), "index_failed"),
    "503 for ever": (raw(b"", "503 Slow Down", Retry_After="1"), "index_failed"),
    "403": (raw(b"", "403 Forbidden"), "index_failed"),
    "redirect": (raw(b"", "302 Found", Location="http://169.254.169.254/"), "index_failed"),
    "HTML": (raw(b"<html>Please log in"), "index_bad_answer"),
    "truncated JSON": (cut, "index_bad_answer"),
    "truncated after a sound line": (cut_later, "index_bad_answer"),
    "one sound line": (without, None),
    "nothing from one that answers so": (raw(b""), "not_in_archive"),
    "nothing from one that says none otherwise": (only_there(b""), "index_bad_answer"),
    "none, in words": (raw(b'{"message": "No Captures found for: x"}', "404 Not Found"), "not_in_archive"),
    "404 of something else": (raw(b"<html>Not here", "404 Not Found", Content_Type="text/html"), "index_failed"),
    "an error with status 200": (raw(b'{"error": "database is locked"}'), "index_bad_answer"),
    "no object": (raw(b"[1, 2]\n7\n"), "index_bad_answer"),
    "nested deep": (raw(b"[" * 100_000), "index_bad_answer"),
    "longer than allowed": (raw(b"x" * 1_100_000), "index_failed"),
    "shorter than announced": (raw(b"{}", Content_Length="999"), "index_failed"),
    "file elsewhere": (changed(filename="../../etc/passwd"), "index_bad_answer"),
    "file at another host": (changed(filename="//169.254.169.254/x"), "index_bad_answer"),
    "offset below zero": (changed(offset="-1"), "index_bad_answer"),
    "offset is none": (changed(offset="x"), "index_bad_answer"),
    "length of a terabyte": (changed(length=str(1 << 40)), "too_large"),
    "timestamp is none": (changed(timestamp="2026"), "index_bad_answer"),
    "month 13": (changed(timestamp="20261302030405"), "index_bad_answer"),
}


@pytest.mark.parametrize("name", INDEX)
def test_hostile_index(name: str, archive: CommonCrawl, tmp_path: Path) -> None:
    reply, reason = INDEX[name]
    archive.add(URL, http(b"<p>page"))
    real = archive.pages["/index"]

    def handle(exchange: Exchange) -> None:
        real(exchange) if "showNumPages" in exchange.path else exchange.send(reply(archive, exchange))

    archive.pages["/index"] = handle
    assert pages(archive, tmp_path, [URL])[URL]["reason"] == reason


def bomb() -> bytes:
    return gzip.compress(record(URL, http(bytes(30_000_000))))


def header_bomb() -> bytes:
    return gzip.compress(b"WARC/1.0\r\nX: " + bytes(30_000_000))


RANGES: dict[str, tuple[Callable[[bytes, int, int], bytes], str]] = {
    "200 and the whole file": (lambda data, first, total: answer(data * 50), "archive_bad_answer"),
    "416": (lambda data, first, total: answer(b"", "416 Range Not Satisfiable"), "archive_failed"),
    "500": (lambda data, first, total: answer(b"", "500 Oops"), "archive_failed"),
    "404": (lambda data, first, total: answer(b"", "404 Not Found"), "archive_failed"),
    "redirect": (
        lambda data, first, total: answer(b"", "302 Found", Location="http://169.254.169.254/"),
        "archive_failed",
    ),
    "another range": (lambda data, first, total: part(data, first + 1, total), "archive_bad_answer"),
    "shorter range": (lambda data, first, total: part(data[:-5], first, total), "archive_bad_answer"),
    "longer than its range": (
        lambda data, first, total: (
            part(data, first, total).replace(b"Content-Length: %d" % len(data), b"Content-Length: %d" % (len(data) + 3))
            + b"xxx"
        ),
        "archive_bad_answer",
    ),
    "no Content-Range": (lambda data, first, total: answer(data, "206 Partial Content"), "archive_bad_answer"),
    "cut off": (lambda data, first, total: part(data, first, total)[:-5], "archive_failed"),
    "no gzip": (lambda data, first, total: part(b"x" * len(data), first, total), "malformed_response"),
    "damaged gzip": (
        lambda data, first, total: part(data[:60] + bytes(20) + data[80:], first, total),
        "malformed_response",
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_hostile_range(name: str, archive: CommonCrawl, tmp_path: Path) -> None:
    reply, reason = RANGES[name]
    archive.add("http://a.test/before", http(b"<p>before"))
    archive.add(URL, http(b"<p>page"))
    start = int(archive.lines[URL][0]["offset"])
    archive.pages[f"/data/{FILE}"] = lambda e: e.send(reply(archive.file[start:], start, len(archive.file)))
    assert pages(archive, tmp_path, [URL])[URL]["reason"] == reason


@pytest.mark.parametrize(("member", "reason"), [(bomb(), "too_large"), (header_bomb(), "malformed_response")])
def test_bomb_in_a_range(member: bytes, reason: str, archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, http(b""))
    archive.lines[URL][0].update(length=str(len(member)), offset="0")
    archive.file = member
    row = pages(archive, tmp_path, [URL])[URL]
    assert (row["reason"], row["bytes"] < 400_000) == (reason, True)


def test_service_at_a_private_address_is_only_asked_where_the_settings_name_it(tmp_path: Path) -> None:
    with CommonCrawl() as server:
        port = server.address.rpartition(":")[2]
        chosen = options(server, common_crawl={"indexes": [f"http://127.0.0.1:{port}/index"]})
        scratch = Scratch(pafs.LocalFileSystem(), str(tmp_path))
        elsewhere: Any = {"scratch": scratch, "connect_to": {}, "progress": lambda _: None}
        assert look_up_shard(frontier([URL]), chosen, shard=0, **elsewhere).num_rows == 0
        chosen = options(server, common_crawl={"indexes": ["http://index.commoncrawl.org/index"]})
        with pytest.raises(ConnectionError):
            look_up_shard(frontier([f"{URL}b"]), chosen, shard=0, **elsewhere)


def test_index_that_is_not_there_stops_the_shard(archive: CommonCrawl, tmp_path: Path) -> None:
    chosen = options(archive, common_crawl={"indexes": ["http://index.cc.test/CC-MAIN-2062-43-index"]})
    with pytest.raises(ConnectionError, match=r"CC-MAIN-2062-43-index: expected a CDX index, got HTTP 404"):
        looked_up(archive, tmp_path, [URL], chosen)
    with pytest.raises(ValueError, match="expected an absolute http or https URL"):
        CrawlSettings(common_crawl={"indexes": ["index.cc.test"]})
    archive.pages["/portal"] = answer(b"<html>Please log in")
    chosen = options(archive, common_crawl={"indexes": ["http://index.cc.test/portal"]})
    with pytest.raises(ConnectionError, match=r"portal: expected a CDX index, got b'<html>Please log in'"):
        looked_up(archive, tmp_path, [URL], chosen)


def test_answer_that_is_none_is_asked_for_again_and_costs_no_page(archive: CommonCrawl, tmp_path: Path) -> None:
    archive.add(URL, http(b"<p>page"))
    real = archive.pages["/index"]
    login = answer(b"<html>Please log in", **PLAIN)
    archive.pages["/index"] = lambda e: real(e) if "showNumPages" in e.path or e.hit else e.send(login)
    assert pages(archive, tmp_path, [URL])[URL]["body"] == b"<p>page"
    assert archive.look_ups() == [URL, URL]


def test_index_that_fails_again_and_again_is_given_up(
    archive: CommonCrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.archives.common_crawl.PATIENCE", Patience(20.0, 1, 0.01, 0.05, failures=3))
    real = archive.pages["/index"]
    archive.pages["/index"] = lambda e: real(e) if "showNumPages" in e.path else e.send(answer(b"", "403 Forbidden"))
    urls = [f"http://a.test/{n}" for n in range(9)]
    with pytest.raises(ConnectionError, match="3 look-ups in a row failed, the last one with index_failed: HTTP 403"):
        pages(archive, tmp_path, urls)
    assert archive.look_ups() == urls[:3]


@pytest.mark.parametrize("limit", [3, 20])
def test_outage_of_the_index_is_over_at_the_next_run(
    limit: int, archive: CommonCrawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.archives.common_crawl.PATIENCE", Patience(20.0, 1, 0.01, 0.05, failures=limit))
    urls = [f"http://a.test/{n}" for n in range(9)]
    for url in urls:
        archive.add(url, http(b"<p>" + url.encode()))
    real = archive.pages["/index"]
    archive.pages["/index"] = lambda e: real(e) if len(archive.look_ups()) <= 4 else e.send(answer(b"", "503 Busy"))
    with pytest.raises(ConnectionError):
        pages(archive, tmp_path, urls)
    archive.pages["/index"] = real
    archive.log.clear()
    rows = pages(archive, tmp_path, urls)
    assert [row["body"] for row in rows.values()] == [b"<p>" + url.encode() for url in urls]
    assert archive.look_ups() == urls[4:]  # nothing that was answered is asked again


def test_url_that_the_index_fails_on_is_asked_twice_and_holds_up_no_other(archive: CommonCrawl, tmp_path: Path) -> None:
    real = archive.pages["/index"]
    archive.add("http://a.test/1", http(b"<p>good"))
    archive.pages["/index"] = lambda e: e.send(answer(b"", "403 Forbidden")) if "bad" in e.path else real(e)
    rows = pages(archive, tmp_path, ["http://a.test/bad", "http://a.test/1"])
    assert [row["reason"] for row in rows.values()] == [None, "index_failed"]
    assert archive.look_ups() == ["http://a.test/1", "http://a.test/bad", "http://a.test/bad"]


def test_short_outage_of_the_index_costs_no_page(archive: CommonCrawl, tmp_path: Path) -> None:
    urls = [f"http://a.test/{n}" for n in range(3)]
    for url in urls:
        archive.add(url, http(b"<p>good"))
    real = archive.pages["/index"]
    archive.pages["/index"] = lambda e: (
        e.send(answer(b"", "403 Forbidden")) if e.hit == 0 and "0" in e.path[-30:] else real(e)
    )
    assert {row["reason"] for row in pages(archive, tmp_path, urls).values()} == {None}
