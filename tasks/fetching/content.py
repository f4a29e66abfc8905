"""The type of a body: the declared media type and character set, corrected by its first bytes."""

import contextlib
import re
from collections.abc import Collection

from tasks.engine.data_files import read_data
from tasks.fetching.zip_types import ZIP, zip_type

SNIFF_BYTES = 1024

_MEDIA_TYPE = re.compile(r"\s*([\w!#$&^.+-]+/[\w!#$&^.+-]+)\s*(?:[;,]|$)", re.ASCII)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]+)", re.ASCII | re.IGNORECASE)

_DATA = read_data("tasks.fetching", "media_types.toml")
PACKED: dict[str, str] = _DATA["packed"]
"""The media types of files that are ZIP archives and are read, each with the name of its reader."""

# Types that servers send for unknown files, and for those that are ZIP archives.
_VAGUE = frozenset(
    {
        *("application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown"),
        *("application/x-zip-compressed", "application/zip", "application/download", "application/force-download"),
    }
)
_TEXT_OR_MARKUP = frozenset({"text/plain", "text/xml", "application/xml"})

_BINARY: list[tuple[bytes, str]] = [
    (signature.encode("latin-1"), media) for signature, media in _DATA["signatures"].items()
]
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|!--)[\s>/]",
    re.IGNORECASE,
)
_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Bytes that no text has, in any character set whose units are bytes: shifts (0E, 0F), escapes (1B) and white space
# are of some.
_NO_TEXT = bytes([*range(0x09), *range(0x10, 0x1B), *range(0x1C, 0x20), 0x7F])
# Of 1,579 real pages no kilobyte has more than .015 of them; compressed and random data have .054 and more, programs
# .048. A few stray ones make no page binary.
_BINARY_SHARE = 0.03
_BINARY_COUNT = 8


def declared_type(header: str | None) -> tuple[str | None, str | None]:
    """Return media type and character set of a Content-Type header, each lower-case or None."""
    if not header:
        return None, None
    media = _MEDIA_TYPE.match(header)
    charset = _CHARSET.search(header)
    return (media.group(1).lower() if media else None, charset.group(1).lower() if charset else None)


def sniffed_type(start: bytes) -> str | None:
    """Return the media type recognised from the first bytes of a body, or None if there are none. Binary formats are
    recognised by their signatures, HTML by an opening tag, plain text by the absence of control characters; anything
    else is `application/octet-stream`."""
    head = start[:SNIFF_BYTES]
    for signature, media in _BINARY:
        if head.startswith(signature):
            return media
    if head[60:68] == b"BOOKMOBI":
        return "application/x-mobipocket-ebook"
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return "application/riff"
    if head[4:8] == b"ftyp":
        return "video/mp4"
    for mark, charset in _MARKS.items():
        if head.startswith(mark):
            head = head[len(mark) :].decode(charset, "replace").encode()
            break
    text = head.lstrip()
    if _HTML.match(text) or (text.startswith(b"<?xml") and re.search(rb"<(!doctype\s+)?html", text, re.IGNORECASE)):
        return "text/html"
    if text.startswith(b"<?xml") and b"<office:document" in text:
        return "application/vnd.oasis.opendocument.flat"
    if not text:
        return None
    return "application/octet-stream" if re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", text) else "text/plain"


def is_binary(body: bytes, charset: str | None) -> bool:
    """Tell by control characters, decoded by the charset, whether bytes without signature and HTML are binary."""
    wide = next((codec for mark, codec in _MARKS.items() if body.startswith(mark)), None)
    if wide is None and charset is not None and charset.startswith(("utf-16", "utf-32")):
        wide = charset
    if wide is None and body.count(0) > len(body) // 4:  # in UTF-16, every second byte of European text is NUL
        low, high = body[::2].count(0), body[1::2].count(0)
        wide = "utf-16-le" if high > 9 * low else "utf-16-be" if low > 9 * high else None
    if wide is not None:
        with contextlib.suppress(LookupError):  # an unknown label
            body = body.decode(wide, "replace").encode()
    controls = len(body) - len(body.translate(None, _NO_TEXT))
    return controls >= _BINARY_COUNT and controls > _BINARY_SHARE * len(body)


def settled_type(declared: str | None, start: bytes, charset: str | None = None) -> str | None:
    """Return the declared media type, or the sniffed one if that is missing, vague, or refuted by the bytes; None if
    the start of a body leaves it open."""
    sniffed = sniffed_type(start)
    if sniffed == ZIP:
        kind = zip_type(start)
        return kind or (declared if declared in PACKED else None)
    if sniffed in ("text/plain", "application/octet-stream") and is_binary(start, charset):
        return "application/octet-stream"
    if sniffed is None or sniffed == declared:
        return declared
    if declared is None or declared in _VAGUE:
        return sniffed
    if sniffed == "text/html":
        return sniffed if declared in _TEXT_OR_MARKUP else declared
    if sniffed in ("text/plain", "application/octet-stream"):
        return declared
    return sniffed


def hopeless_type(declared: str | None, accepted: Collection[str]) -> bool:
    """Tell whether the declared type alone excludes a body, so that it need not be read."""
    return declared is not None and declared not in accepted and declared not in _VAGUE | _TEXT_OR_MARKUP


def advice(media: str) -> str:
    """Return what a media type that is not read is called, and what to do with such a file."""
    return next((text for start, text in _DATA["advice"].items() if media.startswith(start)), media)
