"""What a page and a file state of their date, author and site."""

from collections.abc import Mapping

import pytest

from tasks.extraction.engines import extract
from tasks.extraction.markup import parse
from tasks.extraction.origin import Origin, file_origin, page_origin
from tasks.extraction.settings import ExtractSettings

JSON_LD = """<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",
"datePublished": "2021-03-04T08:00:00Z",
"dateModified": "2023-01-01", "author": {"@type": "Person", "name": "Ann Molloy"},
"publisher": {"@type": "Organization", "name": "The Post"}}</script>"""


@pytest.mark.parametrize(
    ("head", "body", "origin"),
    [
        ("", "<p>On 4 March 2021 it fell. © 2019 The Post</p>", Origin()),  # what a text says is not of the page
        (JSON_LD, "", Origin("2021-03-04", "Ann Molloy", "The Post")),
        (
            '<meta name="author" content="Ann Molloy"><meta property="og:site_name" content="The Post">'
            '<meta property="article:published_time" content="2021-03-04T23:30:00+01:00">'
            '<meta property="article:modified_time" content="2022-09-09">',
            "",
            Origin("2021-03-04", "Ann Molloy", "The Post"),
        ),
        (
            "",
            '<a rel="author" href="/a">By Ann Molloy</a><time datetime="2021-03-04">4 March</time>',
            Origin("2021-03-04", "Ann Molloy"),
        ),
        ("", '<footer><time datetime="2021-03-04">4 March</time></footer>', Origin()),
        (
            "",
            '<span itemprop="author">Ann Molloy</span><meta itemprop="datePublished" content="2021-03-04">',
            Origin("2021-03-04", "Ann Molloy"),
        ),
        ('<meta name="author" content="https://a.test/ann">', "", Origin()),
        ('<script type="application/ld+json">{"author": [[[</script>', "", Origin()),
    ],
)
def test_a_page_states_its_origin(head: str, body: str, origin: Origin) -> None:
    tree = parse(f"<html><head><title>Lock</title>{head}</head><body>{body}<p>The lock.</p></body></html>")
    assert tree is not None
    before = len(list(tree.iter()))
    assert page_origin(tree) == origin
    assert len(list(tree.iter())) == before


def test_an_extracted_page_has_its_origin() -> None:
    text = "The old lock was opened in 1894 and closed again in 1950. " * 5
    page = f"<html><head><title>Lock</title>{JSON_LD}</head><body><p>{text}</p></body></html>"
    found = extract(page.encode(), "text/html", "utf-8", ExtractSettings())
    assert found.origin == Origin("2021-03-04", "Ann Molloy", "The Post")


@pytest.mark.parametrize(
    ("values", "origin"),
    [
        (("D:20210304080000+01'00'", ["Ann Molloy"]), Origin("2021-03-04", "Ann Molloy")),
        (("2021-03-04T08:00:00", [""]), Origin("2021-03-04")),
        (("D:20211304", ["x"]), Origin()),
        (("2013-12-23T23:15:00Z", ["python-docx"]), Origin()),  # the template of a program
        (("", ["user@example.org"]), Origin()),
        (
            ("2021", ["Ann Molloy", "Administrator", "By Rhys Pugh", "Ann Molloy"]),
            Origin(None, "Ann Molloy; Rhys Pugh"),
        ),
    ],
)
def test_a_file_states_its_origin(values: tuple[str, list[str]], origin: Origin) -> None:
    assert file_origin(*values) == origin


def test_a_fault_of_what_a_page_says_loses_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(tree: object) -> Mapping[str, str]:
        raise AttributeError("no such thing")

    monkeypatch.setattr("trafilatura.metadata.examine_meta", fails)
    tree = parse("<p>The lock.</p>")
    assert tree is not None and page_origin(tree) == Origin()
