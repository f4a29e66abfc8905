"""When a page was published, by whom, and on which site, as its HTML states it, by trafilatura and htmldate.

Both would also guess from the text of a whole page, which costs as much as extraction and may take a date of the text
for that of the page. So they get only the elements that state it: those of the head, data in JSON-LD, and the parts of
the page that are marked as author or time."""

import re
from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import NamedTuple

from lxml import etree, html

from tasks.extraction.markup import clean

_HEAD = etree.XPath(
    "//meta[@content] | //link[@rel='canonical'][@href]"
    " | //script[@type='application/ld+json'][string-length() < 100000]"
)
_TIMES = etree.XPath("//time[@datetime][not(ancestor::aside or ancestor::footer or ancestor::nav)]")
_MARKED = etree.XPath("//*[@itemprop]")
_BY = etree.XPath("//a[@rel='author']")
_MOST = 200  # elements of the head; more do not describe a page
_LONGEST = 120  # characters of a name
_NO_NAME = re.compile(r"\d|https?:|@|©|[|<>{}]")
_BY_NAME = re.compile(r"^(?:by:? |@)", re.IGNORECASE)
_NOBODY = frozenset(
    {"python-docx", "microsoft office user", "microsoft", "unknown", "user", "admin", "administrator", "owner"}
)
_LAST = "2100-01-01"  # not today, so that a page has the same date whenever it is read
_TEMPLATE = "2013-12-23"  # the day of python-docx's template, which most files made with it keep
_FILE_DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")


class Origin(NamedTuple):
    """The origin that a page or file states."""

    date: str | None = None  # on which it was first published, as YYYY-MM-DD, or None
    author: str | None = None  # names, separated by "; ", or None
    site: str | None = None  # name of the site, or None


UNKNOWN = Origin()


def page_origin(tree: html.HtmlElement) -> Origin:
    """Return what a page states of its origin; the tree, which must have its scripts, is not changed."""
    from htmldate import find_date  # here, because plain text needs none of it
    from trafilatura.metadata import examine_meta, extract_meta_json

    marked = _MARKED(tree)
    stated = _statements(tree, marked)
    try:
        found = examine_meta(stated)
        found = extract_meta_json(stated, found)
        date = find_date(stated, extensive_search=False, original_date=True, max_date=_LAST)
    except Exception:  # noqa: BLE001  a page must not be lost for a fault in what it says of itself
        return UNKNOWN
    authors = (one for one in marked if one.get("itemprop") == "author")
    names = [found.author, *(one.text_content() for one in (*_BY(tree)[:3], *islice(authors, 3)))]
    return Origin(date, next(filter(None, map(_name, names)), None), _name(found.sitename))


def file_origin(created: str, authors: Sequence[str]) -> Origin:
    """Return the origin of a file, by the day on which it was made, as PDF or ISO 8601 writes it, and by its authors.
    Placeholders of programs for an unknown author do not count."""
    match = _FILE_DATE.match(created)
    named = [name for name in map(_name, authors) if name and name.casefold() not in _NOBODY]
    date = "-".join(match.groups()) if match else None
    return Origin(None if date == _TEMPLATE else date, "; ".join(dict.fromkeys(named)) or None)


def _statements(tree: html.HtmlElement, marked: Sequence[html.HtmlElement]) -> html.HtmlElement:
    """Return a small page with only the elements of a page that state where it is from; `marked`: those with an
    `itemprop`."""
    stated = html.fromstring("<html><head></head><body></body></html>")
    stated.head.extend(map(_copied, _HEAD(tree)[:_MOST]))
    published = (one for one in marked if one.get("itemprop") == "datePublished")
    stated.body.extend(map(_copied, (*islice(published, 1), *_TIMES(tree)[:1])))
    return stated


def _copied(element: html.HtmlElement) -> html.HtmlElement:
    copied = deepcopy(element)
    copied.tail = None
    return copied


def _name(text: str | None) -> str | None:
    """Return a name on one line; None for other text."""
    name = _BY_NAME.sub("", " ".join(clean(text or "").split()))
    return name if 1 < len(name) <= _LONGEST and not _NO_NAME.search(name) else None
