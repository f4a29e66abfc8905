"""Archives by their compression: per record or not, with a dictionary, damaged, and bombs."""

import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from tasks.archives.archive import ArchiveFile, index_archive
from tasks.archives.archive_file import OpenArchive, ScratchFullError
from tasks.fetching.settings import CrawlSettings
from tests.tasks.archives.test_archive import http, record
from tests.tasks.fetching.loopback_server import crawl_pages, frontier, local_journal

URLS = [f"http://a.test/{n}" for n in range(6)]
BODIES = [b"<html><p>Page %d, and words that are in every page.</p></html>" % n for n in range(6)]
RECORDS = [record(url, http(body)) for url, body in zip(URLS, BODIES, strict=True)]
INFO = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 2\r\n\r\nx\n\r\n\r\n"
DICTIONARY = zstd.finalize_dict(
    zstd.ZstdDict(b"".join(RECORDS), is_raw=True), [r + bytes([n]) for n in range(50) for r in RECORDS], 4096, 3
)
SKIPPED = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"notes"


def framed(dictionary: bytes) -> bytes:
    return b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(dictionary)) + dictionary


def with_dictionary(head: bytes) -> bytes:
    return head + b"".join(zstd.compress(one, zstd_dict=DICTIONARY) for one in [INFO, *RECORDS])


def blocks(pack: Callable[[bytes], bytes], size: int) -> bytes:
    """Members that end anywhere, as block-parallel compressors write them."""
    content = INFO + b"".join(RECORDS)
    return b"".join(pack(content[start : start + size]) for start in range(0, len(content), size))


WHOLE = INFO + b"".join(RECORDS)
# Content of the file, and whether its records are found at members of their own.
SOUND: dict[str, tuple[bytes, bool]] = {
    "zstd, a frame a record": (b"".join(map(zstd.compress, [INFO, *RECORDS])), True),
    "zstd, skippable frames between": (SKIPPED.join(map(zstd.compress, [INFO, *RECORDS])), True),
    "zstd, dictionary": (with_dictionary(framed(DICTIONARY.dict_content)), True),
    "zstd, compressed dictionary": (with_dictionary(framed(zstd.compress(DICTIONARY.dict_content))), True),
    "zstd, one frame": (zstd.compress(WHOLE), False),
    "zstd, frames of blocks": (blocks(zstd.compress, 300), False),
    "gzip, a member a record": (b"".join(map(gzip.compress, [INFO, *RECORDS])), True),
    "gzip, one member": (gzip.compress(WHOLE), False),
    "gzip, members of blocks": (blocks(gzip.compress, 300), False),
    "gzip, two records a member": (
        gzip.compress(INFO) + b"".join(gzip.compress(RECORDS[n] + RECORDS[n + 1]) for n in (0, 2, 4)),
        False,
    ),
    "plain": (WHOLE, True),
}


def taken(tmp_path: Path, content: bytes, **settings: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the index of a file, and rows of its pages."""
    file = tmp_path / "pages.warc.any"
    file.write_bytes(content)
    options = CrawlSettings(archive=(str(file),), **settings)
    captures = index_archive(options, file=ArchiveFile(str(file), ""), host_shards=1)
    pages = crawl_pages(
        frontier(URLS), captures, options, journal=local_journal(tmp_path), connect_to={}, progress=lambda _: None
    )
    return captures.to_pylist(), pages.to_pylist()


@pytest.mark.parametrize("name", SOUND)
def test_sound_archive(name: str, tmp_path: Path) -> None:
    content, per_record = SOUND[name]
    captures, pages = taken(tmp_path, content)
    assert [row["body"] for row in pages] == BODIES
    assert [(row["url"], row["reason"]) for row in captures] == [(url, None) for url in URLS]
    assert {row["decoded"] for row in captures} == {not per_record}


def flip(content: bytes, number: int) -> bytes:
    """Damage the middle of one member of several."""
    start = sum(len(one) for one in MEMBERS[:number]) + 30
    return content[:start] + bytes(20) + content[start + 20 :]


MEMBERS = [zstd.compress(one) for one in [INFO, *RECORDS]]


def test_damaged_frame_keeps_the_others(tmp_path: Path) -> None:
    captures, pages = taken(tmp_path, flip(b"".join(MEMBERS), 3))
    assert [row["body"] for row in pages] == [*BODIES[:2], None, *BODIES[3:]]
    assert [row["reason"] for row in captures if row["url"] is None] == ["broken_record"]


def test_file_cut_in_its_last_member(tmp_path: Path) -> None:
    for pack in (zstd.compress, gzip.compress):
        content = b"".join(pack(one) for one in [INFO, *RECORDS])
        _, pages = taken(tmp_path, content[:-25])
        assert [row["body"] for row in pages] == [*BODIES[:5], None]
    captures, pages = taken(tmp_path, gzip.compress(WHOLE)[:-20])
    assert [row["body"] for row in pages][:4] == BODIES[:4]
    assert captures[0]["decoded"]
    captures, _ = taken(tmp_path, zstd.compress(WHOLE)[:-20])  # one block, of which nothing can be decoded
    assert [row["reason"] for row in captures] == ["broken_record"]


BROKEN = {
    "nothing in a frame": b"\x28\xb5\x2f\xfd" + bytes(100),
    "no frame": b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
    "dictionary is none": framed(b"nonsense") + zstd.compress(WHOLE),
    "dictionary is cut": framed(DICTIONARY.dict_content)[:500],
    "dictionary is a bomb": framed(zstd.compress(bytes(100_000_000))) + zstd.compress(WHOLE),
    "dictionary is missing": b"".join(zstd.compress(one, zstd_dict=DICTIONARY) for one in RECORDS),
    "window of 2 GB": zstd.compress(
        WHOLE, options={zstd.CompressionParameter.window_log: 31, zstd.CompressionParameter.content_size_flag: 0}
    )[:6]
    + bytes(50),
}


@pytest.mark.parametrize("name", BROKEN)
def test_zstd_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    captures, pages = taken(tmp_path, BROKEN[name])
    assert {row["reason"] for row in captures} <= {"broken_record", "unsupported_compression"}
    assert len(captures) >= 1
    assert {row["reason"] for row in pages} == {"not_in_archive"}


def test_decoded_copy_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.archive.MAX_DECODED_ARCHIVE_BYTES", 1000)
    captures, pages = taken(tmp_path, gzip.compress(WHOLE))
    assert [row["reason"] for row in captures] == ["archive_too_large"]
    assert {row["reason"] for row in pages} == {"not_in_archive"}
    file = tmp_path / "bomb.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    file.write_bytes(packer.compress(WHOLE) + packer.compress(bytes(50_000_000)) + packer.flush())
    with OpenArchive(str(file), 1_000_000) as archive, pytest.raises(ScratchFullError, match="1,000,000"):
        archive.decoded()


def test_bomb_in_a_record_ends_at_the_limit_of_a_body(tmp_path: Path) -> None:
    bomb = gzip.compress(record(URLS[0], http(bytes(50_000_000)))) + gzip.compress(RECORDS[1])
    _, pages = taken(tmp_path, bomb, max_bytes=100_000)
    assert [(row["reason"], row["bytes"] < 300_000) for row in pages[:2]] == [("too_large", True), (None, True)]
