"""What a plan says about sites, from a frontier on disk."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from flows.running.estimates import host_lines
from storage.recipes import ShardRecord
from storage.schemas import FRONTIER
from storage.store import Store, WrittenTable
from tasks.crawl.frontier import build_frontier
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Run
from tasks.fetching.settings import CrawlSettings

URLS = [
    "http://a.site.com/1",
    "http://b.site.com/2",
    "https://web.archive.org/web/2020/http://old.com/",
    "mailto:x@y.z",
]


def walk(root: Path, *, shards: int = 1, done: int = 1, crawled: int = 0, urls: list[str] = URLS) -> Run:
    """A planned walk with a frontier of which some shards are done, and pages of which some are."""
    run = Run(Store(str(root)), Executor(), planning=True)
    records: dict[int, ShardRecord] = {}
    for shard in range(done):
        rows = [{"article_id": f"{shard}", "title": "", "references": urls, "drop_reason": None}]
        table = build_frontier(pa.Table.from_pylist(rows), None, CrawlSettings(), article_shard=shard, host_shards=2)
        record = ShardRecord(FRONTIER.name, shard, "k", WrittenTable(0, 0, "", ""), {}, {}, {}, 2, 1.0, 1)
        written = run.store.write_table(record.path, table, FRONTIER)
        records[shard] = ShardRecord(FRONTIER.name, shard, "k", written, {}, {}, {}, 2, 1.0, 1)
    run.stages[FRONTIER.name] = StageResult(FRONTIER.name, range(shards), records)
    pages = {n: ShardRecord("pages", n, "k", WrittenTable(1, 1, "", ""), {}, {}, {}, 4, 1.0, 1) for n in range(crawled)}
    run.stages["pages"] = StageResult("pages", range(2), pages)
    return run


def said(run: Run, **settings: Any) -> str:
    return "\n".join(host_lines(run, CrawlSettings(**settings)))


def test_domains_days_and_archives(tmp_path: Path) -> None:
    assert said(walk(tmp_path), host_delay_seconds=8_640) == (
        "Crawl: at most 3 URLs of the frontier are left to ask for. A registered domain is asked once in 8640 s, so "
        "the crawl takes at least 0.20 days, however many workers it has. The largest domains:\n"
        "  site.com: 2 URLs, 2 hosts, 0.20 days\n"
        "  archive.org: 1 URLs, 1 hosts, 0.10 days\n"
        "  archive.org is a web archive (archive.org: 1 URLs, 1 hosts, 0.10 days): ask the Internet Archive for the "
        "captures in bulk, as WARC files for crawl.archive."
    )
    assert "site.com: 1 URLs, 2 hosts" in said(walk(tmp_path), budget_domain_pages=1)


def test_the_largest_are_ten_and_archives_are_named_however_small(tmp_path: Path) -> None:
    urls = [f"http://{n}.com/{page}" for n in range(10, 30) for page in range(2)] + ["http://archive.ph/a"]
    lines = said(walk(tmp_path, urls=urls)).splitlines()[1:]
    assert [line.partition(":")[0].strip() for line in lines[:-1]] == [f"{n}.com" for n in range(10, 20)]
    assert lines[-1].startswith("  archive.ph is a web archive")


def test_some_shards_of_many_stand_for_all(tmp_path: Path) -> None:
    lines = said(walk(tmp_path, shards=45, done=45))
    assert "at most 135 URLs" in lines
    assert "as estimated from 23 of its 45 shards" in lines


def test_what_is_not_known_is_said_and_nothing_where_nothing_is_left(tmp_path: Path) -> None:
    assert said(walk(tmp_path, shards=2)) == "Crawl: how many URLs each site has is known once the frontier is done."
    assert said(walk(tmp_path, crawled=2)) == ""
    assert said(walk(tmp_path), archive=["a.warc"]) == "Crawl: pages come from archives; no site is asked."
    assert "site.com" in said(walk(tmp_path), archive=["a.warc"], fetch_missing=True)
    run = walk(tmp_path)
    (file,) = tmp_path.glob("frontier/*.parquet")
    file.write_bytes(b"PAR1")
    assert said(run).startswith("Crawl: how many URLs each site has is not known: frontier/")
    assert host_lines(Run(run.store, Executor(), planning=True), CrawlSettings()) == []


def test_without_a_delay_only_the_urls_are_counted(tmp_path: Path) -> None:
    lines = said(walk(tmp_path), host_delay_seconds=0).splitlines()
    assert lines[0] == "Crawl: at most 3 URLs of the frontier are left to ask for."
    assert len(lines) == 2
    assert lines[1].startswith("  archive.org is a web archive")
