"""The text of a PDF file, its lines joined into paragraphs again, each with the number of its page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

from tasks.extraction.font_codes import is_garbled
from tasks.extraction.markup import clean
from tasks.extraction.origin import Origin, file_origin
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.titles import names_nothing
from tasks.text.language import sure_language
from tasks.text.raised import raised

MIME = "application/pdf"

_EDGE = 3  # lines at the edge of a page that may be running heads and feet
_SHORT = 0.8  # of the usual line's characters: a shorter line may be the last of its paragraph, or a heading
_USUAL = 0.9  # quantile of the lengths: most lines of prose are full, but headings and captions are not
_SHORTER = 0.6  # of such a line's: a shorter line ends its paragraph
_RUNNING = 3  # pages running, or every second one, whose edges have a line in common: the head of a chapter
_FOOT = 15  # lines at the foot of a page within which its notes begin
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN_DIGITS = str.maketrans(_RAISED, "0123456789")
_BEFORE = 60  # characters before a superscript that say what it is
_RAISED_NUMBER = re.compile(f"[{_RAISED}]+")
_NOTE = re.compile(rf"(?:([1-9]\d{{0,2}})\.? |([{_RAISED}]{{1,3}}) ?)(?=[^\W\d_]|[\"“‘(])")
_MARK = re.compile(  # its number, glued to a word
    rf"(?<=[^\W\d_]{{2}})[.,;!?]?[\"”’)]?[.,;]?([1-9]\d{{0,2}}|[{_RAISED}]{{1,3}})(?!\w)"
)
_SENTENCE_END = re.compile(r"""[.!?…:]["”'’)\]]*$""")
_HYPHEN = re.compile(r"(?<!\w)(\w+)-$")
_GOES_ON = re.compile(r"\w[-–]$")
_RANGE = re.compile(r"\d[-–]$")
# Words after a hyphen that a later word completes.
_TOGETHER = frozenset(["als", "and", "bis", "et", "or", "oder", "ou", "sowie", "to", "und", "y"])
_HYPHENATING = ("en", "fr")  # languages that write compounds with hyphens, and whose words are listed
_LANGUAGE_CHARACTERS = 4000  # of a document, by which its language is known
_NUMBER = re.compile(r"\d+")
_PLAIN = str.maketrans({"\u00ad": "-", "\u2010": "-"})
_WORD = re.compile(r"\w+(?:-\w+)*")
_FIRST_WORD = re.compile(r"\w+")
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[\divxlc]{1,5}(?:\s*(?:/|of)\s*\d+)?", re.IGNORECASE)


class PdfText(NamedTuple):
    """The content of a PDF file."""

    title: str | None  # of its metadata, else its first page's largest words
    paragraphs: Sequence[str]
    pages: Sequence[int]  # of each paragraph, the page on which it begins, from 1
    reason: DocumentReason | None  # why there are none: encrypted | no_text_layer | garbled
    origin: Origin = Origin()  # when it was made and by whom, by its metadata


class _Line(NamedTuple):
    text: str
    page: int = 0


def read_pdf(body: bytes) -> PdfText:
    """Read a PDF file; a password that is empty opens it. Raises pypdfium2.PdfiumError: the file is damaged."""
    import pypdfium2 as pdfium  # here, because most pages are not PDF

    from tasks.extraction.pdf_pages import drawn_title, page_words, text_lines

    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code != pdfium.raw.FPDF_ERR_PASSWORD:
            raise
        return PdfText(None, (), (), DocumentReason.ENCRYPTED)
    title, drawn, texts = clean(document.get_metadata_value("Title")).strip(), None, []
    origin = file_origin(document.get_metadata_value("CreationDate"), [document.get_metadata_value("Author")])
    for number, words in enumerate(page_words(document)):
        drawn = drawn_title(words) if number == 0 else drawn
        texts.append("\n".join(text_lines(words)))
    document.close()
    if is_garbled("\n".join(texts)):
        return PdfText(None if names_nothing(title) else title, (), (), DocumentReason.GARBLED, origin)
    found = join_lines([clean(text).split("\n") for text in texts])
    if names_nothing(title):
        title = "" if names_nothing(drawn or "") else clean(drawn or "")
    reason = None if found else DocumentReason.NO_TEXT_LAYER
    return PdfText(title or None, [text for text, _ in found], [page for _, page in found], reason, origin)


def join_lines(pages: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """Return the paragraphs of pages of lines, each with the number of its page, from 1. A paragraph ends at an empty
    line. It also ends at a line that is not full, if it ends a sentence or the next line does not begin in lower case.
    It may continue on the next page. A hyphen at the end of a line is removed if the document or the language has the
    word without it (`_Hyphens`). Page numbers are left out, and lines at the top or bottom of pages that repeat with
    other numbers. So are short lines within a sentence that continues on the next page. The notes at the foot of a
    page, whose numbers its prose has, come last."""
    repeated = _repeated(pages)
    bodies = [
        [_Line(" ".join(line.translate(_PLAIN).split()), number) for line in _body(page, repeated)]
        for number, page in enumerate(pages, 1)
    ]
    lengths = sorted(len(line.text) for body in bodies for line in body if line.text)
    full = _SHORT * lengths[int(_USUAL * len(lengths))] if lengths else 0
    parted = [_without_notes(body) for body in bodies]
    lines = [
        *_uninterrupted([body for body, _ in parted], _SHORTER * full),
        *(note for _, notes in parted for note in notes),
    ]
    hyphens = _Hyphens(line.text for line in lines)
    paragraphs: list[tuple[str, int]] = []
    text, page = "", 0
    for (line, number), (following, _) in pairwise([*lines, _Line("")]):
        page = page if text else number
        text = hyphens.joined(text, line) if line else text
        ends = len(line) < full and (_SENTENCE_END.search(line) or not following[:1].islower())
        if text and ((ends and not _GOES_ON.search(text)) or not line):
            paragraphs.append((_without_raised(text), page))
            text = ""
    return [*paragraphs, (_without_raised(text), page)] if text else paragraphs


def _without_raised(text: str) -> str:
    """Return text with its superscripts as plain text: a number must not grow by its superscript."""
    return _RAISED_NUMBER.sub(
        lambda match: raised(
            text[max(0, match.start() - _BEFORE) : match.start()], match[0].translate(_PLAIN_DIGITS), linked=False
        ),
        text,
    )


def _without_notes(body: Sequence[_Line]) -> tuple[Sequence[_Line], list[_Line]]:
    """Return the lines of a page before the notes at its foot, and the notes, an empty line before each."""
    marked: set[str] = set()
    for start, line in enumerate(body):
        first = _NOTE.match(line.text)
        if first and _number_of(first) in marked and start >= len(body) - _FOOT:
            number = int(_number_of(first))
            notes: list[_Line] = []
            for below in body[start:]:
                begins = (note := _NOTE.match(below.text)) is not None and _number_of(note) == str(number)
                text = f"{number} {below.text[note.end() :]}" if note and begins and note[2] else below.text
                notes += [_Line(""), _Line(text, below.page)] if begins else [_Line(text, below.page)]
                number += begins
            return body[:start], notes
        marked.update(mark.translate(_PLAIN_DIGITS) for mark in _MARK.findall(line.text))
    return body, []


def _number_of(note: re.Match[str]) -> str:
    return (note[1] or note[2]).translate(_PLAIN_DIGITS)


def _uninterrupted(bodies: Sequence[Sequence[_Line]], short: float) -> list[_Line]:
    """Return the lines of all pages, without the short ones at their edges that interrupt a sentence."""

    def interrupts(line: _Line) -> bool:
        return len(line.text) < short and not line.text[:1].islower() and not _SENTENCE_END.search(line.text)

    lines: list[_Line] = []
    for body in bodies:
        end = len(lines) - sum(1 for _ in takewhile(interrupts, lines[: -_EDGE - 1 : -1]))
        head = sum(1 for _ in takewhile(interrupts, body[:_EDGE]))
        goes_on = end and not _SENTENCE_END.search(lines[end - 1].text)
        if goes_on and head < len(body) and body[head].text[:1].islower():
            del lines[end:]
            body = body[head:]
        lines += body
    return lines


def _repeated(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the running heads and feet of a document or of one of its chapters. These are lines at the edges of pages
    that a third of the pages have in common, or three in a row (or every second one)."""
    edges: defaultdict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for edge in {_unnumbered(line) for line in [*page[:_EDGE], *page[-_EDGE:]]}:
            edges[edge].append(number)
    return {
        edge
        for edge, found in edges.items()
        if len(found) > max(1, len(pages) // 3)
        or any(last - first <= 2 * (_RUNNING - 1) for first, last in zip(found, found[_RUNNING - 1 :], strict=False))
    }


def _unnumbered(line: str) -> str:
    return _NUMBER.sub("#", line.strip())


def _body(page: Sequence[str], repeated: set[str]) -> Sequence[str]:
    def edges(lines: Sequence[str]) -> int:
        numbers = 0  # a page has one number at an edge: what follows it counts something else
        for count, line in enumerate(lines[:_EDGE]):
            numbers += _PAGE_NUMBER.fullmatch(line.strip()) is not None
            if _unnumbered(line) not in repeated and (numbers != 1 or not _PAGE_NUMBER.fullmatch(line.strip())):
                return count
        return len(lines[:_EDGE])

    body = page[edges(page) :]
    return body[: len(body) - edges(body[::-1])]


class _Hyphens:
    """Joins lines: decides for each hyphen at the end of a line whether the word has it, by the other words of the
    document, then by those of its language."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = list(lines)
        self._words = Counter(word.lower() for line in self._lines for word in _WORD.findall(line))
        self._language: str | None = None

    def joined(self, text: str, line: str) -> str:
        """Return a text with its next line."""
        if not text:
            return line
        hyphen = _HYPHEN.search(text)
        next_word = _FIRST_WORD.match(line)
        if hyphen is None or next_word is None:
            return text + line if _RANGE.search(text) and line[:1].isdigit() else f"{text} {line}"
        if next_word[0] in _TOGETHER:
            return f"{text} {line}"
        before = text[: hyphen.start()].rstrip()
        begins = not before or _SENTENCE_END.search(before) is not None
        return (text if self._has_hyphen(hyphen[1], next_word[0], begins) else text[:-1]) + line

    def _has_hyphen(self, first: str, second: str, begins: bool) -> bool:
        if not second[0].islower() or not first[-1].isalpha() or len(first) == 1:
            return True
        whole = (first + second).lower()
        with_hyphen, without = self._words[f"{first}-{second}".lower()], self._words[whole]
        if with_hyphen or without:
            return with_hyphen > without
        is_name = first[0].isupper() and not begins
        known = frozenset[str]() if is_name else _known_words(self._of_language())
        return whole not in known and first.lower() in known and second.lower() in known

    def _of_language(self) -> str:
        if self._language is None:
            self._language = sure_language(" ".join(self._lines)[:_LANGUAGE_CHARACTERS]) or "en"
        return self._language


@lru_cache(maxsize=2)
def _known_words(language: str) -> frozenset[str]:
    """Return the words of a language that writes compounds with hyphens, in lower case; none of another language."""
    if language not in _HYPHENATING:
        return frozenset()
    from spellchecker import SpellChecker  # here, because only a document with a doubtful hyphen needs it

    return frozenset(SpellChecker(language=language).word_frequency.words())
