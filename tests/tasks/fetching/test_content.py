"""Media types: declared, sniffed, and which of the two to believe."""

import random
import zlib
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tasks.fetching.content import declared_type, is_binary, settled_type, sniffed_type


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, (None, None)),
        ("text/html", ("text/html", None)),
        ('Text/HTML; Charset="UTF-8"', ("text/html", "utf-8")),
        ("text/html;charset=windows-1252;x=y", ("text/html", "windows-1252")),
        ("text/html, text/html", ("text/html", None)),
        ("charset=utf-8", (None, "utf-8")),
        ("html", (None, None)),
        (";;;", (None, None)),
    ],
)
def test_declared(header: str | None, expected: tuple[str | None, str | None]) -> None:
    assert declared_type(header) == expected


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"", None),
        (b" \n\t", None),
        (b"<!DOCTYPE HTML>", "text/html"),
        (b"\n  <html lang=en>", "text/html"),
        (b"\xef\xbb\xbf<p>x</p>", "text/html"),
        (b"\xff\xfe" + "<html>".encode("utf-16-le"), "text/html"),
        (b"\xfe\xff" + "plain".encode("utf-16-be"), "text/plain"),
        (b"<?xml version='1.0'?><!DOCTYPE html>", "text/html"),
        (b"<?xml version='1.0'?><feed>", "text/plain"),
        (b"<html>a\x00b", "text/html"),
        (b"words, words", "text/plain"),
        (b"words \x00 bytes", "application/octet-stream"),
        (b"%PDF-1.4", "application/pdf"),
        (b"PK\x03\x04rest", "application/zip"),
        (b"RIFF1234WEBPVP8", "application/riff"),
        (b"\x00\x00\x00\x18ftypmp42", "video/mp4"),
    ],
)
def test_sniffed(start: bytes, expected: str | None) -> None:
    assert sniffed_type(start) == expected


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("declared", "start", "expected"),
    [
        ("text/html", b"words", "text/html"),
        ("text/html", b"words \x00", "text/html"),
        ("text/html", random.Random(1).randbytes(2000), "application/octet-stream"),
        ("text/html", b"words, " * 200 + random.Random(1).randbytes(2000), "application/octet-stream"),
        ("application/xhtml+xml", zlib.compress(random.Random(1).randbytes(2000)), "application/octet-stream"),
        ("text/plain", bytes(2000), "application/octet-stream"),
        ("text/plain", b"words\x01, " * 4 + b"words, " * 200, "text/plain"),
        ("text/html", b"<p>" + random.Random(1).randbytes(2000), "text/html"),
        ("text/html", b"%PDF-1.4", "application/pdf"),
        ("text/plain", b"<html>", "text/html"),
        ("application/xml", b"<html xmlns='x'>", "text/html"),
        ("application/octet-stream", b"words", "text/plain"),
        ("application/json", b"<html>", "application/json"),
        (None, b"<p>x", "text/html"),
        (None, b"", None),
        # The start of a Word file leaves its kind open.
        (DOCX, b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", DOCX),
        ("application/octet-stream", b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", None),
        ("text/html", b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", None),
        ("application/octet-stream", b"PK\x03\x04" + bytes(26) + b"readme.txt", "application/zip"),
        ("application/zip", b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zipPK", "application/epub+zip"),
    ],
)
def test_settled(declared: str | None, start: bytes, expected: str | None) -> None:
    assert settled_type(declared, start) == expected


CHINESE = "".join(chr(0x4E00 + 97 * n % 20_000) for n in range(1000))  # every byte occurs


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (CHINESE, "utf-16", None),
        (CHINESE, "utf-16-be", "utf-16be"),
        (CHINESE, "utf-32-le", "utf-32le"),
        (CHINESE, "utf-8", None),
        (CHINESE, "gb18030", "gb2312"),
        ("Plain words, no markup. " * 50, "utf-16-le", None),
        ("Plain words, no markup. " * 50, "utf-16-be", "klingon-8"),
        ("Žluťoučký kůň pěl. " * 50, "utf-16-le", None),
        ("日本語の文章。 " * 100, "iso2022_jp", None),
        ("한국어 문장 입니다. " * 100, "iso2022_kr", None),
        ("日本語の文章。 " * 100, "shift_jis", None),
        ("Русский текст. " * 100, "koi8-r", None),
    ],
)
def test_text_of_any_character_set_is_no_binary(text: str, codec: str, charset: str | None) -> None:
    assert settled_type("text/html", text.encode(codec), charset) == "text/html"


@pytest.mark.shared_data
def test_no_real_page_is_binary(shared_data: Path) -> None:
    with (shared_data / "wikigraph" / "pages.warc.gz").open("rb") as file:
        bodies = [record.content_stream().read() for record in ArchiveIterator(file) if record.rec_type == "response"]
    assert len(bodies) == 1519
    # Also of what a page holds between its tags, and of its pieces, which nothing else speaks for.
    pieces = (body[start : start + 1024] for body in bodies for start in range(0, len(body), 1024))
    assert not any(is_binary(piece, None) for piece in [*bodies, *pieces])
