"""One form for values that are written in several ways: dates, amounts, shares, units, common abbreviations.

The verifier compares texts in this form, so that "Nov. 1" says "November 1" and "$2.5bn" says "2.5 billion dollars". It
is never shown: what readers see stays as written."""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from tasks.engine.data_files import read_data

_NUMBER = r"\d{1,12}(?:,\d{3}){0,6}(?:\.\d{1,12})?"  # bounded, so that the time grows only linearly with the text
_LENGTHS = "tall high wide long deep thick above below away apart race sprint hurdles dash freestyle relay"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_UNITS = "one two three four five six seven eight nine"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_REMEMBERED = 8192
Replacement = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


@lru_cache(maxsize=_REMEMBERED)
def canonical(text: str) -> str:
    """Return a text with its values in one form. A text already in that form stays as it is."""
    for pattern, replacement in _replacements():
        text = pattern.sub(replacement, text)
    return text


@cache
def _replacements() -> list[Replacement]:
    """Return the replacements in their order: later rules read the forms that earlier ones make."""
    table: Mapping[str, Mapping[str, str]] = read_data("tasks.verification", "canonical.toml")
    tens = {word: 10 * count for count, word in enumerate(_TENS.split(), 2)}
    units = {word: count for count, word in enumerate(_UNITS.split(), 1)}
    ends = re.escape("".join(sorted({sign[-1] for sign in table["currencies"]})))
    signs = f"(?<![{ends}])(?<![{ends}] )(?:{_any(table['currencies'])})"  # no amount is behind several signs
    return [
        (re.compile(rf"(?<!\w)(?:{_any(table['names'])})(?![\w$])"), lambda m: table["names"][m[0]]),
        (re.compile(rf"\b({_any(table['months'])})(?= \d)"), lambda m: table["months"][m[1]]),
        (re.compile(rf"(?<=\d )({_any(table['months'])})(?!\w)"), lambda m: table["months"][m[1]]),
        (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})\b"), r"\2 \1"),
        (re.compile(rf"\b({_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)\b"), r"\1 \2"),
        (
            re.compile(rf"\b({_any(tens)})[- ]({_any(units)})\b", re.IGNORECASE),
            lambda m: str(tens[m[1].lower()] + units[m[2].lower()]),
        ),
        (re.compile(rf"\b({_any(table['shares'])})(?= of\b)", re.IGNORECASE), lambda m: table["shares"][m[1].lower()]),
        (re.compile(rf"({signs}) ?({_NUMBER})[mM]\b"), r"\1\2 million"),
        (re.compile(rf"(?<![\w.])({_NUMBER})m(?= (?!{'|'.join(_LENGTHS.split())})[a-z])"), r"\1 million"),
        (re.compile(rf"\b({_NUMBER})[kK](?![\w/])"), r"\1 thousand"),
        (
            re.compile(rf"(?<![\w.])({_NUMBER})[ -]?({_any(table['units'])})(?!\w)"),
            lambda m: f"{m[1]} {table['units'][m[2]]}",
        ),
        (
            re.compile(rf"({signs}) ?({_NUMBER}(?: (?:million|billion|trillion|thousand))?)"),
            lambda m: f"{m[2]} {table['currencies'][m[1]]}",
        ),
    ]


def _any(words: Mapping[str, object]) -> str:
    """Return a pattern of any of some words, longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
