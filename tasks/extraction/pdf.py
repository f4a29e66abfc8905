"""The text of a PDF file, its lines joined into paragraphs again."""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise, takewhile

from tasks.extraction.markup import clean
from tasks.extraction.reasons import DocumentReason

MIME = "application/pdf"

_EDGE = 3  # lines of a page within which its running heads and feet stand
_SHORT = 0.8  # of the usual line's characters: a shorter line may be the last of its paragraph, or a heading
_USUAL = 0.9  # quantile of the lengths: most lines of prose are full, headings and captions are not
_SHORTER = 0.6  # of such a line's: a line that is no line of a paragraph that goes on
_RUNNING = 3  # pages running, or every second one, whose edges have a line in common: the head of a chapter
_FOOT = 15  # lines at the foot of a page within which its notes begin
_NOTE = re.compile(r"([1-9]\d{0,2})\.? (?=[^\W\d_]|[\"“‘(])")
_MARK = re.compile(r"(?<=[^\W\d_]{2})[.,;!?]?[\"”’)]?[.,;]?([1-9]\d{0,2})(?!\w)")  # its number, glued to a word
_SENTENCE_END = re.compile(r"""[.!?…:]["”'’)\]]*$""")
_HYPHEN = re.compile(r"(?<!\w)(\w+)-$")
_NUMBER = re.compile(r"\d+")
_LETTER = re.compile(r"[B-HJ-NP-Zb-hj-z][,.;:)]?")  # alone no word of English
_LETTERS = re.compile(r"[^\W\d_]+")
_PLAIN = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "\u00ad": "-", "\u2010": "-"})
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
    pages but for their numbers, page numbers, and short lines within a sentence that goes on over the page are left
    out. The notes at the foot of a page, whose numbers its prose has, come last. Words torn at one of their letters are
    mended."""
    repeated = _repeated(pages)
    bodies = [[" ".join(line.translate(_PLAIN).split()) for line in _body(page, repeated)] for page in pages]
    lengths = sorted(len(line) for body in bodies for line in body if line)
    full = _SHORT * lengths[int(_USUAL * len(lengths))] if lengths else 0
    parted = [_without_notes(body) for body in bodies]
    lines = [
        *_uninterrupted([body for body, _ in parted], _SHORTER * full),
        *(note for _, notes in parted for note in notes),
    ]
    words = Counter(word.lower() for line in lines for word in _WORD.findall(line))
    torn = _torn_letters(lines, words)
    lines = [_mended(line, words, torn) for line in lines]
    paragraphs: list[str] = []
    text = ""
    for line, following in pairwise([*lines, ""]):
        text = _joined(text, line, words) if line else text
        ends = len(line) < full and (_SENTENCE_END.search(line) or not following[:1].islower())
        if text and (ends or not line):
            paragraphs.append(text)
            text = ""
    return [*paragraphs, text] if text else paragraphs


def _without_notes(body: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Return the lines of a page before the notes at its foot, and the notes, an empty line before each."""
    marked: set[str] = set()
    for start, line in enumerate(body):
        first = _NOTE.match(line)
        if first and first[1] in marked and start >= len(body) - _FOOT:
            number = int(first[1])
            notes: list[str] = []
            for below in body[start:]:
                begins = below.startswith((f"{number} ", f"{number}."))
                notes += ["", below] if begins else [below]
                number += begins
            return body[:start], notes
        marked.update(_MARK.findall(line))
    return body, []


def _uninterrupted(bodies: Sequence[Sequence[str]], short: float) -> list[str]:
    """Return the lines of all pages, without the short ones at their edges within a sentence that goes on over them."""

    def interrupts(line: str) -> bool:
        return len(line) < short and not line[:1].islower() and not _SENTENCE_END.search(line)

    lines: list[str] = []
    for body in bodies:
        end = len(lines) - sum(1 for _ in takewhile(interrupts, lines[: -_EDGE - 1 : -1]))
        head = sum(1 for _ in takewhile(interrupts, body[:_EDGE]))
        if end and not _SENTENCE_END.search(lines[end - 1]) and head < len(body) and body[head][:1].islower():
            del lines[end:]
            body = body[head:]
        lines += body
    return lines


def _repeated(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the lines at the edges of pages that several have in common, a third of them or three running (or every
    second one): running heads and feet, of a document or of one of its chapters."""
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
        outside = (_unnumbered(line) in repeated or _PAGE_NUMBER.fullmatch(line.strip()) for line in lines[:_EDGE])
        return sum(1 for _ in takewhile(bool, outside))

    body = page[edges(page) :]
    return body[: len(body) - edges(body[::-1])]


def _torn_letters(lines: Sequence[str], words: Counter[str]) -> frozenset[str]:
    """Return the letters that stand alone mostly where a word was torn ("an d"), and so are no names of variables."""
    alone, torn = Counter[str](), Counter[str]()
    for line in lines:
        tokens = ["", *line.split(" "), ""]
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if _LETTER.fullmatch(token):
                alone[token[0]] += 1
                torn[token[0]] += _known(before + token, words) or _known(token + after, words)
    return frozenset(letter for letter, count in torn.items() if 2 * count > alone[letter])


def _known(whole: str, words: Counter[str]) -> bool:
    """Tell whether a text is a word that the document has elsewhere, with or without a mark after it."""
    word = _LETTERS.match(whole)
    return word is not None and len(word[0]) >= len(whole) - 1 > 0 and words[word[0].lower()] > 0


def _mended(line: str, words: Counter[str], torn: frozenset[str]) -> str:
    """Return a line with torn letters put back: to the word before them, else to the one after."""
    mended = [""]
    waits = False
    for token in line.split(" "):
        is_torn = token[:1] in torn and _LETTER.fullmatch(token) is not None
        if (waits or is_torn) and _known(mended[-1] + token, words):
            mended[-1] += token
            waits = False
        else:
            mended.append(token)
            waits = is_torn
    return " ".join(mended[1:]) if not mended[0] else " ".join(mended)


def _joined(text: str, line: str, words: Counter[str]) -> str:
    hyphen = _HYPHEN.search(text)
    if hyphen is None or not line[:1].islower():
        return f"{text} {line}" if text else line
    next_word = _WORD.match(line)
    whole = hyphen[1] + (next_word[0] if next_word else "")
    return (text[:-1] if whole.lower() in words else text) + line
