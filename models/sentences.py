"""Sentences of English prose, in texts and among the pieces of a vocabulary.

A rule, not a model: it needs no download, gives the same answer everywhere, and reads a megabyte in well under a
second. A boundary is a line break, or end punctuation before white space and a possible sentence start, unless the
word before it is a known abbreviation, an initial or an acronym with full stops."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

_BOUNDARY = re.compile(
    r"""(?<![.!?])[.!?]+["'”’»)\]]*(?P<gap>[^\S\n]+)(?=["'“‘«(\[]*[A-Z0-9À-ÖØ-Þ])|(?P<line>(?<!\s)\s*\n\s*)"""
)
_LAST_WORD = re.compile(r"(?<![^\s(\[\"'“‘«])[^\s(\[\"'“‘«]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\.")
# Words by which `models.values` reads too.
ENGLISH = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
_ABBREVIATIONS = frozenset(ENGLISH["sentences"]["abbreviations"].split())


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order, stripped, none of them empty."""
    return list(_sentences(text))


def first_sentence(text: str) -> str:
    """Return the first sentence of `text`, or an empty string."""
    return next(_sentences(text), "")


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match["gap"] is not None and _is_abbreviation(text, start, match.start()):
            continue
        sentence = text[start : match.end()].strip()
        if sentence:
            yield sentence
        start = match.end()
    rest = text[start:].strip()
    if rest:
        yield rest


def _is_abbreviation(text: str, start: int, mark: int) -> bool:
    """Tell whether the full stop at `mark` belongs to the word before it."""
    if text[mark] != "." or not text[mark + 1].isspace():
        return False
    word = _LAST_WORD.search(text, max(start, mark - 40), mark)
    if word is None:
        return False
    return word[0].lower() in _ABBREVIATIONS or _INITIALS.fullmatch(word[0] + ".") is not None


SPACE_MARK = "\u2581"
# Pieces whose text differs from their name: marks have no text, a byte may be part of a character, `<unk>` is one sign.
_MARK = re.compile(r"<(?:PAD|S|/S|T|P|Q|pad|s|/s|mask)>|\[(?:BOS|CLS|SEP|PAD|MASK)\]")
BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


def sentence_pieces(text: str, pieces: Sequence[str]) -> Iterator[tuple[str, slice]]:
    """Yield the sentences of a text with the slices of their pieces; empty for a sentence in which no piece ends. A
    piece belongs to the sentence that contains its last character, counting characters other than spaces; a lone space
    mark to the sentence that it begins. Together the pieces spell the text, or begin with it."""
    ends = list(accumulate(map(spelled, pieces)))
    start = passed = 0
    for sentence in split_sentences(text):
        passed += len("".join(sentence.split()))
        stop = bisect_right(ends, passed)
        while stop > start and pieces[stop - 1] == SPACE_MARK:
            stop -= 1
        yield sentence, slice(start, stop)
        start = stop


def spelled(piece: str) -> int:
    """Return the number of characters of text, without spaces, that a piece spells."""
    if _MARK.fullmatch(piece):
        return 0
    if piece == "<unk>":
        return 1  # decoded as one sign
    # Of the bytes of a character only the first counts.
    whole = BYTE_PIECE.sub(lambda byte: "" if int(byte[1], 16) & 0xC0 == 0x80 else "x", piece)
    return len(whole.replace(SPACE_MARK, ""))
