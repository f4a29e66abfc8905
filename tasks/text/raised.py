"""Superscripts, subscripts and characters without width as plain text, for sources and targets alike: a superscript
must not make a number larger, and the mark of a note must not become part of a value."""

import re

_INVISIBLE = (
    "\u00ad\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067"
    "\u2068\u2069\ufeff"
)
_JOINERS = re.compile("(?<![^\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u024f])")  # other scripts need them
_NOTE = re.compile(
    r"\[[^\]]{1,30}\]|\(?(?:\d{1,3}|[a-z]|[*†‡§¶#]{1,3})(?:\s?[,;–-]\s?(?:\d{1,3}|[a-z]|[*†‡§¶#]))*\)?"
    r"|(?:note|nb|fn)\.?\s?\d{1,3}",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[*†‡§¶#,\s]+|\[[^\]]{1,30}\]")
_NUMBER = re.compile(r"[-−–+]?\d+(?:[.,]\d+)?")
_COUNT = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*")
_LETTER = re.compile(r"[a-n](?:\s?,\s?[a-n])*")
_LONG_WORD = re.compile(r"[^\W\d_]{3}[.,;:!?]?[\"”’»)\]]{0,3}\Z")
_CLOSED = re.compile(r"[.,;:!?\"”’»)\]]\Z")
_YEAR = re.compile(r"(?<![\d.,×*^-])(?:1\d|20)\d\d\Z")
_GROUPED = re.compile(r"\d[.,\s]\d{3}\Z")
_UNIT = re.compile(
    r"(?<![^\W\d_])(?:[kcdmµμn]?m|km|ft|feet|foot|in|inch(?:es)?|mi|miles?|yd|yards?|met(?:er|re)s?|h|s|sec|min|ha|mol|cm|rad"
    r"|px|au|ly|pc|[^\W\d_])\Z",
    re.IGNORECASE,
)
_POWERS = {"2": "²", "3": "³"}


_LIGATURE = re.compile("[\ufb00-\ufb06]")
_LETTERS = ("ff", "fi", "fl", "ffi", "ffl", "st", "st")


def without_invisible(text: str) -> str:
    """Return text without soft hyphens, characters without width and marks of direction, its ligatures as letters."""
    if text.isascii():
        return text
    text = _LIGATURE.sub(lambda match: _LETTERS[ord(match[0]) - 0xFB00], text)
    for sign in _INVISIBLE:
        if sign in text:
            text = text.replace(sign, "")
    return _JOINERS.sub("", text) if "\u200c" in text or "\u200d" in text else text


def raised(before: str, content: str, linked: bool) -> str:
    """Return the replacement of a superscript after a text `before`: "^30" after a number, "²" after a unit, "th"
    and other letters as they are, nothing for the mark of a note. `linked`: it links to a place in the same page."""
    content = content.strip()
    if not content or (linked and (content.isdigit() or _NOTE.fullmatch(content))) or _SIGNS.fullmatch(content):
        return ""
    before = before.rstrip() if content[0] in "-−–" else before
    if _NUMBER.fullmatch(content) or _COUNT.fullmatch(content):
        return _raised_number(before, content)
    if _LETTER.fullmatch(content) and _LONG_WORD.search(before) and not linked:
        return "" if before[-1:].islower() and content not in {"e", "o"} else content
    return content


def _raised_number(before: str, content: str) -> str:
    last = before[-1:]
    signed = content[0] in "-−–+"
    if last.isdigit():
        counted = _COUNT.fullmatch(content) and not signed
        noted = counted and (_YEAR.search(before) or _GROUPED.search(before) or not content.isdigit())
        return "" if noted else f"^{content.replace('–', '−')}"
    if _UNIT.search(before):
        return _POWERS.get(content, f"^{content}")
    if content in _POWERS and _FORMULA_WORD.search(before):
        return _POWERS[content]
    if signed or not _COUNT.fullmatch(content):
        return f"^{content}" if last.isalpha() or (last == ")" and signed) else content
    if last == ")" and len(content) == 1 and _is_formula(before):
        return f"^{content}"
    if _LONG_WORD.search(before) or _CLOSED.search(before):
        return ""
    return content


_FORMULA_WORD = re.compile(r"[=+×·*/] ?[^\W\d_]{1,3}\Z")
_BRACKET = re.compile(r"\([^()]{1,40}\)\Z")
_OPERATORS = frozenset("-+−×·/*=^")


def _is_formula(before: str) -> bool:
    bracket = _BRACKET.search(before)
    return bracket is not None and not _OPERATORS.isdisjoint(bracket[0])
