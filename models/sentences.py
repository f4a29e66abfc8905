"""Split English prose into sentences, for measures defined over sentences: `rougeLsum` and discourse markers.

A rule, not a model: it needs no download, gives the same answer everywhere, and reads a megabyte in well under a
second. A boundary is a line break, or end punctuation before white space and a possible sentence start, unless the
word before it is a known abbreviation, an initial or an acronym with full stops."""

import re
import tomllib
from collections.abc import Iterator
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
