"""Pages from web archives, sound and broken ones."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from storage.schemas import ARTICLES, CAPTURES
from storage.store import Store
from tasks.archives.archive import ArchiveFile, find_archives, index_archive
from tasks.archives.replay import Replay
from tasks.crawl.frontier import build_frontier
from tasks.engine.hashing import shard_of
from tasks.fetching.reasons import CaptureReason
from tasks.fetching.settings import CrawlSettings
from tests.storage.object_store import BUCKET, proxy, uri
from tests.tasks.fetching.loopback_server import crawl_pages, frontier, local_journal

HTML = b"<html><p>From the archive.</p></html>"


def record(
    url: str, content: bytes, *, kind: str = "response", date: str = "2020-01-01T00:00:00Z", **more: str
) -> bytes:
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000000>",
        "WARC-Target-URI": url,
        "WARC-Date": date,
        "Content-Type": "application/http; msgtype=response" if kind == "response" else "text/html",
        "Content-Length": str(len(content)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.0\r\n{head}\r\n".encode() + content + b"\r\n\r\n"


def http(body: bytes = HTML, status: str = "200 OK", *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: text/html", *headers, "", ""]).encode() + body


def pages(tmp_path: Path, urls: list[str], *records: bytes, **settings: Any) -> dict[str, dict[str, Any]]:
    """Write an archive of records, index it and take URLs from it."""
    file = tmp_path / "test.warc"
    file.write_bytes(b"".join(records))
    options = CrawlSettings(archive=(str(file),), **settings)
    captures = index_archive(options, file=ArchiveFile(str(file), ""), host_shards=4)
    return {row["url"]: row for row in replayed(tmp_path, urls, captures, options).to_pylist()}


def replayed(tmp_path: Path, urls: list[str], captures: pa.Table, settings: CrawlSettings) -> pa.Table:
    return crawl_pages(
        frontier(urls), captures, settings, journal=local_journal(tmp_path), connect_to={}, progress=lambda _: None
    )


CHUNKED = b"5\r\n<html\r\n1\r\n>\r\n0\r\n\r\n"
URL = "http://a.test/x"

CONTENTS: dict[str, tuple[bytes, str | None, bytes | None]] = {
    "plain": (http(), None, HTML),
    "gzip": (http(gzip.compress(HTML), "200 OK", "Content-Encoding: gzip"), None, HTML),
    "stored decoded under gzip": (http(HTML, "200 OK", "Content-Encoding: gzip"), None, HTML),
    "chunked": (http(CHUNKED, "200 OK", "Transfer-Encoding: chunked"), None, b"<html>"),
    "stored joined under chunked": (http(HTML, "200 OK", "Transfer-Encoding: chunked"), None, HTML),
    "cut chunk": (http(b"ff\r\n<html>", "200 OK", "Transfer-Encoding: chunked"), "truncated_body", None),
    "shorter than its length": (http(HTML, "200 OK", "Content-Length: 999"), "truncated_body", None),
    "bomb": (http(gzip.compress(b"<html>" + bytes(20_000_000)), "200 OK", "Content-Encoding: gzip"), "too_large", None),
    "too large": (http(bytes(60_000)), "too_large", None),
    "not found": (http(HTML, "404 Not Found"), "http_404", None),
    "PDF": (http(b"%PDF-1.7 ..."), "not_html", None),
    "empty": (http(b""), "empty_body", None),
    "no HTTP": (b"once upon a time", "malformed_response", None),
    "headers cut": (b"HTTP/1.1 200 OK\r\nConte", "truncated_headers", None),
    "gzip cut": (http(gzip.compress(HTML)[:-5], "200 OK", "Content-Encoding: gzip"), "truncated_body", None),
    "a part": (http(HTML, "206 Partial Content", "Content-Range: bytes 0-9/99"), "partial_content", None),
    "redirect without a place": (http(b"", "302 Found"), "bad_redirect", None),
    "redirect to itself": (http(b"", "302 Found", "Location: /x"), "redirect_loop", None),
    "redirect out of the archive": (http(b"", "302 Found", "Location: //b.test/"), "not_in_archive", None),
    "redirect to a file": (http(b"", "302 Found", "Location: file:///x"), "bad_scheme", None),
    "endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, "headers_too_large", None),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_content_of_a_record(name: str, tmp_path: Path) -> None:
    content, reason, body = CONTENTS[name]
    row = pages(tmp_path, [URL], record(URL, content), max_bytes=50_000)[URL]
    assert (row["reason"], row["body"]) == (reason, body)


def test_capture_has_its_date_and_no_attempts(tmp_path: Path) -> None:
    row = pages(tmp_path, [URL], record(URL, http(), date="2019-02-03T04:05:06Z"))[URL]
    assert row["fetched_at"].isoformat() == "2019-02-03T04:05:06+00:00"
    assert (row["attempts"], row["seconds"], row["final_url"], row["mime"]) == (0, 0.0, URL, "text/html")


def test_url_without_capture_and_url_under_the_other_scheme(tmp_path: Path) -> None:
    rows = pages(tmp_path, ["https://a.test/x", "http://a.test/y"], record("HTTP://A.test:80/x#f", http()))
    assert rows["https://a.test/x"]["reason"] is None
    assert (rows["http://a.test/y"]["reason"], rows["http://a.test/y"]["status"]) == ("not_in_archive", None)


def test_redirects_are_followed_within_the_archive(tmp_path: Path) -> None:
    moved = record("http://a.test/1", http(b"", "301 Moved", "Location: https://a.test/2"))
    row = pages(tmp_path, ["http://a.test/1"], moved, record("https://a.test/2", http()))["http://a.test/1"]
    assert (row["reason"], row["final_url"], row["body"]) == (None, "https://a.test/2", HTML)
    sent = record("http://a.test/1", http(b'<html><meta http-equiv=refresh content="0; url=/2"><p>Moved.'))
    rows = [pages(tmp_path, ["http://a.test/1"], sent, *more) for more in ([record("http://a.test/2", http())], [])]
    assert [row["http://a.test/1"]["final_url"] for row in rows] == ["http://a.test/2", "http://a.test/1"]
    hops = [record(f"http://a.test/{n}", http(b"", "301 M", f"Location: /{n + 1}")) for n in range(9)]
    assert pages(tmp_path, ["http://a.test/0"], *hops)["http://a.test/0"]["reason"] == "too_many_redirects"


def test_newest_usable_capture_wins(tmp_path: Path) -> None:
    row = pages(
        tmp_path,
        [URL],
        record(URL, http(b"<html>new"), date="2021-01-01T00:00:00Z"),
        record(URL, http(b"<html>old"), date="2011-01-01T00:00:00Z"),
        record(URL, http(b"", "404 Gone"), date="2022-01-01T00:00:00Z"),
        record(URL, http(b"<html>undated"), date="once"),
    )[URL]
    assert row["body"] == b"<html>new"


def test_index_names_each_capture_and_each_refusal(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    records = [
        record("http://a.test/1", http()),
        record("metadata:x", b"<p>", kind="resource"),
        record("http://a.test/2", http(), kind="request"),
        record("http://a.test/3", b"", kind="response"),
        record("http://a.test/4", b"", kind="revisit"),
        record("http://a.test/5", http(), WARC_Truncated="length"),
        record("http://a.test/6", HTML, kind="resource"),
        b"noise\r\nand more of it\r\n\r\n",
        record("http://b.test/7", http()),
        record("http://a.test/8", http())[:-60],
    ]
    file.write_bytes(b"".join(records))
    table = index_archive(CrawlSettings(), file=ArchiveFile(str(file), ""), host_shards=5)
    assert table.schema.equals(CAPTURES.schema)
    assert [(row["url"], row["reason"]) for row in table.to_pylist()] == [
        ("http://a.test/1", None),
        (None, "bad_scheme"),
        ("http://a.test/3", "empty_record"),
        ("http://a.test/4", "revisit"),
        ("http://a.test/5", "truncated_record"),
        ("http://a.test/6", None),
        (None, "broken_record"),
        ("http://b.test/7", None),
        ("http://a.test/8", "truncated_record"),
    ]
    kept = {row["url"]: row for row in table.to_pylist() if row["url"]}
    assert kept["http://a.test/1"]["offset"] == 0
    assert kept["http://b.test/7"]["host_shard"] == shard_of("b.test", 5)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\x1f\x8b", b"\x1f\x8b\x08\x00broken", bytes(5000), b"WARC/1.0\r\n\r\n"]
)
def test_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(content)
    reasons = (
        index_archive(CrawlSettings(), file=ArchiveFile(str(file), ""), host_shards=2).column("reason").to_pylist()
    )
    assert set(reasons) <= {"broken_record"}


def test_gzip_damaged_in_one_record_keeps_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    members = [gzip.compress(record(f"http://a.test/{n}", http(b"<html>%d" % n))) for n in range(4)]
    damaged = members[1][:40] + bytes(40) + members[1][80:]
    file = tmp_path / "a.warc.gz"
    file.write_bytes(members[0] + damaged + members[2] + members[3])
    options = CrawlSettings(archive=(str(file),))
    captures = index_archive(options, file=ArchiveFile(str(file), ""), host_shards=1)
    assert f"{file}: the record at byte {len(members[0])} cannot be read" in caplog.text
    urls = [f"http://a.test/{n}" for n in range(4)]
    rows = replayed(tmp_path, urls, captures, options).to_pylist()
    assert [row["reason"] is None for row in rows] == [True, False, True, True]
    assert captures.filter(pc.is_valid(captures.column("reason"))).num_rows >= 1


def test_archive_files(tmp_path: Path) -> None:
    for name in ("b.warc", "a.warc", "c.txt"):
        (tmp_path / name).write_bytes(b"x")
    pattern, named = str(tmp_path / "*.warc"), str(tmp_path / "b.warc")
    first, before = find_archives(CrawlSettings(archive=(pattern, named)))
    assert [first.name, before.name] == [str(tmp_path / "a.warc"), named]
    for missing in (str(tmp_path / "none*.warc"), (tmp_path / "none").as_uri()):
        with pytest.raises(FileNotFoundError, match="none"):
            find_archives(CrawlSettings(archive=(missing,)))
    (tmp_path / "b.warc").write_bytes(b"xy")
    (after,) = find_archives(CrawlSettings(archive=(named,)))
    assert after.name == named and after.state != before.state


def test_archive_that_is_gone_fails_the_shard_rather_than_its_pages(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(record(URL, http()))
    options = CrawlSettings(archive=(str(file),))
    captures = index_archive(options, file=ArchiveFile(str(file), ""), host_shards=1)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.warc"):
        replayed(tmp_path, [URL], captures, options)


@pytest.mark.slow  # the client asks ten times before it gives up
def test_object_store_that_fails_amid_a_body_fails_the_shard_rather_than_the_page(s3: int) -> None:
    urls = ["http://a.test/small", "http://b.test/large"]
    with proxy(s3) as between:
        content = [record(urls[0], http()), record(urls[1], http(b"<p>" + b"x" * 3_000_000))]
        Store(uri(between.port, "archives")).write_bytes("a.warc", b"".join(content))
        file = f"s3://{BUCKET}/archives/a.warc?scheme=http&endpoint_override=127.0.0.1:{between.port}"
        options = CrawlSettings(archive=(file,))
        captures = index_archive(options, file=ArchiveFile(file, ""), host_shards=1)
        assert captures.column("reason").to_pylist() == [None, None]
        with Replay(captures, options) as replay:
            assert replay.row(urls[0])["body"] == HTML
            assert replay.row(urls[1])["bytes"] == 3_000_003
            assert replay.row(urls[0])["body"] == HTML  # the first megabyte is read ahead
            between.failing = {"GET"}
            with pytest.raises(OSError, match="AWS Error"):
                replay.row(urls[1])


def test_archive_without_captures_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected their captures"):
        crawl_pages(
            frontier([URL]),
            None,
            CrawlSettings(archive=("x",)),
            journal=local_journal(tmp_path),
            connect_to={},
            progress=lambda _: None,
        )


# What each sample of warcio's own tests holds: captures, refused records, and what a page becomes.
SAMPLES: dict[str, tuple[list[str | None], dict[str, str | None]]] = {
    "bad.arc": (["empty_record", None, "empty_record"], {"http://example.com/": "malformed_response"}),
    "example-bad-non-chunked.warc.gz": ([None, None], {"http://example.com/": None}),
    "example-bad.warc.gz.bad": ([None, None, None], {"http://example.com/?example=1": None}),
    "example-digest.warc": ([], {}),
    "example-iana.org-chunked.warc": ([None], {"http://www.iana.org/": None}),
    "example-resource.warc.gz": ([None], {"http://example.com/": None}),
    "example-space-in-target-uri.warc.gz": (["bad_scheme"], {}),
    "example-space-in-url.arc": (
        [None],
        {
            "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples%20From%20The%20Live%20Web&IsPopUp=False"
            "": None
        },
    ),
    "example-trunc.warc": ([None], {"http://example.com/": "truncated_body"}),
    "example-wget-bad-target-uri.warc.gz": ([None, "bad_scheme", "bad_scheme"], {"http://example.com/": None}),
    "example-wrong-chunks.warc.gz": ([None], {"http://example.com/": "truncated_body"}),
    "example.arc": ([None], {"http://example.com/": None}),
    "example.arc.gz": ([None], {"http://example.com/": None}),
    "example.warc": ([None, None], {"http://example.com/": None}),
    "example.warc.gz": ([None, None], {"http://example.com/": None}),
    "post-test.warc.gz": ([None, None, None], {"http://httpbin.org/post": "not_html"}),
}


@pytest.mark.shared_data
@pytest.mark.parametrize("name", SAMPLES)
def test_sample_archives(name: str, shared_data: Path, tmp_path: Path) -> None:
    refused, wanted = SAMPLES[name]
    file = str(shared_data / "warc" / name)
    options = CrawlSettings(archive=(file,))
    captures = index_archive(options, file=ArchiveFile(file, ""), host_shards=3)
    assert captures.column("reason").to_pylist() == refused
    assert set(refused) - {None} <= set(CaptureReason)
    rows = replayed(tmp_path, list(wanted), captures, options).to_pylist()
    assert {row["url"]: row["reason"] for row in rows} == wanted
    assert all((row["body"] is None) == (row["reason"] is not None) for row in rows)


@pytest.mark.shared_data
def test_every_sample_archive_is_tried(shared_data: Path) -> None:
    assert sorted(SAMPLES) == sorted(path.name for path in (shared_data / "warc").iterdir())


@pytest.mark.parametrize("start", ["HTTP/2", "HTTP/2.0", "HTTP/3", "http/1.1", "Http/1.0", "http/2", "HTTP/1.0"])
def test_archivers_name_the_protocol_in_many_ways(tmp_path: Path, start: str) -> None:
    answer = http().replace(b"HTTP/1.1", start.encode())
    missing = http(HTML, "404 Gone").replace(b"HTTP/1.1", start.encode())
    found = pages(tmp_path, [URL, f"{URL}/2"], record(URL, answer), record(f"{URL}/2", missing))
    assert (found[URL]["body"], found[f"{URL}/2"]["reason"]) == (HTML, "http_404")


@pytest.mark.parametrize("start", ["HTTP/4", "HTTPS/2", "ftp/2", "HTTP/22"])
def test_what_is_no_status_line_is_malformed(tmp_path: Path, start: str) -> None:
    answer = http().replace(b"HTTP/1.1", start.encode())
    assert pages(tmp_path, [URL], record(URL, answer))[URL]["reason"] == "malformed_response"


LATER = "2021-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("original", "revisit", "is_read"),
    [
        ({"WARC_Payload_Digest": "sha1:A"}, {"WARC_Payload_Digest": "sha1:A"}, True),
        ({}, {"WARC_Refers_To_Target_URI": URL, "WARC_Refers_To_Date": "2020-01-01T00:00:00Z"}, True),
        ({"WARC_Payload_Digest": "sha1:A"}, {"WARC_Payload_Digest": "sha1:B"}, False),
        ({}, {"WARC_Refers_To_Target_URI": URL, "WARC_Refers_To_Date": "2019-01-01T00:00:00Z"}, False),
        ({}, {}, False),
    ],
)
def test_a_revisit_is_read_where_its_original_is_in_the_file(
    tmp_path: Path, original: dict[str, str], revisit: dict[str, str], is_read: bool
) -> None:
    other = "http://a.test/again"
    again = record(other, b"", kind="revisit", date=LATER, **revisit)
    found = pages(tmp_path, [URL, other], record(URL, http(), **original), again)
    assert found[URL]["body"] == HTML
    assert found[other]["body"] == (HTML if is_read else None)


def test_the_text_of_a_page_is_a_page_unless_the_file_has_the_page_itself(tmp_path: Path) -> None:
    text, other = b"Only the text of the page.\n", "http://a.test/text"
    converted, again = (
        record(url, text, kind="conversion", date=LATER).replace(b"text/html", b"text/plain") for url in (other, URL)
    )
    found = pages(tmp_path, [URL, other], record(URL, http()), again, converted)
    assert found[URL]["body"] == HTML
    assert (found[other]["body"], found[other]["reason"]) == (text, None)


@pytest.mark.shared_data
def test_wikigraph_pages(shared_data: Path, tmp_path: Path) -> None:
    file = str(shared_data / "wikigraph" / "pages.warc.gz")
    options = CrawlSettings(archive=(file,), mirror_hosts=())
    captures = index_archive(options, file=ArchiveFile(file, ""), host_shards=8)
    assert captures.num_rows == 1519
    assert captures.column("reason").null_count == 1519
    with (shared_data / "wikigraph" / "articles.jsonl").open(encoding="utf-8") as lines:
        rows = [
            {"article_id": f"{number}", "references": json.loads(line)["references"]}
            for number, line in enumerate(lines)
        ]
    cited = build_frontier(
        pa.Table.from_pylist(rows, schema=ARTICLES.schema), None, options, article_shard=0, host_shards=8
    )
    table = crawl_pages(
        cited, captures, options, journal=local_journal(tmp_path), connect_to={}, progress=lambda _: None
    )
    assert Counter(table.column("reason").to_pylist()) == {None: 1519, "not_in_archive": 13}
