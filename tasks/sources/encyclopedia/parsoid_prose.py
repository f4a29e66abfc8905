"""The lead of a page in Parsoid's HTML as marked text, with the same things left out as of wikitext."""

import json
import re
from collections.abc import Iterator

from lxml import html

from tasks.engine.data_files import read_data
from tasks.sources.dump.prose import ITEM
from tasks.sources.dump.templates import GONE, raised
from tasks.text.tokens import tokens

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_HIDDEN = re.compile(r"display\s*:\s*none", re.I)
_SKIPPED_CLASSES = frozenset(read_data("tasks.sources.dump", "wikitext.toml")["skipped"]["classes"])
_SKIPPED_TAGS = frozenset(["style", "script", "link", "meta", "img", "video", "audio", "input", "template"])
_BREAKING_TAGS = frozenset(["table", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "section"])
_LIST_TAGS = frozenset(["ul", "ol", "dl"])
_BLOCK_TAGS = frozenset(["p", "div", "blockquote", "center", "hr"])
_KEPT_EXTENSIONS = frozenset(["mw:Extension/poem", "mw:Extension/math", "mw:Extension/nowiki"])


def marked_text(section: html.HtmlElement) -> str:
    """Return the prose of a section without its subsections, as `paragraphs_of` reads it. Left out are boxes, tables,
    pictures, lists, citations, notes, pronunciation, coordinates and maths in TeX."""
    return _inner(section)


def _inner(element: html.HtmlElement) -> str:
    return "".join(_pieces(element))


def _pieces(element: html.HtmlElement) -> Iterator[str]:
    yield _plain(element.text)
    for child in element:
        if isinstance(child.tag, str):  # else a comment
            yield _text(child)
        yield _plain(child.tail)


def _plain(text: str | None) -> str:
    return _PRIVATE.sub("", text).replace("\n", " ") if text else ""


def _text(element: html.HtmlElement) -> str:
    """Return the text of an element with the marks of what is left out."""
    tag, kinds = element.tag, tokens(element, "typeof")
    if "mw:Extension/ref" in kinds or any(kind.startswith("mw:File") for kind in kinds):
        return ""
    if tag in _SKIPPED_TAGS:
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
    inner = _inner(element)
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
