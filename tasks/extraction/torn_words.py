"""Words that a page made from a PDF has in two parts, at a ligature ("signifi cant") or anywhere ("responsibl e"), in
English. Only a page with several of them is mended, and parts are joined only if they are rarer than the word."""

import re
from collections.abc import Callable, Iterable
from functools import cache

_ENDS = (
    "able al ally ance ed ence er ers es ful ible ied ies ing ings ism ist ity ive less ly ment ments ness ous tion "
    "tions"
)
_PAIR = re.compile(r"(?<![\w'’])[A-Za-z]+(?: [a-z]+)+(?![\w'’-])")
_FEWEST = 3  # parts of words on a page that is mended
_RARE = 500  # words for one part, at least
_KNOWN = 500  # times that a word of the language occurs in the list's 1.6 G words
_SUFFIXES = frozenset(_ENDS.split())
_PARTS = frozenset([*_SUFFIXES, *"bcdefghjklmnopqrstuvwxyz", "ff", "fi", "fl", "ffi", "ffl"])  # not words


def mended(lines: Iterable[str], is_english: Callable[[str], bool]) -> list[str]:
    """Return lines with their torn words whole, if they have several; `is_english`: whether a text is English."""
    lines = list(lines)
    words = [word for line in lines for word in line.split()]
    parts = sum(map(_PARTS.__contains__, words))
    if parts < _FEWEST or parts * _RARE < len(words) or not is_english("\n".join(lines)):
        return lines
    joined = [_PAIR.sub(lambda match: _mended(match[0]), line) for line in lines]
    changed = sum(before.count(" ") - after.count(" ") for before, after in zip(lines, joined, strict=True))
    return joined if changed >= _FEWEST else lines


def _mended(text: str) -> str:
    """Return words with those joined that are parts of one, of three before of two."""
    words = text.split(" ")
    done: list[str] = []
    at = 0
    while at < len(words):
        size = next((size for size in (3, 2) if _is_one(words[at : at + size], size)), 1)
        done.append("".join(words[at : at + size]))
        at += size
    return " ".join(done)


def _is_one(parts: list[str], size: int) -> bool:
    """Tell whether parts are one word: it is known, and a part is not a word, or ends words and is rarer. A single
    letter says nothing: "section B and C" has no band."""
    if len(parts) != size:
        return False
    count = _counts()
    whole = count("".join(parts).lower())
    if whole < _KNOWN or (size == 3 and count(parts[1]) > 0):
        return False
    rarest = min((count(part.lower()) for part in parts if len(part) > 1), default=whole)
    return rarest == 0 or (parts[-1] in _SUFFIXES and rarest < whole)


@cache
def _counts() -> Callable[[str], int]:
    from spellchecker import SpellChecker  # here, because hardly any page needs it

    words = SpellChecker(language="en").word_frequency
    return lambda word: int(words[word])
