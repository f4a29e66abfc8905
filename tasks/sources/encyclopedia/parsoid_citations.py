"""The URLs that a page in Parsoid's HTML cites, in order of first citation.

A citation is a footnote mark, whose text is in an `<ol class="mw-references">`; a citation template elsewhere; or a
link in a section that lists references. Of a template the fields count that were written (`data-mw`), as in wikitext:
a template's elements have one `about`, and the first of them has the fields. Of other text the links count, without
those of identifiers."""

import json
from collections.abc import Iterator, Mapping

from lxml import etree, html

from tasks.sources.dump.citations import (
    add_archived,
    field_urls,
    is_archive_template,
    is_citation,
    links_in,
    plain_heading,
)
from tasks.sources.dump.settings import WikitextSettings
from tasks.sources.encyclopedia.links import cited_urls, is_source
from tasks.text.tokens import tokens

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_APART = frozenset(["li", "p", "cite", "dd", "td"])  # a citation does not go beyond one of these


def cited_in(body: html.HtmlElement, settings: WikitextSettings) -> Iterator[str]:
    """Yield the URLs that the sections of a page cite, then those of footnotes that only other footnotes cite."""
    notes: dict[str, list[str]] = {}
    for listed in body.iter("ol"):
        if "mw-references" in tokens(listed, "class"):
            for item in listed.iterchildren("li"):
                # The whole item: its links back into the page are no sources, and the class of its text has changed.
                urls = _Links(settings, {}, listing=True).urls_of(item)
                notes |= {note.get("id") or "": urls for note in item.iter("li")}  # with details cited by themselves
    for section in body.iterchildren("section"):
        yield from _section_urls(section, notes, settings, listing=False)
    for urls in notes.values():
        yield from urls


def _section_urls(
    section: html.HtmlElement, notes: Mapping[str, list[str]], settings: WikitextSettings, *, listing: bool
) -> Iterator[str]:
    name = _heading(section)
    if name in settings.external_sections and not settings.external_links:
        return
    listing = listing or name in settings.reference_sections or name in settings.external_sections
    for child in section:
        if child.tag == "section":
            yield from _section_urls(child, notes, settings, listing=listing)
        elif isinstance(child.tag, str):
            yield from _Links(settings, notes, listing=listing).urls_of(child)


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

    def __init__(self, settings: WikitextSettings, notes: Mapping[str, list[str]], *, listing: bool) -> None:
        """Take what counts. `notes` has the URLs of each footnote by its id; `listing`: every link counts."""
        self._settings = settings
        self._notes = notes
        self._listing = listing
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
                self._urls += self._notes.get(_target(node), [])
                walk.skip_subtree()
            elif fields is not None and about is not None and self._take_templates(fields):
                templates.add(about)
                walk.skip_subtree()
            elif self._listing and node.tag == "a" and node.get("href"):
                self._waiting.append(node.get("href"))
        self._end_citation()
        return self._urls

    def _end_citation(self) -> None:
        self._urls += cited_urls(self._waiting, self._settings.archived)
        self._waiting.clear()

    def _take_templates(self, data: str) -> bool:
        """Take the URLs in the fields of an element's templates; return whether there was a citation."""
        found = False
        for name, fields in _templates(data):
            if is_archive_template(name):
                self._end_citation()
                add_archived(self._urls, field_urls(fields, self._settings.archived), self._settings.archived)
                found = True
            elif is_citation(name) or self._listing:
                written = fields.values() if is_citation(name) else [fields[key] for key in fields if key.isdigit()]
                urls = field_urls(fields, self._settings.archived) or links_in(" ".join(written))
                if urls or is_citation(name):
                    self._end_citation()
                    self._urls += filter(is_source, urls)
                    found = True
        return found


def _templates(data: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield name and fields of the templates in a `data-mw` attribute, none if it holds something else."""
    try:
        parts = json.loads(data).get("parts", [])
        for part in parts:
            if isinstance(part, Mapping) and "template" in part:
                template = part["template"]
                fields = {name: str(field["wt"]) for name, field in template["params"].items()}
                yield str(template["target"]["wt"]).strip(), fields
    except (ValueError, KeyError, TypeError, AttributeError):
        return


def _target(mark: html.HtmlElement) -> str:
    """Return the id of the footnote that a mark leads to."""
    link = next(mark.iter("a"), None)
    return "" if link is None else (link.get("href") or "").rpartition("#")[2]
