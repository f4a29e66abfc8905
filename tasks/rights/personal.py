"""Personal data in texts: e-mail addresses, telephone numbers and IP addresses, counted or masked.

Numbers are only what their writing shows to be one: a telephone number has a country code, brackets around its area
code, a word such as "tel." before it, or the spelling of North America; an IP address is one that is routed on the
internet and begins no text, so that versions, headings and private networks do not count. Names and addresses of people
are not found.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storage.page_columns import PERSONAL_DATA

_EMAIL = re.compile(
    r"(?<![\w.+%-])[A-Za-z0-9](?:[\w.+%-]{0,62}[\w+-])?@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}"
    r"[A-Za-z]{2,24}(?![\w@-])"
)
_GAP = r"[\s.‐-―/-]{0,2}"
_PHONE = re.compile(
    rf"(?<![\w+.,/@=#$€£-])(?:"
    rf"\+\d{{1,3}}{_GAP}(?:\(\d{{1,5}}\){_GAP})?\d{{1,5}}(?:{_GAP}\d{{2,5}}){{1,5}}"  # +44 20 7946 0018
    rf"|(?:\+?1[\s.-])?\(\d{{3}}\)\s?\d{{3}}[\s.‐-―-]\d{{4}}"  # (212) 555-0123
    rf"|(?:1[\s.-])?[2-9]\d{{2}}([.-])[2-9]\d{{2}}\1\d{{4}}"  # 212-555-0123
    rf"|\(0\d{{1,5}}\)\s?\d{{2,5}}(?:[\s-]\d{{2,5}}){{0,3}}"  # (020) 7946 0018
    rf")(?![\w]|[-./,]\d)"
)
_CALLED = re.compile(
    rf"\b(?:tel|telephone|phone|fax|mobile|t|f)\W{{1,4}}(0\d{{1,5}}(?:{_GAP}\d{{2,5}}){{1,4}})(?![\w]|[-./,]\d)",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d[\d\s().‐-―/-]{6,}\d")  # a text without it has no telephone number; it is quick to find
_PHONE_DIGITS = range(8, 16)  # E.164 allows 15; shorter ones are extensions and short codes
_IP4 = re.compile(r"(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IP6 = re.compile(r"(?<![\w:.])(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,6}(?![\w:])")
_LEAST_OCTET = 12  # of an address's first number: smaller ones number sections of texts and versions of programs

_MASKS = {"emails": "[e-mail]", "phones": "[telephone]", "ip_addresses": "[IP address]"}


@dataclass(frozen=True)
class Found:
    """A piece of personal data in a text.

    Attributes:
        kind: emails | phones | ip_addresses.
        start: where it begins.
        end: where it ends.
    """

    kind: str
    start: int
    end: int


def find_personal(text: str) -> list[Found]:
    """Return the personal data of a text, in its order; none overlaps another."""
    found: list[Found] = []
    end = 0
    for piece in sorted(_found(text), key=lambda piece: (piece.start, -piece.end)):
        if piece.start >= end:
            found.append(piece)
            end = piece.end
    return found


def count_personal(texts: Sequence[str]) -> dict[str, int]:
    """Return how many pieces of each kind texts have: emails, phones, ip_addresses."""
    counts = dict.fromkeys(PERSONAL_DATA, 0)
    for text in texts:
        for piece in find_personal(text):
            counts[piece.kind] += 1
    return counts


def mask_personal(text: str) -> str:
    """Return a text with every piece replaced by its kind, such as "[e-mail]"."""
    masked, end = [], 0
    for piece in find_personal(text):
        masked += [text[end : piece.start], _MASKS[piece.kind]]
        end = piece.end
    return "".join([*masked, text[end:]])


def _found(text: str) -> Iterator[Found]:
    if "@" in text:
        yield from (Found("emails", *match.span()) for match in _EMAIL.finditer(text))
    if _DIGITS.search(text):
        spans = [match.span() for match in _PHONE.finditer(text)] + [match.span(1) for match in _CALLED.finditer(text)]
        for start, end in spans:
            if sum(map(str.isdigit, text[start:end])) in _PHONE_DIGITS:
                yield Found("phones", start, end)
    if "." in text:
        yield from (
            Found("ip_addresses", *match.span())
            for match in _IP4.finditer(text)
            if match.start() and _is_public(match[0])  # at the start of a text it numbers a heading
        )
    if "::" in text or text.count(":") > 6:
        yield from (Found("ip_addresses", *match.span()) for match in _IP6.finditer(text) if _is_public(match[0]))


def _is_public(written: str) -> bool:
    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    return address.is_global and (address.version == 6 or address.packed[0] >= _LEAST_OCTET)
