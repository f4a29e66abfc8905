"""The text of a PDF file, its lines joined into paragraphs again."""

import io
import re
from collections.abc import Sequence
from itertools import pairwise

from tasks.extraction.markup import clean
from tasks.extraction.reasons import DocumentReason

MIME = "application/pdf"

_SHORT = 0.8  # of the usual line's characters: a shorter line may be the last of its paragraph, or a heading
_USUAL = 0.9  # quantile of the lengths: most lines of prose are full, headings and captions are not
_SENTENCE_END = re.compile(r"""[.!?…:]["”'’)\]]*$""")
_HYPHEN = re.compile(r"(?<!\w)(\w+)-$")
_WORD = re.compile(r"\w+")
_PAGE_NUMBER = re.compile(r"(?:page\s+)?[\divxlc]{1,5}(?:\s*(?:/|of)\s*\d+)?", re.IGNORECASE)


def read_pdf(body: bytes) -> tuple[str | None, list[str], str | None]:
    """Return title, paragraphs, and why there are none: encrypted | no_text_layer; raises what pypdf raises."""
    from pypdf import PdfReader  # here, because most pages are no PDF

    reader = PdfReader(io.BytesIO(body))
    if reader.is_encrypted and not reader.decrypt(""):
        return None, [], DocumentReason.ENCRYPTED
    title = clean(str(reader.metadata.title or "")).strip() if reader.metadata else ""
    paragraphs = join_lines([clean(page.extract_text()).split("\n") for page in reader.pages])
    return title or None, paragraphs, None if paragraphs else DocumentReason.NO_TEXT_LAYER


def join_lines(pages: Sequence[Sequence[str]]) -> list[str]:
    """Return the paragraphs of pages of lines. A paragraph ends at an empty line, and at a line that is not full, if it
    ends a sentence or the next line does not begin in lower case; it may go on over the end of a page. A hyphen at the
    end of a line is removed if the document also has the word without it. Lines that repeat at the top or bottom of
    pages, and page numbers, are left out."""
    lines = [" ".join(line.split()) for page in pages for line in _body(page, _repeated(pages))]
    lengths = sorted(len(line) for line in lines if line)
    full = _SHORT * lengths[int(_USUAL * len(lengths))] if lengths else 0
    words = {word.lower() for line in lines for word in _WORD.findall(line)}
    paragraphs: list[str] = []
    text = ""
    for line, following in pairwise([*lines, ""]):
        text = _joined(text, line, words) if line else text
        ends = len(line) < full and (_SENTENCE_END.search(line) or not following[:1].islower())
        if text and (ends or not line):
            paragraphs.append(text)
            text = ""
    return [*paragraphs, text] if text else paragraphs


def _repeated(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the first and last lines that several pages have in common: running heads and feet."""
    edges = [line.strip() for page in pages for line in {page[0], page[-1]} if page]
    return {line for line in edges if edges.count(line) > max(1, len(pages) // 3)}


def _body(page: Sequence[str], repeated: set[str]) -> list[str]:
    last = len(page) - 1
    return [
        line
        for index, line in enumerate(page)
        if index not in (0, last) or not (line.strip() in repeated or _PAGE_NUMBER.fullmatch(line.strip()))
    ]


def _joined(text: str, line: str, words: set[str]) -> str:
    hyphen = _HYPHEN.search(text)
    if hyphen is None or not line[:1].islower():
        return f"{text} {line}" if text else line
    next_word = _WORD.match(line)
    whole = hyphen[1] + (next_word[0] if next_word else "")
    return (text[:-1] if whole.lower() in words else text) + line
