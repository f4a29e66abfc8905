"""Pages written to WARC, and the same corpus built again from that, without a network."""

import hashlib
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from warcio.archiveiterator import ArchiveIterator

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.builds import Build, save_build
from storage.schemas import PAGES
from storage.store import Store
from tasks.archives.archive import ArchiveFile, index_archive
from tasks.archives.warc_export import WarcExport, main, write_pages
from tasks.engine.stage import Executor, Run
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.visit import refused_row
from tasks.sources.choice import running_web
from tests.tasks.fetching.loopback_server import crawl_pages, frontier, local_journal

pytestmark = pytest.mark.integration

ARRIVED = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
CREATED = datetime(2026, 5, 6, tzinfo=UTC)


def page(url: str, body: bytes, **columns: Any) -> dict[str, Any]:
    return {
        **refused_row(url, None),
        "status": 200,
        "final_url": url,
        "mime": "text/html",
        "bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "fetched_at": ARRIVED,
        "attempts": 1,
        "body": body,
        "rights_headers": [],
        **columns,
    }


ROWS = [
    page("http://a.test/1", b"<p>\x00\xff\r\n\r\nWARC/1.0\r\n", charset="latin-1", etag='"x"', last_modified="once"),
    page("http://a.test/2", b"<p>moved", final_url="http://b.test/there?x=%20y"),
    page(
        "http://a.test/3",
        b"plain",
        mime="text/plain",
        status=203,
        rights_headers=["tdm-reservation: 1", "x-robots-tag: noai, noindex"],
    ),
    page("http://a.test/4", b"<p>" + b"x" * 100_000, etag="bad\r\nInjected: 1"),
    {**refused_row("http://a.test/5", "dns_error"), "attempts": 3},
    {
        **refused_row("http://a.test/6", "http_404"),
        "status": 404,
        "final_url": "http://a.test/gone",
        "bytes": 7,
        "mime": "text/html",
        "charset": "utf-8",
        "fetched_at": ARRIVED,
    },
    {**refused_row("http://a.test/7", "too_large"), "status": 200, "final_url": "http://a.test/7", "bytes": 10_000_001},
    page("http://b.test/there?x=%20y", b"<p>fetched for itself, later and with another body"),
]


def warc(rows: list[dict[str, Any]], name: str = "x.warc.gz") -> bytes:
    sink, done = io.BytesIO(), WarcExport()
    batches = pa.Table.from_pylist(rows, schema=PAGES.schema).to_batches()
    write_pages(sink, batches, name=name, about={"isPartOf": "b"}, created=CREATED, done=done)
    return sink.getvalue()


def replay(file: Path, urls: list[str], tmp_path: Path) -> list[dict[str, Any]]:
    settings = CrawlSettings(archive=(str(file),))
    captures = index_archive(settings, file=ArchiveFile(str(file), ""), host_shards=1)
    table = crawl_pages(
        frontier(urls), captures, settings, journal=local_journal(tmp_path), connect_to={}, progress=lambda _: None
    )
    return table.to_pylist()


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz"])
def test_rows_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(warc(ROWS, name))
    back = replay(file, [row["url"] for row in ROWS], tmp_path)
    kept = [column for column in PAGES.schema.names if column not in PAGES.unstable]
    assert [{name: row[name] for name in kept} for row in back] == [
        {name: row.get(name) for name in kept} for row in ROWS
    ]
    assert [row["fetched_at"] for row in back] == [row["fetched_at"] or CREATED for row in ROWS]
    assert (back[0]["etag"], back[0]["last_modified"], back[3]["etag"]) == ('"x"', "once", None)


def test_equal_rows_give_equal_bytes() -> None:
    assert warc(ROWS) == warc(ROWS)
    assert warc(ROWS) != warc(ROWS[1:])


def test_records_are_those_of_the_standard() -> None:
    records = [
        (
            record.rec_type,
            record.rec_headers.get_header("WARC-Target-URI"),
            record.content_type,
            record.content_stream().read(),
            record.digest_checker.passed,
        )
        for record in ArchiveIterator(io.BytesIO(warc(ROWS[:2] + ROWS[4:5])), check_digests=True)
    ]
    assert records == [
        ("warcinfo", None, "application/warc-fields", b"isPartOf: b\r\n", True),
        ("response", "http://a.test/1", "application/http; msgtype=response", ROWS[0]["body"], True),
        ("response", "http://b.test/there?x=%20y", "application/http; msgtype=response", b"<p>moved", True),
        ("metadata", "http://a.test/5", "application/warc-fields", b"reason: dns_error\r\nbytes: 0\r\n", True),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        b"",
        b"reason: nonsense",
        b"reason: http_404\r\nstatus: -1",
        b"reason: http_404\r\nfinal_url: file:///x",
        b"reason: timeout\r\nbytes: 99999999999999999999",
    ],
)
def test_metadata_that_is_no_outcome(fields: bytes, tmp_path: Path) -> None:
    head = f"WARC-Type: metadata\r\nWikiSum-Cited-URL: http://a.test/\r\nContent-Length: {len(fields)}\r\n"
    (tmp_path / "x.warc").write_bytes(f"WARC/1.1\r\n{head}\r\n".encode() + fields + b"\r\n\r\n")
    reasons = [row["reason"] for row in replay(tmp_path / "x.warc", ["http://a.test/"], tmp_path)]
    assert reasons in (["malformed_response"], ["not_in_archive"])


def build_corpus(root: Path, connect_to: Mapping[str, str], **sections: Any) -> Run:
    config = BuildConfig(
        root=str(root),
        shards={"articles": 2, "hosts": 2},
        source={"miniweb": {"topics": 12}},
        vocabulary={"pieces": 400},
        **sections,
    )
    executor = Executor()
    run = Run(Store(config.root), executor)
    dag.corpus(Session(config, executor, run, connect_to))  # type: ignore[arg-type]
    return run


def digests(run: Run, stage: str) -> list[str]:
    return [record.written.sha256 for record in run.stages[stage].in_order]


def test_corpus_is_built_again_from_its_own_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = BuildConfig(source={"miniweb": {"topics": 12}}).source
    with running_web(source) as connect_to:
        first = build_corpus(tmp_path / "first", connect_to)
    stages = {
        name: {str(shard): record.path for shard, record in result.records.items()}
        for name, result in first.stages.items()
    }
    save_build(first.store, Build("20260506-000000-one", "2026-05-06T00:00:00+00:00", {}, stages, {}, {}))
    file = tmp_path / "out" / "pages.warc.gz"
    assert main(["--root", str(tmp_path / "first"), "--to", str(file)]) == 0
    said = capsys.readouterr().out
    titles = {row["article_id"]: row["title"] for row in rows(first, "articles")}
    results: dict[str, list[str]] = {title: [] for title in titles.values()}
    for row in sorted(rows(first, "search"), key=lambda row: row["rank"] or 0):
        if row["url"] is not None:
            results[titles[row["article_id"]]].append(row["url"])
    recorded = tmp_path / "recorded.jsonl"
    recorded.write_text("".join(json.dumps({"title": t, "results": r}) + "\n" for t, r in results.items()))
    again = build_corpus(
        tmp_path / "second",
        {},
        crawl={"archive": [str(file)]},
        search={"provider": "recorded", "recorded": str(recorded)},
    )
    pages = rows(first, "pages")
    failed = sum(row["reason"] is not None for row in pages)
    assert said.startswith(f"{len(pages) - failed} pages, ")
    assert failed > 5
    assert len({row["reason"] for row in pages}) > 3
    for stage in ("articles", "documents", "paragraphs", "vocabulary"):
        assert digests(again, stage) == digests(first, stage), stage
    assert [record.written.digest for record in again.stages["pages"].in_order] == [
        record.written.digest for record in first.stages["pages"].in_order
    ]


def rows(run: Run, stage: str) -> list[dict[str, Any]]:
    tables = [run.store.read_table(record.path, record.written.sha256) for record in run.stages[stage].in_order]
    found: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return found


def test_one_file_a_shard_and_bad_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = str(tmp_path / "none")
    assert main(["--root", root, "--to", str(tmp_path / "x.warc.gz")]) == 1
    assert "does not exist: expected the folder or URI of a build" in capsys.readouterr().err
    assert main(["--root", root, "--to", str(tmp_path / "x.zip")]) == 1
    assert "expected a name that ends in .warc or .warc.gz" in capsys.readouterr().err
    assert not (tmp_path / "x.warc.gz").exists()
