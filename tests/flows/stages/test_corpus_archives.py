"""The corpus's stages with pages from Common Crawl and the Internet Archive, wired as a build wires them."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from storage.store import Store
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Run
from tests.tasks.archives.test_archive import http
from tests.tasks.archives.test_common_crawl import CommonCrawl
from tests.tasks.archives.test_wayback import at_test_hosts
from tests.tasks.fetching.loopback_server import FAST, answer

pytestmark = pytest.mark.integration

TEXT = "The lighthouse was built of granite in 1869 and stands on the northern shore of the island. "


def page(words: str) -> bytes:
    return f"<html><body><article><h1>Page</h1><p>{words}{TEXT * 4}</p></article></body></html>".encode()


def documents(root: Path, articles: Path, server: CommonCrawl, **crawl: Any) -> tuple[Run, list[dict[str, Any]]]:
    config = BuildConfig(
        preset="records",
        root=str(root),
        shards={"articles": 2, "hosts": 3},
        source={"records": {"paths": [str(articles)]}},
        crawl={**FAST, **crawl},
    )
    executor = Executor()
    run = Run(Store(str(root)), executor)
    session = Session(config, executor, run, {"*.test": server.address})  # type: ignore[arg-type]
    dag.candidates(session)
    return run, rows(run, run.stages["documents"])


def rows(run: Run, result: StageResult) -> list[dict[str, Any]]:
    tables = [run.store.read_table(record.path, record.written.sha256) for record in result.in_order]
    found: list[dict[str, Any]] = pa.concat_tables(tables).to_pylist()
    return found


def test_pages_come_from_common_crawl_the_web_and_the_internet_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_test_hosts(monkeypatch)
    hosts = [f"h{n}.test" for n in range(4)]
    articles = tmp_path / "articles.jsonl"
    lines = [
        {
            "title": f"Lighthouse {n}",
            "lead": f"Lighthouse {n} is a tower. It stands in the sea.",
            "references": [f"http://{host}/archived", f"http://{host}/live", f"http://{host}/dead"],
        }
        for n, host in enumerate(hosts)
    ]
    articles.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with CommonCrawl() as server:
        for host in hosts:
            server.add(f"http://{host}/archived", http(page(f"Archived for {host}. ")))
            server.pages[f"//{host}/live"] = answer(page(f"Alive at {host}. "))
            stamp = f"//ia.test/web/20130919044612id_/http://{host}/dead"
            made = "Thu, 19 Sep 2013 04:46:12 GMT"
            server.pages[stamp] = answer(page(f"Once at {host}. "), Memento_Datetime=made)
        closest = {"closest": {"timestamp": "20130919044612", "status": "200"}}
        server.pages["//api.ia.test/available"] = answer(json.dumps({"archived_snapshots": closest}).encode())
        crawl = {
            "common_crawl": {
                "indexes": ["http://index.cc.test/index"],
                "data_url": "http://data.cc.test/data",
                "delay_seconds": 0,
            },
            "fetch_missing": True,
            "wayback": {"enabled": True},
        }
        run, found = documents(tmp_path / "data", articles, server, **crawl)
        requests = len(server.log)
        again, _ = documents(tmp_path / "data", articles, server, **crawl)
    text = {row["url"]: " ".join(row["paragraphs"]) for row in found}
    assert {row["reason"] for row in found} == {None}
    for host in hosts:
        assert f"Archived for {host}." in text[f"http://{host}/archived"]
        assert f"Alive at {host}." in text[f"http://{host}/live"]
        assert f"Once at {host}." in text[f"http://{host}/dead"]
    came_from = {row["url"].rpartition("/")[2]: row["archive"] for row in rows(run, run.stages["pages"])}
    assert came_from["live"] is None
    assert came_from["archived"].startswith("http://data.cc.test/data/crawl-data/")
    assert came_from["dead"] == "http://ia.test/web/"
    assert len(rows(run, run.stages["captures-indexed"])) == len(hosts)
    assert len(server.log) == requests
    assert all(plan.missing == 0 for plan in again.plans)


def test_what_common_crawl_lacks_is_missing_unless_it_may_be_fetched(tmp_path: Path) -> None:
    articles = tmp_path / "articles.jsonl"
    cited = ["http://h.test/archived", "http://h.test/live"]
    articles.write_text(json.dumps({"title": "A", "lead": "A is a letter. It is the first.", "references": cited}))
    with CommonCrawl() as server:
        server.add("http://h.test/archived", http(page("Archived. ")))
        server.pages["//h.test/live"] = answer(page("Alive. "))
        common = {"indexes": ["http://index.cc.test/index"], "data_url": "http://data.cc.test/data", "delay_seconds": 0}
        _, found = documents(tmp_path / "data", articles, server, common_crawl=common)
        assert server.paths("h.test") == []
    assert {row["url"]: row["reason"] for row in found} == dict(zip(cited, [None, "not_in_archive"], strict=True))
