"""From articles with references to labelled paragraphs, by the columnar index of two crawls on the web."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.store import Store
from tasks.engine.stage import Executor, Run
from tests.tasks.archives.index_table import Captured, ColumnarCrawl, crawl_folder, write_part
from tests.tasks.fetching.loopback_server import FAST, answer

pytestmark = pytest.mark.integration

HOSTS = [f"h{number}.test" for number in range(6)]
FACTS = [
    "The lighthouse at {0} was built of granite in 1869 by the engineer Ada Marsh for the harbour trust of the town.",
    "Its lamp at {0} burned whale oil until 1902, when the keepers moved to paraffin and a lens of the first order.",
    "Two families lived in the tower of {0} during the long winters, and their logbooks are kept in the museum.",
]
TABLES = ["CC-MAIN-2025-51", "CC-MAIN-2026-43"]
PATHS = ("both", "moved", "none")


def page(host: str, year: int) -> bytes:
    facts = "".join(f"<p>{fact.format(host)} It was seen in {year}.</p>" for fact in FACTS)
    return f"<html><body><article><h1>Lighthouse</h1>{facts}</article></body></html>".encode()


class Corpus:
    """Articles that cite pages of two crawls, and builds of them."""

    def __init__(self, server: ColumnarCrawl, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.lists: list[str] = []
        cited = [
            {
                "title": f"Lighthouse {host}",
                "lead": f"{host} is a tower above the sea. It was built of granite in 1869 and is kept by the town.",
                "references": [f"https://www.{host}/old", *(f"http://{host}/{path}" for path in PATHS)],
            }
            for host in HOSTS
        ]
        (folder / "articles.jsonl").write_text("".join(json.dumps(line) + "\n" for line in cited))

    def add_crawl(self, crawl: str, captures: list[Captured], redirects: Sequence[Captured] = ()) -> None:
        """Write a table of two files, and one of redirects, serve it, and name its list."""
        tables = self.folder / crawl
        captures = sorted(captures, key=lambda capture: str(capture.row()["url_surtkey"]))
        middle = len(captures) // 2
        write_part(tables / crawl_folder(crawl) / "part-00000.parquet", captures[:middle], rows=4)
        write_part(tables / crawl_folder(crawl) / "part-00001.parquet", captures[middle:], rows=4)
        if redirects:
            write_part(tables / crawl_folder(crawl, "crawldiagnostics") / "part-00000.parquet", redirects, rows=4)
        names = sorted(str(path.relative_to(tables)) for path in tables.rglob("*.parquet"))
        for name in names:
            self.server.put(name, (tables / name).read_bytes())
        self.server.pages[f"/data/{crawl}.paths"] = answer("\n".join(names).encode(), Content_Type="text/plain")
        self.lists.append(f"http://data.cc.test/data/{crawl}.paths")

    def build(self, *, planning: bool = False) -> Run:
        common = {"tables": self.lists, "data_url": "http://data.cc.test/data", "requests_per_second": 10_000}
        config = BuildConfig.model_validate(
            {
                "preset": "records",
                "root": str(self.folder / "root"),
                "shards": {"articles": 2, "hosts": 3},
                "source": {"records": {"paths": [str(self.folder / "articles.jsonl")]}},
                "crawl": {**FAST, "common_crawl": common},
                "across": {"near_duplicates": "off", "leakage": "off"},  # the pages are copies of each other
            }
        )
        executor = Executor()
        run = Run(Store(config.root), executor, planning=planning)
        session = Session(config, executor, run, {"*.test": self.server.address})  # type: ignore[arg-type]
        dag.features(session)
        return run


def rows(run: Run, stage: str) -> list[dict[str, Any]]:
    records = run.stages[stage].in_order
    found: list[dict[str, Any]] = pa.concat_tables(
        [run.store.read_table(record.path, record.written.sha256) for record in records]
    ).to_pylist()
    return found


def captures(server: ColumnarCrawl, year: int, paths: list[str]) -> list[Captured]:
    """The pages of a crawl; what lies at /moved is the record of another URL."""
    at = f"{year}-11-02T03:04:05Z"
    return [
        server.capture(
            f"http://{host}/{path}",
            page(host, year),
            file=f"{year}-{number % 2}",
            at=at,
            named=f"http://{host}/{'elsewhere' if path == 'moved' else path}",
        )
        for number, host in enumerate(HOSTS)
        for path in paths
    ]


def test_cited_pages_become_labelled_paragraphs(tmp_path: Path) -> None:
    with ColumnarCrawl() as server:
        corpus = Corpus(server, tmp_path)
        corpus.add_crawl(TABLES[0], captures(server, 2025, ["old", "both", "moved"]))
        corpus.add_crawl(TABLES[1], captures(server, 2026, ["both", "uncited"]))
        run = corpus.build()
        warcs = [name for name, _ in server.requests if name.endswith(".warc.gz")]
        server.requests.clear()
        again = corpus.build()
        assert server.requests == []
        assert all(plan.missing == 0 for plan in again.plans)
    pages = rows(run, "pages")
    assert Counter(row["reason"] for row in pages) == {None: 12, "archive_bad_answer": 6, "not_in_archive": 6}
    years = {row["url"]: row["fetched_at"].year for row in pages if row["reason"] is None}
    assert {years[f"http://{host}/both"] for host in HOSTS} == {2026}
    assert {years[f"https://www.{host}/old"] for host in HOSTS} == {2025}
    assert len(rows(run, "captures-indexed")) == 6 * 4  # of one crawl old and moved, of both crawls the page of both
    assert len(warcs) < 18  # 18 records; neighbours come together
    assert Counter(row["drop_reason"] for row in rows(run, "paragraphs")) == {None: 36}
    # The lead has 20 bigrams: the sentence on 1869 has nine of them, the others two.
    labels = Counter(round(row["rouge2_recall"], 3) for row in rows(run, "features"))
    assert labels == {0.45: 12, 0.1: 24}


def test_redirects_are_followed_pass_by_pass_to_their_pages(tmp_path: Path) -> None:
    """/old leads over /moved to an address that nobody cites; /both and /none lead to each other."""
    with ColumnarCrawl() as server:
        corpus = Corpus(server, tmp_path)
        there = [f"http://new-{host}/there" for host in HOSTS]
        pages = [server.capture(url, page(host, 2026)) for url, host in zip(there, HOSTS, strict=True)]
        redirects = [
            server.capture(f"http://{host}/{path}", b"", "redirects", redirect=target)
            for url, host in zip(there, HOSTS, strict=True)
            for path, target in {
                "old": f"http://{host}/on",
                "on": url,
                "both": f"http://{host}/none",
                "none": f"http://{host}/both",
            }.items()
        ]
        corpus.add_crawl(TABLES[1], pages, redirects)
        run = corpus.build()
        server.requests.clear()
        again = corpus.build()
        assert server.requests == []
        assert all(plan.missing == 0 for plan in again.plans)
    found = {row["url"]: row for row in rows(run, "pages")}
    for host, url in zip(HOSTS, there, strict=True):
        assert (found[f"https://www.{host}/old"]["reason"], found[f"https://www.{host}/old"]["final_url"]) == (
            None,
            url,
        )
    assert Counter(row["reason"] for row in found.values()) == {None: 6, "redirect_loop": 12, "not_in_archive": 6}
    passes = [name for name in run.stages if name.startswith("captures-indexed")]
    assert passes == ["captures-indexed", "captures-indexed-redirects-1", "captures-indexed-redirects-2"]
    tallies = [[record.tally.get("redirects", 0) for record in run.stages[name].in_order] for name in passes]
    assert [sum(tally) for tally in tallies] == [18, 6, 0]
    assert [len(rows(run, f"url_lookups{name}")) > 0 for name in ("-redirects-1", "-redirects-2", "-redirects-3")] == [
        True,
        True,
        False,
    ]


def test_plan_has_no_pass_of_redirects_before_it_is_known_what_they_lead_to(tmp_path: Path) -> None:
    with ColumnarCrawl() as server:
        corpus = Corpus(server, tmp_path)
        corpus.add_crawl(TABLES[0], captures(server, 2025, ["old"]))
        run = corpus.build(planning=True)
    assert [name for name in run.stages if "redirects" in name] == []
    assert run.stages["captures-indexed"].records == {}


def test_new_crawl_is_looked_up_in_its_own_files_alone(tmp_path: Path) -> None:
    with ColumnarCrawl() as server:
        corpus = Corpus(server, tmp_path)
        corpus.add_crawl(TABLES[0], captures(server, 2025, ["old", "both"]))
        first = corpus.build()
        server.requests.clear()
        corpus.add_crawl(TABLES[1], captures(server, 2026, ["both", "none"]))
        second = corpus.build()
        asked = {name.partition("/subset=")[0] for name, _ in server.requests if name.endswith(".parquet")}
    assert asked == {crawl_folder(TABLES[1]).partition("/subset=")[0]}
    assert [first.plans[n].missing for n, plan in enumerate(first.plans) if plan.stage == "captures-indexed"] == [2]
    assert [(plan.done, plan.missing) for plan in second.plans if plan.stage == "captures-indexed"] == [(2, 2)]
    found = {row["url"]: row["fetched_at"] for row in rows(second, "pages") if row["reason"] is None}
    assert len(found) == 18
    assert {found[f"http://{host}/both"].year for host in HOSTS} == {2026}


def test_table_that_has_no_file_stops_a_build_before_it_starts(tmp_path: Path) -> None:
    with ColumnarCrawl() as server:
        corpus = Corpus(server, tmp_path)
        corpus.lists.append(str(tmp_path / "empty"))
        (tmp_path / "empty").mkdir()
        with pytest.raises(FileNotFoundError, match="empty' has no Parquet file of subset=warc"):
            corpus.build()
