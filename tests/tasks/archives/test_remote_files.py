"""A file of an archive on the web as a file object."""

import io

import pytest

from tasks.archives.remote_files import RemoteFile, RemoteFiles
from tasks.fetching.settings import CrawlSettings
from tests.tasks.archives.index_table import ColumnarCrawl
from tests.tasks.fetching.loopback_server import FAST

pytestmark = pytest.mark.integration


def test_pieces_follow_each_other_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.archives.remote_files.PIECE_BYTES", 4)
    common = {"data_url": "http://data.cc.test/data", "requests_per_second": 10_000.0}
    settings = CrawlSettings.model_validate({**FAST, "common_crawl": common})
    with ColumnarCrawl() as server:
        server.put("a", b"0123456789abcdef")
        with RemoteFiles(settings, {"*.test": server.address}) as files:
            file = RemoteFile(files, "http://data.cc.test/data/a")
            assert (file.read(6), file.tell(), file.read(3), file.tell()) == (b"012345", 6, b"678", 9)
            assert (file.seek(-3, io.SEEK_END), file.read(9), file.read(1)) == (13, b"def", b"")
            assert (file.seek(2), file.seek(1, io.SEEK_CUR), file.read()) == (2, 3, b"3456789abcdef")
        assert [size for _, size in server.requests] == [1, 4, 2, 3, 3, 4, 4, 4, 1]
