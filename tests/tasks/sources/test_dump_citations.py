"""Which URLs a page cites, and in which order."""

from typing import Any

import pytest

from tasks.sources.dump.markup import CitedUrls, split_sections
from tasks.sources.settings import WikitextSettings


def urls(text: str, **settings: Any) -> list[str]:
    return [url.replace("http://", "") for url in CitedUrls(text, WikitextSettings(**settings)).urls()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.<ref>{{cite web|url=http://a.test/x?y=1&z=2 |title=T}}</ref>", ["a.test/x?y=1&z=2"]),
        ("A.<ref>{{Cite news\n | title = T\n | url = http://a.test/ \n}}</ref>", ["a.test/"]),
        ("A.<ref>[http://a.test/ Title], p. 5</ref> B.<ref>See http://b.test/x.</ref>", ["a.test/", "b.test/x"]),
        ("A.<ref>(http://a.test/x_(y)) and (http://b.test/x).</ref>", ["a.test/x_(y))", "b.test/x"]),
        ("A.<ref>''http://a.test/''</ref>", ["a.test/"]),
        ("A.<ref>[//a.test/ T] and w//x</ref>", ["https://a.test/"]),
        ("A.<ref>{{cite web|url=http://a.test/?a{{=}}b&amp;c=d}}</ref>", ["a.test/?a=b&c=d"]),
        ("A.<ref>{{cite book|title=T|doi=10.1/x|isbn=1}}</ref>", []),
        ("A.<ref>{{cite web|url=http://a.test/|publisher=[http://p.test/ P]|via=http://v.test}}</ref>", ["a.test/"]),
        ("A.<ref>{{cite book|chapter-url=http://c.test/|url=http://a.test/}}</ref>", ["c.test/", "a.test/"]),
        ("A.<ref>{{Literatur|Titel=T|Online=http://a.test/}}</ref>", ["a.test/"]),
        ("A.<ref>{{some template|http://a.test/}}</ref>", ["a.test/"]),
        ("A.<ref>ftp://a.test/ and mailto:x@y.test</ref>", []),
        ("A [http://inline.test/ link] in text and {{Infobox|website=http://w.test/}}.", []),
        ("A {{cite web|url=http://a.test/}} in text.", ["a.test/"]),
    ],
)
def test_a_citation_gives_its_url(text: str, expected: list[str]) -> None:
    assert urls(text) == expected


def test_the_order_is_that_of_first_citation() -> None:
    text = """A.<ref name=late /> B.<ref>http://b.test/</ref> C.{{r|later}} D.<ref name="late"/>
== References ==
{{reflist|refs=
<ref name="later">http://c.test/</ref>
<ref name="late">{{cite web|url=http://a.test/}}</ref>
<ref name="never">http://d.test/</ref>}}
* {{cite book|url=http://e.test/}}
* [http://f.test/ General]
"""
    assert urls(text) == ["a.test/", "b.test/", "c.test/", "d.test/", "e.test/", "f.test/"]


def test_a_url_is_given_once() -> None:
    assert urls("A.<ref>http://a.test/</ref> B.<ref>http://a.test/</ref>") == ["a.test/"]


def test_links_of_the_external_sections_are_left_out() -> None:
    text = "A.<ref>http://a.test/</ref>\n== External links ==\n* [http://b.test/ B]\n=== More ===\n* [http://c.test/]\n"
    assert urls(text) == ["a.test/"]


ARCHIVED = "A.<ref>{{cite web|url=http://a.test/|archive-url=http://archive.test/a%s}}</ref>"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("", "archive.test/a"),
        ("|url-status=dead", "archive.test/a"),
        ("|url-status=usurped", "archive.test/a"),
        ("|url-status=live", "a.test/"),
        ("|dead-url=no", "a.test/"),
        ("|deadurl=yes", "archive.test/a"),
    ],
)
def test_an_archived_form_replaces_a_url_that_is_not_live(status: str, expected: str) -> None:
    assert urls(ARCHIVED % status) == [expected]


def test_an_archive_template_replaces_the_link_before_it() -> None:
    assert urls("A.<ref>[http://a.test/ A] {{webarchive|url=http://w.test/a|date=x}}</ref>") == ["w.test/a"]
    assert urls("A.<ref>{{webarchive|url=http://w.test/a|date=x}}</ref>") == ["w.test/a"]


def test_an_archive_without_its_original_is_taken() -> None:
    assert urls("A.<ref>{{cite web|archiveurl=http://w.test/a}}</ref>") == ["w.test/a"]


def test_a_section_cites_what_is_defined_elsewhere() -> None:
    text = "L.<ref name=a>http://a.test/</ref>\n== S ==\n<ref name=a/><ref>http://b.test/</ref>\n== T ==\n<ref name=b/>"
    citations = CitedUrls(text, WikitextSettings())
    assert [citations.section_urls(section) for section in split_sections(text)] == [
        ("http://a.test/",),
        ("http://a.test/", "http://b.test/"),
        (),
    ]


def test_a_reference_that_names_itself_ends() -> None:
    assert urls("A.<ref name=a>{{r|a}} <ref name=a/></ref>{{r|a}}") == []


@pytest.mark.parametrize(
    "piece", ["<ref name=a>", "{{cite web|url=http://a.test/ ", "{{r|", "|a = http://x ", "== a ==\n", "<ref "]
)
def test_broken_markup_takes_time_in_proportion(piece: str) -> None:
    urls(piece * 10_000)
