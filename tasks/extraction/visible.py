"""What a reader sees of a page: hidden and struck-out text is removed from its tree, superscripts become plain text,
and text that scripts would show is put where they would put it. It comes before all that reads the tree."""

import re
from functools import lru_cache

from lxml import etree, html

from tasks.extraction.drawn import draw, text_before
from tasks.extraction.formulas import write_formulas
from tasks.extraction.markup import names, parse_part
from tasks.text.raised import raised

_STRUCK = names("del s strike")
_HIDDEN_STYLE = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|font-size:0(?:px|em|rem|%)?(?=;|!|$)"
    r"|clip:rect\([01](?:px)?[, ]|text-indent:-\d{3,}|left:-\d{4,}|text-decoration(?:-line)?:line-through)"
)
_SPOKEN_ONLY = names(
    "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only screenreader-only screenreader "
    "sr-text a11y-hidden assistive-text element-invisible u-visually-hidden u-hiddenVisually hidden-visually "
    "visually-hidden-focusable sr-only-focusable offscreen off-screen tooltiptext tooltip-text"
)
_ICONS = re.compile(r"\b(?:material-(?:icons|symbols)[\w-]*)\b")
_NOTE_CLASS = re.compile(
    r"(?:^|[\s_-])(?:reference|references|footnote|fn|noteref|cite|citation|endnote|ftn)(?:$|[\s_\d-])"
)
_DROP = re.compile(
    r"(?:^|[\s_-])(?:drop-?_?caps?|dropcap\w*|initial(?:-letter)?|first-?letter|lettrine)(?:$|[\s_-])", re.IGNORECASE
)
_CAPITAL = re.compile(r"[\"“‘«(]?[^\W\d_a-z]\Z")
_SHARE = 0.5  # share of a page's text: an element that hides so much is shown by a script
_SELECTOR = re.compile(r"[a-z]*[.#][A-Za-z_][\w-]*")


def show(tree: html.HtmlElement) -> None:
    """Reduce a tree to what a reader sees of its page."""
    _unfold(tree)
    _hide(tree)
    draw(tree)
    write_formulas(tree)
    _write_raised(tree)
    _join_initials(tree)


def _unfold(tree: html.HtmlElement) -> None:
    """Show parts that browsers show and engines skip: shadow roots, and the replacements for frames and scripts if the
    page has little else."""
    for template in list(tree.iter("template")):
        if template.get("shadowrootmode") or template.get("shadowroot"):
            template.tag = "div"
    for frames in list(tree.iter("noframes")):
        text = frames.text_content()
        inner = parse_part(f"<div>{text}</div>") if text.strip() else None
        body = tree.find("body")
        if inner is not None and body is None:
            inner.tag = "body"
            tree.append(inner)
    scripts = [element for element in tree.iter("noscript") if element.getparent().tag != "head"]
    if any(_WITH_SPACES(element) > _LEAST for element in scripts):
        lengths = [_length(element) for element in scripts]
        body = tree.find("body")
        outside = _length(tree if body is None else body, skipped=True)
        if max(lengths) > max(outside, _LEAST):
            for element, length in zip(scripts, lengths, strict=True):
                if length >= _LEAST:
                    element.tag = "div"


_LEAST = 200  # characters without scripts that are more than a request to switch them on
_UNSHOWN = names("script style template svg noscript select textarea iframe")


def _length(element: html.HtmlElement, skipped: bool = False) -> int:
    """Return characters of text below an element; `skipped`: without what is shown only without scripts."""
    unshown = _UNSHOWN if skipped else _UNSHOWN - {"noscript"}
    outermost = (
        inner
        for inner in element.iterdescendants(*unshown)
        if next(inner.iterancestors(*unshown), element) in (element, *element.iterancestors(*unshown))
    )
    return _characters(element) - sum(map(_characters, outermost))


_TEXTS = etree.XPath("descendant-or-self::*/text()", smart_strings=False)
_WITH_SPACES = etree.XPath("string-length()")
"""Characters of text below an element with its white space: a bound of `_length` that costs a tenth of it."""


def _characters(element: html.HtmlElement) -> int:
    return sum(map(len, map(str.strip, _TEXTS(element))))


def _hide(tree: html.HtmlElement) -> None:
    """Remove hidden and struck-out elements, unless a reader can open them or they hold most of the page."""
    selectors = _hidden_selectors(tree)
    hidden = [element for element in tree.iter() if _is_hidden(element, selectors)]
    if not hidden:
        return
    opened = _opened(tree)
    most = _SHARE * max(_length(tree, skipped=True), 1)
    for element in hidden:
        if element.getparent() is None or (element.tag not in _STRUCK and _may_open(element, opened)):
            continue
        if element.tag in _STRUCK or _WITH_SPACES(element) < most or _length(element) < most:
            element.drop_tree()


def _is_hidden(element: html.HtmlElement, selectors: frozenset[str]) -> bool:
    get, tag = element.get, element.tag
    if tag in _STRUCK:
        return True
    cls = get("class")
    if (cls and _is_spoken_only(cls)) or get("hidden") not in (None, "until-found") or get("role") == "tooltip":
        return tag not in _NEVER_HIDDEN
    if tag == "dialog" and get("open") is None:
        return True
    style = get("style")
    if style and _HIDDEN_STYLE.search(style.replace(" ", "").lower()):
        return tag not in _NEVER_HIDDEN and not ("visib" in style and cls and _ANIMATED.search(cls))
    if selectors and tag not in _NEVER_HIDDEN and (cls or get("id")):
        own = [f"#{get('id')}", *(f".{name}" for name in (cls or "").split())]
        return any(name in selectors or tag + name in selectors for name in own)
    return False


@lru_cache(maxsize=8192)
def _is_spoken_only(cls: str) -> bool:
    return not _SPOKEN_ONLY.isdisjoint(cls.split()) or _ICONS.search(cls) is not None


_ANIMATED = re.compile(r"\b(?:wow|aos|anim\w*|elementor-invisible|reveal|fade\w*)\b")
_STREAMED = re.compile(r"[BSP]:[0-9a-f]+")  # a part of a page that its script puts into place
_CONTROLS = etree.XPath("//@aria-controls|//@data-target|//@data-bs-target|//a/@href[starts-with(., '#')]")


def _opened(tree: html.HtmlElement) -> frozenset[str]:
    """Return the ids of what a control of the page opens."""
    return frozenset(name.lstrip("#") for value in _CONTROLS(tree) for name in value.split()) - {""}


def _may_open(element: html.HtmlElement, opened: frozenset[str]) -> bool:
    """Tell whether a reader opens a hidden element, as a tab or an answer, or a script puts it into place."""
    name = element.get("id") or ""
    return element.get("role") == "tabpanel" or name in opened or _STREAMED.fullmatch(name) is not None


_NEVER_HIDDEN = names("html body head script style link meta title")
# "display: none", "visibility: hidden" and struck-out text, written so that the search is for letters that all have.
_HIDING = re.compile(r"i(?:(?<=di)splay\s*:\s*none|(?<=vi)sibility\s*:\s*hidden|(?<=[:\s]li)ne-through)")


def _hidden_selectors(tree: html.HtmlElement) -> frozenset[str]:
    """Return the classes and ids that the page's own style sheets hide, outside of conditions."""
    found: set[str] = set()
    for style in tree.iter("style"):
        text = style.text or ""
        if style.get("media", "all") not in ("all", "screen"):
            continue
        depth = position = 0
        for match in _HIDING.finditer(text):
            opened = text.rfind("{", 0, match.start())
            depth += text.count("{", position, opened) - text.count("}", position, opened)
            position = max(position, opened)
            if opened < 0 or depth > 0:  # within `@media`
                continue
            start = max(text.rfind(sign, 0, opened) for sign in "{};/") + 1
            parts = (part.strip() for part in text[start:opened].split(","))
            found.update(part for part in parts if _SELECTOR.fullmatch(part))
    return frozenset(found)


def _write_raised(tree: html.HtmlElement) -> None:
    """Write superscripts and subscripts as plain text."""
    for element in list(tree.iter("sup", "sub")):
        if element.getparent() is None:
            continue
        content = "".join(element.itertext()).strip()
        if element.tag == "sub":
            if not content or _is_note(element):
                _replace(element, "")
            continue
        below = _denominator(element)
        before = text_before(element)
        if below is not None and re.fullmatch(r"\d{1,3}", content):
            gap = " " if before[-1:].isdigit() else ""
            _replace(element, f"{gap}{content}/")
            continue
        written = raised(before, content, _is_note(element))
        if written != content or len(element):
            _replace(element, written)


def _denominator(element: html.HtmlElement) -> html.HtmlElement | None:
    """Return the subscript that makes a fraction of a superscript; the stroke between them is taken out."""
    below, stroke = element.getnext(), (element.tail or "").strip()
    if below is None or below.tag != "sub" or stroke not in ("/", "⁄", "∕", "&frasl;"):
        return None
    if not re.fullmatch(r"\s*\d{1,4}\s*", "".join(below.itertext())):
        return None
    element.tail = ""
    return below


def _is_note(element: html.HtmlElement) -> bool:
    """Tell whether an element is a link to a place in the same page, or its class names it a note."""
    links = [link.get("href") or "" for link in element.iter("a")]
    outer = element.getparent()
    if outer is not None and outer.tag == "a":
        links.append(outer.get("href") or "")
    if any("#" in link for link in links) or element.get("role") == "doc-noteref":
        return True
    names_ = f"{element.get('class') or ''} {element.get('id') or ''}"
    return bool(names_.strip()) and _NOTE_CLASS.search(names_) is not None


def _replace(element: html.HtmlElement, text: str) -> None:
    """Replace an element by a text."""
    for child in list(element):
        element.remove(child)
    element.text = text
    element.drop_tag()


def _join_initials(tree: html.HtmlElement) -> None:
    """Join a large first letter with the word that it begins."""
    for element in list(tree.iter("span", "div", "b", "strong", "font", "big")):
        if not _DROP.search(element.get("class") or "") or element.getparent() is None:
            continue
        if not _CAPITAL.fullmatch("".join(element.itertext()).strip()):
            continue
        tail, following = element.tail or "", element.getnext()
        letter = "".join(element.itertext()).strip()
        if tail.strip():
            rest = tail.lstrip() if tail.lstrip()[:1].islower() or tail.lstrip()[:2].isupper() else tail
            element.tail = rest
            _replace(element, letter)
        elif following is not None and element.tag == "div" and following.tag in ("p", "div", "span"):
            following.text = letter + (following.text or "").lstrip()
            element.drop_tree()
        else:
            element.tail = ""
            _replace(element, letter)
