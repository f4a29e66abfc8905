import re

import pytest

from tasks.cited_summary.cited import Passage
from tasks.cited_summary.sources import GivenSource, file_source
from tasks.sources.miniweb.site import render_pdf
from tests.tasks.cited_summary.topic import GERMAN, HISTORY, TITLE, TODAY, files, page_of, summarized
from tests.tasks.fetching.loopback_server import LoopbackServer, answer

pytestmark = pytest.mark.integration  # each summary starts an extracting process


def test_every_sentence_cites_the_paragraph_it_was_taken_from():
    said = []
    summary, pages = summarized(files(history_txt=HISTORY, today_html=TODAY), said=said)
    by_number = {passage.number: passage for passage in summary.passages}
    assert len(summary.sentences) == 4
    for sentence in summary.sentences:
        assert sentence.verdict == "said"
        (number,) = sentence.passages
        assert sentence.text in by_number[number].quotes
        source = summary.sources[by_number[number].source - 1]
        assert source.paragraphs[by_number[number].position].text == by_number[number].text
    assert [source.title for source in summary.sources] == [None, "Skerry Point today"]
    assert pages[2].body == TODAY.encode()
    shares = [now.share for now in said]
    assert shares == sorted(shares)
    assert summary.notes == []


def test_sources_that_differ_are_told_with_both_citations():
    other = "Skerry Point Lighthouse was automated in 1987, when its last keeper left the tower for good."
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY, other_txt=other))
    *_, last = summary.sentences
    assert last.text.startswith("Sources differ: Skerry Point Lighthouse was automated in 198")
    assert {"1986", "1987"} <= set(re.findall(r"\d{4}", last.text))
    assert {summary.passages[number - 1].source for number in last.passages} == {2, 3}


def test_numbers_of_passages_follow_the_order_of_citation():
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY))
    cited = [number for sentence in summary.sentences for number in sentence.passages]
    assert list(dict.fromkeys(cited)) == [passage.number for passage in summary.passages]
    assert all(isinstance(passage, Passage) for passage in summary.passages)


def test_sources_that_cannot_be_used_say_why_and_the_others_are_summarized():
    given = [
        GivenSource("http://closed.test/"),
        GivenSource("http://good.test/today"),
        GivenSource("ftp://old.test/file"),
        GivenSource("http://good.test/robots-say-no"),
        GivenSource("http://127.0.0.1/admin"),
        *files(german_html=page_of(GERMAN), copy_html=TODAY, menu_txt="Home\nNews\nContact\n"),
        file_source("scan.pdf", render_pdf("", [])),
        GivenSource("large.txt", reason="it has 2,000 MB: expected at most 20 MB"),
    ]
    pages = {
        "/robots.txt": answer(b"User-agent: *\nDisallow: /robots-say-no\n", Content_Type="text/plain"),
        "/today": answer(TODAY.encode()),
    }
    with LoopbackServer(pages) as server:
        summary, _ = summarized(given, connect_to={"good.test": server.address, "closed.test": "127.0.0.1:9"})
    assert [source.refused for source in summary.sources] == [
        "no connection: refused or unreachable",
        None,
        "neither http nor https",
        "robots.txt forbids it",
        "the host has no public address (private, loopback, link-local, metadata, ...)",
        "its text is not in the language of the summary, 'en'",
        "it says nothing that an earlier source does not say: every usable paragraph is a repetition",
        "none of its text is prose that can be used; 3 of its 3 paragraphs: fewer than six words",
        "the PDF has no text, only pictures of pages: it needs text recognition (OCR) first",
        "it has 2,000 MB: expected at most 20 MB",
    ]
    assert [sentence.verdict for sentence in summary.sentences] == ["said", "said"]
    assert {passage.source for passage in summary.passages} == {2}
    assert summary.notes[0] == "9 of 10 sources could not be used; the list of sources says why."


def test_ten_copies_of_one_page_are_one_source():
    summary, _ = summarized(files(**{f"copy{number}_html": TODAY for number in range(10)}))
    assert summary.sources[0].refused is None
    assert {source.refused for source in summary.sources[1:]} == {
        "it says nothing that an earlier source does not say: every usable paragraph is a repetition"
    }
    assert len(summary.sentences) == 2


def test_a_copy_that_is_mostly_menus_is_called_a_copy():
    text = f"{HISTORY}\n" + "".join(f"Menu {number}\n" for number in range(9))
    summary, _ = summarized(files(a_txt=text, b_txt=text))
    assert [source.refused for source in summary.sources] == [
        None,
        "it says nothing that an earlier source does not say: every usable paragraph is a repetition",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The Skerry Point Lighthouse was built in 1874 by the engineer Thomas Marwick, after two ships sank.",
        "Harris, T. & Webb, K. L. (1987). Skerry Point Lighthouse. Journal of River Engineering, 14(2), 211-229.",
    ],
)
def test_a_chosen_page_is_used_however_short_and_like_junk_it_is(text: str):
    summary, _ = summarized(files(page_html=page_of(text)))
    assert [(source.refused, len(source.paragraphs)) for source in summary.sources] == [(None, 1)]
    assert {sentence.verdict for sentence in summary.sentences} == {"said"}


def test_every_language_is_kept_if_asked_for():
    summary, _ = summarized(files(german_html=page_of(GERMAN)), language=None)
    assert summary.sources[0].refused is None
    assert summary.sentences


def test_plain_text_is_used_whatever_its_language():
    summary, _ = summarized(files(german_txt=GERMAN))
    assert summary.sources[0].refused is None
    assert len(summary.sentences) == 2


def test_nothing_usable_gives_no_sentence_and_says_so():
    summary, _ = summarized(files(german_html=page_of(GERMAN)))
    assert summary.sentences == []
    assert summary.notes[-1] == "There is no summary, because no paragraph of the sources could be used."


@pytest.mark.parametrize(
    ("title", "given", "message"),
    [
        (TITLE, [], "there is no source: expected at least one web address, file or text"),
        (TITLE, [GivenSource("http://a.test/")] * 3, "3 sources are too many: expected at most 2"),
    ],
)
def test_a_request_that_cannot_be_worked_on_names_what_was_expected(title, given, message):
    with pytest.raises(ValueError, match=message):
        summarized(given, title=title, max_sources=2)


def test_with_headings_each_source_is_a_section():
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY), headings=True)
    headings = [sentence.heading for sentence in summary.sentences if sentence.heading]
    assert sorted(headings) == ["Skerry Point today", "history.txt"]
    assert len(summary.sentences) == 4
