"""One second between two requests to a site holds over shards: on threads of one process, and on two Dask workers."""

import threading
import time
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prefect import flow

from flows.config import BuildConfig, ShardSettings
from flows.running.execution import PrefectExecutor
from flows.running.session import Session
from flows.running.settings import EngineSettings
from flows.stages.crawling import pages
from storage.schemas import ARTICLES, FRONTIER
from storage.store import Store
from tasks.crawl.frontier import build_frontier
from tasks.engine.hashing import shard_of
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Run
from tasks.fetching.safety import Guard
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.turns import MachineTurns, MemoryTurns, Pace
from tasks.fetching.urls import registered_domain
from tests.patience import PATIENCE
from tests.tasks.fetching.loopback_server import (
    FAST,
    QUICK,
    Exchange,
    Hit,
    LoopbackServer,
    answer,
    crawl,
    local_journal,
)

DELAY = 0.6
SITE, ELSEWHERE = "site.com", "elsewhere.org"  # of two shards
ADDRESS, ALIAS = "127.0.0.1", "2130706433"  # of two shards too: the alias is the address as a number


def cited(*, urls: list[str]) -> pa.Table:
    row = {"article_id": "a", "title": "a", "references": urls, "drop_reason": None}
    article = pa.Table.from_pylist([row], schema=ARTICLES.schema)
    return build_frontier(article, None, settings(), article_shard=0, host_shards=2)


def settings() -> CrawlSettings:
    return CrawlSettings(**{**FAST, "host_delay_seconds": DELAY, "allowed_hosts": [ADDRESS, ALIAS]})


@flow
def two_shards(root: str, urls: list[str], kind: str, connect_to: dict[str, str]) -> list[dict[str, Any]]:
    config = BuildConfig(root=root, crawl=settings(), shards=ShardSettings(hosts=2))
    executor = PrefectExecutor(EngineSettings(kind=kind, workers=2))
    run = Run(Store(root), executor)
    with executor.serving():
        if kind == "dask":
            executor._runner.client.wait_for_workers(2)  # type: ignore[union-attr]
        listed = run.stage(Recipe(FRONTIER, cited, arguments={"urls": urls}), shards=1, inputs={})
        crawled = pages(Session(config, executor, run, connect_to), listed, None, (), replace(QUICK, retries=0))
    return [
        row
        for record in crawled.records.values()
        for row in Store(root).read_table(record.path, record.written.sha256).to_pylist()
    ]


def gaps(hits: list[Hit]) -> list[float]:
    return [later.at - earlier.at for earlier, later in pairwise(sorted(hits, key=lambda hit: hit.at))]


@pytest.mark.integration
@pytest.mark.parametrize("kind", ["threads", "dask"])
def test_shards_together_ask_a_site_once_in_a_delay(
    prefect_server: None, tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A site of two hosts, which another shard's pages redirect to, and two hosts with one address."""
    assert shard_of(SITE, 2) != shard_of(ELSEWHERE, 2)
    assert shard_of(ADDRESS, 2) != shard_of(ALIAS, 2)
    with LoopbackServer({f"/{n}": answer() for n in range(3)}) as server:
        together = threading.Barrier(2)

        def robots(exchange: Exchange) -> None:
            if exchange.hit == 0:
                together.wait(PATIENCE)  # until the other shard has begun too
            exchange.send(answer(b"", "404 Not Found"))

        server.pages.update({f"//{host}/robots.txt": robots for host in (f"www.{SITE}", ELSEWHERE)})
        moved = {f"//{ELSEWHERE}/{n}": answer(b"", "301 Moved", Location=f"http://www.{SITE}/{n}") for n in range(3)}
        server.pages.update(moved)
        hosts = [f"www.{SITE}", f"blog.{SITE}", ELSEWHERE, f"{ADDRESS}:{server.port}", f"{ALIAS}:{server.port}"]
        urls = [f"http://{host}/{n}" for host in hosts for n in range(3)]
        elsewhere = {"*.com": server.address, "*.org": server.address}
        rows = two_shards(str(tmp_path / "root"), urls, kind, elsewhere)
    assert sorted(row["url"] for row in rows) == sorted(urls)
    assert {row["reason"] for row in rows} == {None}
    assert not together.broken
    assert f"  {SITE}: 6 URLs, 2 hosts, 0.00 days" in caplog.messages  # said before the crawl
    sites: dict[str, list[Hit]] = defaultdict(list)
    for hit in server.log:
        local = hit.host.startswith((ADDRESS, ALIAS))
        sites["address" if local else registered_domain(hit.host)].append(hit)
    # Nine pages and three times robots.txt, since both shards read that of the host that is redirected to.
    assert {name: len(hits) for name, hits in sites.items()} == {SITE: 12, ELSEWHERE: 4, "address": 8}
    assert [min(gaps(sites[name])) > 0.9 * DELAY for name in (SITE, ELSEWHERE)] == [True, True]


def test_a_request_takes_the_turns_of_its_host_its_domain_and_ten_a_delay_of_its_addresses() -> None:
    """Domains that share an address wait for each other, but not as if they were one domain."""
    guard = Guard((), {}, lambda host, _port: [f"9.9.9.{len(host)}", "1.1.1.1"])
    turns = MemoryTurns()
    pace = Pace(turns, guard, delay=60.0)
    taken: list[dict[str, float]] = []
    taking = turns.take
    turns.take = lambda delays: taken.append(dict(delays)) or taking(delays)  # type: ignore[method-assign,func-returns-value]
    waits = [pace.turn(f"http://{host}/", 90.0).wait for host in ("www.a.com", "b.org")]
    assert taken == [
        {"host www.a.com": 90.0, "domain a.com": 60.0, "address 9.9.9.9": 6.0, "address 1.1.1.1": 6.0},
        {"host b.org": 90.0, "domain b.org": 60.0, "address 9.9.9.5": 6.0, "address 1.1.1.1": 6.0},
    ]
    assert waits[0] == 0.0
    assert 0.0 < waits[1] <= 6.0


def test_the_delay_counts_from_when_a_request_was_sent(tmp_path: Path) -> None:
    """A connection that takes longer than the delay does not arrive together with the next one."""

    def slow(_host: str, _port: int) -> list[str]:
        time.sleep(1.0)
        return ["127.0.0.1"]

    with LoopbackServer({"/": answer()}) as server:
        urls = [f"http://{host}.site.com/" for host in ("www", "blog")]
        options: dict[str, Any] = {"connect_to": {"*.com": server.address}, "resolver": slow, "total_seconds": 20.0}
        rows = crawl(
            server,
            urls,
            local_journal(tmp_path),
            host_delay_seconds=DELAY,
            robots=False,
            turns=MemoryTurns(),
            **options,
        )
    assert [row["reason"] for row in rows.values()] == [None, None]
    assert gaps(server.log)[0] > 0.9 * DELAY


def test_a_host_without_an_address_takes_no_turn_and_keeps_its_reason(tmp_path: Path) -> None:
    with LoopbackServer({"/": answer()}) as server:
        rows = crawl(
            server,
            ["http://10.0.0.1/", "http://a.test/"],
            local_journal(tmp_path),
            host_delay_seconds=0.05,
            retries=0,
            turns=MachineTurns(tmp_path),
        )
    assert [rows[url]["reason"] for url in ("http://10.0.0.1/", "http://a.test/")] == ["private_address", None]


def test_a_pause_that_a_host_asks_for_holds_for_other_crawls(tmp_path: Path) -> None:
    turns = MachineTurns(tmp_path)
    with LoopbackServer({"/": answer(b"", "429 Slow", Retry_After="700")}) as server:
        options: dict[str, Any] = {"host_delay_seconds": 0.05, "retries": 1, "max_backoff_seconds": 600.0}
        crawl(server, ["http://a.test/"], local_journal(tmp_path), turns=turns, budget_seconds=5.0, **options)
    assert server.paths() == ["/"]
    assert turns.take({"host a.test": 1.0}) > 0.0
    assert turns.take({"host b.test": 1.0}) == 0.0
