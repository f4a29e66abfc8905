"""Parse HTML into a tree, and read from it what all engines share: the title and plain lines."""

import re
from collections.abc import Iterable

from lxml import etree, html

from tasks.text.tokens import tokens

_PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_OPEN_END = re.compile(r"""[^.!?…:;|"”'’)\]>。！？]$""")
_LINE = 40  # characters; a line at least as long that ends within a sentence was wrapped
_LABEL = 20  # characters; a shorter lower-case line that ends no sentence is a label ("read more")
_WRAPPED = 100  # characters; text whose lines are all shorter is wrapped by hand, so a line break is not a paragraph


def clean(text: str) -> str:
    """Return text without NUL, other control characters and lone surrogates, lines ending in a line feed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text).encode("utf-8", "replace").decode("utf-8")


def parse(text: str) -> html.HtmlElement | None:
    """Return a page's tree, None without markup and text; elements below the parser's depth (2048) are left out."""
    try:
        return html.document_fromstring(clean(text).encode("utf-8"), parser=_PARSER)
    except etree.ParserError:  # nothing in it
        return None


def page_title(tree: html.HtmlElement) -> str | None:
    """Return the title of a page: `<title>`, else `og:title`, else its first `<h1>`; None if it has none."""
    for candidate in (
        tree.xpath("string(//head/title | //body//title[not(ancestor::svg)])"),
        next((meta.get("content", "") for meta in tree.iter("meta") if "og:title" in tokens(meta, "property")), ""),
        tree.xpath("string(//h1)"),
    ):
        title = " ".join(str(candidate).split())
        if title:
            return title
    return None


def plain_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of plain text: its lines or, if it is wrapped by hand, the parts between blank lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    wrapped = _BLANK_LINE.search(text.strip()) and all(len(line) <= _WRAPPED for line in lines)
    parts = _BLANK_LINE.split(text) if wrapped else lines
    return [paragraph for paragraph in (" ".join(part.split()) for part in parts) if paragraph]


def join_wrapped(lines: Iterable[str]) -> list[str]:
    """Join lines over which one sentence was wrapped: a full line without its end, then one in lower case, no label."""
    joined: list[str] = []
    last = ""
    for line in lines:
        goes_on = len(last) >= _LINE and "://" not in last and _OPEN_END.search(last)
        if goes_on and line[:1].islower() and (len(line) >= _LABEL or not _OPEN_END.search(line)):
            joined[-1] += line if last.endswith("-") else f" {line}"
        else:
            joined.append(line)
        last = line
    return joined
