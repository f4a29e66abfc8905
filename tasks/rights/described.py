"""Licences in structured data: JSON-LD, microdata and RDFa, where they describe the page's own text. A page also
describes its pictures, other pages, and what it lists. So a licence counts only if it belongs to a text (schema.org's
types), if that is no part of something else, and if it is the only one of its kind."""

import json
from collections.abc import Iterator
from typing import Any

from lxml import html

from tasks.engine.data_files import read_data
from tasks.rights.licences import licence_of
from tasks.rights.surroundings import in_caption
from tasks.text.tokens import tokens

_MARKUP = read_data("tasks.rights", "markup.toml")
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
    works = {str(_first(thing, _NAMES) or id(thing)) for thing in things if _is_work(_types(thing))}
    for thing in things:
        types = _types(thing)
        if not _PAGES.isdisjoint(types) or (_is_work(types) and len(works) == 1):
            yield from _licences_of(thing)


def _things(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield what JSON-LD describes: at its top, in its `@graph`, or as the page's main entity."""
    for thing in _list(parsed):
        if isinstance(thing, dict):
            yield thing
            yield from _things([*_list(thing.get("@graph")), *_list(thing.get("mainEntity"))])


def _types(thing: dict[str, Any]) -> set[str]:
    return {_last_part(name) for name in _list(thing.get("@type")) if isinstance(name, str)}


def _licences_of(thing: dict[str, Any]) -> Iterator[str]:
    for value in _list(thing.get("license")):
        text = _first(value, ("@id", "url", "name")) if isinstance(value, dict) else value
        if isinstance(text, str) and (licence := licence_of(text)) is not None:
            yield licence


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
    if not _PAGES.isdisjoint(types):
        return True
    alike = [other for other in item.getroottree().iter(item.tag) if other.get("itemtype") == item.get("itemtype")]
    return _is_work(types) and sum(other.get("itemprop") == item.get("itemprop") for other in alike) == 1


def _rdfa_of_page(element: html.HtmlElement) -> bool:
    for outer in (element, *element.iterancestors()):
        if outer.get("about") is not None:
            return outer.get("about").strip() in ("", "#", _canonical(element))
        if outer is not element and (types := {_last_part(name) for name in tokens(outer, "typeof")}):
            return not _PAGES.isdisjoint(types) or _is_work(types)
    return True


def _canonical(element: html.HtmlElement) -> str | None:
    """Return the page's address as it gives it itself, or None."""
    links = element.getroottree().iter("link")
    return next((link.get("href") for link in links if "canonical" in tokens(link, "rel")), None)


def _is_work(types: set[str]) -> bool:
    return not _WORKS.isdisjoint(types)


def _last_part(name: str) -> str:
    """Return a type without its vocabulary: Article of https://schema.org/Article or schema:Article, in lower case."""
    return name.replace("#", "/").replace(":", "/").rstrip("/").rpartition("/")[2].lower()


def _first(thing: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((thing[name] for name in names if thing.get(name)), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
