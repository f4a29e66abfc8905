from io import BytesIO
from pathlib import Path

import pytest

from tasks.cited_summary.sources import GivenSource, file_source, read_sources
from tasks.sources.miniweb.site import render_pdf

TEXT = b"The town has 4,100 people and a bridge.\n"


def read(*names: str, stdin: bytes = b"", limit: int = 1000) -> list[GivenSource]:
    return read_sources(names, limit, BytesIO(stdin))


def test_the_bytes_decide_the_type_and_the_name_where_they_do_not():
    pdf = render_pdf("Town", [])
    assert file_source("a.txt", TEXT).mime == "text/plain"
    assert file_source("a.md", TEXT).mime == "text/markdown"
    assert file_source("a", TEXT).mime == "text/plain"
    assert file_source("a.txt", b"<!doctype html><p>The town.</p>").mime == "text/html"
    assert file_source("a.html", pdf).mime == "application/pdf"


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n0000", "it is a picture: it needs text recognition (OCR) first"),
        ("a.txt", b" \n", "the file is empty"),
        ("a.txt", bytes(range(32)) * 40, "it is application/octet-stream; what is read: HTML"),
    ],
)
def test_other_files_are_refused_with_what_they_are(name, body, reason):
    given = file_source(name, body)
    assert given.body is None
    assert given.reason is not None
    assert given.reason.startswith(reason)


def test_a_folder_gives_its_files_by_name_and_urls_stay_to_be_fetched(tmp_path: Path):
    (tmp_path / "b.txt").write_bytes(TEXT)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.html").write_bytes(b"<p>Hallow.</p>")
    (tmp_path / "data.bin").write_bytes(b"\0" * 20)
    (tmp_path / "c.rtf").write_bytes(b"{\\rtf1 Hallow.}")
    found = read(str(tmp_path), "https://example.org/x")
    assert [one.name for one in found] == ["b.txt", "c.rtf", "sub/a.html", "https://example.org/x"]
    assert [one.is_url for one in found] == [False, False, False, True]
    assert found[1].reason is not None
    assert found[1].reason.startswith(
        "it is Rich Text: save it as .docx or .odt; what is read: HTML, PDF, Word (.docx)"
    )


def test_a_file_of_two_gigabytes_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(2_000_000_000)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    (given,) = read(str(large), limit=20_000_000)
    assert given.reason == "it has 2,000 MB: expected at most 20 MB"


def test_standard_input_is_read_up_to_the_limit():
    assert read("-", stdin=TEXT) == [GivenSource("standard input", TEXT, "text/plain")]
    (given,) = read("-", stdin=TEXT * 30)
    assert given.reason == "it has 1,001 bytes: expected at most 1,000 bytes"


def test_what_is_nothing_is_named_and_an_empty_folder_says_what_was_expected(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"'nowhere\.txt' is neither a web address"):
        read("nowhere.txt")
    (given,) = read(str(tmp_path))
    assert given.reason == (
        "the folder has no file that can be read: expected one of .html, .htm, .xhtml, .txt, .text, .md, .markdown, "
        ".pdf, .docx, .pptx, .odt, .odp, .ods, .epub"
    )


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("<!-- saved from url=(0022)https://a.test/mill?x=1 -->\n<html>", "https://a.test/mill?x=1"),
        (
            "<!DOCTYPE html><html><!--\n Page saved with SingleFile \n url: https://a.test/mill \n-->",
            "https://a.test/mill",
        ),
        ('<html><link href="https://a.test/m?a&amp;b" rel="canonical"/>', "https://a.test/m?a&b"),
        ("<html><link rel=canonical href=https://a.test/mill>", "https://a.test/mill"),
        ('<html><link rel="canonical" href="/mill"><link rel="next" href="https://a.test/2">', "page.html"),
        ("<html><p>saved from url=(0022)https://a.test/mill", "page.html"),
    ],
)
def test_a_page_that_a_browser_saved_has_its_address_for_a_name(page: str, name: str):
    given = file_source("page.html", page.encode())
    assert (given.name, given.is_url) == (name, False)


def test_a_file_of_text_keeps_its_name():
    assert file_source("a.txt", b"Text: <!-- saved from url=(0022)https://a.test/ -->").name == "a.txt"
