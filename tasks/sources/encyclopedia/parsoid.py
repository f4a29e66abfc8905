"""Wikipedia's HTML dumps of Wikimedia Enterprise: NDJSON in .tar.gz, pages as Parsoid renders them.

A row has `name`, `namespace`, `version`, `license`, `templates`, `categories` and `article_body`, whose `html` is a
whole document: a `<section data-mw-section-id>` for each section, nested like the headings; section 0 is the lead.
Unlike in wikitext, templates are expanded. `article_body.wikitext` is not read.

Read as the specification of Parsoid's HTML (mediawiki.org/wiki/Specs/HTML) says. Parts of two rows of the test data of
github.com/wikimedia-enterprise/wme-sdk-go were read by eye; this code has not run on a real row or dump. The parser is
lxml's, since mwparserfromhtml builds its tree with BeautifulSoup, which takes several times as long."""

from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree, html

from tasks.sources.dump.settings import WikitextSettings
from tasks.sources.encyclopedia.entry import EncyclopediaPage, identifier_in, licence_in, objects, page_in, title_in
from tasks.sources.encyclopedia.parsoid_citations import cited_in
from tasks.sources.encyclopedia.parsoid_prose import marked_text
from tasks.sources.source import ArticleReason
from tasks.text.tokens import tokens

_IDENTIFIERS = ("name", "identifier", "main_entity", "namespace", "version")
COLUMNS = (*_IDENTIFIERS, "license", "templates", "categories", "article_body")


def parsoid_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the page of a row. Raises ValueError: the row is not of this layout."""
    content = row.get("article_body")
    text = content.get("html") if isinstance(content, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"column 'article_body': expected an object with 'html', got {content!r:.60}")
    title = title_in(row, "name")
    try:
        document = html.document_fromstring(text, parser=html.HTMLParser(huge_tree=True))
    except etree.LxmlError as error:
        raise ValueError(f"column 'article_body': expected HTML, but {error}") from error
    body = document.find("body")
    assert body is not None  # document_fromstring makes one
    lead = body.find("section[@data-mw-section-id='0']")
    return EncyclopediaPage(
        title,
        text="" if lead is None else marked_text(lead),
        references=tuple(cited_in(body, settings)),
        revision=identifier_in(row, "version"),
        licence=licence_in(row, "license"),
        page=page_in(row),
        reason=_reason(row, document),
        templates=tuple(_names(row, "templates")),
        categories=tuple(_names(row, "categories")),
    )


def _reason(row: Mapping[str, Any], document: html.HtmlElement) -> str | None:
    if identifier_in(row, "namespace") not in (None, "0"):
        return ArticleReason.OTHER_NAMESPACE
    if any("mw:PageProp/redirect" in tokens(link, "rel") for link in document.iter("link")):
        return ArticleReason.REDIRECT
    marked = any("mw:PageProp/disambiguation" in tokens(meta, "property") for meta in document.iter("meta"))
    return ArticleReason.DISAMBIGUATION if marked else None


def _names(row: Mapping[str, Any], column: str) -> Iterator[str]:
    """Yield the names of templates or categories, without their namespace, which is in the wiki's language."""
    for one in objects(row.get(column), column):
        _, colon, name = str(one.get("name") or "").partition(":")
        if colon:
            yield name
