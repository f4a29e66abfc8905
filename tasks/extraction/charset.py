"""Decode a body of bytes into text, even if its declared character set is wrong or missing."""

import re

from charset_normalizer import from_bytes
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

_HEAD = 4096  # bytes in which a page must declare its character set; HTML asks for the first 1024
_DETECTION_SAMPLE = 32_768  # bytes
_BAD_SHARE = 0.2  # of the non-ASCII characters: a few bad ones do not prove that the character set is wrong
_LATIN_SHARE = 0.3  # of the letters: no Latin-1 language has so many accented ones; misread Cyrillic has


def decode(body: bytes, declared: str | None) -> str:
    """Return the text, by byte order mark, UTF-8, a label that fits, or detection; bytes that fit none are U+FFFD."""
    marked, mark = read_bom(body)
    if marked is not None and mark is not None:
        return body[len(mark) :].decode(marked, "replace")
    head = body[:_HEAD]
    labels = [codec for codec in map(_codec, (declared, html_body_declared_encoding(head))) if codec]
    if b"\x1b" in head:  # ISO-2022 writes every script in ASCII bytes, which are valid UTF-8
        labels.append("utf-8")
    else:
        labels.insert(0, "utf-8")
    if head.count(b"\0") > len(head) // 4:
        return body.decode("utf-16-le" if head[1::2].count(b"\0") > head[::2].count(b"\0") else "utf-16-be", "replace")
    for codec in labels:
        text = body.decode(codec, "replace")
        if _fits(text, codec):
            return text
    best = from_bytes(_without_tags(body)[:_DETECTION_SAMPLE]).best()
    return body.decode(best.encoding if best else "cp1252", "replace")


def _without_tags(text: bytes) -> bytes:
    """Return HTML with a space for each tag; a pattern would search all that follows for each `<` without a `>`."""
    *parts, rest = text.split(b">")
    cut = (part.partition(b"<") for part in parts)
    return b"".join(before + (b" " if opened else b">") for before, opened, _ in cut) + rest


def _codec(label: str | None) -> str | None:
    """Return Python's name of the codec that browsers use for a label; None for an unknown label."""
    try:
        name = resolve_encoding((label or "").strip().strip("\"'"))
        "".encode(name or "")  # `base64` and other codecs that are not text are LookupErrors here
    except (LookupError, ValueError):
        return None
    return name


def _fits(text: str, codec: str) -> bool:
    """Tell whether text decoded with replacement is plausible, so that the codec may be the right one."""
    if (bad := text.count("�")) and bad > _BAD_SHARE * sum(map(len, re.findall(r"[^\x00-\x7f]+", text))):
        return False
    if codec != "cp1252":
        return True
    accents = sum(map(len, re.findall(r"[À-ÿ]+", text)))
    plain = _without_tags(text.encode("ascii", "ignore"))
    return accents <= _LATIN_SHARE * (accents + sum(map(len, re.findall(rb"[A-Za-z]+", plain))))
