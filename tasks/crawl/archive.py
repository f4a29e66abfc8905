"""Web archives: where in a WARC or ARC file the capture of a URL lies.

Files come from many tools and are often broken. Reading a file never fails: a record that cannot be used has a row
with its reason, and after a broken stretch reading goes on at the next record that can be found.
"""

import glob
import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.fs as pafs
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from storage.schemas import CAPTURES
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import BadUrlError, host_of, normalise_url
from tasks.hashing import shard_of

logger = logging.getLogger(__name__)

_GZIP = b"\x1f\x8b\x08"
_ZSTD = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")  # a frame, or the skippable frame of a dictionary before it
_SCAN_BLOCK = 1 << 20
# Types that hold a page. The others (warcinfo, request, metadata, conversion) are no captures and have no row.
_CAPTURES = frozenset({"response", "resource", "revisit"})


def archive_files(settings: CrawlSettings) -> list[str]:
    """Return the archive files that the settings name, globs expanded, sorted, each once.

    Raises:
        FileNotFoundError: a path or glob of the settings matches no file.
    """
    files: list[str] = []
    for pattern in settings.archive:
        found = [pattern] if "://" in pattern else _matches(pattern)
        if not found:
            raise FileNotFoundError(f"crawl.archive: no file matches {pattern!r}")
        files += found
    return sorted(set(files))


def _matches(pattern: str) -> list[str]:
    # glob.glob rather than Path.glob: a pattern may be absolute.
    return [name for name in glob.glob(pattern, recursive=True) if Path(name).is_file()]  # noqa: PTH207


def open_archive(file: str) -> BinaryIO:
    """Open an archive file for reading at any offset: a local path, or a URI of any pyarrow filesystem.

    Raises:
        OSError: it cannot be opened.
    """
    if "://" in file:
        filesystem, path = pafs.FileSystem.from_uri(file)
        return cast(BinaryIO, filesystem.open_input_file(path))
    return Path(file).open("rb")


def file_state(file: str) -> str:
    """Return a text that changes when an archive file does: its size and time of change.

    Raises:
        FileNotFoundError: there is no such file.
    """
    filesystem, path = pafs.FileSystem.from_uri(file if "://" in file else Path(file).resolve().as_uri())
    info = filesystem.get_file_info(path)
    if info.type != pafs.FileType.File:
        raise FileNotFoundError(f"crawl.archive: no file {file!r}")
    return f"{info.size}-{info.mtime_ns}"


def index_archive(file: str, settings: CrawlSettings, *, host_shards: int) -> pa.Table:
    """Return one row for each capture of an archive file, and one for each broken stretch.

    Args:
        file: name of the file, as `archive_files` gives it.
        settings: settings of the crawl (allowed hosts are used).
        host_shards: number of shards of `pages`.

    Returns:
        Rows of `captures` in order of offset. A record without a usable URL is in host shard 0.

    Raises:
        OSError: the file cannot be opened or read.
    """
    rows: list[dict[str, Any]] = []
    with open_archive(file) as stream:
        for row in _captures(stream, settings):
            row["file"] = file
            row["host_shard"] = 0 if row["url"] is None else shard_of(host_of(row["url"]), host_shards)
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=CAPTURES.schema)


def _captures(stream: BinaryIO, settings: CrawlSettings) -> Iterator[dict[str, Any]]:
    start = stream.read(8)
    if start.startswith(_ZSTD):
        yield _broken("unsupported_compression", 0)
        return
    gzip = start.startswith(_GZIP)
    offset: int | None = 0
    while offset is not None:
        stream.seek(offset)
        records = ArchiveIterator(stream, no_record_parse=True, arc2warc=True)
        try:
            for record in records:
                kind = record.rec_type
                headers = {name.lower(): value for name, value in record.rec_headers.headers}
                offset = int(records.get_record_offset())  # reads to the record's end
                if kind in _CAPTURES:
                    yield _capture(kind, headers, offset, record, settings)
            return
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            place = max(int(records.offset or 0), offset)
            whole = isinstance(error, ArchiveLoadFailed) and "non-chunked" in str(error)
            logger.warning("archive record at %d cannot be read: %s", place, str(error).strip().splitlines()[:1])
            yield _broken("gzip_not_per_record" if whole else "broken_record", place)
            offset = _next_record(stream, place + 1, gzip)


def _broken(reason: str, offset: int) -> dict[str, Any]:
    return {"url": None, "offset": offset, "captured_at": None, "reason": reason}


def _capture(kind: str, headers: dict[str, str], offset: int, record: Any, settings: CrawlSettings) -> dict[str, Any]:
    row: dict[str, Any] = {
        "url": None,
        "offset": offset,
        "captured_at": parse_date(headers.get("warc-date")),
        "reason": None,
    }
    # The WARC 1.0 grammar put the URI in angle brackets, and wget still writes them.
    target = (headers.get("warc-target-uri") or "").strip("<>")
    try:
        row["url"] = normalise_url(target, allowed_hosts=settings.allowed_hosts)
    except BadUrlError as error:
        row["reason"] = error.reason
        return row
    # Where an ARC record's URL has spaces, the library expects three bytes too many for each.
    left = getattr(record.raw_stream, "limit", 0) - 3 * target.count("%20")
    if kind == "revisit":
        row["reason"] = "revisit"
    elif not record.length:
        row["reason"] = "empty_record"
    elif left > 0 or "warc-truncated" in headers:
        row["reason"] = "truncated_record"
    return row


def parse_date(text: str | None) -> datetime | None:
    """Return a WARC-Date as UTC, or None where it is none."""
    try:
        parsed = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _next_record(stream: BinaryIO, offset: int, gzip: bool) -> int | None:
    """Return the offset at or after `offset` where a record may begin, or None."""
    pattern = re.compile(rb"\x1f\x8b\x08[\x00-\x1f]" if gzip else rb"(?<=\n)WARC/[01]\.\d")
    overlap = 16
    while True:
        stream.seek(max(offset - 1, 0))  # one byte back, for the line end before a record
        block = stream.read(_SCAN_BLOCK)
        match = pattern.search(block, min(offset, 1))
        if match is not None:
            return max(offset - 1, 0) + match.start()
        if len(block) <= overlap:
            return None
        offset += len(block) - overlap
