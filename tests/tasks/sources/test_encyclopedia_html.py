"""HTML dumps: what of Parsoid's HTML is the lead, and which URLs are cited, in which order."""

from dataclasses import replace
from typing import Any

import pytest

from tasks.sources.dump.pages import DumpPage, Site
from tasks.sources.dump.source import ArticleReader, PageRules
from tasks.sources.encyclopedia.parsoid import parsoid_entry
from tasks.sources.settings import WikitextSettings
from tasks.sources.source import Article
from tests.tasks.sources.encyclopedia_files import citation, external, footnotes, mark, page, transclusion

LIVE, COPY = "http://old.test/page", "https://web.archive.org/web/2020/http://old.test/page"
LEAD = "<p><b>Ada</b> is a long enough article about Ada in a test.</p>"


def article(row: dict[str, Any], **settings: Any) -> Article:
    wikitext = WikitextSettings(**settings)
    return parsoid_entry(row, wikitext).article(PageRules(wikitext), wikitext.licence)


def lead(html: str) -> str:
    return article(page("Ada", html)).lead


def test_a_page() -> None:
    row = page(
        "Arlen Bridge",
        '<div class="shortdescription nomobile noexcerpt noprint" style="display:none">Bridge</div>'
        '<div role="note" class="hatnote navigation-not-searchable">For the mill, see Arlen Mill.</div>'
        '<table class="infobox"><tbody><tr><td>Opened 1794</td></tr></tbody></table>'
        '<figure typeof="mw:File/Thumb"><img src="a.jpg"/><figcaption>The bridge in May.</figcaption></figure>\n'
        '<p id="mwAg"><b>Arlen Bridge</b> (<span class="rt-commentedText"><span class="IPA">/ˈɑrlən/</span></span>'
        '; <a rel="mw:WikiLink" href="./Welsh" title="Welsh">Welsh</a>: <i lang="cy">Pont Arlen</i>) is a\n'
        '<a rel="mw:WikiLink" href="./Stone_bridge">stone bridge</a> of 6 m<sup>2</sup> over the Tam.'
        f'{mark("1")}<sup class="noprint Inline-Template">[<i>citation needed</i>]</sup> It has these parts:</p>'
        "<ul><li>The first part.</li></ul>"
        f"<!-- a comment --><p>It was opened in 1794.{mark('b')} See {external('http://x.test/', 'its site')}"
        ' <a rel="mw:ExtLink" href="http://y.test/" class="external autonumber">[1]</a>.</p>',
        f'<h2 id="History">History</h2><p>It is old.{mark("1")}{mark("c")}</p>'
        '<section data-mw-section-id="2"><h3>Later</h3><p>It is older.</p></section>',
        '<div class="mw-heading mw-heading2"><h2>External links</h2></div>'
        f"<ul><li>{external('http://unrelated.test/')}</li></ul>",
        '<div class="mw-heading mw-heading2"><h2 id="References">References</h2></div>'
        + footnotes(
            **{
                "1": citation("http://one.test/", url="http://one.test/", title="One"),
                "b": f"Smith, {external('http://two.test/')}, p. 5",
                "c": "Jones 1990.",
            }
        ),
    )
    assert article(row) == Article(
        title="Arlen Bridge",
        lead="Arlen Bridge (Welsh: Pont Arlen) is a stone bridge of 6 m² over the Tam.\n"
        "It was opened in 1794. See its site.",
        references=("http://one.test/", "http://two.test/"),
        revision="31",
        licence="CC-BY-SA-4.0",
        page="5",
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        ("<p>One<br/>two.</p><blockquote>Three.</blockquote>", "One two.\nThree."),
        ("<p>One &lt;two&gt; |three|.</p>", "One <two> |three|."),
        ("<p>In 10<sup>18</sup> years and on the 1<sup>st</sup> of May.</p>", "In 10^18 years and on the 1st of May."),
        (
            '<p>So <span typeof="mw:Extension/math" data-mw=\'{"body":{"extsrc":"x^{2}"}}\'>pic</span> it is.</p>',
            "So x^2 it is.",
        ),
        (
            '<p>So <span typeof="mw:Extension/math" '
            'data-mw=\'{"body":{"extsrc":"\\\\frac x y"}}\'>pic</span> it is.</p>',
            "So it is.",
        ),
        (
            '<p>So <span typeof="mw:Extension/score">tune</span> it is, <span style="display: none">no</span>yes.</p>',
            "So it is, yes.",
        ),
        ('<p>One<span typeof="mw:Entity">&nbsp;</span>two.<span id="coordinates">51° N</span></p>', "One two."),
        (f"<div {transclusion('Box')}><p>A box.</p></div><div><p>No box.</p></div>", "No box."),
        ('<div class="ambox">Mend it.</div><p class="mw-empty-elt"></p><p>One.</p>', "One."),
        ("<section data-mw-section-id='1'><p>Below.</p></section><p>One.</p>", "One."),
        ("<p>\ue001One\ue000 two.\ue004</p>", "One two."),
    ],
)
def test_prose(html: str, text: str) -> None:
    assert lead(html) == text


@pytest.mark.parametrize(("status", "expected"), [("dead", COPY), ("live", LIVE)])
def test_archived_copies(status: str, expected: str) -> None:
    with_fields = citation(COPY, LIVE, url=LIVE, archive_url=COPY, url_status=status)
    row = page("Ada", LEAD + mark("1"), footnotes(**{"1": with_fields}))
    assert article(row).references == (expected,)


def test_the_template_of_an_archived_copy() -> None:
    template = f"<span {transclusion('webarchive', url=COPY)}>{external(COPY, 'Archived')}</span>"
    row = page("Ada", LEAD + mark("1"), footnotes(**{"1": f"{external(LIVE)} {template}"}))
    assert article(row).references == (COPY,)


@pytest.mark.parametrize("classes", ["mw-reference-text", "mw-reference-text reference-text", "reference-text", ""])
def test_footnotes_whatever_class_their_text_has(classes: str) -> None:
    notes = {"1": citation(LIVE, url=LIVE), "2": external("http://two.test/")}
    row = page("Ada", LEAD + mark("2") + mark("1"), footnotes(classes, **notes))
    assert article(row).references == ("http://two.test/", LIVE)


def test_details_of_a_footnote_cite_what_it_cites() -> None:
    details = '<ol class="mw-subreference-list"><li id="cite_note-3"><span class="reference-text">p. 9</span></li></ol>'
    notes = {"1": external("http://one.test/"), "2": external("http://two.test/") + details}
    row = page("Ada", LEAD + mark("3") + mark("1"), footnotes(**notes))
    assert article(row).references == ("http://two.test/", "http://one.test/")


def test_links_of_identifiers_are_no_references() -> None:
    rendered = (
        '<cite class="citation journal cs1">Smith (1990). <a rel="mw:WikiLink" href="./Doi_(identifier)">doi</a>:'
        f"{external('https://doi.org/10.1/x', '10.1/x')}. {external('http://one.test/')}</cite>"
    )
    written = citation("https://doi.org/10.1/y", doi="10.1/y", title="Y")
    row = page("Ada", LEAD + mark("1") + mark("2"), footnotes(**{"1": rendered, "2": written}))
    assert article(row).references == ("http://one.test/",)


def test_citations_outside_of_footnotes() -> None:
    row = page(
        "Ada",
        f"{LEAD}<p>{citation('http://text.test/', url='http://text.test/')} {external('http://no-source.test/')}</p>",
        f"<h2>Bibliography</h2><ul><li>{external('http://book.test/')}</li><li>"
        f"{citation('http://cited.test/', url='http://cited.test/')}</li>"
        f"<li><span {transclusion('URL', **{'1': 'http://written.test/'})}>{external('http://shown.test/')}</span></li></ul>"
        "<section data-mw-section-id='2'><h3>Films</h3>" + external("http://film.test/") + "</section>",
        f"<h2>External links</h2><ul><li>{external('http://unrelated.test/')}</li></ul>",
        "<h2>References</h2>"
        + footnotes(a=f"{external('http://note.test/')}{mark('b')}", b=external("http://b.test/")),
    )
    expected = (
        "http://text.test/",
        "http://book.test/",
        "http://cited.test/",
        "http://written.test/",
        "http://film.test/",
        "http://note.test/",
        "http://b.test/",
    )
    assert article(row).references == expected


def test_a_footnote_ends_the_citation_before_it() -> None:
    """Otherwise the link would come after what the footnote cites, and its copy behind the footnote would join it."""
    row = page(
        "Ada",
        LEAD,
        f"<h2>Bibliography</h2><ul><li>{external(LIVE)}{mark('1')} {external(COPY)}</li></ul>",
        "<h2>References</h2>" + footnotes(**{"1": external("http://note.test/")}),
    )
    assert article(row).references == (LIVE, "http://note.test/", COPY)


def test_a_page_of_the_encyclopedia_is_no_reference_and_items_of_a_list_are_apart() -> None:
    copy = "https://archive.ph/Ab1"
    row = page(
        "Ada",
        LEAD + citation(url="https://en.wikipedia.org/wiki/Bo") + citation(url="http://one.test/"),
        f"<h2>Sources</h2><ul><li>{external(LIVE)}</li><li>{external(copy)}</li></ul>"
        f"<p>{external(COPY)} {external(LIVE)}</p>",
    )
    assert article(row).references == ("http://one.test/", LIVE, copy, COPY)


def test_footnotes_in_a_box_count_where_they_stand() -> None:
    box = (
        f'<table class="infobox" {transclusion("Infobox", name="Ada")}><tbody><tr><td>1794{mark("2")}</td></tr></table>'
    )
    notes = {"1": external("http://one.test/"), "2": external("http://two.test/")}
    row = page("Ada", f"{box}{LEAD}{mark('1')}", f"<h2>References</h2>{footnotes(**notes)}")
    assert article(row).references == ("http://two.test/", "http://one.test/")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (page("Ada", LEAD), None),
        (page("Ada", LEAD, namespace={"identifier": 14}), "other_namespace"),
        (page("Ada", LEAD, head='<link rel="mw:PageProp/redirect" href="./Bo"/>'), "redirect"),
        (page("Ada", LEAD, head='<link rel="mw:PageProp/redirect nofollow" href="./Bo"/>'), "redirect"),
        (page("Ada", LEAD, head='<meta property="mw:PageProp/disambiguation"/>'), "disambiguation"),
        (page("Ada", LEAD, head='<meta property="og:x mw:PageProp/disambiguation"/>'), "disambiguation"),
        (page("Ada", LEAD, templates=[{"name": "Vorlage:Disambiguation"}]), "disambiguation"),
        (page("Ada", LEAD, categories=[{"name": "Category:All disambiguation pages"}]), "disambiguation"),
        (page("Lists of Adas", LEAD), "list"),
        (page("Ada", "<p>Ada.</p>"), "short_lead"),
        (page("Ada", "<table><tr><td>Ada</td></tr></table>"), "empty_lead"),
        (page("Ada"), "empty_lead"),
    ],
)
def test_what_is_no_article(row: dict[str, Any], reason: str | None) -> None:
    assert article(row).drop_reason == reason


@pytest.mark.parametrize("body", [None, {}, {"html": ""}, {"html": "<!-- -->"}, "<p>Ada</p>"])
def test_a_row_without_html_is_malformed(body: Any) -> None:
    with pytest.raises(ValueError, match="column 'article_body': expected"):
        article(page("Ada", LEAD, article_body=body))


def test_html_gives_what_wikitext_gives() -> None:
    wikitext = (
        "'''Ada''' ({{IPAc-en|ˈ|eɪ|d|ə}}) is a [[Bridge|long enough]] article about Ada.<ref name=\"a\">{{cite web|url="
        f"{LIVE}|archive-url={COPY}}}}}</ref><ref>See [http://b.test/ B].</ref>\n* An item.\n\nIt has two paragraphs.\n"
        '== History ==\nOld.<ref name="a" />\n== Sources ==\n* {{cite book|title=C|url=http://c.test/}}\n'
    )
    notes = {"1": citation(COPY, LIVE, url=LIVE, archive_url=COPY), "2": f"See {external('http://b.test/', 'B')}."}
    row = page(
        "Ada",
        '<p><b>Ada</b> (<span class="IPA">/ˈeɪdə/</span>) is a <a rel="mw:WikiLink" href="./Bridge">long enough</a> '
        f"article about Ada.{mark('1')}{mark('2')}</p><ul><li>An item.</li></ul><p>It has two paragraphs.</p>",
        f"<h2>History</h2><p>Old.{mark('1')}</p>",
        f"<h2>Sources</h2><ul><li>{citation('http://c.test/', title='C', url='http://c.test/')}</li></ul>"
        + footnotes(**notes),
    )
    settings = WikitextSettings(licence="CC-BY-SA-4.0")
    page_of_dump = DumpPage("Ada", 0, redirect=False, revision="31", model="wikitext", text=wikitext, id="5")
    of_dump = ArticleReader(Site(), settings).article(page_of_dump)
    assert of_dump.left_out == {"ipac-en": 1}  # HTML has what the template wrote
    assert article(row) == replace(of_dump, left_out={})
    assert article(row).references == (COPY, "http://b.test/", "http://c.test/")
