"""A table of the columnar index in its real layout, WARC files, and a web that serves ranges of both."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.fetching.urls import surt_key
from tests.tasks.archives.test_archive import http, record
from tests.tasks.fetching.loopback_server import Exchange, LoopbackServer, answer

# As in the schema that https://github.com/commoncrawl/cc-index-table publishes, in its order: Spark's `integer` is
# int32, its `short` int16, and times are written in milliseconds.
_TEXT = pa.string()
LAYOUT = pa.schema(
    [
        ("url_surtkey", _TEXT),
        ("url", _TEXT),
        ("url_host_name", _TEXT),
        ("url_host_tld", _TEXT),
        ("url_host_registered_domain", _TEXT),
        ("url_protocol", _TEXT),
        ("url_port", pa.int32()),
        ("url_path", _TEXT),
        ("url_query", _TEXT),
        ("fetch_time", pa.timestamp("ms", tz="UTC")),
        ("fetch_status", pa.int16()),
        ("fetch_redirect", _TEXT),
        ("content_digest", _TEXT),
        ("content_mime_type", _TEXT),
        ("content_mime_detected", _TEXT),
        ("content_charset", _TEXT),
        ("content_languages", _TEXT),
        ("content_truncated", _TEXT),
        ("warc_record_id", pa.binary()),
        ("warc_filename", _TEXT),
        ("warc_record_offset", pa.int32()),
        ("warc_record_length", pa.int32()),
        ("warc_segment", _TEXT),
    ]
)
LIST = "crawl-data/CC-MAIN-2026-43/cc-index-table.paths.gz"


@dataclass(frozen=True)
class Captured:
    """A capture of a URL, as it was fetched."""

    url: str
    at: str = "2026-01-02T03:04:05Z"
    status: int = 200
    truncated: str | None = None
    redirect: str | None = None
    file: str = "crawl-data/CC-MAIN-2026-43/segments/1.2/warc/a.warc.gz"
    offset: int = 0
    length: int = 1_000

    def row(self) -> dict[str, Any]:
        """A row of the table."""
        _, _, rest = self.url.partition("://")
        host = rest.partition("/")[0]
        return {
            "url_surtkey": surt_key(self.url),
            "url": self.url,
            "url_host_name": host,
            "url_host_registered_domain": host,
            "url_protocol": "http",
            "url_path": "/",
            "fetch_time": datetime.fromisoformat(self.at),
            "fetch_status": self.status,
            "fetch_redirect": self.redirect,
            "content_mime_detected": "text/html",
            "content_truncated": self.truncated,
            "warc_filename": self.file,
            "warc_record_offset": self.offset,
            "warc_record_length": self.length,
            "warc_segment": "1.2",
        }


def crawl_folder(crawl: str = "CC-MAIN-2026-43", subset: str = "warc") -> str:
    """Where the files of a crawl are."""
    return f"cc-index/table/cc-main/warc/crawl={crawl}/subset={subset}"


def write_part(path: Path, captures: Iterable[Captured], *, rows: int = 3, is_sorted: bool = True) -> Path:
    """Write a file with so many rows in a row group."""
    table = pa.Table.from_pylist([capture.row() for capture in captures], schema=LAYOUT)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.sort_by("url_surtkey") if is_sorted else table, path, row_group_size=rows, compression="gzip")
    return path


class ColumnarCrawl(LoopbackServer):
    """WARC files and Parquet files below /data/, served by ranges, and a list of the latter."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, int]] = []  # file and bytes of each range

    def capture(self, url: str, body: bytes, file: str = "a", **fields: Any) -> Captured:
        """Add a record to a WARC file and return its capture."""
        name = f"crawl-data/CC-MAIN-2026-43/segments/1.2/warc/{file}.warc.gz"
        date = fields.get("at", "2026-01-02T03:04:05Z")
        status = "301 Moved" if "redirect" in fields else "200 OK"
        headers = [f"Location: {fields['redirect']}"] if "redirect" in fields else []
        member = gzip.compress(record(fields.pop("named", url), http(body, status, *headers), date=date), mtime=0)
        before = self.files.get(name, b"")
        self.put(name, before + member)
        code = int(status[:3])
        return Captured(url, status=code, file=name, offset=len(before), length=len(member), **fields)

    def put(self, name: str, content: bytes) -> None:
        """Serve a file."""
        self.files[name] = content
        self.pages[f"/data/{name}"] = self._range

    def put_tables(self, folder: Path) -> None:
        """Serve all Parquet files below a folder, and their list."""
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.parquet"))
        for name in names:
            self.put(name, (folder / name).read_bytes())
        listing = gzip.compress("".join(f"{name}\n" for name in names).encode())
        self.pages[f"/data/{LIST}"] = answer(listing, Content_Type="application/gzip")

    def bytes_of(self, suffix: str) -> int:
        """Bytes sent of files whose name ends so."""
        return sum(size for name, size in self.requests if name.endswith(suffix))

    def _range(self, exchange: Exchange) -> None:
        name = exchange.path.removeprefix("/data/")
        content = self.files[name]
        first, last = (int(text) for text in exchange.headers["range"].removeprefix("bytes=").split("-"))
        part = content[first : last + 1]
        self.requests.append((name, len(part)))
        place = f"bytes {first}-{first + len(part) - 1}/{len(content)}"
        exchange.send(answer(part, "206 Partial Content", Content_Type="application/octet-stream", Content_Range=place))
