"""Media types: declared, sniffed, and which of the two to believe."""

import pytest

from tasks.crawl.content import declared_type, settled_type, sniffed_type


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


@pytest.mark.parametrize(
    ("declared", "start", "expected"),
    [
        ("text/html", b"words", "text/html"),
        ("text/html", b"words \x00", "text/html"),
        ("text/html", b"%PDF-1.4", "application/pdf"),
        ("text/plain", b"<html>", "text/html"),
        ("application/xml", b"<html xmlns='x'>", "text/html"),
        ("application/octet-stream", b"words", "text/plain"),
        ("application/json", b"<html>", "application/json"),
        (None, b"<p>x", "text/html"),
        (None, b"", None),
    ],
)
def test_settled(declared: str | None, start: bytes, expected: str | None) -> None:
    assert settled_type(declared, start) == expected
