"""A page as it was fetched, made harmless to show: no scripts, no remote loads, no links to follow, a passage marked.
There are two walls. This module cleans the markup, and the server of the result adds `POLICY`, which forbids the
browser everything except inline styles, in case the cleaning misses something."""

import html as text_html

from lxml import etree, html
from lxml_html_clean import Cleaner

from tasks.extraction.markup import decode, parse

POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"
ANCHOR = "cited-passage"
_COMPARED = 80  # characters of a passage that identify its element
_MARK = "background:#ffe58a;color:#222;outline:3px solid #d9a400"
# Parts that load something or lead away; the rest is text and its layout.
_ADDRESSES = ("src", "srcset", "href", "action", "formaction", "background", "poster", "data", "ping", "longdesc")
# In addition to what the cleaner removes itself: scripts, comments, links, meta, embedded things, frames, forms.
_CLEANER = Cleaner(
    style=True, inline_style=False, page_structure=False, safe_attrs_only=False, kill_tags={"base", "audio", "video"}
)


def sanitized_page(body: bytes, mime: str | None, charset: str | None, passage: str = "") -> str | None:
    """Return a page as HTML that does nothing; None for a type that is not text. `mime`: its media type; `charset`: as
    declared; `passage`: a paragraph of its text; the smallest element that contains it is marked and has the id
    `ANCHOR`."""
    if mime not in ("text/html", "application/xhtml+xml", "text/plain", "text/markdown"):
        return None
    text = decode(body, charset)
    if mime in ("text/plain", "text/markdown"):
        return _document(_marked_text(text, passage))
    tree = parse(text)
    if tree is None:
        return _document("")
    _CLEANER(tree)
    for element in tree.iter(etree.Element):
        for name in [name for name in element.attrib if name in _ADDRESSES or name.startswith(("on", "xlink:", "{"))]:
            del element.attrib[name]
        style = element.get("style", "").lower()
        if "url" in style or "\\" in style:  # an escape may hide an address
            del element.attrib["style"]
    _mark(tree, passage)
    return _document(html.tostring(tree, encoding="unicode"))


def _document(content: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><title>page as fetched</title>{content}'


def _mark(tree: html.HtmlElement, passage: str) -> None:
    wanted = "".join(passage.split())[:_COMPARED]
    if not wanted:
        return
    holding = [
        element for element in tree.iter(etree.Element) if wanted in "".join("".join(element.itertext()).split())
    ]
    if holding:  # reversed: of an element and its only child, the child
        smallest = min(reversed(holding), key=lambda element: sum(map(len, element.itertext())))
        smallest.set("id", ANCHOR)
        smallest.set("style", f"{smallest.get('style', '')};{_MARK}")


def _marked_text(text: str, passage: str) -> str:
    """Return plain text as HTML; the passage is found although its lines may have been joined."""
    words = passage.split()
    start = text.find(" ".join(words[:4])) if words else -1
    if start < 0:
        return f'<pre style="white-space:pre-wrap">{text_html.escape(text)}</pre>'
    end = min(len(text), start + len(passage) + passage.count(" ") // 8)
    before, marked, after = (text_html.escape(part) for part in (text[:start], text[start:end], text[end:]))
    return f'<pre style="white-space:pre-wrap">{before}<span id="{ANCHOR}" style="{_MARK}">{marked}</span>{after}</pre>'
