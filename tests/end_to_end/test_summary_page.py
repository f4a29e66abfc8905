"""The page in a real browser: paste, wait, read, click a citation, export; skipped where there is no Chromium."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from benchmarks.page_server import page_server
from flows.summary_page.processes import Processes
from storage.store import Store
from tasks.chat.client import ChatError
from tasks.cited_summary.pipeline import summarize
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system
from tasks.explorer.corpus import ExplorerCorpus
from tests.patience import PATIENCE
from tests.tasks.chat.chat_server import chat_server, sentences
from tests.tasks.cited_summary.test_systems import root_with
from tests.tasks.cited_summary.topic import HISTORY, TITLE, TODAY
from tests.tasks.explorer.small_corpus import lists, scored_builds, small_corpus
from tests.tasks.fetching.loopback_server import Exchange, LoopbackServer, answer

pytestmark = pytest.mark.integration
WAIT = 120_000  # milliseconds
expect.set_options(timeout=WAIT)
HOSTILE = f"""<!doctype html><title>Hostile <img src=x onerror=window.hacked=1></title><article>
{TODAY[TODAY.index("<p>") :]}
<p>The harbour below Skerry Point has a dozen <b onmouseover="window.hacked=1">boats</b>.</p>
<script>parent.hacked = top.hacked = window.hacked = 1; location = "http://evil.test/"</script>
<img src="http://evil.test/pixel.png" onerror="window.hacked=1"><iframe srcdoc="<script>top.hacked=1</script>"></iframe>
<meta http-equiv="refresh" content="0;url=http://evil.test/">"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    corpus = ExplorerCorpus(Store(small_corpus(tmp_path_factory.mktemp("corpus"))))
    corpus.wait()
    settings = SummarySettings(max_bytes=1_000_000)
    with LoopbackServer({"/today": answer(TODAY.encode())}) as web:
        connect_to = {"good.test": web.address, "closed.test": "127.0.0.1:9"}
        with page_server(
            work=lambda job, report: summarize(
                job.topic[0],
                job.given,
                find_system(None),
                settings,
                question=job.topic[1],
                progress=report,
                connect_to=connect_to,
            ),
            settings=settings,
            corpus=corpus,
        ) as served:
            yield served


@dataclass(frozen=True)
class Slow:
    """A page whose summaries are made by real processes, and a source that is sent when the test says so."""

    address: str
    source: str
    send: threading.Event

    def ask(self, page: Page) -> None:
        page.goto(self.address)
        page.get_by_label("Title").fill(TITLE)
        page.get_by_label("Web addresses").fill(self.source)
        page.get_by_role("button", name="Summarize").click()
        expect(page.get_by_role("status")).to_have_text("fetching: 0 of 1 pages")


@pytest.fixture
def slow() -> Iterator[Slow]:
    send = threading.Event()

    def wait(exchange: Exchange) -> None:
        send.wait(PATIENCE)
        exchange.send(answer(TODAY.encode()))

    settings = SummarySettings(allowed_hosts=("127.0.0.1",))
    with (
        LoopbackServer({"/today": wait}) as web,
        Processes(None, 1) as processes,
        page_server(work=processes, settings=settings, at_once=1) as address,
    ):
        yield Slow(address, f"http://{web.address}/today", send)
        send.set()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    faults: list[str] = []
    foreign: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: foreign.append(request.url) if "//127.0.0.1:" not in request.url else None)
    yield page
    assert faults == []
    assert [url for url in foreign if not url.startswith("data:")] == [], "the page loaded something from elsewhere"
    context.close()


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_paste_wait_click_a_citation_and_export(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Web addresses").fill("http://good.test/today\nhttp://closed.test/\nhttp://127.0.0.1/admin")
    page.get_by_label("Files", exact=True).set_input_files(file(tmp_path, "history.txt", HISTORY))
    page.get_by_role("button", name="Summarize").click()
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(page.locator("ol.sentences li")).to_have_count(4)
    expect(page.locator("#heading")).to_be_focused()
    assert page.locator(".support.said").count() == 4
    expect(page.get_by_text("no connection: refused or unreachable")).to_be_visible()

    sentence = page.locator("ol.sentences li").nth(2)
    cite = sentence.locator("a.cite").first
    passage = page.locator(cite.get_attribute("href") or "")
    expect(passage).to_be_hidden()
    cite.click()
    expect(passage).to_be_in_viewport()
    expect(passage).to_be_focused()
    expect(passage.locator("mark:not(.other)")).to_have_text(sentence.locator(".text").inner_text())
    passage.get_by_role("link", name="back to the sentence").click()
    expect(cite).to_be_focused()
    why = sentence.locator(".why")
    expect(why).to_be_hidden()
    sentence.locator(".support").hover()
    expect(why).to_have_text("said by a source: one passage says it, so far as can be checked")
    page.locator("h1").hover()
    sentence.locator(".support").press("Enter")
    expect(why).to_be_visible()
    page.keyboard.press("Escape")
    expect(why).to_be_hidden()

    with page.expect_download() as download:
        page.get_by_role("link", name="JSON", exact=True).click()
    fields = json.loads(Path(download.value.path()).read_text())
    assert len(fields["sentences"]) == 4
    assert download.value.suggested_filename == "summary.json"


def test_a_file_that_cannot_be_made_says_why_and_text_from_right_to_left_is_shown_so(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Title").fill("افتتح الجسر 📚 عام 1911")
    page.get_by_label("Web addresses").fill("http://good.test/today")
    page.get_by_role("button", name="Summarize").click()
    page.get_by_role("link", name="PDF", exact=True).click()
    expect(page.locator("#copied")).to_have_text(
        re.compile("^No PDF: .* from right to left .*: export as docx or html")
    )
    page.route("**/export.html", lambda route: route.abort())
    page.get_by_role("link", name="HTML", exact=True).click()
    expect(page.locator("#copied")).to_have_text("No HTML: the page does not answer. Is its command still running?")
    assert page.locator("h1").evaluate("heading => getComputedStyle(heading).direction") == "rtl"
    assert page.locator("ol.sentences li > div").first.evaluate("one => getComputedStyle(one).direction") == "ltr"


def test_the_button_that_removes_a_file_is_as_wide_as_its_word(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address)
    page.get_by_label("Files", exact=True).set_input_files(file(tmp_path, "notes.txt", HISTORY))
    button = page.get_by_role("button", name="remove notes.txt").bounding_box()
    row = page.locator("#files li, .rows li").first.bounding_box()
    assert button is not None and row is not None
    assert button["width"] < row["width"] / 4


def test_a_refused_source_is_pasted_and_the_summary_found_again_and_deleted(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Web addresses").fill("http://good.test/today\nhttp://closed.test/")
    page.get_by_role("button", name="Summarize").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Skerry Point today")  # suggested
    page.locator("#source-2 summary").click()
    page.get_by_role("link", name="paste its text instead").click()
    page.get_by_label("Text of http://closed.test/").fill("The tower of Skerry Point is painted white and red.")
    page.get_by_label("Title").fill("A tower painted white")
    page.get_by_label("Length").select_option("short: 80 words")
    page.get_by_role("button", name="Summarize").click()
    expect(page.locator("#source-2 .missing")).to_have_count(0)
    expect(page.locator("#source-2 .passage")).to_contain_text("painted white")
    page.get_by_role("link", name="Past summaries").click()
    page.get_by_label("Search").fill("painted red")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 summary")
    delete = page.get_by_role("button", name="delete A tower painted white")
    delete.click()
    expect(page.get_by_role("link", name="A tower painted white")).to_be_visible()
    delete.click()
    expect(page.get_by_role("status")).to_have_text("0 summaries")


def test_the_keyboard_alone_is_enough(page: Page, address: str) -> None:
    page.goto(address)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Title")).to_be_focused()
    page.keyboard.type(TITLE)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Sources are missing")
    expect(page.get_by_label("Web addresses")).to_be_focused()
    page.keyboard.type("http://good.test/today")
    page.get_by_role("button", name="Summarize").focus()
    page.keyboard.press("Enter")
    expect(page.locator("ol.sentences li")).to_have_count(2)
    page.locator("a.cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".passage.shown")).to_be_focused()


def test_a_hostile_file_stays_inert_in_the_page_and_as_fetched(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Files", exact=True).set_input_files(file(tmp_path, "evil<b>.html", HOSTILE))
    page.get_by_role("button", name="Summarize").click()
    expect(page.locator("ol.sentences li").first).to_be_visible()
    page.locator("a.cite").first.click()
    page.get_by_role("link", name="in the page as fetched").first.click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("#cited-passage")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.url.startswith(address)
    # The page itself, without the frame: the policy alone forbids scripts.
    page.goto(address + (page.locator("iframe").get_attribute("src") or ""))
    assert page.locator("script").count() == 0
    assert page.url.startswith(address)


def test_too_large_a_file_is_not_even_sent(page: Page, address: str, tmp_path: Path) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.goto(address)
    large = tmp_path / "large.txt"
    with large.open("wb") as opened:
        opened.truncate(2_000_000)
    page.get_by_label("Files", exact=True).set_input_files(large)
    expect(page.get_by_role("alert")).to_have_text("large.txt is not sent: it has 2 MB, expected at most 1 MB.")
    assert sent == []


def test_two_people_read_each_their_own(browser: Browser, address: str) -> None:
    contexts = [browser.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    for number, one in enumerate(pages):
        one.set_default_timeout(WAIT)
        one.goto(address)
        one.get_by_label("Title").fill(f"Skerry Point {number}")
        one.get_by_text("Paste text").click()
        one.get_by_label("Text, one paragraph a line").fill(f"The tower number {number} was built in 184{number}.")
        one.get_by_role("button", name="Summarize").click()
    for number, one in enumerate(pages):
        expect(one.locator("ol.sentences .text")).to_have_text(f"The tower number {number} was built in 184{number}.")
    assert pages[0].url != pages[1].url
    for context in contexts:
        context.close()


def test_a_summary_is_cancelled_with_the_keyboard(page: Page, slow: Slow) -> None:
    slow.ask(page)
    page.get_by_role("button", name="Cancel this summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("This summary was cancelled, and nothing of it was kept.")
    expect(page.locator("#heading")).to_be_focused()


def test_a_lost_browser_cancels_nothing(browser: Browser, slow: Slow) -> None:
    with browser.new_context() as lost:
        page = lost.new_page()
        slow.ask(page)
        address = page.url
    slow.send.set()
    with browser.new_context() as later:
        page = later.new_page()
        page.goto(address)
        expect(page.locator("ol.sentences li")).to_have_count(2)


def test_a_corpus_is_searched_and_a_sentence_followed_to_its_page(page: Page, address: str) -> None:
    page.goto(f"{address}/corpus")
    page.get_by_label("Text contains").fill("skerry")
    page.get_by_label("split").select_option("test")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Skerry Point").click()
    expect(page.get_by_role("cell", name="http_404")).to_be_visible()
    page.locator("a.cite").first.click()
    page.get_by_role("link", name="in the page as fetched").click()
    expect(page.frame_locator("iframe").locator("#cited-passage")).to_contain_text("Thomas Ridley")


def summarized(browser: Browser, address: str, scheme: str, width: int) -> Page:
    """A page of so many pixels, in light or dark, on which a summary was asked for."""
    page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
    page.goto(address)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Web addresses").fill("http://good.test/today")
    page.get_by_role("button", name="Summarize").click()
    expect(page.locator("#heading")).to_be_focused()
    return page


VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 768, 360)]


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_sentences_are_changed_with_the_keyboard(
    browser: Browser, address: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = summarized(browser, address, scheme, width)
    texts = page.locator("ol.sentences .text")
    expect(texts).to_have_count(2)
    first, second = texts.all_inner_texts()
    page.get_by_role("button", name="Edit").press("Enter")
    expect(page.get_by_label("Sentence", exact=True).first).to_be_focused()
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="drop").first.press("Enter")
    expect(page.get_by_label("Sentence", exact=True)).to_have_count(1)
    assert axe_faults(page) == []
    page.get_by_role("button", name="Keep as it was").press("Enter")
    expect(page.get_by_role("button", name="Edit")).to_be_focused()
    page.get_by_role("button", name="Edit").press("Enter")
    expect(page.get_by_label("Sentence", exact=True)).to_have_count(2)
    assert axe_faults(page) == []
    page.get_by_role("button", name="move down").first.press("Enter")
    page.get_by_label("Sentence", exact=True).last.fill("The tower is 45 metres high.")
    pin = page.get_by_role("button", name="pin").last
    pin.press("Enter")
    expect(pin).to_have_attribute("aria-pressed", "true")
    assert axe_faults(page) == []
    page.get_by_role("button", name="Check and save").press("Enter")
    expect(texts).to_have_text([second, "The tower is 45 metres high."])
    expect(page.locator(".support.not-supported")).to_have_count(1)
    expect(page.locator(".support.said")).to_have_count(1)
    expect(page.get_by_text("A reader changed this summary; its sentences were checked again.")).to_be_visible()
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert first != second
    page.get_by_role("link", name="Change it and write again").press("Enter")
    expect(page.get_by_text("The summary will begin with the sentence that you pinned.")).to_be_visible()
    assert axe_faults(page) == []
    page.get_by_role("button", name="Summarize").press("Enter")
    expect(texts.first).to_have_text("The tower is 45 metres high.")
    expect(texts).to_have_count(3)
    page.context.close()


def test_a_field_that_is_typed_in_before_the_script_runs_keeps_the_keyboard(browser: Browser, address: str) -> None:
    page = summarized(browser, address, "light", 1280)
    held: list[Route] = []
    page.route("**/page.js", lambda route: held.append(route))
    page.evaluate("sessionStorage.setItem('focus', location.pathname.split('/').pop())")
    page.goto(page.url, wait_until="commit")
    question = page.get_by_label("Ask a question")
    question.press_sequentially("Who was ")
    held[0].continue_()
    page.wait_for_load_state()
    page.keyboard.type("the last keeper?")
    expect(question).to_have_value("Who was the last keeper?")
    page.context.close()


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_questions_are_asked_with_the_keyboard_and_put_into_a_table(
    browser: Browser, address: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = summarized(browser, address, scheme, width)
    page.get_by_label("Ask a question").focus()
    page.keyboard.type("Who was the last keeper?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Who was the last keeper?")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator("ol.sentences li")).to_have_count(1)
    expect(page.locator("ol.sentences li")).to_contain_text("Ann Molloy")
    expect(page.locator(".support.said")).to_have_count(1)
    assert axe_faults(page) == []
    page.get_by_label("Ask a question").fill("Which bank lent the money?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".note")).to_have_text("No sentence of the sources answers this question.")
    assert axe_faults(page) == []
    page.get_by_role("link", name=TITLE).click()
    expect(page.locator("dt")).to_have_text(["Who was the last keeper?", "Which bank lent the money?"])
    page.get_by_role("link", name="Table of sources and questions").click()
    page.get_by_label("Question").fill("How high is the tower?")
    page.keyboard.press("Enter")
    page.get_by_label("Another question").fill("Who built it?")
    page.keyboard.press("Enter")
    expect(page.locator("tbody td")).to_have_count(2)
    expect(page.locator("tbody td").first).to_contain_text("The tower is 31 metres high")
    expect(page.locator("tbody td").last).to_have_text("no answer")
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    written = page.context.request.get(f"{address}{page.get_by_role('link', name='CSV').get_attribute('href')}").text()
    assert written.splitlines()[0].endswith("source,How high is the tower?,Who built it?")
    page.get_by_role("row").last.get_by_role("link").click()
    expect(page.locator("#source-1")).to_have_attribute("open", "")
    page.context.close()


def drag(page: Page, selector: str, *paths: Path) -> None:
    """Drag files of this machine over an element with the mouse, and drop them there."""
    page.locator(selector).scroll_into_view_if_needed()
    box = page.locator(selector).bounding_box()
    assert box is not None
    mouse = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        where = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        mouse.send("Input.dispatchDragEvent", {"type": step, "data": data, **where})


def test_files_are_dropped_by_mouse_in_their_field_and_beside_it(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address)
    page.get_by_label("Title").fill(TITLE)
    drag(page, "#drop", file(tmp_path, "history.txt", HISTORY), file(tmp_path, "today.html", TODAY))
    expect(page.locator("#chosen li span")).to_have_text(["history.txt", "today.html"])
    drag(page, "label[for=title]", file(tmp_path, "notes.txt", "Skerry Point has a café in summer."))
    expect(page.locator("#chosen li span")).to_have_text(["history.txt", "today.html", "notes.txt"])
    expect(page.get_by_label("Title")).to_have_value(TITLE)
    page.get_by_role("button", name="remove today.html").press("Enter")
    expect(page.get_by_label("Files", exact=True)).to_be_focused()
    (tmp_path / "folder").mkdir()
    drag(page, "#drop", tmp_path / "folder")
    expect(page.get_by_role("alert")).to_have_text("folder is a folder: choose its files, or drop them.")
    page.get_by_role("button", name="Summarize").click()
    expect(page.locator("#source-1 .name")).to_have_text("history.txt")
    expect(page.locator("#source-2 .name")).to_have_text("notes.txt")
    expect(page.locator("ol.sentences .text", has_text="whale oil")).to_have_count(1)


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_axe_finds_nothing_where_something_is_wrong(
    browser: Browser, address: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int, tmp_path: Path
) -> None:
    page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()

    def check(state: str) -> None:
        assert axe_faults(page) == [], state
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state

    page.goto(address)
    drag(
        page, "#drop", file(tmp_path, "large.txt", "x" * 2_000_000), file(tmp_path, "a.txt", f"{TITLE}\ncost 20 euros")
    )
    expect(page.get_by_role("alert")).to_have_text("large.txt is not sent: it has 2 MB, expected at most 1 MB.")
    check("a file over the limit")
    drag(page, "#drop", file(tmp_path, "b.txt", f"{TITLE}\ncost 25 euros"), file(tmp_path, "c.txt", "One"))
    page.get_by_label("Title").fill(TITLE)
    page.get_by_role("button", name="Summarize").press("Enter")
    expect(page.locator(".sides blockquote")).to_have_text([re.compile("^cost 20"), re.compile("^cost 25")])
    expect(page.get_by_text("not used: it has only one word: expected at least 3")).to_be_visible()
    page.locator(".sides a.cite").first.press("Enter")
    expect(page.locator(".passage.shown")).to_be_focused()
    check("sources differ")
    page.route("**/export.docx", lambda route: route.abort())
    page.get_by_role("link", name="Word", exact=True).press("Enter")
    expect(page.locator("#copied")).to_contain_text("No Word: the page does not answer.")
    check("an export that cannot be made")
    page.context.close()


@pytest.fixture(scope="module")
def failing() -> Iterator[str]:
    """A page whose writer does not answer."""

    def fail(*_: object) -> NoReturn:
        raise ChatError("http://127.0.0.1:9/v1: no connection")

    with page_server(work=fail) as served:
        yield served


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_axe_finds_nothing_where_the_writer_fails(
    browser: Browser, failing: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = summarized(browser, failing, scheme, width)
    expect(page.get_by_role("alert")).to_contain_text("http://127.0.0.1:9/v1: no connection")
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="Change it and try again").press("Enter")
    expect(page.get_by_label("Title")).to_have_value(TITLE)
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "/corpus"])
def test_a_phone_needs_no_sideways_scrolling(browser: Browser, address: str, scheme: str, path: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(20, 24, 28)") == (scheme == "dark")
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 375)])
def test_axe_finds_nothing(
    browser: Browser, address: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    assert axe_faults(page) == []
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Web addresses").fill("http://good.test/today\nhttp://closed.test/")
    differing = [file(tmp_path, f"{year}.txt", f"{TITLE} was built in {year}.") for year in (1847, 1849)]
    page.get_by_label("Files", exact=True).set_input_files(differing)
    page.get_by_role("button", name="Summarize").click()
    expect(page.locator("ol.sentences li").first).to_be_visible()
    expect(page.locator(".sides")).to_be_visible()
    assert axe_faults(page) == []
    page.evaluate("for (const one of document.querySelectorAll('details > summary, .support')) one.click()")
    assert axe_faults(page) == []
    export, change = f"{page.url}/export.html", page.get_by_role("link", name="Change it and write again")
    change.click()
    expect(page.get_by_text("Sources so far")).to_be_visible()
    assert axe_faults(page) == []
    (tmp_path / "export.html").write_bytes(context.request.get(export).body())
    page.goto((tmp_path / "export.html").as_uri())
    assert axe_faults(page) == []
    for path in ("/summaries", "/api", "/corpus", "/corpus?of=paragraphs&text=skerry", "/corpus?of=scores"):
        page.goto(address + path)
        assert axe_faults(page) == [], path
    page.goto(f"{address}/corpus?text=skerry")
    page.get_by_role("link", name="Skerry Point").click()
    expect(page.get_by_role("cell", name="http_404")).to_be_visible()
    expect(page.locator("li", has_text="It was sold").locator(".origin")).to_have_text("own words")
    expect(page.locator("li", has_text="1847").locator(".origin")).to_have_text("copied")
    assert axe_faults(page) == []
    context.close()


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with a corpus whose numbers have distributions, and three builds."""
    root = lists(tmp_path_factory.mktemp("lists"), [*range(3, 104), 400], [number / 50 for number in range(44)])
    later = {
        f"2026020{day}-000000-b": {"ours": 60.0 + 4 * day, "lead": 41.0 - day, "lexrank": 40.0} for day in (1, 2, 3)
    }
    scored_builds(root, later)
    corpus = ExplorerCorpus(Store(root))
    for kind in corpus.kinds:
        corpus.wait(kind)
    with page_server(corpus=corpus) as served:
        yield served


@pytest.mark.parametrize("width", [1280, 768, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_distributions_filter_with_the_keyboard_and_builds_are_compared(
    browser: Browser, explored: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, accept_downloads=True)
    page = context.new_page()
    page.goto(f"{explored}/corpus?of=paragraphs")
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="words 50 to below 60: 10").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("10 paragraphs")
    expect(page.get_by_label("words, at least")).to_have_value("50")
    chosen = page.get_by_role("link", name="words 50 to below 60: 10")
    expect(chosen).to_have_attribute("aria-current", "true")
    assert axe_faults(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert len(Path(download.value.path()).read_text().splitlines()) == 11
    chosen.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("102 paragraphs")
    page.get_by_role("link", name="builds").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("img", name="values F1 of 3 systems over 3 builds")).to_be_visible()
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("checkbox").nth(0).focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Compare the chosen builds").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("expected 2 to 6 different names")).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [1280, 768, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_query_in_sql_is_asked_with_the_keyboard(
    browser: Browser, explored: str, axe_faults: Callable[[Page], list[str]], scheme: str, width: int
) -> None:
    page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()
    page.goto(f"{explored}/corpus")
    page.get_by_role("link", name="SQL").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Query").fill(
        "SELECT words, count(*) AS paragraphs FROM paragraphs GROUP BY words ORDER BY words"
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("102 rows")
    expect(page.locator("tbody td").last).to_have_text("1")
    assert axe_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_label("Query").fill("SELECT * FROM read_text('/etc/passwd')")
    page.get_by_role("button", name="Run").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("file system operations are disabled")
    assert axe_faults(page) == []
    page.context.close()


class Held(ExplorerCorpus):
    """A corpus whose second shard is read when the test says so."""

    def __init__(self, store: Store) -> None:
        self.go_on = threading.Event()
        super().__init__(store)

    def rows(self, stage: str, shard: int, *rest: Any) -> pa.Table:
        if shard == 1:
            self.go_on.wait(PATIENCE)
        return super().rows(stage, shard, *rest)


def test_a_list_whose_shards_are_still_read_comes_again_by_itself(browser: Browser, tmp_path: Path) -> None:
    corpus = Held(Store(small_corpus(tmp_path)))
    with page_server(corpus=corpus) as served:
        page = browser.new_page()
        page.goto(f"{served}/corpus")
        expect(page.get_by_role("status")).to_contain_text("2 articles in the 1 shards of 2 that were read so far")
        page.get_by_label("Text contains").fill("bridge")
        page.get_by_role("link", name="Skerry Point").focus()
        corpus.go_on.set()
        expect(page.get_by_role("status")).to_have_text("3 articles")
        expect(page.get_by_role("link", name="Skerry Point")).to_be_focused()
        expect(page.get_by_role("link", name="Orme")).to_have_count(0)
        page.get_by_label("Text contains").focus()
        expect(page.get_by_role("link", name="Orme")).to_be_visible()
        expect(page.get_by_label("Text contains")).to_have_value("bridge")
        page.close()


def test_a_model_that_does_not_suit_gives_way_and_one_click_shows_what_it_writes(
    browser: Browser, tmp_path: Path
) -> None:
    with page_server(model=root_with(tmp_path, "summarizer", "ranker")) as served:
        page = browser.new_page()
        page.goto(served)
        expect(page.get_by_label("Written by")).to_have_value("suitable")
        page.get_by_label("Title").fill(TITLE)
        page.get_by_text("Paste text").click()
        page.get_by_label("Text, one paragraph a line").fill(HISTORY)
        page.get_by_role("button", name="Summarize").click()
        expect(page.locator(".note").first).to_contain_text("ht-small+similarity does not suit these sources")
        expect(page.locator(".sentences .support.said")).to_have_count(2)
        page.get_by_role("button", name="Write again: the trained model, whatever it writes").click()
        button = page.get_by_role("button", name="Write again: sentences of the sources")
        expect(button).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_focused()
        expect(page.get_by_text("is the summarizer of build")).to_be_visible()
        button.click()
        expect(page.get_by_text("The extractive system was asked for.")).to_be_visible()
        page.close()


def test_who_writes_is_chosen_and_the_language_model_asked_by_a_click(browser: Browser) -> None:
    """First the sentences of the sources are chosen in the form, then the language model by its button."""
    said = [("The lighthouse at Skerry Point was built in 1847 by Thomas Ridley.", [2]), ("It fell down in 1999.", [1])]
    with chat_server(lambda *_: (200, sentences(*said))) as chat:
        settings = SummarySettings.model_validate({"writer": {"url": chat.url, "model": "tiny-chat"}})
        with page_server(settings=settings) as served:
            page = browser.new_page()
            page.goto(served)
            expect(page.get_by_label("Written by")).to_have_value("suitable")
            page.get_by_label("Written by").select_option("sentences of the sources, as they are")
            page.get_by_label("Title").fill(TITLE)
            page.get_by_text("Paste text").click()
            page.get_by_label("Text, one paragraph a line").fill(HISTORY)
            page.get_by_role("button", name="Summarize").click()
            expect(page.get_by_text("The extractive system was asked for.")).to_be_visible()
            assert chat.asked == []
            page.get_by_role("button", name="Write again: the language model tiny-chat").click()
            expect(page.get_by_text("tiny-chat was asked at")).to_be_visible()
            expect(page.locator("ol.sentences li .text")).to_have_text([said[0][0]])
            passage = page.locator("ol.sentences li a.cite").first.get_attribute("href")
            expect(page.locator(passage or "")).to_contain_text("1847")
            expect(page.locator(".note").first).to_have_text("1 sentence left out, because no passage says so.")
            page.close()
    assert len(chat.asked) == 2
