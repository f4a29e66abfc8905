"""How a browser draws elements whose tag says something else: superscripts and blocks by style, controls and pictures
within a sentence, readings of characters. They get the tags that they look like."""

import re

from lxml import etree, html

from tasks.extraction.markup import INLINE, names

_RAISED = re.compile(r"vertical-align:(?:(super)|sub)(?![\w-])")
_BLOCK = re.compile(r"(?:^|;)display:(?:block|flex|grid|table|list-item)(?![\w-])")
_RAISED_CLASS = re.compile(r"(?:^|\s)(?:(superscript)|subscript)(?:\s|$)")
_NOTE_CLASS = re.compile(r"(?:^|\s)(?:footnote-?ref|noteref)(?:\s|$)")
_NUMBER = re.compile(r"\[?\d{1,3}\]?")
_CONTROLS = names("button img input label output slot")
_EMPTY = names("img input")
_ENDS = frozenset('.!?:;…"”')
_OPENING = ("", " ", "\n", "(", "[", "“", "‘")  # before a word without a space
_LONGEST = 100  # characters of an element within a sentence; longer ones are blocks
_BEFORE = 60  # characters before an element that say what it is


def draw(tree: html.HtmlElement) -> None:
    """Give elements the tags that they look like."""
    for element in list(tree.iter()):
        tag = element.tag
        if tag == "ruby":
            _write_readings(element)
        elif tag in _CONTROLS or "-" in tag:
            if _is_within_sentence(element):
                _put_in_line(element)
        elif tag in INLINE:
            _draw_inline(element)


def _draw_inline(element: html.HtmlElement) -> None:
    """Make an inline element a superscript or subscript, or part it from the words around it, if it looks so."""
    style, cls = element.get("style"), element.get("class")
    if element.tag == "a" and (element.get("role") == "doc-noteref" or (cls and _NOTE_CLASS.search(cls))):
        if _NUMBER.fullmatch("".join(element.itertext()).strip()):
            element.tag = "sup"
        return
    if style:
        plain = style.replace(" ", "").lower()
        if _BLOCK.search(plain):
            _part(element)
        elif raised := _RAISED.search(plain):
            element.tag = "sup" if raised[1] else "sub"
            return
    if cls and (raised := _RAISED_CLASS.search(cls)):
        element.tag = "sup" if raised[1] else "sub"


def _is_within_sentence(element: html.HtmlElement) -> bool:
    """Tell whether an element without blocks in it follows text that ends no sentence, and text follows."""
    text = "" if element.tag in _EMPTY else "".join(element.itertext()).strip()
    follows = (element.tail or "").strip() or (text and element.getnext() is None)
    if not follows or len(text) > _LONGEST:  # first, because the text before costs more
        return False
    before = text_before(element).strip()
    if not before or before[-1] in _ENDS:
        return False
    return all(inner.tag in INLINE for inner in element.iterdescendants())


def _put_in_line(element: html.HtmlElement) -> None:
    """Make an element part of its line; a control or a picture does not join the words around it."""
    tag, element.tag = element.tag, "span"
    if tag in _EMPTY:
        element.text = ""
    if tag in _CONTROLS:
        _part(element)


def _part(element: html.HtmlElement) -> None:
    """Put spaces where the text of an element would join the words around it."""
    text, after = "".join(element.itertext()).strip(), element.tail or ""
    if text_before(element)[-1:] not in _OPENING and (text or after)[:1].isalnum():
        element.text = f" {element.text or ''}"
    if text and not text[-1].isspace() and after[:1].isalnum():
        element.tail = f" {after}"


def _write_readings(ruby: html.HtmlElement) -> None:
    """Put the readings of characters (`<rt>`) in brackets, unless the page has these for old browsers (`<rp>`)."""
    bracketed = next(ruby.iter("rp"), None) is not None
    for part in ruby.iter("rt"):
        if not bracketed and (reading := "".join(part.itertext()).strip()):
            etree.strip_elements(part, "*", with_tail=False)
            part.text = f"({reading})"
    for part in ruby.iter("ruby", "rb", "rtc", "rt", "rp"):
        part.tag = "span"


def text_before(element: html.HtmlElement) -> str:
    """Return the last characters of the line before an element; none if a block begins."""
    parts: list[str] = []
    at = element
    while sum(map(len, parts)) < _BEFORE:
        sibling = at.getprevious()
        if sibling is not None:
            parts.append(sibling.tail or "")
            if sibling.tag not in INLINE or sibling.tag == "br":
                break
            parts.append("".join(sibling.itertext()))
            at = sibling
            continue
        outer = at.getparent()
        if outer is None:
            break
        parts.append(outer.text or "")
        if outer.tag not in INLINE:
            break
        at = outer
    return "".join(reversed(parts))[-_BEFORE:]
