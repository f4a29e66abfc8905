"""Sentences of prose, in texts and among the pieces of a vocabulary, by the rules of the text's language.

English is cut by a rule of this file. It needs no download, gives the same answer everywhere, and reads a megabyte in
well under a second. A boundary is end punctuation before white space and a possible sentence start, unless the word
before it is a known abbreviation, an initial or an acronym with full stops. Other languages are cut by Wikimedia's
`sentencex`, whose pieces are joined again where `languages.toml` knows better. A line break is a boundary in every
language. `benchmarks/studies/sentences.md` compares the two."""

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from models.words import BEYOND_LATIN, is_beyond_latin

_CAPITALS = "".join(c for c in map(chr, (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))) if c.isupper())
_BOUNDARY = re.compile(
    rf"""(?<![.!?])[.!?]+["'”’»)\]]*(?P<gap>[^\S\n]+)(?=["'“‘«(\[]*[A-Z0-9{_CAPITALS}])|(?P<line>(?<!\s)\s*\n\s*)"""
)
_LAST_WORD = re.compile(r"(?<![^\s(\[\"'“‘«])[^\s(\[\"'“‘«]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\.")
_LABEL = re.compile(r"\d{1,3}")  # of an item of a list, with a full stop
# Words by which `models.values` reads too.
ENGLISH = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
_ABBREVIATIONS = frozenset(ENGLISH["sentences"]["abbreviations"].split())


def split_sentences(text: str, language: str | None = None) -> list[str]:
    """Return the sentences of `text` in order, stripped, none of them empty; nothing but white space is between two.

    `language`: ISO 639-1 code of the text's language; None = as `language_of` finds it."""
    return list(_sentences(text, language))


def first_sentence(text: str, language: str | None = None) -> str:
    """Return the first sentence of `text`, or an empty string."""
    return next(_sentences(text, language), "")


def _sentences(text: str, language: str | None) -> Iterator[str]:
    language = language or language_of(text)
    return _english(text) if language == "en" else _foreign(text, language)


def _english(text: str) -> Iterator[str]:
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
    """Tell whether the full stop at `mark` belongs to the word before it, or to the label at the start of a line."""
    if text[mark] != "." or not text[mark + 1].isspace():
        return False
    word = _LAST_WORD.search(text, max(start, mark - 40), mark)
    if word is None:
        return False
    if _LABEL.fullmatch(word[0]) and not text[text.rfind("\n", 0, mark) + 1 : word.start()].strip():
        return True
    return word[0].lower() in _ABBREVIATIONS or _INITIALS.fullmatch(word[0] + ".") is not None


# Languages.
_HEAD = 1000  # characters of a text that decide its language
_FEWEST = 2  # words of a language in a text of that language
_LEAST_SHARE = 0.1  # of the words of a text, that are among the commonest of the language
_WHOLE_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?!\S)")  # no part of an address, no s of "it's"
_SURE = (" the ", " of ", " and ")  # a text with one in so many characters is surely English, which saves the count
_SURE_CHARACTERS = 80
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@cache
def _languages() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))


def language_of(text: str) -> str:
    """Return the code of the language by whose rules a text is cut into sentences. Its script decides, or its
    commonest words where that is the Latin one; `en` where these do not. A language with the same rules may stand for
    that of the text, such as Russian for Bulgarian."""
    head = text[:_HEAD]
    if sum(map(head.count, _SURE)) * _SURE_CHARACTERS >= max(1, len(head)):
        return "en"
    if is_beyond_latin(head):
        return _of_script(BEYOND_LATIN.findall(head), head)
    counts = Counter[str]()
    words = _WHOLE_WORD.findall(head.lower())
    for sign in words if head.isascii() else (*words, *_NOT_ASCII.findall(head.lower())):
        counts.update(_sign_languages().get(sign, ()))
    if not counts:
        return "en"
    best, count = counts.most_common(1)[0]
    return best if count > counts["en"] and count >= max(_FEWEST, _LEAST_SHARE * len(words)) else "en"


def _of_script(characters: Sequence[str], text: str) -> str:
    counts = {code: len(pattern.findall("".join(characters))) for code, pattern in _patterns("scripts").items()}
    language = max(counts, key=counts.__getitem__)
    for pair, pattern in _patterns("letters").items():
        of, other = pair.split()
        if of == language and pattern.search(text):
            return other
    return language if counts[language] else "en"


@cache
def _patterns(section: str) -> dict[str, re.Pattern[str]]:
    return {key: re.compile(f"[{''.join(ranges)}]") for key, ranges in _languages()[section].items()}


@cache
def _sign_languages() -> dict[str, tuple[str, ...]]:
    """Return for each common word, and each letter of few languages, the languages that have it."""
    languages: dict[str, tuple[str, ...]] = {}
    for code, words in _languages()["words"].items():
        for sign in (*words.split(), *_languages()["signs"].get(code, "")):
            languages[sign] = (*languages.get(sign, ()), code)
    return languages


# Sentences of other languages than English.
_OPENING = "\"'“‘„«»‹([¿¡—–- "
_END = 60  # characters of a sentence that are looked at for its end
_QUOTED = re.compile(r"""[.!?…。！？]["'”’»›」』]+\s*$""")
_STOPPED = re.compile(r"(?<![^\s(\[\"'“‘„«])(?P<word>[^\s(\[\"'“‘„«]+)\.\s*$")
_INITIAL = re.compile(r"(?:[^\W\d_]\.-?)*[^\W\d_]")


def _foreign(text: str, language: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        sentence = ""
        for piece in _pieces(line, language):
            if sentence and not _goes_on(sentence, piece, language):
                yield sentence.strip()
                sentence = ""
            sentence += piece
        if sentence.strip():
            yield sentence.strip()


def _pieces(line: str, language: str) -> list[str]:
    from sentencex import segment  # here, because a machine that trains on English needs no such package

    pieces: list[str] = segment(language, line)
    ends = _languages()["ends"].get(language)
    return pieces if ends is None else [part for piece in pieces for part in re.split(rf"(?<=[{ends}])", piece)]


def _goes_on(sentence: str, piece: str, language: str) -> bool:
    """Tell whether a piece of a line belongs to the sentence before it."""
    begin = piece.lstrip(_OPENING)
    if not any(map(str.isalnum, piece)) or begin[:1].islower() or sentence.isspace():
        return True
    if sentence[-1] == "." and piece[0].isalnum():
        return True  # no space: the name of a file
    end = sentence[-_END:]
    if _QUOTED.search(end):
        return _matches("after_quotation", language, piece)
    stopped = _STOPPED.search(end)
    if stopped is None:
        return False
    word = stopped["word"]
    if word.isdecimal():
        return (len(sentence) < _END and word + "." == sentence.strip()) or _matches("after_ordinal", language, begin)
    initial = _INITIAL.fullmatch(word) is not None and word.isupper()
    return initial or piece[0] == "-" or word.lower() in _abbreviations(language)


def _matches(section: str, language: str, text: str) -> bool:
    pattern = _languages()[section].get(language)
    return pattern is not None and re.match(pattern, text) is not None


@cache
def _abbreviations(language: str) -> frozenset[str]:
    return frozenset(_languages()["abbreviations"].get(language, "").split())


# Sentences among the pieces of a vocabulary.
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
