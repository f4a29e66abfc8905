"""The place of a licence's name on a page, and whether the page means its own text by it. It may be in a caption, in
the footer, in an item of a list that has a licence an item, or in structured data (JSON-LD, microdata and RDFa).

A page also describes its pictures, other pages, and what it lists. So a licence in structured data counts only if it
belongs to a text (schema.org's types) that is not part of something else and is the only one of its kind."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree, html

from tasks.engine.data_files import read_data
from tasks.rights.licences import licence_of, licence_of_url
from tasks.text.tokens import tokens

_MARKUP = read_data("tasks.rights", "markup.toml")
_BLOCKS, _CAPTIONS, _PICTURES = (frozenset(_MARKUP[name]) for name in ("blocks", "captions", "pictures"))
_PROSE = 60  # characters of a paragraph; a caption is not around one
_FOOT = re.compile(r"foot|copyright|licen[cs]e|colophon|legal", re.IGNORECASE)
_ITEMS = {"li": 2, "tr": 2, "article": 2, "dd": 2, "div": 3, "section": 3}  # so many of one kind are a catalogue
_CREDIT = 200  # characters; a longer block is not the credit of a picture
_BADGE = re.compile(r"creative-?commons|licensebuttons|\bcc[-_.]?by|/l/by", re.IGNORECASE)


def block_of(element: html.HtmlElement | None) -> html.HtmlElement | None:
    """Return the block around an element, such as a paragraph, or the element itself if it is one."""
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
    """Tell whether an element is in a figure or its caption, or is the credit of a picture."""
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
    """Tell whether an element is in the page's footer, or in what its class calls a copyright notice."""
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
    """Tell whether a block is short and has, or follows in its box, a picture other than a licence's badge."""
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


_PAGES, _WORKS, _PROPERTIES = (frozenset(_MARKUP[name]) for name in ("pages", "works", "licence_properties"))
_MAIN = frozenset({"mainentity", "mainentityofpage"})
_JSON_TYPE = "application/ld+json"
_JSON_BYTES = 500_000
_NAMES = ("@id", "url", "headline", "name")


def json_ld_licences(tree: html.HtmlElement) -> Iterator[str]:
    """Yield the licences of the texts that JSON-LD says the page is."""
    things: list[dict[str, Any]] = []
    for script in tree.iter("script"):
        text = script.text or ""
        kind = (script.get("type") or "").partition(";")[0].strip().lower()
        if kind == _JSON_TYPE and len(text) <= _JSON_BYTES:
            try:
                things += _things(json.loads(text, strict=False))
            except (ValueError, RecursionError):
                continue
    works = {str(_first(thing, _NAMES) or id(thing)) for thing in things if _types(thing) & _WORKS}
    for thing in things:
        types = _types(thing)
        if not (types & _PAGES or (types & _WORKS and len(works) == 1)):
            continue
        for value in _list(thing.get("license")):
            text = _first(value, ("@id", "url", "name")) if isinstance(value, dict) else value
            if isinstance(text, str) and (licence := licence_of(text)) is not None:
                yield licence


def _things(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield what JSON-LD describes: at its top, in its `@graph`, or as the page's main entity."""
    for thing in _list(parsed):
        if isinstance(thing, dict):
            yield thing
            yield from _things([*_list(thing.get("@graph")), *_list(thing.get("mainEntity"))])


def _types(thing: dict[str, Any]) -> set[str]:
    return {_last_part(name) for name in _list(thing.get("@type")) if isinstance(name, str)}


def marked_licences(tree: html.HtmlElement) -> Iterator[str]:
    """Yield the licences that microdata and RDFa give the page's text."""
    for element in tree.xpath("//*[@property or @itemprop]"):
        names = {name.lower() for name in tokens(element, "property") + tokens(element, "itemprop")}
        if _PROPERTIES.isdisjoint(names) or in_caption(element) or not describes_page(element):
            continue
        value = next((element.get(name) for name in ("href", "content", "resource", "src") if element.get(name)), "")
        if (licence := licence_of(value)) is not None:
            yield licence


def describes_page(element: html.HtmlElement) -> bool:
    """Tell whether what an element says of its subject is said of the page's own text."""
    return _microdata_of_page(element) and _rdfa_of_page(element)


def _microdata_of_page(element: html.HtmlElement) -> bool:
    if element.get("itemprop") is None:
        return True
    item = next((outer for outer in element.iterancestors() if outer.get("itemscope") is not None), None)
    if item is None:
        return True
    types = {_last_part(name) for name in tokens(item, "itemtype")}
    properties = {name.lower() for name in tokens(item, "itemprop")}
    if properties and properties.isdisjoint(_MAIN):
        return False  # a part of another item, or what that refers to
    if types & _PAGES:
        return True
    alike = [other for other in item.getroottree().iter(item.tag) if other.get("itemtype") == item.get("itemtype")]
    return bool(types & _WORKS) and sum(other.get("itemprop") == item.get("itemprop") for other in alike) == 1


def _rdfa_of_page(element: html.HtmlElement) -> bool:
    for outer in (element, *element.iterancestors()):
        if outer.get("about") is not None:
            links = element.getroottree().iter("link")
            own = next((link.get("href") for link in links if "canonical" in tokens(link, "rel")), None)
            return outer.get("about").strip() in ("", "#", own)
        if outer is not element and (types := {_last_part(name) for name in tokens(outer, "typeof")}):
            return bool(types & (_PAGES | _WORKS))
    return True


def _last_part(name: str) -> str:
    """Return a type without its vocabulary: Article of https://schema.org/Article or schema:Article, in lower case."""
    return name.replace("#", "/").replace(":", "/").rstrip("/").rpartition("/")[2].lower()


def _first(thing: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((thing[name] for name in names if thing.get(name)), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
