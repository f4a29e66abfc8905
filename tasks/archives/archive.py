"""Web archives: find the position of each URL's capture in a WARC or ARC file. Files come from many tools and are often
broken. A broken file does not end the indexing: a record that cannot be used has a row with its reason, and after
broken bytes reading continues at the next record that can be found."""

import glob
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
from warcio.exceptions import ArchiveLoadFailed

from storage.filesystems import open_filesystem
from storage.schemas import CAPTURES
from tasks.archives.archive_file import DamagedError, OpenArchive, ScratchFullError, records_of
from tasks.archives.warc_export import CITED_URL
from tasks.engine.hashing import shard_of
from tasks.fetching.reasons import CaptureReason
from tasks.fetching.settings import MAX_DECODED_ARCHIVE_BYTES, CrawlSettings
from tasks.fetching.urls import BadUrlError, host_of, normalise_url, registered_domain

logger = logging.getLogger(__name__)

_SKIP_BYTES = 65_536
_ROWS = 10_000
# Record types that contain a page; a conversion is its text, as WET files have it. Others (warcinfo, request, metadata)
# are not captures and get no row.
_CONVERSION = "conversion"
_CAPTURES = frozenset({"response", "resource", CaptureReason.REVISIT, _CONVERSION})


@dataclass(frozen=True)
class ArchiveFile:
    """A WARC or ARC file and its state."""

    name: str  # path or URI
    state: str  # size and modification time; if it changes, the index is made again

    def recipe(self) -> dict[str, str]:
        """Return the fields that decide the index."""
        return {"name": self.name, "state": self.state}


def find_archives(settings: CrawlSettings) -> list[ArchiveFile]:
    """Return the archive files of the settings, globs expanded, sorted, once each. Raises FileNotFoundError: a pattern
    matches nothing, or a file does not exist."""
    files: list[str] = []
    for pattern in settings.archive:
        # glob.glob rather than Path.glob: a pattern may be absolute.
        paths = [pattern] if "://" in pattern else glob.glob(pattern, recursive=True)  # noqa: PTH207
        matches = [path for path in paths if "://" in path or Path(path).is_file()]
        if not matches:
            raise FileNotFoundError(f"crawl.archive: no file matches {pattern!r}")
        files += matches
    return [ArchiveFile(file, _state(file)) for file in sorted(set(files))]


def _state(file: str) -> str:
    filesystem, path = open_filesystem(file)
    info = filesystem.get_file_info(path)
    if info.type != pafs.FileType.File:
        raise FileNotFoundError(f"crawl.archive: no file {file!r}")
    return f"{info.size}-{info.mtime_ns}"


def index_archive(settings: CrawlSettings, *, file: ArchiveFile, host_shards: int) -> pa.Table:
    """Return one row for each capture of a file and each broken part; without a usable URL in host shard 0."""

    def table(rows: Iterable[dict[str, Any]]) -> pa.Table:
        return _table(rows, file.name, host_shards)

    try:
        with OpenArchive(file.name, MAX_DECODED_ARCHIVE_BYTES) as archive:
            try:
                if archive.compression == "none":
                    return table(_plain_captures(archive, settings))
                return table(_member_captures(archive, settings))
            except _NotPerRecordError:
                return table({**row, "decoded": True} for row in _plain_captures(archive, settings, decoded=True))
    except DamagedError as error:
        logger.warning("%s cannot be read: %s", file.name, error)
        return table([_row(CaptureReason.UNSUPPORTED_COMPRESSION, 0)])
    except ScratchFullError as error:
        logger.warning("%s is left out: %s", file.name, error)
        return table([_row(CaptureReason.ARCHIVE_TOO_LARGE, 0)])


def _table(rows: Iterable[dict[str, Any]], file: str, host_shards: int) -> pa.Table:
    """Return rows with their file and host shard; only a limited number are Python objects at a time."""
    tables = [CAPTURES.schema.empty_table()]
    remaining = _originals(rows)
    while group := list(islice(remaining, _ROWS)):
        for row in group:
            url, row["file"] = row["url"], file
            row["host_shard"] = 0 if url is None else shard_of(registered_domain(host_of(url)), host_shards)
        tables.append(pa.Table.from_pylist(group, schema=CAPTURES.schema))
    return pa.concat_tables(tables).combine_chunks()


def _originals(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows. A revisit of an earlier record of the file, found by its payload's digest or its URL and date,
    becomes a capture at that record. A conversion is left out if the file also has the page itself."""
    offsets: dict[object, int] = {}
    for row in rows:
        keys, refers = row.pop("keys", ()), row.pop("refers", ())
        if row["reason"] == CaptureReason.REVISIT:
            original = next((offsets[key] for key in refers if key in offsets), None)
            if original is not None:
                row |= {"offset": original, "reason": None}
        elif row.pop(_CONVERSION, False):
            if row["url"] in offsets:
                continue
        elif row["reason"] is None:
            for key in keys:
                offsets.setdefault(key, row["offset"])
        yield row


class _NotPerRecordError(Exception):
    """The members of a compressed archive do not end where its records do."""


def _plain_captures(
    archive: OpenArchive, settings: CrawlSettings, *, decoded: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the rows of an archive that is not compressed, or of a decoded copy."""
    offset: int | None = 0
    while offset is not None:
        records = archive.records(offset, decoded=decoded)
        try:
            for record in records:
                headers = _headers(record)
                offset = int(records.get_record_offset())  # reads to the record's end
                if _is_capture(record, headers):
                    yield _capture(headers, offset, record, settings)
            return
        except (OSError, ScratchFullError):  # of the file, its disk or its network, not of a single record
            raise
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a record
            position = max(int(records.offset or 0), offset)
            _warn(archive, position, error)
            yield _row(CaptureReason.BROKEN_RECORD, position)
            offset = archive.next_start(position + 1, decoded=decoded)


def _member_captures(archive: OpenArchive, settings: CrawlSettings) -> Iterator[dict[str, Any]]:
    """Yield the rows of an archive compressed one record a member, else raise _NotPerRecordError."""
    start: int | None = 0
    damaged = False
    while start is not None:
        position, member, row, number = start, archive.member(start), None, -1
        try:
            for number, record in enumerate(records_of(member)):
                if number:
                    raise _NotPerRecordError
                headers = _headers(record)
                if _is_capture(record, headers):
                    row = _capture(headers, position, record, settings)
            if row is not None:
                yield row
            elif number < 0 and member.cut:
                yield _row(CaptureReason.BROKEN_RECORD, position)
            while member.read(_SKIP_BYTES):  # read on after the record, to find the member's end
                pass
            start, damaged = member.end, False
        except (OSError, ScratchFullError):
            raise
        except Exception as error:
            if isinstance(error, _NotPerRecordError) or (isinstance(error, ArchiveLoadFailed) and not damaged):
                raise _NotPerRecordError from error
            _warn(archive, position, error)
            yield _row(CaptureReason.BROKEN_RECORD, position)
            start, damaged = archive.next_start(position + 1, decoded=False), True


def _warn(archive: OpenArchive, position: int, error: Exception) -> None:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    logger.warning("%s: the record at byte %d cannot be read: %s", archive.name, position, first)


def _headers(record: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in record.rec_headers.headers}


def _is_capture(record: Any, headers: Mapping[str, str]) -> bool:
    return record.rec_type in _CAPTURES or CITED_URL.lower() in headers


def _row(reason: str | None, offset: int) -> dict[str, Any]:
    return {"url": None, "offset": offset, "decoded": False, "captured_at": None, "reason": reason}


def _capture(headers: Mapping[str, str], offset: int, record: Any, settings: CrawlSettings) -> dict[str, Any]:
    row = {**_row(None, offset), "captured_at": parse_date(headers.get("warc-date"))}
    # The WARC 1.0 grammar put the URI in angle brackets, and wget still writes them.
    target = (headers.get(CITED_URL.lower()) or headers.get("warc-target-uri") or "").strip("<>")
    try:
        row["url"] = normalise_url(target, allowed_hosts=settings.allowed_hosts)
    except BadUrlError as error:
        row["reason"] = error.reason
        return row
    truncated = is_truncated(record, target)
    payload = headers.get("warc-payload-digest")
    row["keys"] = [key for key in (payload, row["url"], (target, headers.get("warc-date"))) if key]
    row[_CONVERSION] = record.rec_type == _CONVERSION
    if record.rec_type == CaptureReason.REVISIT:
        row["reason"] = CaptureReason.REVISIT
        referred = (headers.get("warc-refers-to-target-uri") or target).strip("<>")
        of_date = headers.get("warc-refers-to-date")
        row["refers"] = [key for key in (payload, (referred, of_date) if of_date else None) if key]
    elif not record.length:
        row["reason"] = CaptureReason.EMPTY_RECORD
    elif truncated:
        row["reason"] = CaptureReason.TRUNCATED_RECORD
    return row


def is_truncated(record: Any, target: str) -> bool:
    """Read a record to its end, and tell whether it is shorter than its length or was cut by the archiver."""
    while record.raw_stream.read(_SKIP_BYTES):
        pass
    # Where an ARC record's URL has spaces, the library expects three bytes too many for each.
    left = getattr(record.raw_stream, "limit", 0) - 3 * target.count("%20")
    return left > 0 or record.rec_headers.get_header("WARC-Truncated") is not None


def parse_date(text: str | None) -> datetime | None:
    """Return a WARC-Date as UTC, or None if it is invalid."""
    try:
        parsed = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
