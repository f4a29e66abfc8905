"""Decide from a paragraph alone whether it is prose, and why not; `tasks.rights.conditions` has reasons that its page
gives."""

import math
import re
from collections.abc import Sequence

from models.words import END_MARKS
from tasks.engine.reasons import Reason
from tasks.extraction.font_codes import is_unreadable
from tasks.paragraphs.settings import ParagraphFilterSettings
from tasks.text.boilerplate_phrases import is_boilerplate
from tasks.text.ngrams import split_words


class ParagraphReason(Reason):
    """Why a paragraph is not a candidate."""

    TOO_LONG = "too_long", "longer than any author's paragraph"
    NO_LETTERS = "no_letters", "no letter in it"
    UNREADABLE = "unreadable", "some of its characters have a meaning only in a font of its file"
    TOO_SHORT = "too_short", "fewer than six words"
    MOSTLY_LINKS = "mostly_links", "most of it is web addresses"
    MOSTLY_SYMBOLS = "mostly_symbols", "most of it is digits, punctuation and signs"
    MARKUP = "markup", "code or markup rather than prose"
    BOILERPLATE = "boilerplate", "a phrase typical of cookie notices, footers and forms"
    NAVIGATION = "navigation", "a menu or a list of links"
    NO_SENTENCE = "no_sentence", "no sentence in it"
    LANGUAGE = "language", "surely in another language"
    HOST_BOILERPLATE = "host_boilerplate", "it repeats across pages of its host"
    JUNK = "junk", "it reads like a reference, a caption, a teaser or a comment rather than like prose on the subject"
    CLONE_DOCUMENT = "clone_document", "the whole document is a copy of the article"
    CLONE = "clone", "it repeats the lead section"
    CLONE_OF_PART = "clone_of_part", "it repeats a part of the lead section"
    MIRROR = "mirror", "it repeats the lead section in pieces: the whole page holds much of it"
    DUPLICATE = "duplicate", "an earlier paragraph of the article has the same text"
    REST_OF_DOCUMENT = (
        "rest_of_document",
        "all that a document has beyond the most paragraphs or characters, counted once",
    )
    OVER_LIMIT = "over_limit", "the article has more candidates than the settings allow"


# An article of which a paragraph has one of these has its lead, or a paragraph of the lead, in a source.
REPEATS_LEAD = frozenset(
    {ParagraphReason.CLONE_DOCUMENT, ParagraphReason.CLONE, ParagraphReason.CLONE_OF_PART, ParagraphReason.MIRROR}
)

_SPELLED = re.compile(r"[^\W\d_]+")
_SYMBOL = re.compile(r"""[\d!-/:-@\[-`{-~|•·…“”‘’«»–—]""")
# Tables that count words and symbols of most texts in a tenth of the time of these patterns. They read the bytes of
# Latin-1; these signs outside it become question marks, which are symbols as well.
_SIGNS_OUTSIDE_LATIN = "•…“”‘’–—"
_LATIN = [chr(byte) for byte in range(256)]
_WORD_BYTES = bytes(ord("a") if character.isalnum() else ord(" ") for character in _LATIN)
_SYMBOL_BYTES = bytes(byte for byte, character in enumerate(_LATIN) if _SYMBOL.match(character))
_LINK = re.compile(r"!?\[[^\[\]]*\]\([^()]*\)?|(?:https?://|www\.)\S+", re.IGNORECASE)
_MARKUP = re.compile(
    r"</?[a-z]+[1-6]?\s*/?>|<[a-z]+\s+[a-z-]+=|&(?:nbsp|amp|quot|lt|gt|#\d+);|\{\{|\}\}"
    r"|function\s*\w*\([^()]*\)\s*\{|\bvar\s+\w+\s*=|\{\"\w+\":|\{\s*[a-z-]+\s*:[^{}]*;\s*\}",
    re.IGNORECASE,
)
_LINK_SIGNS = ("](", "://", "w.", "W.")  # a text without these has no _LINK
_MARKUP_SIGNS = ("<", "&", "{", "}", "=")  # likewise, no _MARKUP
_SEPARATOR = re.compile(r"\s[|•·»›>*/–—-]\s|[|•·»›]|^\s*[*+-]\s|\[[x ]?\]")
_MARKED_END = rf"""[.!?…؟{END_MARKS}](?:(?<=[{END_MARKS}])|(?:["”'’»)\]]|\[\d+\])*(?=\s|$))"""
_SENTENCE_END = re.compile(_MARKED_END)
# Thai and Lao have no mark at the end of a sentence, but a space behind each clause: one of 20 letters is not from a
# menu.
_CLAUSE = re.compile(r"[\u0e00-\u0eff]{20}")
_CLAUSE_END = re.compile(rf"{_MARKED_END}|(?<={_CLAUSE.pattern})(?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:^|\s)(?:[A-Z]|vs|no|vol|pp?|figs?|al|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$", re.IGNORECASE
)
_ASCII_LETTER = re.compile(r"[A-Za-z]")
_FULL_STOP = re.compile(r"(?<=\.)\s+")

# Thresholds of the preset `default`, tuned by reading what they refuse and keep on real cited pages.
MIN_WORDS = 6  # of a paragraph
MAX_CHARACTERS = 10_000  # no author writes more in one paragraph
MAX_LINK_SHARE = 0.5  # of a paragraph's characters in web addresses
_MAX_SYMBOL_SHARE = 0.45  # of a paragraph's characters that are digits, punctuation and signs
BOILERPLATE_CHARACTERS = 800  # up to which a boilerplate phrase makes a paragraph refused: longer text may quote one
_WORDS_PER_SEPARATOR = 8  # prose has fewer separators than one in so many words
_WORDS_PER_SENTENCE = 30  # prose has more sentence ends than one in so many words
_WORDS_PER_MARKUP = 20
_FRAGMENT_WORDS = (12, 80)  # words of a text without a full stop that may still be prose, at least and at most
_INTRODUCES = (":", ":”", ":’", "：")  # ends of a sentence before a list or a quotation
_FRAGMENT_CAPITALS = 0.35  # share of capitalised words and numbers from which such text is a headline or a table


def drop_reason(text: str, settings: ParagraphFilterSettings, words: Sequence[str] | None = None) -> str | None:
    """Return the first reason of the preset against a paragraph, or None; `words` are split by the rule `rouge`."""
    match settings.preset:
        case "default":
            return _default(text, words)
        case "liu2018":
            return _liu2018(text)
    return None


def _default(text: str, split: Sequence[str] | None) -> str | None:
    if len(text) > MAX_CHARACTERS:
        return ParagraphReason.TOO_LONG
    if not _SPELLED.search(text):
        return ParagraphReason.NO_LETTERS
    if is_unreadable(text):
        return ParagraphReason.UNREADABLE
    words, symbols = _words_and_symbols(text)
    if words < MIN_WORDS:
        return ParagraphReason.TOO_SHORT
    if _has_any(text, _LINK_SIGNS) and sum(map(len, _LINK.findall(text))) > MAX_LINK_SHARE * len(text):
        return ParagraphReason.MOSTLY_LINKS
    if symbols > _MAX_SYMBOL_SHARE * (len(text) - text.count(" ")):
        return ParagraphReason.MOSTLY_SYMBOLS
    if _has_any(text, _MARKUP_SIGNS) and len(_MARKUP.findall(text)) * _WORDS_PER_MARKUP > words:
        return ParagraphReason.MARKUP
    if len(text) <= BOILERPLATE_CHARACTERS and is_boilerplate(text, split):
        return ParagraphReason.BOILERPLATE
    sentences = _sentences(text, math.ceil(words / _WORDS_PER_SENTENCE))
    if sentences * _WORDS_PER_SENTENCE < words:
        separators = len(_SEPARATOR.findall(text))
        if separators > max(2, words / _WORDS_PER_SEPARATOR):
            return ParagraphReason.NAVIGATION
    return None if sentences or _is_unfinished_prose(text, words) else ParagraphReason.NO_SENTENCE


def _has_any(text: str, signs: tuple[str, ...]) -> bool:
    """Tell whether a text has one of the signs that a pattern needs; most prose has none, which saves the search."""
    for sign in signs:  # noqa: SIM110 - a generator costs as much as the search it saves
        if sign in text:
            return True
    return False


def _words_and_symbols(text: str) -> tuple[int, int]:
    latin = text.encode("latin-1", "replace")
    if text.isascii() or latin.count(b"?") == text.count("?") + sum(map(text.count, _SIGNS_OUTSIDE_LATIN)):
        return len(latin.translate(_WORD_BYTES).split()), len(latin) - len(latin.translate(None, _SYMBOL_BYTES))
    return len(split_words(text, "unicode")), len(_SYMBOL.findall(text))


def _sentences(text: str, most: int) -> int:
    """Count the sentence ends of a paragraph up to `most`; an abbreviation's full stop counts only at the very end."""
    count = 0
    pattern = _SENTENCE_END if text.isascii() or _CLAUSE.search(text) is None else _CLAUSE_END
    for end in pattern.finditer(text):
        if end.end() == len(text) or not _ABBREVIATION.search(text[max(0, end.start() - 6) : end.start() + 1]):
            count += 1
            if count >= most:
                break
    return count


def _is_unfinished_prose(text: str, words: int) -> bool:
    """Tell by words in lower case whether text without a sentence end is prose; before a colon it may be short."""
    fewest, most = _FRAGMENT_WORDS
    if not (MIN_WORDS if text.endswith(_INTRODUCES) else fewest) <= words <= most:
        return False
    lower = sum(1 for word in _SPELLED.findall(text) if not word[0].isupper())
    return words - lower < _FRAGMENT_CAPITALS * words


def _liu2018(text: str) -> str | None:
    """The paragraph filter of Liu et al. 2018; tokens are separated by white space."""
    if len(text.split()) < 6:
        return ParagraphReason.TOO_SHORT
    if not _ASCII_LETTER.search(text):
        return ParagraphReason.NO_LETTERS
    sentences = _FULL_STOP.split(text.strip())
    if not any(sentence.endswith(".") and len(sentence.split()) > 3 for sentence in sentences):
        return ParagraphReason.NO_SENTENCE
    return None
