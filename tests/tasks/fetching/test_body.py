"""Bodies that wait on disk."""

import errno
import io
import tempfile
from pathlib import Path

import pytest
from urllib3 import HTTPResponse

from tasks.fetching.http import Response, read_body
from tests.tasks.fetching.loopback_server import LoopbackServer, answer, crawl, local_journal


@pytest.mark.parametrize("size", [0, 3, 200_000, 262_144, 262_145, 1_000_000])
def test_blocks_are_read_back(size: int) -> None:
    data = (b"0123456789" * (size // 10 + 1))[:size]
    checked: list[bytes | None] = []

    def check(start: bytes | None) -> None:
        checked.append(start)

    def read(limit: int) -> Response:
        raw = HTTPResponse(io.BytesIO(data), preload_content=False)
        body, received = read_body(raw, limit, cut=True, check=check)
        return Response("http://a.test/", 200, {}, body, received, None, None)

    whole = read(1_000_000)
    assert (whole.received, whole.body, whole.body) == (size, data, data)
    assert checked == [None, data[:1024]]
    assert read(150_000).body == data[:150_000]


def test_large_body_waits_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = tempfile.TemporaryFile

    def noted(*arguments: object, **options: object) -> object:
        made.append(str(options["prefix"]))
        return make(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    large = b"<html>" + b"x" * 900_000 + b"</html>"
    with LoopbackServer({"/large": answer(large), "/small": answer()}) as server:
        urls = ["http://a.test/large", "http://a.test/small"]
        rows = crawl(server, urls, local_journal(tmp_path), max_bytes=1_000_000)
    assert rows["http://a.test/large"]["body"] == large
    assert made == ["wikisum-"]


def test_full_temporary_folder_ends_the_crawl_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    large = b"<html>" + b"x" * 900_000 + b"</html>"
    with LoopbackServer({"/large": answer(large)}) as server:
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "TemporaryFile", full)
            with pytest.raises(OSError, match="No space left"):
                crawl(server, ["http://a.test/large"], local_journal(tmp_path), max_bytes=1_000_000)
        rows = crawl(server, ["http://a.test/large"], local_journal(tmp_path), max_bytes=1_000_000)
    assert rows["http://a.test/large"]["body"] == large
