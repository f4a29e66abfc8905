"""Where on a page an element stands: in a caption, in the footer, in an item of a list that has a licence an item."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from lxml import etree, html

from tasks.engine.data_files import read_data
from tasks.rights.licences import licence_of_url
from tasks.text.tokens import tokens

_MARKUP = read_data("tasks.rights", "markup.toml")
_BLOCKS, _CAPTIONS, _PICTURES = (frozenset(_MARKUP[name]) for name in ("blocks", "captions", "pictures"))
_PROSE = 60  # characters of a paragraph; a caption is not around one
_FOOT = re.compile(r"foot|copyright|licen[cs]e|colophon|legal", re.IGNORECASE)
_ITEMS = {"li": 2, "tr": 2, "article": 2, "dd": 2, "div": 3, "section": 3}  # so many of one kind are a catalogue
_CREDIT = 200  # characters; a longer block is no credit of the picture in it
_BADGE = re.compile(r"creative-?commons|licensebuttons|\bcc[-_.]?by|/l/by", re.IGNORECASE)


def block_of(element: html.HtmlElement | None) -> html.HtmlElement | None:
    """Return the block, such as a paragraph, that an element stands in, or itself if it is one."""
    while element is not None and element.tag not in _BLOCKS:
        element = element.getparent()
    return element


def text_of(element: html.HtmlElement) -> str:
    """Return the text of an element on one line."""
    return " ".join(element.text_content().split())


def text_before(link: html.HtmlElement, block: html.HtmlElement) -> str:
    """Return the text of a block before a link in it, on one line."""
    pieces: list[str] = []
    for event, element in etree.iterwalk(block, events=("start", "end")):
        if event == "start":
            if element is link:
                break
            pieces.append(element.text or "")
        elif element is not block:
            pieces.append(element.tail or "")
    return " ".join("".join(pieces).split())


def in_caption(element: html.HtmlElement) -> bool:
    """Tell whether an element stands in a figure or its caption, or is the credit beside a picture."""
    own = block_of(element)
    for outer in _outwards(element):
        if outer.tag in ("body", "main", "article", "html"):
            break
        parts = {
            part for name in tokens(outer, "class") + tokens(outer, "id") for part in re.split("[-_]", name.lower())
        }
        if outer.tag in ("figure", "figcaption") or not _CAPTIONS.isdisjoint(parts):
            return True
        if not _PICTURES.isdisjoint(parts) and not _has_prose(outer, own):
            return True
    return own is not None and own.tag != "body" and _is_credit(own)


def in_foot(element: html.HtmlElement) -> bool:
    """Tell whether an element stands in the page's footer, or in what its class calls a copyright notice."""
    return any(
        outer.tag == "footer" or _FOOT.search(f"{outer.get('class', '')} {outer.get('id', '')}")
        for outer in _outwards(element)
        if outer.tag not in ("body", "html")
    )


def without_catalogues(elements: Iterable[html.HtmlElement]) -> list[html.HtmlElement]:
    """Return those of a page's elements that name a licence that are in no list of which several items do."""
    given = list(elements)
    groups: defaultdict[tuple[html.HtmlElement | None, str, str], set[html.HtmlElement]] = defaultdict(set)
    for element in given:
        for outer in _outwards(element):
            if outer.tag in _ITEMS:
                groups[_kind(outer)].add(outer)
    return [
        element
        for element in given
        if in_foot(element)
        or not any(
            outer.tag in _ITEMS and len(groups[_kind(outer)]) >= _ITEMS[outer.tag] for outer in _outwards(element)
        )
    ]


def _kind(element: html.HtmlElement) -> tuple[html.HtmlElement | None, str, str]:
    return element.getparent(), element.tag, element.get("class", "")


def _outwards(element: html.HtmlElement) -> Iterator[html.HtmlElement]:
    yield element
    yield from element.iterancestors()


def _has_prose(outer: html.HtmlElement, own: html.HtmlElement | None) -> bool:
    return any(paragraph is not own and len(text_of(paragraph)) >= _PROSE for paragraph in outer.iter("p"))


def _is_credit(block: html.HtmlElement) -> bool:
    """Tell whether a block is short and has, or follows in its box, a picture that is no licence's badge."""
    if len(text_of(block)) > _CREDIT or _has_prose(block, block):
        return False
    before = block.getprevious()
    holders = [block] if block.tag != "small" or before is None else [block, before]
    return any(
        not _BADGE.search(f"{image.get('src', '')} {image.get('alt', '')}")
        for holder in holders
        for image in holder.iter("img")
        if not any(licence_of_url(outer.get("href") or "") for outer in image.iterancestors("a"))
    )
