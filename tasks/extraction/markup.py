"""Decode a body of bytes into text, even if its declared character set is wrong or missing, and read from it what all
engines share: a tree of HTML, its title, plain lines, and Markdown without its marks."""

import re
from collections.abc import Iterable

from charset_normalizer import from_bytes
from lxml import etree, html
from markdown_it import MarkdownIt
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from tasks.text.tokens import tokens


def names(text: str) -> frozenset[str]:
    """Return the names of elements that a text lists."""
    return frozenset(text.split())


INLINE = names(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i ins kbd mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
"""Elements within a line of text; all others begin a block."""

# No engine reads them; taken out of a page first, they cost none of them anything.
_UNREAD = names(
    "script style noscript template svg iframe canvas object embed audio video map link source input select textarea "
    "button nav footer menu dialog head"
)
_KEPT = names("html body img br hr tr td th")  # without text, yet something is read of them
_PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
# lxml's own look-up of classes, which makes forms of <form>, is a Python function called for each element of each copy.
_PARSER.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
_CONTROL = bytes([*range(9), 11, 12, *range(14, 32), 127])
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_OPEN_END = re.compile(r"""[^.!?…:;|"”'’)\]>。！？]$""")
_LINE = 40  # characters; a line at least as long that ends within a sentence was wrapped
_LABEL = 20  # characters; a shorter lower-case line that ends no sentence is a label ("read more")
_WRAPPED = 100  # characters; text whose lines are all shorter is wrapped by hand, so a line break is not a paragraph


def clean(text: str) -> str:
    """Return text without NUL, other control characters and lone surrogates, lines ending in a line feed."""
    return _clean(text).decode("utf-8")


def _clean(text: str) -> bytes:
    body = text.encode("utf-8", "replace")
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").translate(None, _CONTROL)


def parse(text: str) -> html.HtmlElement | None:
    """Return a page's tree, None without markup and text; elements below the parser's depth (2048) are left out."""
    try:
        return html.document_fromstring(_clean(text), parser=_PARSER)
    except etree.ParserError:  # nothing in it
        return None


def prune(tree: html.HtmlElement) -> None:
    """Take out of a tree what no engine reads: half of a page's elements, and with them half of an engine's time."""
    etree.strip_elements(tree, *_UNREAD, with_tail=False)
    for element in reversed(list(tree.iter())):  # children before parents
        if not len(element) and element.tag not in _KEPT and not _has_text(element.text) and not _separates(element):
            element.drop_tree()


def _separates(block: html.HtmlElement) -> bool:
    """Tell whether text before an empty block and text after it would become one without it."""
    if block.tag in INLINE:
        return False
    before, after, outer = block.getprevious(), block.getnext(), block.getparent()
    text = outer.text if before is None else before.tail
    return all(
        _has_text(between) or (outer if sibling is None else sibling).tag in INLINE
        for between, sibling in ((text, before), (block.tail, after))
    )


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace() and text != ""


def page_title(tree: html.HtmlElement) -> str | None:
    """Return the title of a page: `<title>`, else `og:title`, else its first `<h1>`; None if it has none."""
    titles = (title for title in tree.iter("title") if next(title.iterancestors("svg"), None) is None)
    for candidate in (
        next((title.text_content() for title in titles), ""),
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


_HEAD = 4096  # bytes in which a page must declare its character set; HTML asks for the first 1024
_DETECTION_SAMPLE = 32_768  # bytes
_BAD_SHARE = 0.2  # of the non-ASCII characters: a few bad ones do not prove that the character set is wrong
_LATIN_SHARE = 0.3  # of the letters: no Latin-1 language has so many accented ones; misread Cyrillic has


def decode(body: bytes, declared: str | None) -> str:
    """Return the text, by byte order mark, UTF-8, a label that fits, or detection; bytes that fit none are U+FFFD."""
    marked, mark = read_bom(body)
    if marked is not None and mark is not None:
        return body[len(mark) :].decode(marked, "replace")
    head = body[:_HEAD]
    labels = [codec for codec in map(_codec, (declared, html_body_declared_encoding(head))) if codec]
    if b"\x1b" in head:  # ISO-2022 writes every script in ASCII bytes, which are valid UTF-8
        labels.append("utf-8")
    else:
        labels.insert(0, "utf-8")
    if head.count(b"\0") > len(head) // 4:
        return body.decode("utf-16-le" if head[1::2].count(b"\0") > head[::2].count(b"\0") else "utf-16-be", "replace")
    for codec in labels:
        text = body.decode(codec, "replace")
        if _fits(text, codec):
            return text
    best = from_bytes(_without_tags(body)[:_DETECTION_SAMPLE]).best()
    return body.decode(best.encoding if best else "cp1252", "replace")


def _without_tags(text: bytes) -> bytes:
    """Return HTML with a space for each tag; a pattern would search all that follows for each `<` without a `>`."""
    *parts, rest = text.split(b">")
    cut = (part.partition(b"<") for part in parts)
    return b"".join(before + (b" " if opened else b">") for before, opened, _ in cut) + rest


def _codec(label: str | None) -> str | None:
    """Return Python's name of the codec that browsers use for a label; None for an unknown label."""
    try:
        name = resolve_encoding((label or "").strip().strip("\"'"))
        "".encode(name or "")  # `base64` and other codecs that are not text are LookupErrors here
    except (LookupError, ValueError):
        return None
    return name


def _fits(text: str, codec: str) -> bool:
    """Tell whether text decoded with replacement is plausible, so that the codec may be the right one."""
    if (bad := text.count("�")) and bad > _BAD_SHARE * sum(map(len, re.findall(r"[^\x00-\x7f]+", text))):
        return False
    if codec != "cp1252":
        return True
    accents = sum(map(len, re.findall(r"[À-ÿ]+", text)))
    plain = _without_tags(text.encode("ascii", "ignore"))
    return accents <= _LATIN_SHARE * (accents + sum(map(len, re.findall(rb"[A-Za-z]+", plain))))


MARKDOWN = "text/markdown"
_TEXTS = {"text", "code_inline"}
_BREAKS = {"softbreak": " ", "hardbreak": " "}


def read_markdown(text: str) -> tuple[str | None, list[str]]:
    """Return the first heading of level 1, or None, and the paragraphs: all other text but code and raw HTML."""
    title: str | None = None
    paragraphs: list[str] = []
    level = ""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "heading_open":
            level = token.tag
        if token.type == "inline":
            children = token.children or ()
            parts = (child.content if child.type in _TEXTS else _BREAKS.get(child.type, "") for child in children)
            line = " ".join("".join(parts).split())
            if level == "h1" and title is None:
                title = line or None
            elif line:
                paragraphs.append(line)
            level = ""
    return title, paragraphs
