"""Characters to which only a font of their file gives a meaning. Some codes are known, and become the characters that a
reader sees. Text with other ones cannot be read without the font."""

import re
import unicodedata
from collections import Counter
from string import ascii_lowercase

# Adobe's codes of small capitals and old-style figures ("Adobe Glyph List"), whose last byte is the code of the
# character in Latin-1.
_ADOBE = re.compile("[\uf721-\uf77e\uf7a1-\uf7fe]")
_ORNAMENT = re.compile(r"(?:^|(?<=\s))[\ue000-\uf8ff]+(?:\s+|$)|^[\ue000-\uf8ff]+")  # a bullet, or an icon of a page
# The codes of Windows-1252 that pages have where Unicode has controls: euro, dots, quotation marks, dashes.
_WINDOWS = re.compile("[\x80\x85\x91-\x97]")
# Codes of TeX's fonts (Cork encoding) that a PDF has if its fonts have no table of characters. Each becomes one
# character. Brackets of formulas have the codes of quotation marks and dashes, but do not touch a word.
_LIGATURES = str.maketrans("\x1b\x1c\x1d\x1e\x1f\x88", "\ufb00\ufb01\ufb02\ufb03\ufb04•")
_MARKS = re.compile(r"\x10(?=\w)|(?<=[\w.,;:!?)])\x11|(?<=\w)\x15|(?<=[\w ])\x16(?=[\w\s])")
_MARK = str.maketrans("\x10\x11\x15\x16", "“”–—")
# Controls, private and replaced characters; letters that stand for figures and marks in PDFs whose font has no table
# of characters: those of Calibri and Cambria become "ͳͻ͸Ͳǡ", and others may have codes that nothing is assigned to.
_UNREADABLE = re.compile("[\x80-\x9f\ue000-\uf8ff\ufffd\u0370-\u0373\u0376-\u0379]|(?<=[A-Za-z])[ǡǤ](?=\\s|$)")
_PRINTABLE = "\ufffd\u0370\u0371\u0372\u0373\u0376\u0377\u0378\u0379ǡǤ"  # those of them that Unicode calls printable
_NO_SIGN = frozenset({"Cc", "Cn", "Co"})  # categories of controls, unassigned and private characters
_LETTERS = 200  # of a text, at least, to count its vowels
_VOWELS = 0.2  # share of a text's letters from which it can be words; every language with Latin letters has more
_CODES = 0.3  # share of unassigned, private and control characters from which a text cannot be read


def with_characters(text: str) -> str:
    """Return text with known codes of fonts as the characters that they draw, and without ornaments."""
    if text.isascii():
        return text
    text = _ADOBE.sub(lambda match: chr(ord(match[0]) & 0xFF), text)
    text = _WINDOWS.sub(lambda match: match[0].encode("latin-1").decode("cp1252"), text)
    return _ORNAMENT.sub("", text).rstrip() or text


def with_tex_characters(text: str) -> str:
    """Return text of a PDF as long as before, with known codes of TeX's fonts as the characters that they draw."""
    return _MARKS.sub(lambda match: match[0].translate(_MARK), text.translate(_LIGATURES))


def is_unreadable(text: str) -> bool:
    """Tell whether some characters of a text have a meaning only in a font of its file."""
    if text.isascii() or (text.isprintable() and not any(sign in text for sign in _PRINTABLE)):
        return False  # most text, at a tenth of the cost of the search
    return _UNREADABLE.search(text) is not None


def is_garbled(text: str) -> bool:
    """Tell whether the text of a whole PDF file has codes of glyphs instead of characters: many are unassigned
    or private, or its letters form no words ("7KH EULGJH" for "The bridge")."""
    signs = Counter("".join(text.casefold().split()))
    shown = signs.total()
    if sum(count for sign, count in signs.items() if unicodedata.category(sign) in _NO_SIGN) > _CODES * shown:
        return True
    letters, vowels = (sum(signs[letter] for letter in alphabet) for alphabet in (ascii_lowercase, "aeiou"))
    return _LETTERS <= letters > shown / 2 and vowels < _VOWELS * letters
