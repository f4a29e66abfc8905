"""Formulas in MathML as inline elements of a page: powers as superscripts, fractions with a stroke."""

from lxml import etree, html

from tasks.extraction.markup import names

_UNSHOWN = ("annotation", "annotation-xml", "mphantom", "maction")
_RAISED = {"msup": ("sup",), "mover": ("sup",), "msub": ("sub",), "munder": ("sub",), "msubsup": ("sub", "sup")}
_WORDS = names("mi mn mo mtext ms")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))  # operators that are not written


def write_formulas(tree: html.HtmlElement) -> None:
    """Make each formula of a tree part of its line."""
    for formula in list(tree.iter("math")):
        etree.strip_elements(formula, *_UNSHOWN, with_tail=False)
        for part in list(formula.iter()):
            _write(part)


def _write(part: html.HtmlElement) -> None:
    """Make an element of a formula an inline element; only white space is between those that hold words."""
    tag = part.tag
    if tag not in _WORDS:
        # "5" and "3/4" are two numbers.
        part.text = "√" if tag in ("msqrt", "mroot") else " " if tag == "mfrac" else ""
    else:
        part.text = " ".join((part.text or "").translate(_INVISIBLE).split())
    for below in part:
        below.tail = ""
    if tag == "mfrac" and len(part) == 2:
        for below in part:
            _bracket(below)
        part[0].tail = "/"
    for below, raised in zip(part[1:], _RAISED.get(tag, ()), strict=False):
        _raise(below, raised)
    part.tag = "span" if tag not in ("sup", "sub") else tag


def _bracket(part: html.HtmlElement) -> None:
    """Put brackets around a part with several words."""
    if sum(1 for inner in part.iter(*_WORDS)) > 1:
        opening, closing = etree.Element("span"), etree.Element("span")
        opening.text, closing.text = "(", ")"
        part.insert(0, opening)
        part.append(closing)


def _raise(part: html.HtmlElement, tag: str) -> None:
    """Put a superscript or subscript around a part."""
    outer = part.getparent()
    around = etree.Element(tag)
    outer.replace(part, around)
    around.append(part)
