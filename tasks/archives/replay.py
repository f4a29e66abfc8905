"""Answers from an archive: the same `Response` as from the web, read with the same limits."""

import http.client
import io
import logging
import re
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import IO, Any

import pyarrow as pa
from urllib3 import HTTPHeaderDict, HTTPResponse

from tasks.archives.archive import is_truncated, parse_date
from tasks.archives.archive_file import DamagedError, OpenArchive, ScratchFullError, gzip_member, records_of
from tasks.archives.warc_export import CITED_URL, read_outcome
from tasks.engine.closing import Closing
from tasks.fetching.http import Response, named_faults, read_body
from tasks.fetching.reasons import PageReason
from tasks.fetching.safety import FetchError, FinalResponse
from tasks.fetching.settings import MAX_DECODED_ARCHIVE_BYTES, CrawlSettings
from tasks.fetching.urls import BadUrlError, normalise_url, surt_key
from tasks.fetching.visit import Visit, page_row, redirect_target, refresh_target, refused_row

logger = logging.getLogger(__name__)

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}[ \t]*(;[^\r\n]*)?\r\n")


@dataclass(frozen=True)
class Capture:
    """The position of a capture."""

    file: str  # archive file
    offset: int  # offset of the record in it, or in its decoded content
    decoded: bool  # whether the offset is in the decoded content
    length: int | None  # bytes of the record, if the file is read over the network; else None
    captured_at: datetime | None  # when it was captured, or None if that is unknown
    redirect: bool = False  # whether an index says that it leads to another URL


# Returns bytes of a file on the network, from an offset and of a length, or raises FetchError.
ReadRange = Callable[[str, int, int], bytes]


class Replay(Closing):
    """Pages of the captures of some hosts; holds archive files open; one thread at a time reads local files."""

    def __init__(self, captures: pa.Table, settings: CrawlSettings) -> None:
        """Index the captures by URL, refused ones included."""
        self._settings = settings
        self._reading = threading.Lock()
        self._refused: dict[str, str] = {}
        self._files: dict[str, OpenArchive] = {}
        self._captures: dict[str, list[Capture]] = {}
        for row in captures.to_pylist():
            if row["reason"] is None:
                place = {name: row[name] for name in ("file", "offset", "decoded", "length", "captured_at")}
                capture = Capture(**place, redirect=row["redirect"] is not None)
                self._captures.setdefault(row["url"], []).append(capture)
            elif row["url"] is not None and (row["file"] is None or row["length"] is not None):
                self._refused[row["url"]] = row["reason"]  # the answer of an index; nothing else is known of the URL
        for of_url in self._captures.values():
            preference = settings.common_crawl.preference
            of_url.sort(key=lambda one: (one.redirect, *preference(one.captured_at), one.file, one.offset))

    def close(self) -> None:
        """Close the archive files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def first(self, url: str) -> Capture | None:
        """Return the capture of a URL that is read first, or None."""
        return next(iter(self._captures_of(url, ())), None)

    def row(self, url: str, records: ReadRange | None = None) -> dict[str, Any]:
        """Return the row of `pages` for a URL: its best usable capture, else its best one, with its reason.

        The best is the newest, or the one closest to the time of the settings; a capture that an index calls a redirect
        comes after the others. For a URL without a capture, that of the same address with https instead of http, or the
        reverse, is used. Redirects are followed within the archive; `final_url` is the last one. `records` reads files
        over the network; None if all are local. Raises OSError: an archive file cannot be opened or read, which says
        nothing about the page; ScratchFullError: its decoded copy exceeds the limit."""
        first: dict[str, Any] | None = None
        for number in range(max(1, len(self._captures_of(url, ())))):
            try:
                row = self._follow(url, number, records)
            except (OSError, ScratchFullError):
                raise
            except Exception as error:
                logger.exception("reading the capture of %s failed unexpectedly", url)
                row = page_row(Visit(url, url), FetchError(PageReason.INTERNAL_ERROR, error), self._settings)
            row["seconds"] = 0.0
            if row["reason"] is None:
                return row
            first = first or row
        assert first is not None
        return first

    def _captures_of(self, url: str, seen: Collection[str]) -> list[Capture]:
        """Return the captures of a URL, best first, else those of its http/https twin, unless that was visited."""
        scheme, _, rest = url.partition("://")
        twin = f"{'http' if scheme == 'https' else 'https'}://{rest}"
        return self._captures.get(url) or ([] if twin in seen else self._captures.get(twin, []))

    def _follow(self, url: str, number: int, records: ReadRange | None) -> dict[str, Any]:
        visit = Visit(url, url, seen=[url])
        while True:
            captures = self._captures_of(visit.target, visit.seen)
            if not captures:
                reason = self._refused.get(visit.target, PageReason.NOT_IN_ARCHIVE)
                return page_row(visit, FetchError(reason, visit.target), self._settings)
            # Other captures are tried only for the first hop; for later hops it is always the best.
            capture = captures[number if visit.target == url else 0]
            try:
                answer = self._read(visit.target, capture, records)
                if isinstance(answer, dict):
                    return {**refused_row(url, None), **answer, "archive": capture.file}
                if answer.location is None:
                    refreshed = refresh_target(visit, answer, self._settings)
                    if refreshed is None or not self._captures_of(refreshed, visit.seen):
                        return {**page_row(visit, answer, self._settings), "archive": capture.file}
                    target = refreshed
                else:
                    target = redirect_target(visit, answer.location, self._settings)
            except FetchError as fault:
                return page_row(visit, fault, self._settings)
            visit.target = target
            visit.seen.append(target)

    def _read(self, url: str, capture: Capture, remote: ReadRange | None) -> Response | dict[str, Any]:
        if capture.length is None:
            with self._reading:
                return self._first(url, capture, None)
        assert remote is not None
        return self._first(url, capture, remote(capture.file, capture.offset, capture.length))

    def _first(
        self, url: str, capture: Capture, data: bytes | None, *, decode: bool = True
    ) -> Response | dict[str, Any]:
        """Read the record of a capture: from its file, which was checked when it was indexed, or from data read over
        the network, where its URL and its end are checked."""
        try:
            if data is None:
                records = self._open(capture.file).records(capture.offset, decoded=capture.decoded)
            else:  # decoded while it is read, to somewhat more than a body may have
                records = records_of(gzip_member(io.BytesIO(data), limit=2 * self._settings.max_bytes + (1 << 20)))
            record = next(records)
        except (OSError, ScratchFullError):  # the file's own fault
            raise
        except Exception as error:
            raise FetchError(PageReason.MALFORMED_RESPONSE, error) from error
        if data is not None:
            self._check_url(record, url)
        if record.rec_type == "metadata":
            return {**read_outcome(record, self._settings.allowed_hosts), "fetched_at": _date(record)}
        target = self._target(record) if record.rec_headers.get_header(CITED_URL) else url
        raw = _RecordBytes(record.raw_stream)
        try:
            answer = self._response(target, record, raw, decode=decode)
            if data is not None and answer.fault is None and is_truncated(record, target):
                raise FetchError(PageReason.TRUNCATED_BODY, f"the archive has only a part of the record of {target}")
            return answer
        except DamagedError as error:
            raise FetchError(PageReason.TRUNCATED_BODY, error) from error
        except FetchError as fault:
            if fault.reason != PageReason.BAD_ENCODING or not decode:
                raise
            # Some archivers store the decoded body under the original headers.
            return self._first(url, capture, data, decode=False)
        finally:
            if raw.failure is not None:  # the HTTP parser took the file's error for a fault of the page
                raise raw.failure

    def _response(self, url: str, record: Any, raw: "_RecordBytes", *, decode: bool) -> Response:
        if record.rec_type in ("resource", "conversion"):
            answer = HTTPResponse(
                body=io.BufferedReader(raw, 65_536),
                headers={"content-type": record.content_type or ""},
                status=200,
                preload_content=False,
                decode_content=False,
            )
        else:
            answer = _http_response(raw)
        date = _date(record)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        body: bytes | IO[bytes] = b""
        received, fault = 0, None
        try:
            if answer.status == http.client.PARTIAL_CONTENT:
                raise FetchError(PageReason.PARTIAL_CONTENT, url)
            body, received = read_body(answer, self._settings.max_bytes, decode=decode)
        except FetchError as error:
            if error.reason == PageReason.BAD_ENCODING:
                raise
            fault, received = error, error.received
        return Response(url, answer.status, headers, body, received, fault, date.timestamp() if date else None)

    def _target(self, record: Any) -> str:
        target = record.rec_headers.get_header("WARC-Target-URI") or ""
        try:
            return normalise_url(target, allowed_hosts=self._settings.allowed_hosts)
        except BadUrlError as error:
            raise FetchError(PageReason.MALFORMED_RESPONSE, error) from error

    def _check_url(self, record: Any, url: str) -> None:
        """Check that a record is what the index says: files may have moved. Raises FetchError: it is not."""
        fields = record.rec_headers
        named = (fields.get_header(CITED_URL) or fields.get_header("WARC-Target-URI") or "").strip("<>")
        try:
            same = surt_key(normalise_url(named, allowed_hosts=self._settings.allowed_hosts)) == surt_key(url)
        except BadUrlError:
            same = False
        if not same:
            raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, f"a record of {named[:200]!r} where the index has {url}")

    def _open(self, name: str) -> OpenArchive:
        if name not in self._files:
            self._files[name] = OpenArchive(name, MAX_DECODED_ARCHIVE_BYTES)
        return self._files[name]


def _date(record: Any) -> datetime | None:
    return parse_date(record.rec_headers.get_header("WARC-Date"))


class _RecordBytes(io.RawIOBase):
    """The bytes of a record as a raw stream for the standard library."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.failure: OSError | None = None  # the error that stopped the reading of the file, or None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except DamagedError as error:
            raise FetchError(PageReason.TRUNCATED_BODY, error) from error
        except OSError as error:
            self.failure = error
            raise
        buffer[: len(data)] = data
        return len(data)


# Archivers of HTTP/2 write a status line for it; some write the name in small letters. The rest is as in HTTP/1.1.
_OTHER_PROTOCOL = re.compile(rb"(?:HTTP/[23](?:\.0)?|(?!HTTP)(?i:http)/(?:1\.[01]|[23](?:\.0)?))(?=[ \t])")


class _AfterHead(io.RawIOBase):
    """Some bytes, and then those of a stream."""

    def __init__(self, head: bytes, stream: "io.BufferedReader[Any]") -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._stream.read1(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


def _http_response(raw: io.RawIOBase) -> HTTPResponse:
    """Return a record's response, its body not read yet. Raises FetchError: it is not HTTP."""
    file = io.BufferedReader(raw, 65_536)
    if (protocol := _OTHER_PROTOCOL.match(file.peek(16))) is not None:
        file.read(protocol.end())
        file = io.BufferedReader(_AfterHead(b"HTTP/1.1", file), 65_536)
    connection = SimpleNamespace(makefile=lambda _mode: file)  # all that http.client needs of a socket
    parsed = FinalResponse(connection, method="GET")  # type: ignore[arg-type]
    try:
        with named_faults():
            parsed.begin()
    except FetchError as fault:
        # For http.client, a record that ends within its headers is a lost connection.
        raise FetchError(
            PageReason.MALFORMED_RESPONSE if fault.reason == PageReason.CONNECTION_RESET else fault.reason, fault
        ) from fault
    if parsed.chunked and not _CHUNK_SIZE.match(file.peek(64)):
        # Some archivers store the chunks joined, but keep the header that announces chunks.
        parsed.chunked, parsed.length = False, None
        parsed.chunk_left = None
        del parsed.headers["transfer-encoding"]
    return HTTPResponse(
        body=parsed,
        headers=HTTPHeaderDict(parsed.headers.items()),
        status=parsed.status,
        original_response=parsed,
        preload_content=False,
        decode_content=True,
        request_method="GET",
    )
