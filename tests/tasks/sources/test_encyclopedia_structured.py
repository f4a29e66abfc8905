"""Structured contents: which part is the lead, and which URLs are cited, in which order."""

from typing import Any

import pyarrow as pa
import pytest

from tasks.sources.dump.source import PageRules
from tasks.sources.encyclopedia.entry import cited_urls, structured_entry
from tasks.sources.settings import WikitextSettings
from tasks.sources.source import Article
from tests.tasks.sources.encyclopedia_files import listed, paragraph, reference, section, structured

LIVE, COPY = "http://old.test/page", "https://web.archive.org/web/2020/http://old.test/page"


def article(row: dict[str, Any], **settings: Any) -> Article:
    wikitext = WikitextSettings(**settings)
    return structured_entry(row, wikitext).article(PageRules(wikitext), wikitext.licence)


def test_the_lead_is_the_first_section_without_its_marks() -> None:
    sections = [
        section(
            "Abstract",
            paragraph("Arlen Bridge ( ; Welsh: ) is a bridge over the Tam", "1", "12"),
            paragraph("It was opened in 1794 and has five arches. These are its parts:"),
            listed("http://parts.test/"),
            paragraph("It is old [sic] and green."),
        ),
        section("History", paragraph("It has a history.")),
    ]
    assert article(structured("Arlen Bridge", sections, abstract="Not this.")).lead == (
        "Arlen Bridge (Welsh:) is a bridge over the Tam\nIt was opened in 1794 and has five arches.\n"
        "It is old [sic] and green."
    )


@pytest.mark.parametrize(
    "sections",
    [[], [section("History", paragraph("It has a history."))], [section("Abstract")], [section("", paragraph(" "))]],
)
def test_the_abstract_where_the_sections_have_no_lead(sections: list[dict[str, Any]]) -> None:
    row = structured("Ada", sections, abstract="Ada is a bridge over\nthe Tam, which has several more of them.")
    assert article(row).lead == "Ada is a bridge over\nthe Tam, which has several more of them."


def test_references_come_in_order_of_first_citation() -> None:
    lead = "Arlen Bridge is a stone bridge over the River Tam in the town of Arlen."
    sections = [
        section("", paragraph(lead, "3", "1")),
        section("History", paragraph("Old.", "1"), section("Repairs", paragraph("Mended.", "2"))),
        section("Bibliography", listed("http://book.test/", "https://en.wikipedia.org/wiki/Book")),
        section("External links", listed("http://unrelated.test/")),
    ]
    references = [
        reference("1", url="http://one.test/"),
        reference("2", text=["https://en.wikipedia.org/wiki/BBC", "http://two.test/"]),
        reference("3", source=["//three.test/"]),
        reference("4", url="http://infobox.test/", chapter_url="http://infobox.test/2"),
        reference("5", isbn="123", text=["https://en.wikipedia.org/wiki/ISBN_(identifier)"]),
    ]
    row = structured("Arlen Bridge", sections, references)
    expected = (
        "https://three.test/",
        "http://one.test/",
        "http://two.test/",
        "http://book.test/",
        "http://infobox.test/",
        "http://infobox.test/2",
    )
    assert article(row).references == expected


@pytest.mark.parametrize(("status", "expected"), [("dead", COPY), ("live", LIVE)])
def test_archived_copies_of_a_template(status: str, expected: str) -> None:
    lead = section("", paragraph("Ada is a long enough article about Ada in a test.", "1"))
    entry = reference("1", url=LIVE, archive_url=COPY, url_status=status)
    assert article(structured("Ada", [lead], [entry])).references == (expected,)
    underscored = [(name.replace("-", "_"), value) for name, value in entry["metadata"].items()]
    pairs = pa.array([underscored], pa.map_(pa.string(), pa.string())).to_pylist()[0]
    row = structured("Ada", [lead], [entry | {"metadata": pairs}])
    assert article(row).references == (expected,)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([COPY, LIVE], [COPY]),
        ([LIVE, COPY], [LIVE]),
        ([LIVE, "https://archive.ph/Ab1"], [LIVE]),
        ([LIVE, COPY, "http://b.test/"], [LIVE, "http://b.test/"]),
        ([COPY], [COPY]),
        (["http://a.test/", "http://b.test/"], ["http://a.test/", "http://b.test/"]),
        (["./Doi_(identifier)", "https://doi.org/10.1/x", "//a.test/"], ["https://a.test/"]),
        (["mailto:a@b.test", "http://[", "#note", "http://localhost/", "https://fr.wikipedia.org/wiki/A"], []),
    ],
)
def test_links_of_a_rendered_citation(given: list[str], expected: list[str]) -> None:
    assert cited_urls(given) == expected


def test_licences_are_those_of_the_row() -> None:
    lead = section("", paragraph("Ada is a long enough article about Ada in a test."))
    both = [{"identifier": "CC-BY-SA-4.0"}, {"identifier": None, "name": "GFDL"}]
    assert article(structured("Ada", [lead], license=both)).licence == "CC-BY-SA-4.0, GFDL"
    assert article(structured("Ada", [lead], license=None)).licence == "CC BY-SA 4.0"
