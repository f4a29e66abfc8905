"""The page over real HTTP: requests, refusals, exports, who is let in."""

import errno
import io
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import requests
from lxml import html

import storage.writing
from benchmarks.page_server import page_server
from flows.summary_page.jobs import SummaryJob
from storage.registry import save_version
from storage.store import Store
from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import Report, SourcePage
from tasks.cited_summary.settings import SummarySettings
from tasks.engine.progress import Progress
from tasks.explorer.corpus import ExplorerCorpus
from tests.patience import PATIENCE, wait_until
from tests.storage.test_registry import version
from tests.tasks.chat.chat_server import chat_server, sentences
from tests.tasks.cited_summary.test_systems import root_with
from tests.tasks.cited_summary.topic import TITLE, TODAY
from tests.tasks.explorer.small_corpus import CITED, ids, scored_builds, small_corpus
from tests.tasks.fetching.loopback_server import LoopbackServer, answer
from tests.tasks.reporting.test_side_by_side import built

pytestmark = pytest.mark.integration
HOSTILE = f"{TODAY}<script>parent.stolen = 1</script><img src='http://evil.test/x.png'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    corpus = ExplorerCorpus(Store(small_corpus(tmp_path_factory.mktemp("corpus"))))
    corpus.wait()
    with page_server(settings=SummarySettings(max_bytes=50_000), corpus=corpus) as address:
        yield address


def get(url: str, **arguments: object) -> requests.Response:
    return requests.get(url, timeout=PATIENCE, **arguments)


def post(url: str, **arguments: object) -> requests.Response:
    return requests.post(url, timeout=PATIENCE, **arguments)


def made(page: str, **wanted: object) -> str:
    """Ask for a summary, wait for it, and return its address."""
    answer = post(f"{page}/api/summaries", json={"title": TITLE, **wanted})
    assert answer.status_code == 202, answer.text
    id_ = answer.json()["id"]
    wait_until(lambda: get(f"{page}/api/summaries/{id_}").json()["state"] in ("done", "failed"), "the summary")
    return f"{page}/summary/{id_}"


@pytest.fixture(scope="module")
def summary(page: str) -> str:
    file = post(f"{page}/api/files", params={"name": "../../etc/today<b>.html"}, data=HOSTILE.encode())
    assert file.status_code == 201
    urls = [{"url": "http://127.0.0.1/admin"}, {"url": "not an address"}]
    return made(page, sources=[*urls, {"file": file.json()["id"]}, {"file": "gone"}])


def test_a_file_becomes_a_cited_summary_and_the_rest_says_why_not(page: str, summary: str) -> None:
    shown = get(summary).text
    assert shown.count('class="support said"') == 2
    assert 'href="#passage-1"' in shown
    assert 'id="passage-1"' in shown
    assert "<mark>" in shown
    for reason in (
        "the host has no public address (private, loopback, link-local, metadata, ...)",
        "this is not a web address: expected one that begins with http:// or https://",
        "it is no longer here: choose it again",
    ):
        assert reason in shown
    assert "today&lt;b&gt;.html" in shown
    assert "etc/" not in shown


def test_a_note_of_five_words_is_a_source_and_one_word_is_none(page: str) -> None:
    shown = get(made(page, sources=[{"text": "Ferry leaves at noon daily."}, {"text": "Ferry"}])).text
    assert shown.count('class="support said"') == 1
    assert "it has only one word: expected at least 3" in shown


def test_an_answer_is_kept_with_its_summary_and_goes_with_it(page: str) -> None:
    asked = made(page, sources=[{"text": "The tower was built in 1847.\nThe keeper of the tower was Ann Molloy."}])
    id_ = asked.rpartition("/")[2]

    def answered(of: str, question: str) -> str:
        answer = post(f"{page}/api/summaries/{of}/questions", json={"question": question})
        assert answer.status_code == 202, answer.text
        number = str(answer.json()["id"])
        wait_until(lambda: get(f"{page}/api/summaries/{number}").json()["state"] == "done", "the answer")
        return number

    first = answered(id_, "Who was the keeper?")
    second = answered(first, "When was the tower built?")  # asked on the page of an answer: of the same summary
    answer = get(f"{page}/summary/{first}/export.json").json()
    assert [one["text"] for one in answer["sentences"]] == ["The keeper of the tower was Ann Molloy."]
    assert (answer["title"], answer["about"], answer["sentences"][0]["verdict"]) == (
        "Who was the keeper?",
        TITLE,
        "said",
    )
    for address in (asked, f"{page}/summary/{second}"):
        shown = get(address).text
        assert "The keeper of the tower was Ann Molloy." in shown
        assert "When was the tower built?" in shown
    listed = [one["id"] for one in get(f"{page}/api/summaries").json()]
    assert id_ in listed
    assert not {first, second} & set(listed)
    for number, (question, status) in enumerate({"": 422, "  ": 422, "x" * 301: 422}.items()):
        assert post(f"{page}/api/summaries/{id_}/questions", json={"question": question}).status_code == status, number
    assert requests.delete(f"{page}/api/summaries/{id_}", timeout=PATIENCE).status_code == 200
    jobs = [get(f"{page}/summary/{one}").status_code for one in (id_, first, second)]
    assert jobs == [404, 404, 404]


def test_sentences_are_changed_checked_again_and_kept(page: str) -> None:
    asked = made(page, sources=[{"text": "The tower was built in 1847.\nThe keeper of the tower was Ann Molloy."}])
    address = f"{page}/api/summaries/{asked.rpartition('/')[2]}/sentences"
    lie = "The keeper of the tower was Tom Grey."

    def change(*sentences: str) -> requests.Response:
        return requests.put(address, json={"sentences": sentences}, timeout=PATIENCE)

    assert change(lie, "The tower was built in 1847.").status_code == 200
    kept = get(f"{asked}/export.json").json()
    assert [(one["text"], one["verdict"]) for one in kept["sentences"]] == [
        (lie, "not supported"),
        ("The tower was built in 1847.", "said"),
    ]
    assert any(one["begins"] == lie for one in get(f"{page}/api/summaries").json())
    assert change(" ").status_code == 422
    assert change("x" * 2_001).status_code == 422
    assert get(f"{asked}/export.json").json() == kept


def test_a_pinned_sentence_is_kept_and_begins_the_summary_that_is_written_again(page: str) -> None:
    text = "The tower was built in 1847.\nThe keeper of the tower was Ann Molloy."
    asked = made(page, sources=[{"text": text}])
    id_, pin = asked.rpartition("/")[2], "The keeper of the tower was Ann Molloy."
    sentences = {"sentences": ["The tower was built in 1847.", pin], "pinned": [pin]}
    assert requests.put(f"{page}/api/summaries/{id_}/sentences", json=sentences, timeout=PATIENCE).status_code == 200
    form = html.document_fromstring(get(f"{page}/?of={id_}").text)
    (given,) = form.xpath("//form/@data-pinned")
    assert json.loads(given) == [pin]
    again = made(page, sources=[{"summary": id_}], pinned=[pin])
    kept = get(f"{again}/export.json").json()
    assert [one["text"] for one in kept["sentences"]] == [pin, "The tower was built in 1847."]
    pressed = html.document_fromstring(get(again).text).xpath("//button[@data-pin]/@aria-pressed")
    assert pressed == ["true", "false"]
    third = post(f"{page}/api/summaries/{again.rpartition('/')[2]}/again?system=extractive").json()["id"]
    wait_until(lambda: "data-pin" in get(f"{page}/summary/{third}").text, "the third summary")
    assert get(f"{page}/summary/{third}/export.json").json()["sentences"][0]["text"] == pin


def test_what_the_server_cannot_keep_is_answered_with_its_cause_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with page_server(root=tmp_path) as address:
        asked = made(address, sources=[{"text": "The tower was built in 1847."}])
        api = f"{address}/api/summaries/{asked.rpartition('/')[2]}"
        before = get(f"{asked}/export.json").json()
        with monkeypatch.context() as disk:
            disk.setattr(storage.writing.os, "fsync", full)
            answer_ = requests.put(f"{api}/sentences", json={"sentences": ["It was built."]}, timeout=PATIENCE)
        assert (answer_.status_code, answer_.json()) == (
            507,
            {"detail": "the disk of the server is full; the log of the server says more"},
        )
        assert get(f"{asked}/export.json").json() == before
        (tmp_path / "summaries").rename(tmp_path / "moved")
        (tmp_path / "summaries").write_text("no folder")
        answer_ = requests.put(f"{api}/sentences", json={"sentences": ["It was built."]}, timeout=PATIENCE)
        assert answer_.status_code == 500
        assert answer_.json()["detail"].startswith("a file of the server could not be read or written: ")
        assert str(tmp_path) not in answer_.text
        listed = get(f"{address}/summaries")
        assert (listed.status_code, "Not done" in listed.text) == (500, True)


def test_a_table_of_sources_and_questions(page: str) -> None:
    asked = made(
        page,
        sources=[
            {"text": "The tower was built in 1847.", "name": "a<b"},
            {"text": "It rained on the island for a week in the autumn."},
        ],
    )
    shown = get(f"{asked}/table", params={"question": ["When was the tower built?", "", "<i>Who?</i>"]})
    cells = [cell.text_content().split() for cell in html.fromstring(shown.text).iterfind(".//td")]
    assert cells == [["The", "tower", "was", "built", "in", "1847.", "paragraph", "1"], *[["no", "answer"]] * 3]
    assert "<i>" not in shown.text
    written = get(f"{asked}/export.table.csv", params={"question": "When was the tower built?"})
    assert written.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = written.content.decode("utf-8-sig").splitlines()
    assert rows == ["source,When was the tower built?", "a<b,The tower was built in 1847.", "pasted text,"]
    assert get(f"{page}/summary/none/table").status_code == 404


def test_hostile_files_stay_inert(summary: str) -> None:
    inert = get(f"{summary}/inert/3?passage=1")
    assert inert.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert inert.headers["X-Content-Type-Options"] == "nosniff"
    assert "script" not in inert.text
    assert "evil.test" not in inert.text
    assert 'id="cited-passage"' in inert.text
    wrapper = get(f"{summary}/source/3?passage=1")
    assert "<iframe" in wrapper.text
    assert 'sandbox src="' in wrapper.text
    assert wrapper.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
    assert get(f"{summary}/inert/1").status_code == 404  # it was never fetched
    assert get(f"{summary}/source/99").status_code == 404


@pytest.mark.parametrize(
    ("kind", "mime", "sign"),
    [("md", "text/markdown", "[^1]: "), ("json", "application/json", '"verdict"'), ("html", "text/html", "<h2>")],
)
def test_exports_are_files(summary: str, kind: str, mime: str, sign: str) -> None:
    answer = get(f"{summary}/export.{kind}")
    assert answer.headers["Content-Type"].startswith(mime)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="summary.{kind}"'
    assert sign in answer.text
    assert get(f"{summary}/export.exe").status_code == 404


@pytest.mark.parametrize(
    ("request_", "status", "said"),
    [
        (
            {"json": {"title": "Only a title"}},
            422,
            "there is no source: expected at least one web address, file or text",
        ),
        ({"json": {"sources": [{"url": "http://a.test", "text": "x"}]}}, 422, "sources.0: expected one of url, text"),
        ({"json": {"sources": [{"summary": "unknown"}]}}, 404, "There is no such summary"),
        ({"json": {"sources": [{"text": "x"}], "words": 5}}, 422, "words: Input should be greater"),
        ({"json": {"sources": [{"text": "x"}], "language": "klingon"}}, 422, "language: 'klingon' is not a language"),
        (
            {"json": {"sources": [{"text": "x"}], "system": "magic"}},
            422,
            "system is 'magic': expected one of extractive",
        ),
        ({"json": {"title": "x" * 301}}, 422, "title: String should have at most 300"),
        ({"json": {"source": []}}, 422, "source: expected one of title, sources, system, words, "),
        ({"json": {"sources": [{"uri": "x"}]}}, 422, "sources.0.uri: expected one of url, text, name, file"),
        ({"json": {"sources": ["http://a.test"]}}, 422, 'sources.0: expected an object such as {"url": "https://'),
        ({"json": {"sources": [{"text": "x"}], "words": "tiny"}}, 422, "; or Input should be 'short', 'medium'"),
        ({"data": b"not json"}, 422, "expected JSON, as /api describes it"),
        ({"data": b"\xff\xfe"}, 422, "expected JSON, as /api describes it"),
        ({"data": b" " * 60_000}, 413, "it has 60,000 bytes: expected at most 50,000 bytes"),
    ],
)
def test_bad_requests_are_answered_in_one_sentence(page: str, request_: dict, status: int, said: str) -> None:
    answer = post(f"{page}/api/summaries", **request_)
    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text


def test_a_file_of_two_gigabytes_is_refused_by_its_announced_size(page: str) -> None:
    import socket
    from urllib.parse import urlsplit

    parts = urlsplit(page)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as sock:
        head = f"POST /api/files?name=a.txt HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Length: 2000000000\r\n\r\n"
        sock.sendall(head.encode())  # and not a byte of the file
        assert sock.recv(1000).startswith(b"HTTP/1.1 413")
    endless = post(f"{page}/api/files?name=a.txt", data=(b"x" * 10_000 for _ in range(6)))
    assert (endless.status_code, endless.json()["detail"]) == (
        413,
        "it has more than 50,000 bytes, the most that is read",
    )


def test_one_request_writes_again_with_another_system_and_fetches_nothing(tmp_path: Path) -> None:
    root = root_with(tmp_path, "summarizer", "ranker")
    with (
        LoopbackServer(
            {"/robots.txt": answer(b"", Content_Type="text/plain"), "/today": answer(TODAY.encode())}
        ) as web,
        page_server(model=root, settings=SummarySettings(allowed_hosts=("127.0.0.1",))) as page,
    ):
        first = made(page, sources=[{"url": f"http://{web.address}/today"}])
        fetched = len(web.paths())
        shown = html.document_fromstring(get(first).text)
        assert shown.xpath("//p[@class='note']/text()")[0].startswith("The trained model ht-small+similarity does not")
        (button,) = shown.xpath("//button[@data-system]")
        assert button.get("data-system") == "model"
        answer_ = post(f"{page}/api{first.removeprefix(page).replace('summary', 'summaries')}/again?system=model")
        assert answer_.status_code == 202, answer_.text
        second = f"{page}/summary/{answer_.json()['id']}"
        wait_until(lambda: "data-system" in get(second).text, "the second summary")
        again = get(f"{second}/export.json").json()
        assert (again["system"], again["sources"][0]["name"]) == ("ht-small+similarity", f"http://{web.address}/today")
        buttons = html.document_fromstring(get(second).text).xpath("//button/@data-system")
        assert buttons == ["suitable", "extractive"]
        assert len(web.paths()) == fetched
        wrong = post(f"{page}/api{first.removeprefix(page).replace('summary', 'summaries')}/again?system=magic")
        assert wrong.status_code == 422
        assert post(f"{page}/api/summaries/none/again?system=model").status_code == 404


def test_two_people_at_once_and_a_third_in_the_queue() -> None:
    gate = threading.Event()

    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        report(Progress("writing", 0.8))
        gate.wait(PATIENCE)
        return CitedSummary(job.title, "concepts", "", [], [], []), {}

    with page_server(work=work) as page:
        wanted = [{"title": title, "sources": [{"url": "http://a.test/"}]} for title in ("one", "two", "three")]
        addresses = [f"{page}/api/summaries/{post(f'{page}/api/summaries', json=one).json()['id']}" for one in wanted]
        wait_until(lambda: get(addresses[1]).json()["text"] == "writing", "two summaries in work")
        states = [get(address).json() for address in addresses]
        assert [state["state"] for state in states] == ["working", "working", "waiting"]
        assert states[2]["text"] == "waiting: 2 summaries are made before this one"
        assert "waiting" in get(addresses[2].replace("/api/summaries", "/summary")).text
        gate.set()
        wait_until(lambda: get(addresses[2]).json()["state"] == "done", "the third summary")
        assert ["one" in get(addresses[0].replace("/api/summaries", "/summary")).text] == [True]


def test_a_summary_in_work_and_one_that_waits_are_cancelled() -> None:
    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        wait_until(lambda: report(Progress("writing", 0.8)), "to be cancelled")
        raise AssertionError("unreachable")

    with page_server(work=work, at_once=1) as page:
        wanted = {"title": "one", "sources": [{"url": "http://a.test/"}]}
        first, second = (post(f"{page}/api/summaries", json=wanted).json()["id"] for _ in range(2))
        for id_ in (second, first):
            assert post(f"{page}/api/summaries/{id_}/cancel").status_code == 202
            state = f"{page}/api/summaries/{id_}"
            wait_until(lambda: get(state).json()["state"] == "cancelled", "the end of a summary")  # noqa: B023
            assert "This summary was cancelled" in get(f"{page}/summary/{id_}").text
            assert get(f"{page}/summary/{id_}/export.json").status_code == 404
        assert post(f"{page}/api/summaries/unknown/cancel").status_code == 404
        foreign = {"Sec-Fetch-Site": "cross-site"}
        assert post(f"{page}/api/summaries/{first}/cancel", headers=foreign).status_code == 403


def test_other_sites_may_neither_ask_nor_pretend_to_be_this_one(page: str) -> None:
    wanted = {"json": {"title": "x", "sources": [{"url": "http://a.test"}]}}
    assert post(f"{page}/api/summaries", headers={"Origin": "http://evil.test"}, **wanted).status_code == 403
    assert post(f"{page}/api/summaries", headers={"Sec-Fetch-Site": "cross-site"}, **wanted).status_code == 403
    assert get(f"{page}/", headers={"Host": "evil.test"}).status_code == 421
    assert get(f"{page}/", headers={"Host": "localhost:1"}).status_code == 200


def test_with_a_password_nothing_is_shown_without_it() -> None:
    with page_server(credentials="me:long-enough") as page:
        for path in ("/", "/static/page.js", "/api/summaries/x"):
            assert get(f"{page}{path}").status_code == 401
        assert get(f"{page}/", auth=("me", "wrong")).status_code == 401
        assert get(f"{page}/", auth=("me", "long-enough"), headers={"Host": "box.lan"}).status_code == 421
        assert get(f"{page}/", auth=("me", "long-enough")).status_code == 200
        for token, status in (("long-enough", 200), ("wrong", 401)):
            assert get(f"{page}/api/systems", headers={"Authorization": f"Bearer {token}"}).status_code == status


def test_a_summary_by_program_is_watched_found_written_again_with_other_sources_and_deleted(tmp_path: Path) -> None:
    text = "The tower at Skerry Point was built in 1847 by Thomas Ridley.\nIts lamp burned whale oil until 1871."
    with page_server(root=tmp_path) as page:
        asked = {"sources": [{"text": text, "name": "notes.txt"}, {"url": "nothing"}], "words": "short"}
        id_ = post(f"{page}/api/summaries", json=asked).json()["id"]
        with get(f"{page}/api/summaries/{id_}/events", stream=True) as events:
            assert events.headers["Content-Type"].startswith("text/event-stream")
            lines = [line for line in events.iter_lines(decode_unicode=True) if line]
        states = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
        assert (states[-1]["state"], states[-1]["text"], states[-1]["share"]) == ("done", "done", 1.0)
        assert {line for line in lines if line.startswith("event")} == {"event: progress"}
        first = get(f"{page}/summary/{id_}/export.json").json()
        assert first["title"] == "Skerry Point"  # of the text itself
        assert [found["id"] for found in get(f"{page}/api/summaries", params={"search": "1847 RIDLEY"}).json()] == [id_]
        assert get(f"{page}/api/summaries", params={"search": "granite"}).json() == []
    with page_server(root=tmp_path) as page:  # another server of the same root
        assert get(f"{page}/summary/{id_}/export.json").json()["sentences"] == first["sentences"]
        assert "notes.txt" in get(f"{page}/?of={id_}&paste=2").text
        sources = [
            {"summary": id_, "number": 1},
            {"text": "The tower of Skerry Point stands on granite since 1847.", "name": "nothing"},
        ]
        second = made(page, sources=sources, title="Tower", words=20)
        again = get(f"{second}/export.json").json()
        assert [(one["name"], one["refused"]) for one in again["sources"]] == [("notes.txt", None), ("nothing", None)]
        assert sum(len(one["text"].split()) for one in again["sentences"]) <= 20
        beyond = post(f"{page}/api/summaries", json={"sources": [{"summary": id_, "number": 3}]})
        assert (beyond.status_code, "it has 2 sources" in beyond.json()["detail"]) == (422, True)
        assert id_ in get(f"{page}/summaries?search=ridley").text
        assert requests.delete(f"{page}/api/summaries/{id_}", timeout=PATIENCE).status_code == 200
        assert get(f"{page}/summary/{id_}").status_code == 404
    assert [path.name for path in (tmp_path / "summaries").iterdir()] == [f"{second.rpartition('/')[2]}.json"]


def test_the_api_describes_itself(page: str) -> None:
    document = get(f"{page}/api/openapi.json").json()
    assert set(document["paths"]["/api/summaries"]) == {"get", "post"}
    assert all(path.startswith("/api/") for path in document["paths"])
    shown = get(f"{page}/api").text
    assert all(path in shown for path in document["paths"])


def test_what_is_gone_says_so_on_a_page_of_its_own(page: str) -> None:
    answer = get(f"{page}/summary/unknown")
    assert (answer.status_code, "There is no such summary" in answer.text) == (404, True)
    for address in ("api/summaries/unknown", "summary/unknown/export.md"):
        assert "There is no such summary" in get(f"{page}/{address}").json()["detail"]


def test_the_corpus_is_explored_and_its_pages_shown_inert(page: str) -> None:
    listed = get(f"{page}/corpus").text
    assert "3 articles" in listed
    assert "Orme &lt;b&gt;Bridge&lt;/b&gt;" in listed
    assert "test (3)" in listed
    documents = get(f"{page}/corpus", params={"of": "documents", "reason": "http_404"}).text
    assert "1 document<" in documents.replace("\n", "<")
    assert "search (1)" in documents
    report = html.document_fromstring(get(f"{page}/corpus/report").text)
    assert [link.get("href") for link in report.xpath("//td/a[strong='1']")] == ["/corpus?of=documents&reason=http_404"]
    beside = get(f"{page}/corpus/article/0/{ids(0)[0]}", params={"left": "concepts", "right": "the article"}).text
    assert "<mark>1847" in beside
    assert "1 article" in get(f"{page}/corpus", params={"text": "skerry"}).text
    article = get(f"{page}/corpus/article/0/{ids(0)[0]}").text
    assert "extracted by trafilatura" in article
    for sign in ("http_404", "it repeats the lead section", "0.750", "not supported", "1902"):
        assert sign in article
    assert "Summary by concepts: 1 of 2 sentences in its own words, 1 copied from what it read" in article
    origins = html.fromstring(article).xpath("//li//span[contains(@class, 'origin')]/text()")
    assert origins == ["copied", "own words"]
    inert = get(f"{page}/corpus/inert", params={"url": CITED, "host_shard": 0, "passage": "The tower was built"})
    assert "script" not in inert.text
    assert 'id="cited-passage"' in inert.text
    assert inert.headers["Content-Security-Policy"].startswith("sandbox")
    back = get(f"{page}/corpus/page", params={"url": CITED, "host_shard": 0, "back": "http://evil.test/"}).text
    assert "evil.test" not in back
    for missing in (
        "/corpus/article/0/x",
        "/corpus/article/9/x",
        "/corpus?of=x",
        "/corpus?order=x",
        "/corpus/inert?url=x&host_shard=0",
    ):
        assert get(f"{page}{missing}").status_code == 404


def test_bars_and_shares_filter_a_list_and_it_is_downloaded(page: str) -> None:
    listed = html.fromstring(get(f"{page}/corpus?of=ranked&text=tower").text)
    (bar,) = listed.xpath("//ul[@class='bars']//a")
    assert (bar.get("aria-label"), bar.get("href")) == (
        "score 0.7 to below 0.8: 1",
        "/corpus?of=ranked&text=tower&score_least=0.7&score_below=0.8",
    )
    (chosen,) = html.fromstring(get(page + bar.get("href")).text).xpath("//ul[@class='bars']//a")
    assert (chosen.get("aria-current"), chosen.get("href")) == ("true", "/corpus?of=ranked&text=tower")
    hosts = html.fromstring(get(f"{page}/corpus?of=documents").text).xpath("//ul[@class='shares']//a/@href")
    assert "/corpus?of=documents&host=b.test" in hosts
    assert "0 ranked" in get(f"{page}/corpus?of=ranked&score_least=0.8").text
    written = get(f"{page}/corpus/rows.csv?of=documents&host=b.test")
    assert written.headers["Content-Disposition"] == 'attachment; filename="documents.csv"'
    assert [line.split(",")[3] for line in written.text.splitlines()] == ['"url"', '"http://b.test/gone"']
    written = get(f"{page}/corpus/rows.parquet?of=documents&host=b.test")
    assert pq.read_table(io.BytesIO(written.content))["url"].to_pylist() == ["http://b.test/gone"]
    for missing in ("rows.csv?of=x", "rows.csv?order=x", "rows.parquet?of=x"):
        assert get(f"{page}/corpus/{missing}").status_code == 404
    assert get(f"{page}/corpus/rows.xlsx").status_code == 422


def test_sql_is_answered_on_this_machine_alone(page: str, tmp_path: Path) -> None:
    def asked(query: str) -> tuple[int, html.HtmlElement]:
        answer = get(f"{page}/corpus/sql", params={"query": query})
        return answer.status_code, html.fromstring(answer.text)

    get(f"{page}/corpus?of=documents")
    status, shown = asked("SELECT host, count(*) AS rows FROM documents GROUP BY host ORDER BY host")
    assert (status, shown.xpath("//thead//th/text()")) == (200, ["host", "rows"])
    assert shown.xpath("//td/text()") == ["a.test", "1", "b.test", "1"]
    status, shown = asked("DELETE FROM documents")
    assert (status, shown.xpath("//*[@role='alert']/text()")) == (422, ["the query is DELETE: expected one SELECT"])
    assert asked("SELECT '<b>'")[1].xpath("//td/text()") == ["<b>"]
    assert "/corpus/sql" in get(f"{page}/corpus").text
    with page_server(corpus=ExplorerCorpus(Store(small_corpus(tmp_path))), local=False) as open_page:
        assert get(f"{open_page}/corpus/sql").status_code == 404
        assert "/corpus/sql" not in get(f"{open_page}/corpus").text


def test_builds_are_shown_over_time_and_compared(tmp_path: Path) -> None:
    root = small_corpus(tmp_path)
    names = ["20260201-000000-b", "20260202-000000-c"]
    scored_builds(root, {names[0]: {"ours": 60.0, "lead": 40.0}, names[1]: {"ours": 50.0, "lead": 45.0}})
    save_version(Store(root), replace(version(1), verdict={"promoted": False, "reason": "worse <b>than</b> it"}))
    with page_server(corpus=ExplorerCorpus(Store(root))) as page:
        builds = html.fromstring(get(f"{page}/corpus/builds").text)
        (week,) = builds.xpath("//div[@aria-label='The year']//tbody/tr")
        assert "refusedworse <b>than</b> it" in week.text_content()
        assert "1 of 8" in week.text_content()
        assert builds.xpath("//figure//path[not(contains(@class, 'dots')) and @class != '']/@d")[:2] == [
            "M0.0,0.0 L100.0,50.0",
            "M0.0,100.0 L100.0,75.0",
        ]
        assert builds.xpath("//input[@name='build']/@value") == [*names[::-1], "20260101-000000-abc"]
        assert "training.steps: 10 → 20" in builds.text_content()
        alone = get(f"{page}/corpus/compare?build={names[0]}")
        assert (alone.status_code, "expected 2 to 6 different names" in alone.text) == (422, True)
        assert get(f"{page}/corpus/compare?build=../x&build=y").status_code == 422


def test_builds_are_compared_on_a_page_of_their_own(tmp_path: Path) -> None:
    for label, steps in (("aaaaaa", 5), ("bbbbbb", 9)):
        built(tmp_path, label, {"a": 0.5, "b": 0.25}, {"a": "Same.", "b": f"{label}."}, steps)
    first, second = (path.stem for path in sorted((tmp_path / "builds").glob("2*.json")))
    with page_server(corpus=ExplorerCorpus(Store(str(tmp_path)))) as page:
        compared = get(f"{page}/corpus/compare?build={first}&build={second}")
    assert compared.status_code == 200
    assert "training.steps" in compared.text
    assert "1 of 2 summaries of common test articles changed." in compared.text
    assert compared.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_without_a_corpus_there_is_none_to_explore(tmp_path: Path) -> None:
    with page_server() as page:
        assert get(f"{page}/corpus").status_code == 404
        assert "ExplorerCorpus" not in get(page).text


def test_the_form_offers_languages_that_are_tested_from_file_to_summary() -> None:
    with page_server(settings=SummarySettings(language="sw")) as page:
        languages = html.fromstring(get(page).text).xpath("//select[@name='language']/option/@value")
    known = [
        "ar",
        "cs",
        "de",
        "el",
        "en",
        "es",
        "fr",
        "hi",
        "ja",
        "pl",
        "ru",
        "sw",
        "uk",
        "zh",
    ]  # and that of the server
    assert languages == ["", *known]


def test_a_language_model_is_a_system_to_choose() -> None:
    with chat_server(lambda number, _: (200, sentences(("It was automated in 1986.", [1])))) as chat:
        settings = SummarySettings.model_validate({"writer": {"url": chat.url, "model": "tiny-chat"}})
        with page_server(settings=settings) as page:
            form = html.fromstring(get(page).text)
            assert form.xpath("//select[@name='system']/option/@value") == ["suitable", "extractive"]
            assert "tiny-chat" in form.text_content()
            text = "Skerry Point Lighthouse was automated in 1986, and its last keeper, Ann Molloy, left in March.\n"
            shown = html.fromstring(get(made(page, sources=[{"text": text}])).text)
            assert "tiny-chat was asked at" in shown.text_content()
            assert shown.xpath("//*[@id='again']/button/@data-system") == ["extractive"]
            other = html.fromstring(get(made(page, sources=[{"text": text}], system="extractive")).text)
            assert other.xpath("//*[@id='again']/button/@data-system") == ["suitable"]
            assert "Write again: the language model tiny-chat" in other.text_content()
