"""Decode a body of bytes into text, even if its declared character set is wrong or missing. Read from it what all
engines share: a tree of HTML, its title, plain lines, and Markdown without its marks."""

import re
from collections.abc import Iterable, Iterator

import ftfy
from charset_normalizer import from_bytes
from lxml import etree, html
from markdown_it import MarkdownIt
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from tasks.text.raised import without_invisible
from tasks.text.tokens import tokens


def names(text: str) -> frozenset[str]:
    """Return the names of elements that a text lists."""
    return frozenset(text.split())


INLINE = names(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i ins kbd mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
"""Elements within a line of text; all others begin a block."""

_PARSER = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
# lxml's own look-up of classes, which makes forms of <form>, is a Python function called for each element of each copy.
_PARSER.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
_CONTROL = bytes([*range(9), 11, 12, *range(14, 32), 127])
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_OPEN_END = re.compile(r"""[^.!?…:;|"”'’)\]>。！？]$""")
_LINE = 40  # characters; a line at least as long that ends within a sentence was wrapped
_LABEL = 20  # characters; a shorter lower-case line that ends no sentence is a label ("read more")
_NARROW = 45  # bytes in UTF-8; at so few nobody wraps a text
_ITEM = re.compile(r"\n(?= {0,8}[-*•–] +\w)")
_WRAPPED = 100  # characters; text whose lines are all shorter is wrapped by hand, so a line break is not a paragraph


def clean(text: str) -> str:
    """Return text without NUL, other control characters, lone surrogates and characters without width, its lines ending
    in a line feed."""
    return without_invisible(_clean(text).decode("utf-8"))


def _clean(text: str) -> bytes:
    body = text.encode("utf-8", "replace")
    return body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").translate(None, _CONTROL)


def parse(text: str) -> html.HtmlElement | None:
    """Return a page's tree, None without markup and text; elements below the parser's depth (2048) are left out."""
    try:
        tree = html.document_fromstring(_clean(text), parser=_PARSER)
    except etree.ParserError:  # nothing in it
        return None
    _mend(tree)
    return tree


def parse_part(text: str) -> html.HtmlElement:
    """Return the tree of a part of a page; like that of a page it has no comments. Raises etree.ParserError: the part
    is empty."""
    return html.fromstring(_clean(text), parser=_PARSER)


_OF_HEAD = names("title meta link script style base basefont bgsound noscript template object isindex")


def _mend(tree: html.HtmlElement) -> None:
    """Put into the body what browsers read as its part: elements in a head that was not closed, and what follows
    `</html>`."""
    head, body = tree.find("head"), tree.find("body")
    strays = [] if head is None else [element for element in head if element.tag not in _OF_HEAD]
    if strays and body is None:
        body = etree.SubElement(tree, "body")
    if body is not None:
        for element in reversed(strays):
            body.insert(0, element)
        for further in list(tree.itersiblings()):
            body.extend(further)


def page_title(tree: html.HtmlElement) -> str | None:
    """Return the title of a page: `<title>`, else `og:title`, else its first `<h1>`; None if it has none."""
    for candidate in _titles(tree):
        if title := " ".join(without_invisible(candidate).split()):
            return title
    return None


def _titles(tree: html.HtmlElement) -> Iterator[str]:
    """Yield the possible titles of a page, best first; lazily, because most pages have the first."""
    titles = (title for title in tree.iter("title") if next(title.iterancestors("svg"), None) is None)
    yield next((title.text_content() for title in titles), "")
    yield next((meta.get("content", "") for meta in tree.iter("meta") if "og:title" in tokens(meta, "property")), "")
    yield next((heading.text_content() for heading in tree.iter("h1")), "")


def plain_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of plain text: its lines or, if it is wrapped by hand, the parts between blank lines. A
    part of short lines, or of items of a list, was not wrapped."""
    lines = [line for line in text.split("\n") if line.strip()]
    wrapped = _BLANK_LINE.search(text.strip()) and all(len(line) <= _WRAPPED for line in lines)
    parts = [each for part in _BLANK_LINE.split(text) for each in _unwrapped(part)] if wrapped else lines
    return [paragraph for paragraph in (" ".join(part.split()) for part in parts) if paragraph]


def _unwrapped(part: str) -> list[str]:
    """Return a part of a text between blank lines as its paragraphs."""
    if all(len(line.encode()) <= _NARROW for line in part.split("\n")):
        return part.split("\n")
    return _ITEM.split(part)


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
    """Return the text, by byte order mark, UTF-8, a label that fits, or detection; bytes that fit none are U+FFFD. Text
    that was encoded twice is read once more."""
    return decode_counting(body, declared)[0]


def decode_counting(body: bytes, declared: str | None) -> tuple[str, int]:
    """Return the text as `decode` does, and how many pieces of it had been encoded twice and were mended."""
    text = _decode(body, declared)
    if not _TWICE_SIGN.search(body):
        return text, 0
    mended = [fixed != match[0] for match in _TWICE.finditer(text) for fixed in [_read_again(match)]]
    return (_TWICE.sub(_read_again, text), sum(mended)) if any(mended) else (text, 0)


def _decode(body: bytes, declared: str | None) -> str:
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
            return text if codec == "utf-8" or not _is_western(body, codec) else body.decode("cp1252", "replace")
    if _is_western(body, "cp1250"):
        return body.decode("cp1252", "replace")
    best = from_bytes(_without_tags(body)[:_DETECTION_SAMPLE]).best()
    return body.decode(best.encoding if best else "cp1252", "replace")


_SINGLE_BYTE = re.compile(r"(?:iso8859|cp125|koi8|mac|latin)")
_HIGH = re.compile(rb"[\x80-\xff]+")
_SINGLE_HIGH = re.compile(rb"(?<![\x80-\xff])[\x80-\xff]{1,2}(?![\x80-\xff])")
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
# Signs of another alphabet read as cp1252 in English words: a sign between letters, or letters English never has.
_IMPLAUSIBLE = re.compile(rb"(?i:[a-z])[\xa1-\xac\xae\xaf\xb1-\xb3\xb5\xb6\xb8-\xbf\xd7\xf7](?i:[a-z])")
_ENGLISH = re.compile(rb"\b(?:the|and|of|to|in|is|for|that)\b", re.IGNORECASE)
_FEW = 0.1  # of a page's letters: an English page has fewer that are not ASCII, names and quotation marks
_ENGLISH_SHARE = 0.06  # of its words that are among the commonest; other languages have hardly any of them


def _is_western(body: bytes, codec: str) -> bool:
    """Tell whether a page that is not UTF-8 is English with a few characters of Windows-1252, whatever its label."""
    if codec == "cp1252" or not _SINGLE_BYTE.match(codec.replace("-", "").replace("_", "").lower()):
        return False
    plain = _without_tags(body)
    high = sum(map(len, _HIGH.findall(plain)))
    words = len(re.findall(rb"[A-Za-z]+", plain))
    letters = sum(map(len, re.findall(rb"[A-Za-z]+", plain)))
    if not high or high > max(_FEW * letters, 3) or _UNDEFINED.search(plain) or _IMPLAUSIBLE.search(plain):
        return False
    return len(_ENGLISH.findall(plain)) >= _ENGLISH_SHARE * words


# UTF-8 that was taken for Windows-1252 or Latin-1 and encoded again: "â€™" for "’", "Ã©" for "é".
# Â Ã Ä Å Ð â before a character of such a sequence: some are in every such text.
_TWICE_SIGN = re.compile(rb"\xc3[\x82-\x85\x90\xa2][\xc2\xc5\xc6\xcb\xe2]")
_CONTINUED = "[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_TWICE = re.compile(
    f"(?:[\u00c2-\u00df]{_CONTINUED}|[\u00e0-\u00ef]{_CONTINUED}{{2}}|[\u00f0-\u00f4]{_CONTINUED}{{3}})+"
)


def _read_again(match: re.Match[str]) -> str:
    fixed = ftfy.fix_encoding(match[0])
    return match[0] if "\ufffd" in fixed else fixed


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
