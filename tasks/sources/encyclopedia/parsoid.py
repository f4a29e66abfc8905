"""Wikipedia's HTML dumps of Wikimedia Enterprise: NDJSON in .tar.gz, pages as Parsoid renders them.

A row has `name`, `namespace`, `version`, `license`, `templates`, `categories` and `article_body`, whose `html` is a
whole document: a `<section data-mw-section-id>` for each section, nested like the headings; section 0 is the lead.
Unlike in wikitext, templates are expanded. `article_body.wikitext` is not read.

Read as the specification of Parsoid's HTML (mediawiki.org/wiki/Specs/HTML) says. We read parts of two rows of the test
data of github.com/wikimedia-enterprise/wme-sdk-go; this code has not run on a real row or dump. The parser is lxml's,
because mwparserfromhtml builds its tree with BeautifulSoup, which takes several times as long."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree, html

from tasks.engine.data_files import read_data
from tasks.sources.dump.markup import (
    add_archived,
    field_urls,
    is_archive_template,
    is_citation,
    links_in,
    plain_heading,
)
from tasks.sources.dump.prose import ITEM
from tasks.sources.dump.templates import GONE, raised
from tasks.sources.encyclopedia.entry import EncyclopediaPage, cited_urls, is_source, objects, of_enterprise
from tasks.sources.settings import WikitextSettings
from tasks.sources.source import ArticleReason
from tasks.text.tokens import tokens


def parsoid_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the page of a row. Raises ValueError: the row is not of this layout."""
    content = row.get("article_body")
    text = content.get("html") if isinstance(content, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"column 'article_body': expected an object with 'html', got {content!r:.60}")
    fields = of_enterprise(row)
    try:
        document = html.document_fromstring(text, parser=html.HTMLParser(huge_tree=True))
    except etree.LxmlError as error:
        raise ValueError(f"column 'article_body': expected HTML, but {error}") from error
    body = document.find("body")
    assert body is not None  # document_fromstring makes one
    lead = body.find("section[@data-mw-section-id='0']")
    fields["reason"] = fields["reason"] or _reason(document)
    return EncyclopediaPage(
        text="" if lead is None else marked_text(lead),
        references=tuple(cited_in(body, settings)),
        templates=tuple(_names(row, "templates")),
        categories=tuple(_names(row, "categories")),
        **fields,
    )


def _reason(document: html.HtmlElement) -> str | None:
    if any("mw:PageProp/redirect" in tokens(link, "rel") for link in document.iter("link")):
        return ArticleReason.REDIRECT
    marked = any("mw:PageProp/disambiguation" in tokens(meta, "property") for meta in document.iter("meta"))
    return ArticleReason.DISAMBIGUATION if marked else None


def _names(row: Mapping[str, Any], column: str) -> Iterator[str]:
    """Yield the names of templates or categories, without their namespace, which is in the wiki's language."""
    for item in objects(row.get(column), column):
        _, colon, name = str(item.get("name") or "").partition(":")
        if colon:
            yield name


_PRIVATE = re.compile("[\ue000-\uf8ff]")
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)
_SKIPPED_CLASSES = frozenset(read_data("tasks.sources.dump", "wikitext.toml")["skipped"]["classes"])
_SKIPPED_TAGS = frozenset(["style", "script", "link", "meta", "img", "video", "audio", "input", "template"])
_BREAKING_TAGS = frozenset(["table", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "section"])
_LIST_TAGS = frozenset(["ul", "ol", "dl"])
_BLOCK_TAGS = frozenset(["p", "div", "blockquote", "center", "hr"])
_KEPT_EXTENSIONS = frozenset(["mw:Extension/poem", "mw:Extension/math", "mw:Extension/nowiki"])


def marked_text(element: html.HtmlElement) -> str:
    """Return the prose in a section without its subsections, or in an element of it, as `paragraphs_of` reads it. Left
    out are boxes, tables, pictures, lists, citations, notes, pronunciation, coordinates and maths in TeX."""
    pieces = [_plain(element.text)]
    for child in element:
        pieces += [_text(child) if isinstance(child.tag, str) else "", _plain(child.tail)]  # else a comment
    return "".join(pieces)


def _plain(text: str | None) -> str:
    return _PRIVATE.sub("", text).replace("\n", " ") if text else ""


def _text(element: html.HtmlElement) -> str:
    tag, kinds = element.tag, tokens(element, "typeof")
    if tag in _SKIPPED_TAGS or "mw:Extension/ref" in kinds or any(kind.startswith("mw:File") for kind in kinds):
        return ""
    if tag in _BREAKING_TAGS:
        return "\n"
    if tag in _LIST_TAGS:
        return f"\n{ITEM}\n"
    if tag == "br":
        return " "
    if _is_skipped(element, kinds):
        return "\n" if tag == "div" else GONE
    if "mw:Extension/math" in kinds:
        return _formula(element)
    inner = marked_text(element)
    if tag == "sup":
        return raised(inner)
    return f"\n\n{inner}\n\n" if tag in _BLOCK_TAGS else inner


def _is_skipped(element: html.HtmlElement, kinds: list[str]) -> bool:
    classes = tokens(element, "class")
    if not _SKIPPED_CLASSES.isdisjoint(classes) or any(name.endswith("mbox") for name in classes):
        return True
    if element.get("id") == "coordinates" or _HIDDEN.search(element.get("style") or ""):
        return True
    if element.tag == "a" and not {"autonumber", "free"}.isdisjoint(classes):
        return True  # a number or a bare URL
    if element.tag == "div" and element.get("about") is not None:
        return True  # a box that a template made
    return any(kind.startswith("mw:Extension/") and kind not in _KEPT_EXTENSIONS for kind in kinds)


def _formula(element: html.HtmlElement) -> str:
    """Return a formula as its source if that is plain, as for wikitext."""
    try:
        source = json.loads(element.get("data-mw") or "{}")["body"]["extsrc"]
    except (ValueError, KeyError, TypeError):
        return GONE
    return GONE if "\\" in source else str(source).replace("{", "").replace("}", "")


# A citation is a footnote mark, whose text is in an `<ol class="mw-references">`; a citation template elsewhere; or a
# link in a section that lists references. A template counts by its written fields (`data-mw`), as in wikitext: a
# template's elements have one `about`, and the first of them has the fields. Other text counts by its links, without
# those of identifiers.
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_APART = frozenset(["li", "p", "cite", "dd", "td"])  # a citation does not go beyond one of these


def cited_in(body: html.HtmlElement, settings: WikitextSettings) -> Iterator[str]:
    """Yield the URLs that the sections of a page cite, then those of footnotes that only other footnotes cite."""
    notes: dict[str, list[str]] = {}
    for listed in body.iter("ol"):
        if "mw-references" in tokens(listed, "class"):
            for item in listed.iterchildren("li"):
                # The whole item: its links back into the page are not sources, and the class of its text has changed.
                urls = _Links({}, listing=True).urls_of(item)
                notes |= {note.get("id") or "": urls for note in item.iter("li")}  # with details cited by themselves
    for section in body.iterchildren("section"):
        yield from _section_urls(section, notes, settings, listing=False)
    for urls in notes.values():
        yield from urls


def _section_urls(
    section: html.HtmlElement, notes: Mapping[str, list[str]], settings: WikitextSettings, *, listing: bool
) -> Iterator[str]:
    name = _heading(section)
    if name in settings.names["external_sections"]:
        return
    listing = listing or name in settings.names["reference_sections"]
    for child in section:
        if child.tag == "section":
            yield from _section_urls(child, notes, settings, listing=listing)
        elif isinstance(child.tag, str):
            yield from _Links(notes, listing=listing).urls_of(child)


def _heading(section: html.HtmlElement) -> str:
    """Return the heading of a section as in the settings; newer pages have it in a `<div class="mw-heading">`."""
    for child in section:
        heading = child if child.tag in _HEADINGS else None
        if child.tag == "div" and "mw-heading" in tokens(child, "class"):
            heading = next(child.iterchildren(*_HEADINGS), None)
        if heading is not None:
            return plain_heading(heading.text_content())
    return ""


class _Links:
    """The URLs cited in one element, gathered in the order of the document."""

    def __init__(self, notes: Mapping[str, list[str]], *, listing: bool) -> None:
        self._notes = notes  # the URLs of each footnote by its id
        self._listing = listing  # whether every link counts
        self._urls: list[str] = []
        self._waiting: list[str] = []  # links of one citation without fields

    def urls_of(self, element: html.HtmlElement) -> list[str]:
        """Return the URLs in order."""
        templates: set[str] = set()
        walk = etree.iterwalk(element, events=("start",))
        for _, node in walk:
            if not isinstance(node.tag, str):
                continue
            about, fields = node.get("about"), node.get("data-mw")
            if node.tag in _APART:
                self._end_citation()
            if "mw-references" in tokens(node, "class") or (about in templates and fields is None):
                walk.skip_subtree()
            elif "mw:Extension/ref" in tokens(node, "typeof"):
                self._end_citation()
                link = next(node.iter("a"), None)  # to the footnote
                target = "" if link is None else (link.get("href") or "").rpartition("#")[2]
                self._urls += self._notes.get(target, [])
                walk.skip_subtree()
            elif fields is not None and about is not None and self._take_templates(fields):
                templates.add(about)
                walk.skip_subtree()
            elif self._listing and node.tag == "a" and node.get("href"):
                self._waiting.append(node.get("href"))
        self._end_citation()
        return self._urls

    def _end_citation(self) -> None:
        self._urls += cited_urls(self._waiting)
        self._waiting.clear()

    def _take_templates(self, data: str) -> bool:
        """Take the URLs in the fields of an element's templates; return whether there was a citation."""
        result = False
        for name, fields in _templates(data):
            if is_archive_template(name):
                self._end_citation()
                add_archived(self._urls, field_urls(fields))
                result = True
            elif is_citation(name) or self._listing:
                written = fields.values() if is_citation(name) else [fields[key] for key in fields if key.isdigit()]
                urls = field_urls(fields) or links_in(" ".join(written))
                if urls or is_citation(name):
                    self._end_citation()
                    self._urls += filter(is_source, urls)
                    result = True
        return result


def _templates(data: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and fields of the templates in a `data-mw` attribute, none if it holds something else."""
    try:
        for part in json.loads(data).get("parts", []):
            if isinstance(part, Mapping) and "template" in part:
                template = part["template"]
                fields = {name: str(field["wt"]) for name, field in template["params"].items()}
                yield str(template["target"]["wt"]).strip(), fields
    except (ValueError, KeyError, TypeError, AttributeError):
        return
