"""The columns of a document that its text alone decides: language, signals of quality, counts of personal data. The
signals are those of filters of web corpora; `storage/schemas.toml` says what each means and which paper it is from. How
a paragraph ends is a feature of the model of junk paragraphs too.

Personal data are e-mail addresses, telephone, card and account numbers, and IP addresses, counted or masked. A number
counts only if its form shows what it is. A telephone number has a country code, brackets around its area code, a word
such as "tel." before it, or the spelling of North America, Britain or France. Cards and accounts (IBAN) have check
digits. An IP address is routed on the internet, begins no text and follows no word such as "section", so that versions,
headings and private networks do not count. Names and addresses of people are not found."""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.words import END_MARKS
from storage.page_columns import PERSONAL_DATA
from tasks.engine.data_files import fill, read_data
from tasks.text.language import sure_language

_PERSONAL = read_data("tasks.rights", "personal.toml")
_EMAIL, _PHONE, _CALLED, _DIGITS, _IP4, _IP6, _NUMBERED, _ADDRESS, _CARD, _ACCOUNT = (
    re.compile(fill(pattern, _PERSONAL["parts"])) for pattern in _PERSONAL["patterns"].values()
)
_MASKS: Mapping[str, str] = _PERSONAL["masks"]
_PHONE_DIGITS = range(8, 16)  # E.164 allows 15; shorter ones are extensions and short codes
_LEAST_OCTET = 12  # of an address's first number: smaller ones number sections of texts and versions of programs
_SMALL = 32  # four numbers below it are an address only where the text says so
_NEAR = 24  # characters before a number whose words decide whether it is an address
_LEAST_ACCOUNT = 15  # characters, of Norway


@dataclass(frozen=True)
class PersonalData:
    """A piece of personal data in a text."""

    kind: str  # emails | phones | ip_addresses | cards | accounts
    start: int  # where it begins
    end: int  # where it ends


def find_personal(text: str) -> list[PersonalData]:
    """Return the personal data of a text, in its order; none overlaps another."""
    results: list[PersonalData] = []
    end = 0
    for piece in sorted(_found(text), key=lambda piece: (piece.start, -piece.end)):
        if piece.start >= end:
            results.append(piece)
            end = piece.end
    return results


def count_personal(texts: Sequence[str]) -> dict[str, int]:
    """Return how many pieces of each kind texts have, by the kinds of `PersonalData`."""
    counts = Counter(piece.kind for text in texts for piece in find_personal(text))
    return {kind: counts[kind] for kind in PERSONAL_DATA}


def mask_personal(text: str) -> str:
    """Return a text with every piece replaced by its kind, such as "[e-mail]"."""
    masked, end = [], 0
    for piece in find_personal(text):
        masked += [text[end : piece.start], _MASKS[piece.kind]]
        end = piece.end
    return "".join([*masked, text[end:]])


def _found(text: str) -> Iterator[PersonalData]:
    if "@" in text:
        yield from _matches("emails", _EMAIL, text)
    if _DIGITS.search(text):
        yield from _matches("phones", _PHONE, text, _has_digits_of_phone)
        yield from _matches("phones", _CALLED, text, _has_digits_of_phone, group=1)
        yield from _matches("cards", _CARD, text, _has_check_digit)
    for match in _ACCOUNT.finditer(text):
        if (length := _length_of_account(match[0])) is not None:
            yield PersonalData("accounts", match.start(), match.start() + length)
    if "." in text:
        for match in _IP4.finditer(text):
            if match.start() and _is_public(match[0]) and _is_address(text, match):  # at its start it numbers a heading
                yield PersonalData("ip_addresses", *match.span())
    if "::" in text or text.count(":") > 6:
        yield from _matches("ip_addresses", _IP6, text, _is_public)


def _matches(
    kind: str, pattern: re.Pattern[str], text: str, holds: Callable[[str], object] = bool, group: int = 0
) -> Iterator[PersonalData]:
    """Yield the matches of a pattern, or of its group, for which a test of what is written holds."""
    return (PersonalData(kind, *match.span(group)) for match in pattern.finditer(text) if holds(match[group]))


def _has_digits_of_phone(written: str) -> bool:
    return sum(map(str.isdigit, written)) in _PHONE_DIGITS


def _is_public(written: str) -> bool:
    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    return address.is_global and (address.version == 6 or address.packed[0] >= _LEAST_OCTET)


def _is_address(text: str, match: re.Match[str]) -> bool:
    """Tell whether four numbers are an address, and not the number of a section or a version."""
    before = text[max(0, match.start() - _NEAR) : match.start()]
    if _NUMBERED.search(before):
        return False
    return max(map(int, match[0].split("."))) >= _SMALL or _ADDRESS.search(before) is not None


def _has_check_digit(written: str) -> bool:
    """Tell whether the last digit is that of Luhn's formula (ISO/IEC 7812-1, annex B)."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _length_of_account(written: str) -> int | None:
    """Return the length of an account's number whose check digits are right (ISO 13616), without words after it."""
    while len(written) >= _LEAST_ACCOUNT:
        plain = written.replace(" ", "")
        if (
            len(plain) >= _LEAST_ACCOUNT
            and int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1
        ):
            return len(written)
        written = written.rpartition(" ")[0]
    return None


# Rae et al. 2021, app. A.1.1: a page of English prose has at least two of them.
_STOP_WORDS = frozenset({"the", "be", "to", "of", "and", "that", "have", "with"})
_LETTER = re.compile(r"[^\W\d_]")
ENDS = re.compile(rf"[.!?{END_MARKS}](?:[\"”'’»)\]]|\[\d+\]|\d)*+\s*$")  # a text that ends with a sentence
_SENTENCE = re.compile(rf"[.!?](?=[\s\"”'’)\]]|$)|[{END_MARKS}]")
_BULLETS = ("•", "●", "○", "■", "‣", "*", "- ", "– ", "— ")
_ELLIPSES = ("…", "...")
_SHORT = 30  # characters (Penedo et al. 2024, sec. 3.6)
_END = 12  # characters: the last mark of a sentence, and the quotation marks and references that may follow it


def quality_signals(paragraphs: Sequence[str]) -> dict[str, float]:
    """Return the signals of a page by name (`storage.page_columns`); shares are 0-1. Some paragraph has words."""
    lines = max(1, len(paragraphs))
    words = no_letter = letters = characters = symbols = sentences = placeholders = repeated = 0
    stops: set[str] = set()
    seen: set[str] = set()
    for text in paragraphs:
        split = text.lower().split()
        words += len(split)
        letters += sum(map(len, split))
        stops |= _STOP_WORDS.intersection(split)
        no_letter += sum(not (word.isalpha() or _LETTER.search(word)) for word in split)
        symbols += text.count("#") + text.count("…") + text.count("...")
        sentences += len(_SENTENCE.findall(text))
        placeholders += text.count("{") + text.count("lorem ipsum") + text.count("Lorem ipsum")
        characters += len(text)
        repeated += len(text) if text in seen else 0
        seen.add(text)
    return {
        "words": words,
        "word_length": letters / max(1, words),
        "stop_words": len(stops),
        "alphabetic": 1 - no_letter / max(1, words),
        "symbols": symbols / max(1, words),
        "bullets": sum(text.startswith(_BULLETS) for text in paragraphs) / lines,
        "ellipses": sum(text.endswith(_ELLIPSES) for text in paragraphs) / lines,
        "sentences": sentences,
        "placeholders": placeholders,
        "ended": sum(ENDS.search(text[-_END:]) is not None for text in paragraphs) / lines,
        "short": sum(len(text) < _SHORT for text in paragraphs) / lines,
        "repeated": repeated / max(1, characters),
    }


# Characters of a page that decide its language: twice as many cost twice as much and help with 2 in 1,500 pages.
_SAMPLE = 1_000


def text_columns(paragraphs: Sequence[str]) -> dict[str, Any]:
    """Return `language`, `quality` and `personal` of DOCUMENTS; all null for a page without text."""
    if not paragraphs:
        return {"language": None, "quality": None, "personal": None}
    return {
        "language": language_of(paragraphs),
        "quality": quality_signals(paragraphs),
        "personal": count_personal(paragraphs),
    }


def language_of(paragraphs: Sequence[str]) -> str | None:
    """Return the language of a page's longest paragraphs, which are seldom menus or names; None if it is not sure."""
    text, missing = [], _SAMPLE
    for paragraph in sorted(paragraphs, key=len, reverse=True):
        text.append(paragraph[:missing])
        missing -= len(text[-1])
        if missing <= 0:
            break
    return sure_language(" ".join(text))
