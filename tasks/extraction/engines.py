"""The text of a body of bytes: main text of a page by the engine of the settings, all of a file of plain text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lxml import html

from tasks.extraction import pdf
from tasks.extraction.embedded import embedded_text, embedded_tree
from tasks.extraction.font_codes import with_characters
from tasks.extraction.main_text import main_text
from tasks.extraction.markup import (
    MARKDOWN,
    clean,
    decode_counting,
    join_wrapped,
    page_title,
    parse,
    plain_paragraphs,
    read_markdown,
)
from tasks.extraction.notices import notice
from tasks.extraction.origin import UNKNOWN, Origin, page_origin
from tasks.extraction.packed.reading import read_packed
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.reference_marks import without_reference_marks
from tasks.extraction.settings import ExtractSettings
from tasks.extraction.torn_words import mended
from tasks.extraction.visible import show
from tasks.fetching.content import PACKED
from tasks.rights.claims import Claim, page_claim
from tasks.rights.reservations import page_reservations
from tasks.text.boilerplate_phrases import is_boilerplate
from tasks.text.language import sure_language

_WORD = re.compile(r"\w+")
_PHRASE_LENGTH = 300  # a line with a boilerplate phrase is removed up to this length in characters
_LANGUAGE_CHARACTERS = 5000  # characters of a text that decide its language
_LITTLE = 0.25  # of the text in a page's data: a page that shows less of it has its text in its data
_SHOWN = 1000  # characters; a page that shows more has its text in its elements


@dataclass(frozen=True)
class Extracted:
    """The text extracted from a page."""

    title: str | None  # title of the page, or None
    paragraphs: tuple[str, ...]  # lines of the main text; empty where `reason` is set
    # engine that found them: blocks | embedded | trafilatura | plain | markdown | pdf | word | slides | opendocument |
    # epub, or None
    engine: str | None
    reason: str | None = None  # why there are none, or None
    licence: str | None = None  # licence that the page's HTML claims, or None
    licence_source: str | None = None  # where it does (`tasks.rights.claims.Claim`), or None
    reservations: tuple[str, ...] = ()  # signs in its HTML that rights are reserved (`tasks.rights.reservations`)
    page_numbers: tuple[int, ...] = ()  # page of the file on which each paragraph begins, from 1; empty = no pages
    origin: Origin = UNKNOWN  # when it was published, by whom and where
    mended: int = 0  # pieces of its text that had been encoded twice


def extract(body: bytes, mime: str | None, charset: str | None, settings: ExtractSettings) -> Extracted:
    """Find the main text of a page, without limits and without marks of notes: plain text, Markdown, PDF, packed
    files such as Word's, everything else as HTML."""
    found = _extract(body, mime, charset, settings)
    if not found.paragraphs:
        return found
    lines = without_reference_marks([with_characters(line) for line in found.paragraphs])
    return replace(found, paragraphs=tuple(lines if found.page_numbers else mended(lines, _is_english)))


def _is_english(text: str) -> bool:
    return sure_language(text[:_LANGUAGE_CHARACTERS]) == "en"


def _extract(body: bytes, mime: str | None, charset: str | None, settings: ExtractSettings) -> Extracted:
    if mime == pdf.MIME or mime in PACKED:
        return _extract_file(body, mime, settings)
    text, mended = decode_counting(body, charset)
    return replace(_extract_text(text, mime, settings), mended=mended)


def _extract_file(body: bytes, mime: str, settings: ExtractSettings) -> Extracted:
    if mime == pdf.MIME:
        read = pdf.read_pdf(body)
        engine = None if read.reason else "pdf"
        pages = tuple(read.pages)
        return Extracted(
            read.title, tuple(read.paragraphs), engine, read.reason, page_numbers=pages, origin=read.origin
        )
    packed = read_packed(body, mime)
    engine = None if packed.reason else PACKED[mime]
    pages = tuple(packed.pages)
    return Extracted(
        packed.title, tuple(packed.paragraphs), engine, packed.reason, page_numbers=pages, origin=packed.origin
    )


def _extract_text(text: str, mime: str | None, settings: ExtractSettings) -> Extracted:
    no_text = Extracted(None, (), None, DocumentReason.NO_TEXT)
    if mime == MARKDOWN:
        title, lines = read_markdown(clean(text))
        return Extracted(title, tuple(lines), "markdown") if lines else replace(no_text, title=title)
    if mime == "text/plain":
        lines = join_wrapped(plain_paragraphs(clean(text)))
        return Extracted(None, tuple(lines), "plain") if lines else no_text
    tree = parse(text)
    if tree is None:
        return no_text
    _held = list(tree.iter())  # keeps the elements' objects, which lxml otherwise makes again
    title = page_title(tree)
    claim = page_claim(text, tree) or Claim(None, None)  # before the tree is changed
    rights = (claim.licence, claim.source, tuple(page_reservations(tree)))
    origin = page_origin(tree)
    engine, lines = _page_text(tree, title, settings)
    reason = notice(title, lines) or (None if lines else DocumentReason.NO_TEXT)
    if reason is not None:
        return Extracted(title, (), None, reason, *rights)
    return Extracted(title, tuple(join_wrapped(lines)), engine, None, *rights, origin=origin)


def _page_text(tree: html.HtmlElement, title: str | None, settings: ExtractSettings) -> tuple[str, list[str]]:
    """Return the name of the chosen engine, and its lines; the tree is changed. The text in a page's data is taken if
    the page shows little of it."""
    data = embedded_text(tree)
    show(tree)
    lines = tidy(_engine(tree, title, settings), title)
    shown = sum(map(len, lines))
    if shown < min(_SHOWN, _LITTLE * len(data)):
        body = embedded_tree(data)
        if body is not None:
            show(body)
            embedded = tidy(main_text(body, ""), title)
            if sum(map(len, embedded)) > shown:
                return "embedded", embedded
    return settings.engine, lines


def _engine(tree: html.HtmlElement, title: str | None, settings: ExtractSettings) -> list[str]:
    if settings.engine == "trafilatura":
        return extract_trafilatura(tree)
    return main_text(tree, title or "")


def extract_trafilatura(tree: html.HtmlElement) -> list[str]:
    """Return the lines of trafilatura's text, without comments."""
    import trafilatura  # here, because most corpora do not use it

    text: str | None = trafilatura.extract(tree, include_comments=False, include_tables=True)
    return clean(text or "").split("\n")


def tidy(lines: Sequence[str], title: str | None) -> list[str]:
    """Return the lines without empty ones, rules, boilerplate phrases and the title, also with the site's name."""
    name = _words(title or "")

    def is_title(words: str) -> bool:
        return bool(name) and (words == name or (name.startswith(words + " ") and len(words) > len(name) / 2))

    return [line for line, words in map(_tidied, lines) if words and not is_title(words)]


def _tidied(line: str) -> tuple[str, str]:
    """Return a line with single spaces, and its words, without boilerplate."""
    line = " ".join(line.split())
    return line, "" if len(line) <= _PHRASE_LENGTH and is_boilerplate(line) else _words(line)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
