"""Search results of articles, whoever finds them, and what becomes of a query that fails."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest
from pyarrow.fs import LocalFileSystem
from pydantic import ValidationError

from storage.errors import BudgetSpentError
from storage.schemas import ARTICLES, SEARCH
from storage.spending import Account, spent, this_month
from storage.store import Store
from tasks.engine.job import Scratch
from tasks.fetching.http import Patience
from tasks.search.search import search_articles
from tasks.search.settings import WebSearchSettings, interfaces
from tests.patience import PATIENCE
from tests.tasks.fetching.loopback_server import Exchange, Handler, LoopbackServer, answer

FAST = {"delay_seconds": 0.0}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.search.search.PATIENCE", Patience(1.0, 1, 0.01, 60.0))


def articles(*titles: str, results: dict[str, list[str]] | None = None, dropped: str = "") -> pa.Table:
    rows = [
        {
            "article_id": f"id-{title}",
            "title": title,
            "search_results": (results or {}).get(title, []),
            "drop_reason": "empty_lead" if title == dropped else None,
        }
        for title in titles
    ]
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def found(
    table: pa.Table, connect_to: dict[str, str] | None = None, contact: str = "", **settings: Any
) -> list[tuple[Any, ...]]:
    with TemporaryDirectory() as folder:
        rows = search_articles(
            table,
            WebSearchSettings(**settings),
            scratch=Scratch(LocalFileSystem(), folder),
            connect_to=connect_to or {},
            contact=contact,
        )
    assert rows.schema.equals(SEARCH.schema)
    return [tuple(row.values()) for row in rows.to_pylist()]


def test_results_of_the_source_are_kept_and_nobody_is_asked() -> None:
    table = articles(
        "a", "b", "c", results={"a": ["http://x.test/", "http://y.test/"], "c": ["http://z.test/"]}, dropped="c"
    )
    assert found(table) == [
        ("id-a", "http://x.test/", 0, "source", None),
        ("id-a", "http://y.test/", 1, "source", None),
    ]


def test_recorded_results(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(
        json.dumps({"title": "a", "results": ["http://1.test/", "http://2.test/", "http://3.test/"]})
        + "\n\n"
        + json.dumps({"title": "other", "results": ["http://9.test/"]})
    )
    table = articles("a", "b", "c", results={"c": ["http://own.test/"]})
    assert found(table, provider="recorded", recorded=str(file), results=2) == [
        ("id-a", "http://1.test/", 0, "recorded", None),
        ("id-a", "http://2.test/", 1, "recorded", None),
        ("id-b", None, 0, "recorded", "no_results"),
        ("id-c", "http://own.test/", 0, "source", None),
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"title": "a"}', '{"title": 1, "results": []}', '{"title": "a", "results": [1]}']
)
def test_malformed_recording_names_file_and_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text('{"title": "a", "results": []}\n' + line)
    with pytest.raises(ValueError, match=r"results\.jsonl, line 2: expected"):
        found(articles("a"), provider="recorded", recorded=str(file))


def test_missing_recording() -> None:
    with pytest.raises(FileNotFoundError):
        found(articles("a"), provider="recorded", recorded="/nowhere/results.jsonl")


def searxng(server: LoopbackServer, **settings: Any) -> dict[str, Any]:
    return {"provider": "searxng", "endpoint": f"http://{server.address}", **FAST, **settings}


def json_answer(value: object) -> bytes:
    return answer(json.dumps(value).encode(), Content_Type="application/json")


def test_searxng() -> None:
    asked: list[dict[str, list[str]]] = []
    agents: set[str] = set()

    def search(exchange: Exchange) -> None:
        asked.append(parse_qs(urlsplit(exchange.path).query))
        agents.add(exchange.headers["user-agent"])
        urls = [f"http://{n}.test/" for n in (1, 2, 2, 3)]
        exchange.send(json_answer({"results": [{"url": url, "title": "t"} for url in urls]}))

    with LoopbackServer({"/search": search}) as server:
        rows = found(articles("Ärger & mehr", "b"), contact="a@b.test", **searxng(server, results=3, language="de"))
    assert [row[1:4] for row in rows[:3]] == [(f"http://{n}.test/", n - 1, "searxng") for n in (1, 2, 3)]
    assert len(rows) == 6
    assert asked[0] == {"q": ["Ärger & mehr"], "format": ["json"], "language": ["de"], "safesearch": ["0"]}
    assert agents == {"wikisum-builder/0.1 (+a@b.test)"}


FAILURES: dict[str, tuple[Handler, str]] = {
    "JSON switched off": (answer(b"", "403 Forbidden"), "query_failed"),
    "always busy": (answer(b"", "429 Slow", Retry_After="0"), "query_failed"),
    "closed": (b"", "query_failed"),
    "silence": (lambda e: e.sock.recv(1), "query_failed"),
    "redirect": (answer(b"", "302 Found", Location="http://127.0.0.1/"), "query_failed"),
    "a web page": (answer(), "bad_answer"),
    "another shape": (json_answer({"hits": []}), "bad_answer"),
    "results that are none": (json_answer({"results": [{"url": 5}]}), "bad_answer"),
    "nested too deep": (answer(b"[" * 100_000), "bad_answer"),
    "an error beside no results": (json_answer({"results": [], "error": "quota exceeded"}), "bad_answer"),
    "a text for the list": (json_answer({"results": ""}), "bad_answer"),
    "an object for the list": (json_answer({"results": {}}), "bad_answer"),
    "nothing at all": (answer(b"", Content_Type="application/json"), "bad_answer"),
    "cut short": (answer(b'{"results": [], "unrespon', Content_Type="application/json"), "bad_answer"),
    "cut short within its length": (answer(b'{"results": []}', Content_Length="999"), "query_failed"),
    "its engines are silent": (
        json_answer({"results": [], "unresponsive_engines": [["brave", "Suspended: too many requests"]]}),
        "bad_answer",
    ),
    "nothing found": (json_answer({"results": [], "unresponsive_engines": []}), "no_results"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failing_query_is_a_row_and_the_next_is_asked(name: str) -> None:
    handler, reason = FAILURES[name]

    def search(exchange: Exchange) -> None:
        if "bad" not in exchange.path:
            exchange.send(json_answer({"results": [{"url": "http://1.test/"}]}))
        elif isinstance(handler, bytes):
            exchange.send(handler)
        else:
            handler(exchange)

    with LoopbackServer({"/search": search}) as server:
        rows = found(articles("bad", "good"), **searxng(server))
    assert rows == [("id-bad", None, 0, "searxng", reason), ("id-good", "http://1.test/", 0, "searxng", None)]


KILLED = """
import os, sys
from pyarrow.fs import LocalFileSystem
from tasks.search.search import search_articles
from tasks.search.settings import WebSearchSettings
from tasks.engine.job import Scratch
from tests.tasks.search.test_search import FAST, articles
endpoint, folder, *titles = sys.argv[1:]
settings = WebSearchSettings(provider="searxng", endpoint=endpoint, **FAST)
search_articles(articles(*titles), settings, scratch=Scratch(LocalFileSystem(), folder), connect_to={})
"""


@pytest.mark.integration
def test_killed_shard_pays_for_no_answered_query_again(tmp_path: Path) -> None:
    asked: list[str] = []
    child: list[subprocess.Popen[bytes]] = []

    def search(exchange: Exchange) -> None:
        title = parse_qs(urlsplit(exchange.path).query)["q"][0]
        asked.append(title)
        if title == "c":
            exchange.send(answer(b"", "403 Forbidden"))
        elif title == "e" and child:
            child.pop().send_signal(signal.SIGKILL)
        else:
            exchange.send(json_answer({"results": [] if title == "b" else [{"url": f"http://{title}.test/"}]}))

    titles, folder = ["a", "b", "c", "d", "e", "f"], tmp_path / "scratch"
    with LoopbackServer({"/search": search}) as server:
        killed = subprocess.Popen([sys.executable, "-c", KILLED, f"http://{server.address}", str(folder), *titles])
        child.append(killed)
        assert killed.wait(PATIENCE) == -signal.SIGKILL, "the first run was to be killed at its fifth query"
        assert asked == ["a", "b", "c", "d", "e"]
        asked.clear()
        settings = WebSearchSettings(**searxng(server))
        rows = search_articles(
            articles(*titles), settings, scratch=Scratch(LocalFileSystem(), str(folder)), connect_to={}
        )
    assert asked == ["c", "e", "f"]  # what failed, what it was killed at, and what comes after
    assert [(row["article_id"], row["url"], row["reason"]) for row in rows.to_pylist()] == [
        ("id-a", "http://a.test/", None),
        ("id-b", None, "no_results"),
        ("id-c", None, "query_failed"),
        ("id-d", "http://d.test/", None),
        ("id-e", "http://e.test/", None),
        ("id-f", "http://f.test/", None),
    ]


def test_a_query_that_the_budget_refuses_is_not_sent_and_answers_are_paid_for_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def search(exchange: Exchange) -> None:
        asked.append(parse_qs(urlsplit(exchange.path).query)["q"][0])
        exchange.send(json_answer({"results": []}))

    with LoopbackServer({"/search": search}) as server:
        settings = WebSearchSettings(**searxng(server), price_per_thousand=500)
        scratch = Scratch(LocalFileSystem(), str(tmp_path / "scratch"))
        poor = Account(str(tmp_path), month_dollars=1.25)
        with pytest.raises(BudgetSpentError, match=r"budget.month_dollars is 1.25: 1 are spent, and 0.5 more"):
            search_articles(articles("a", "b", "c"), settings, scratch=scratch, connect_to={}, account=poor)
        assert asked == ["a", "b"]
        later = Account(str(tmp_path))
        search_articles(articles("a", "b", "c"), settings, scratch=scratch, connect_to={}, account=later)
    assert asked == ["a", "b", "c"]
    month, run = spent(Store(str(tmp_path)), this_month(), later.run)
    assert (month["search"], run["search"]) == (1.5, 0.5)


def test_query_is_tried_again() -> None:
    def search(exchange: Exchange) -> None:
        exchange.send(answer(b"", "503 Busy") if exchange.hit == 0 else json_answer({"results": [{"url": "u"}]}))

    with LoopbackServer({"/search": search}) as server:
        assert found(articles("a"), **searxng(server)) == [("id-a", "u", 0, "searxng", None)]


@pytest.mark.parametrize(
    ("provider", "reply", "path", "body", "header"),
    [
        ("brave", {"web": {"results": [{"url": "U"}]}}, "?q=a&count=10&search_lang=en", None, "x-subscription-token"),
        ("google", {"items": [{"link": "U"}]}, "?key=secret&cx=mine&q=a&num=10&lr=lang_en", None, None),
        (
            "mojeek",
            {"response": {"status": "OK", "head": {"query": "a"}, "results": [{"url": "U", "title": "t"}]}},
            "?api_key=secret&q=a&t=10&lb=en&fmt=json",
            None,
            None,
        ),
        (
            "exa",
            {"requestId": "1", "results": [{"id": "U", "url": "U", "title": "t"}]},
            "",
            {"query": "a", "numResults": 10},
            "x-api-key",
        ),
        (
            "meilisearch",
            {"hits": [{"url": "U"}], "query": "a", "limit": 10},
            "/indexes/mine/search",
            {"q": "a", "limit": 10, "attributesToRetrieve": ["url"]},
            "authorization",
        ),
        (
            "opensearch",
            {"hits": {"total": {"value": 1}, "hits": [{"_id": "1", "_source": {"url": "U"}}]}},
            "/mine/_search",
            {"size": 10, "_source": ["url"], "query": {"multi_match": {"query": "a"}}},
            "authorization",
        ),
    ],
)
def test_every_interface_is_asked_as_documented(
    provider: str, reply: object, path: str, body: object, header: str | None
) -> None:
    seen: list[tuple[object, set[str]]] = []

    def search(exchange: Exchange) -> None:
        told = {name for name, value in exchange.headers.items() if "secret" in value}
        seen.append((json.loads(exchange.body) if exchange.body else None, told))
        exchange.send(json_answer(reply))

    settings = {"provider": provider, "key": "secret", "engine": "mine", **FAST}
    with LoopbackServer({f"/api{path.partition('?')[0]}": search}) as server:
        rows = found(articles("a"), {"api.test": server.address}, endpoint="http://api.test/api", **settings)
        assert server.paths() == [f"/api{path}"]
    assert rows == [("id-a", "U", 0, provider, None)]
    assert seen == [(body, {header} if header else set())]


def test_an_index_without_a_key_is_asked_without_one() -> None:
    headers: list[str | None] = []

    def search(exchange: Exchange) -> None:
        headers.append(exchange.headers.get("authorization"))
        exchange.send(json_answer({"hits": []}))

    with LoopbackServer({"/indexes/my%20pages/search": search}) as server:
        settings = {"provider": "meilisearch", "engine": "my pages", "endpoint": f"http://{server.address}/", **FAST}
        assert found(articles("{query} {key}"), **settings) == [
            ("id-{query} {key}", None, 0, "meilisearch", "no_results")
        ]
    assert headers == [None]


NOTHING_FOUND: list[tuple[str, object, str]] = [
    ("mojeek", {"response": {"status": "ERROR: Daily Limit Reached."}}, "bad_answer"),
    ("mojeek", {"response": {"status": "ERROR: Daily Limit Reached.", "results": []}}, "bad_answer"),
    ("mojeek", {"response": {"status": "OK", "results": []}}, "no_results"),
    ("brave", {"type": "ErrorResponse", "error": {"status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID"}}, "bad_answer"),
    ("brave", {"message": "API rate limit exceeded"}, "bad_answer"),
    ("brave", {}, "bad_answer"),
    ("brave", {"query": {"original": "a"}, "web": None}, "bad_answer"),
    ("brave", {"type": "search", "query": {"original": "a"}, "mixed": {}}, "no_results"),
    ("google", {"error": {"code": 429, "message": "Quota exceeded"}}, "bad_answer"),
    ("google", {"kind": "customsearch#search"}, "bad_answer"),
    ("google", {"searchInformation": {"totalResults": "0"}}, "no_results"),
    ("exa", {"error": "Invalid API key"}, "bad_answer"),
    ("meilisearch", {"message": "Index `mine` not found.", "code": "index_not_found"}, "bad_answer"),
    ("opensearch", {"timed_out": True, "hits": {"hits": []}}, "bad_answer"),
    ("opensearch", {"timed_out": False, "_shards": {"total": 5, "failed": 2}, "hits": {"hits": []}}, "bad_answer"),
    ("opensearch", {"timed_out": False, "_shards": {"total": 5, "failed": 0}, "hits": {"hits": []}}, "no_results"),
]


@pytest.mark.parametrize(("provider", "reply", "reason"), NOTHING_FOUND)
def test_an_error_with_status_200_is_never_stored_as_no_results(provider: str, reply: object, reason: str) -> None:
    paths = ("/search", "/search/indexes/mine/search", "/search/mine/_search")
    with LoopbackServer(dict.fromkeys(paths, json_answer(reply))) as server:
        settings = {"provider": provider, "key": "k", "engine": "mine", "endpoint": f"http://{server.address}/search"}
        assert found(articles("a"), **settings, **FAST) == [("id-a", None, 0, provider, reason)]


@pytest.mark.parametrize("reply", [answer(b"", "401 Unauthorized"), json_answer({"error": "Invalid key"})])
def test_a_provider_that_fails_on_query_after_query_stores_nothing_and_is_asked_again(
    reply: bytes, tmp_path: Path
) -> None:
    asked: list[str] = []
    broken = {"title": "c"}

    def search(exchange: Exchange) -> None:
        asked.append(parse_qs(urlsplit(exchange.path).query)["q"][0])
        exchange.send(reply if asked[-1] >= broken["title"] else json_answer({"results": []}))

    scratch = Scratch(LocalFileSystem(), str(tmp_path / "scratch"))
    with LoopbackServer({"/search": search}) as server:
        settings = WebSearchSettings(**searxng(server))
        with pytest.raises(ConnectionError, match=r"search\.provider searxng: 5 queries in a row failed"):
            search_articles(articles(*"abcdefgh"), settings, scratch=scratch, connect_to={})
        assert asked == [*"abcdefg"]
        asked.clear()
        broken["title"] = "z"
        rows = search_articles(articles(*"abcdefgh"), settings, scratch=scratch, connect_to={})
    assert asked == [*"cdefgh"]
    assert rows.column("reason").to_pylist() == ["no_results"] * 8


def test_every_table_is_a_provider() -> None:
    provider = WebSearchSettings.model_fields["provider"].annotation
    assert set(get_args(provider)) == set(interfaces())


def test_settings_say_what_is_missing_and_hide_the_key() -> None:
    for provider, field in (("recorded", "recorded"), ("searxng", "endpoint"), ("brave", "key"), ("google", "key")):
        with pytest.raises(ValidationError, match=f"search.{field}"):
            WebSearchSettings(provider=provider)
    settings = WebSearchSettings(provider="brave", key="secret")
    assert "secret" not in repr(settings)
    assert "key" not in settings.recipe()
