"""Articles of a live wiki, over real connections to a server of the same interface."""

import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from tasks.fetching.http import Patience
from tasks.sources.choice import open_source
from tasks.sources.mediawiki import MediaWikiError, MediaWikiSource
from tasks.sources.settings import MediaWikiSettings, SourceSettings, WikitextSettings
from tasks.sources.source import Article, Partition
from tests.tasks.sources.dump_files import LEAD
from tests.tasks.sources.mediawiki_server import SITE, Answer, WikiServer

pytestmark = pytest.mark.integration

BUSY: Answer = (429, {"Retry-After": "0"}, b"slow down")


def text(title: str) -> str:
    return LEAD.format(title, title.lower())


def wiki(*titles: str, **more: Any) -> WikiServer:
    return WikiServer(pages={title: (100 + number, text(title)) for number, title in enumerate(titles)}, **more)


def source(
    server: WikiServer,
    titles: Path | None = None,
    longest_wait: float = 60.0,
    contact: str = "team@example.org",
    partition_pages: int = 500,
    **more: Any,
) -> MediaWikiSource:
    settings = MediaWikiSettings(api=server.api, titles=str(titles or ""), **{"delay_seconds": 0.0} | more)
    patience = Patience(total_seconds=120.0, retries=3, backoff_seconds=0.01, max_backoff_seconds=longest_wait)
    return MediaWikiSource(
        settings, WikitextSettings(), contact=contact, patience=patience, partition_pages=partition_pages
    )


def listed(folder: Path, *titles: str) -> Path:
    (folder / "titles.txt").write_text(
        "\ufeff# a list\n\n" + "".join(f"{title}\n" for title in titles), encoding="utf-8"
    )
    return folder / "titles.txt"


def read(wiki_source: MediaWikiSource) -> list[Article]:
    return [article for part in wiki_source.partitions() for article in wiki_source.read(part)]


def test_a_list_of_titles_is_read(tmp_path: Path) -> None:
    with wiki("Ada", "Bo", "Äda") as server:
        articles = read(source(server, listed(tmp_path, "Bo", "Äda", "No page")))
    lead = "Bo is a long enough article about Bo in a test."
    assert articles[0] == Article("Bo", lead, ("http://bo.test/",), revision="101", licence="CC BY-SA 4.0", page="101")
    assert [(article.title, article.drop_reason) for article in articles] == [
        ("Bo", None),
        ("Äda", None),
        ("No page", "missing_page"),
    ]


def test_every_request_says_who_asks_and_minds_the_lag(tmp_path: Path) -> None:
    with wiki("Ada") as server:
        read(source(server, listed(tmp_path, "Ada")))
        assert server.agents == {"wikisum-builder/0.1 (+team@example.org)"}
        assert {fields["maxlag"] for fields in server.asked} == {"5"}


def test_nothing_is_asked_without_a_contact(tmp_path: Path) -> None:
    with wiki("Ada") as server:
        with pytest.raises(ValueError, match=r"crawl\.contact is empty: expected a URL or an e-mail"):
            source(server, listed(tmp_path, "Ada"), contact=" ").partitions()
        assert not server.asked


def test_titles_come_fifty_a_request_and_texts_too(tmp_path: Path) -> None:
    names = [f"T{number:03}" for number in range(120)]
    with wiki(*names) as server:
        wiki_source = source(server, listed(tmp_path, *names), partition_pages=110)
        parts = wiki_source.partitions()
        assert [fields["titles"].count("|") + 1 for fields in server.asked] == [50, 50, 20]
        assert [(part.name, part.start, part.stop) for part in parts] == [
            ("pages 0-109", 0, 110),
            ("pages 110-119", 110, 120),
        ]
        server.asked.clear()
        assert [article.title for part in parts for article in wiki_source.read(part)] == names
        assert [fields["revids"].count("|") + 1 for fields in server.asked if "revids" in fields] == [50, 50, 10, 10]


def test_long_titles_make_smaller_requests(tmp_path: Path) -> None:
    names = [f"{'Ä' * 100}{number}" for number in range(20)]  # 600 characters each once encoded
    with wiki(*names) as server:
        assert len(read(source(server, listed(tmp_path, *names)))) == 20
        assert max(fields["titles"].count("|") + 1 for fields in server.asked if "titles" in fields) == 4


def test_redirects_lead_to_one_article(tmp_path: Path) -> None:
    with wiki("Ada", "Bo", redirects={"Countess": "Ada"}) as server:
        articles = read(source(server, listed(tmp_path, "countess", "Bo", "Ada", "Ada_")))
    assert [article.title for article in articles] == ["Ada", "Bo"]


def test_a_title_in_another_normal_form_is_found(tmp_path: Path) -> None:
    titles = ["cafe\u0301", "100% Ni\u00f1a", "100% Nin\u0303a", "A%20b", "Nowhe\u0301re"]
    with wiki("Caf\u00e9", "100% Ni\u00f1a", "A%20b") as server:
        found = read(source(server, listed(tmp_path, *titles)))
    assert [(article.title, article.drop_reason) for article in found] == [
        ("Caf\u00e9", None),
        ("100% Ni\u00f1a", None),
        ("A%20b", None),
        ("Nowhe\u0301re", "missing_page"),
    ]


def test_an_answer_that_is_cut_is_continued_in_order(tmp_path: Path) -> None:
    names = [f"T{number}" for number in range(9)]
    with wiki(*names, per_answer=2) as server:
        articles = read(source(server, listed(tmp_path, *reversed(names))))
        assert sum("rvcontinue" in fields for fields in server.asked) == 4
    assert [article.title for article in articles] == names[::-1]


def test_a_category_is_read_to_its_depth() -> None:
    categories = {
        "Category:Rivers": ["Ada", "Bo", "Category:Long rivers", "Cy"],
        "Category:Long rivers": ["Bo", "Di", "Category:Rivers"],
    }
    with wiki("Ada", "Bo", "Cy", "Di", categories=categories) as server:
        shallow = read(source(server, category="Rivers"))
        deep = read(source(server, category="Category:Rivers", category_depth=3))
    assert [article.title for article in shallow] == ["Ada", "Bo", "Cy"]
    assert [article.title for article in deep] == ["Ada", "Bo", "Cy", "Di"]


@pytest.mark.parametrize("category", ["Dune: Part One", "category:Dune: Part One", "Catégorie: Dune: Part One"])
def test_a_colon_in_the_name_of_a_category_begins_no_namespace(category: str) -> None:
    with wiki("Ada", categories={"Category:Dune: Part One": ["Ada"]}) as server:
        articles = read(source(server, category=category))
    assert [article.title for article in articles] == ["Ada"]


def test_a_digest_follows_the_revisions(tmp_path: Path) -> None:
    with wiki("Ada", "Bo", "Cy") as server:
        wiki_source = source(server, listed(tmp_path, "Ada", "Bo", "Cy"), partition_pages=1)
        before = wiki_source.partitions()
        server.pages["Bo"] = (900, text("Bo"))
        after = wiki_source.partitions()
        assert [old.digest == new.digest for old, new in zip(before, after, strict=True)] == [True, False, True]


def test_what_is_read_is_what_was_planned(tmp_path: Path) -> None:
    with wiki("Ada", "Bo") as server:
        wiki_source = source(server, listed(tmp_path, "Ada", "Bo"))
        (part,) = pickle.loads(pickle.dumps(wiki_source.partitions()))
        server.pages["Bo"] = (900, text("Bo"))
        server.hidden.add(100)
        articles = list(wiki_source.read(part))
    assert [(article.title, article.revision, article.drop_reason) for article in articles] == [
        ("revision 100", "100", "revision_gone"),
        ("revision 101", "101", "revision_gone"),
    ]


def test_the_wiki_names_its_namespaces(tmp_path: Path) -> None:
    source_text = f"[[Fichier:A.jpg|One]][[Bild:B.jpg|Two]][[Catégorie:Rivers]]{text('Ada')}"
    with WikiServer(pages={"Ada": (5, source_text)}) as server:
        (article,) = read(source(server, listed(tmp_path, "Ada")))
    assert article.lead == "Ada is a long enough article about Ada in a test."


@pytest.mark.parametrize(
    "answers",
    [
        [BUSY],
        [(503, {"Retry-After": "0"}, b"")] * 3,
        [(429, {"Retry-After": "9000"}, b"")] * 3,
        [(200, {"Retry-After": "0"}, {"error": {"code": "maxlag", "info": "Waiting for db1: 7 seconds lagged"}})],
        [(200, {}, {"error": {"code": "ratelimited", "info": "too fast"}}), (500, {}, b"oops")],
        [(200, {}, {"error": {"code": "internal_api_error_DBQueryError", "info": "x"}})],
    ],
)
def test_it_waits_when_it_is_asked_to(tmp_path: Path, answers: list[Answer]) -> None:
    with wiki("Ada", scripted=list(answers)) as server:
        waiting = source(server, listed(tmp_path, "Ada"), longest_wait=0.05)
        assert [article.title for article in read(waiting)] == ["Ada"]
        assert len(server.asked) == len(answers) + 3


def test_retry_after_is_obeyed(tmp_path: Path) -> None:
    with wiki("Ada", scripted=[(429, {"Retry-After": "1"}, b"")]) as server:
        start = time.monotonic()
        source(server, listed(tmp_path, "Ada")).partitions()
        assert time.monotonic() - start >= 1.0


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ([BUSY] * 4, ConnectionError, r"api\.php: rate_limited: .*, after 4 requests"),
        ([(429, {"Retry-After": "9000"}, b"")] * 4, ConnectionError, "after 4 requests; it asks to wait 9000 s"),
        ([(403, {}, b"blocked")], ConnectionError, "HTTP 403"),
        ([(200, {}, b"<html>")], ConnectionError, "expected JSON, got b'<html>'"),
        ([(200, {}, [1])], ConnectionError, "expected a JSON object"),
        (
            [(200, {}, {"error": {"code": "badvalue", "info": "Unrecognized"}})],
            MediaWikiError,
            "badvalue: Unrecognized",
        ),
        ([(200, {}, {"continue": {"x": 1}, "query": {}})] * 2, MediaWikiError, "continues at the same position again"),
        ([(200, {}, {"error": "internal error"})], MediaWikiError, "error: internal error"),
        ([(200, {}, {"errors": [{"code": "badvalue", "text": "Unrecognized"}]})], MediaWikiError, "badvalue: Unrec"),
        ([(200, {}, {})], ConnectionError, r"expected the answer to a query, got b'\{\}'"),
        ([(200, {}, b"")], ConnectionError, "expected JSON, got b''"),
        ([(200, {}, b'{"query": {"pages": [')], ConnectionError, "expected JSON"),
        ([(200, {}, {"query": []})], ConnectionError, "expected the answer to a query"),
        ([(200, {}, {"query": {}})], ConnectionError, "says nothing of the page 'Ada', not even that it is missing"),
        ([(200, {}, {"query": {"pages": [{"title": "Bo", "lastrevid": 7}]}})], ConnectionError, "of the page 'Ada'"),
        ([(200, {}, {"query": {"pages": {"1": {"title": "Ada"}}}})], ConnectionError, "not of the interface's shape"),
        (
            [(200, {}, {"warnings": {"query": {"warnings": "Too many values"}}, "query": {"pages": []}})],
            MediaWikiError,
            "warnings: Too many values",
        ),
    ],
)
def test_it_gives_up_with_the_reason(tmp_path: Path, answers: list[Answer], error: Any, message: str) -> None:
    with wiki("Ada", scripted=list(answers)) as server, pytest.raises(error, match=message):
        read(source(server, listed(tmp_path, "Ada"), longest_wait=0.05))


PLANNED: Answer = (200, {}, {"query": {"pages": [{"title": "Ada", "lastrevid": 100}]}})


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"query": {}}, "KeyError 'namespaces'"),
        ({"query": {"general": {"base": "b"}, "namespaces": []}}, "not of the interface's shape"),
    ],
)
def test_a_wiki_that_does_not_name_its_namespaces_is_not_read(tmp_path: Path, answer: Any, message: str) -> None:
    scripted: list[Answer] = [PLANNED, (200, {}, answer)]
    with wiki("Ada", scripted=scripted) as server, pytest.raises(ConnectionError, match=message):
        read(source(server, listed(tmp_path, "Ada")))


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ([], "says nothing of revision 100, not even that it is gone"),
        ([{"title": "Ada", "ns": 0}], "says nothing of revision 100"),
        ([{"title": "Ada", "ns": 0, "revisions": [{"revid": 100, "slots": {"main": {}}}]}], "of revision 100"),
    ],
)
def test_a_revision_that_the_answer_leaves_out_is_not_called_gone(tmp_path: Path, pages: Any, message: str) -> None:
    scripted: list[Answer] = [PLANNED, (200, {}, {"query": SITE}), (200, {}, {"query": {"pages": pages}})]
    with wiki("Ada", scripted=scripted) as server:
        wiki_source = source(server, listed(tmp_path, "Ada"))
        with pytest.raises(ConnectionError, match=message):
            read(wiki_source)
        assert [article.title for article in read(wiki_source)] == ["Ada"]  # the next run asks again


@pytest.mark.parametrize("answer", [{"query": {}}, {"query": {"categorymembers": None}}, {"batchcomplete": True}])
def test_an_answer_without_the_list_is_no_empty_category(answer: Any) -> None:
    scripted: list[Answer] = [(200, {}, answer)]
    categories = {"Category:Rivers": ["Ada"]}
    with wiki("Ada", scripted=scripted, categories=categories) as server:
        wiki_source = source(server, category="Rivers")
        with pytest.raises(ConnectionError, match=r"not of the interface's shape|expected the answer to a query"):
            read(wiki_source)
        assert [article.title for article in read(wiki_source)] == ["Ada"]


def test_titles_that_lead_to_no_page_are_missing(tmp_path: Path) -> None:
    query = {
        "redirects": [{"from": "A", "to": "B"}, {"from": "B", "to": "A"}],
        "interwiki": [{"title": "fr:C", "iw": "fr"}],
        "pages": [{"title": "Special:D", "special": True}, {"title": "<E>", "invalid": True}],
    }
    titles = ["A", "fr:C", "Special:D", "<E>"]
    scripted: list[Answer] = [(200, {}, {"query": query})]
    with wiki(scripted=scripted) as server:
        (part,) = source(server, listed(tmp_path, *titles)).partitions()
        assert [article.title for article in source(server).read(part)] == titles


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with wiki("Ada") as server:
        with pytest.raises(ValueError, match="expected exactly one of titles and category"):
            source(server).partitions()
        with pytest.raises(ValueError, match="expected exactly one of titles and category"):
            source(server, listed(tmp_path, "Ada"), category="Rivers").partitions()
        with pytest.raises(ValueError, match=r"titles\.txt, line 3: expected one title, got 'Ada\|Bo'"):
            source(server, listed(tmp_path, "Ada|Bo")).partitions()
        with pytest.raises(ValueError, match=r"(?s)line 3: .*line 5: .*2 malformed in all"):
            source(server, listed(tmp_path, "Ada|Bo", "Cy", "Di|Ed")).partitions()
        with pytest.raises(FileNotFoundError, match=r"no such file: .*none\.txt \(source\.mediawiki\.titles\)"):
            source(server, tmp_path / "none.txt").partitions()
        with pytest.raises(ValueError, match="expected one that MediaWikiSource planned"):
            list(source(server, listed(tmp_path, "Ada")).read(Partition("p", "d", 0, 1)))
        (tmp_path / "titles.txt").write_bytes(b"Ad\xe4\n")
        with pytest.raises(ValueError, match="expected UTF-8, got the byte 0xe4"):
            source(server, tmp_path / "titles.txt").partitions()


def test_the_settings_choose_it(tmp_path: Path) -> None:
    with wiki("Ada") as server:
        settings = MediaWikiSettings(api=server.api, titles=str(listed(tmp_path, "Ada")))
        opened = open_source(SourceSettings(kind="mediawiki", mediawiki=settings), "x@y.test")
        assert [article.title for part in opened.partitions() for article in opened.read(part)] == ["Ada"]
