"""Answers from an archive: the same `Response` that the web would have given, read through the same limits."""

import http.client
import io
import logging
import re
from collections.abc import Collection
from types import TracebackType
from typing import Any, BinaryIO, Self

import pyarrow as pa
from urllib3 import HTTPHeaderDict, HTTPResponse
from warcio.archiveiterator import ArchiveIterator

from tasks.crawl.archive import open_archive, parse_date
from tasks.crawl.http import Response, named_faults, read_body
from tasks.crawl.safety import FetchError
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import BadUrlError, join_url
from tasks.crawl.visit import Visit, page_row

logger = logging.getLogger(__name__)

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}[ \t]*(;[^\r\n]*)?\r\n")


class Replay:
    """Pages of the captures of some hosts; a context manager that holds the archive files open."""

    def __init__(self, captures: pa.Table, settings: CrawlSettings) -> None:
        """Take in the captures.

        Args:
            captures: rows of `captures`; refused ones are passed over.
            settings: settings of the crawl.
        """
        self._settings = settings
        self._files: dict[str, BinaryIO] = {}
        self._captures: dict[str, list[tuple[float, str, int]]] = {}
        for row in captures.to_pylist():
            if row["reason"] is None:
                date = row["captured_at"]
                entry = (date.timestamp() if date else float("-inf"), row["file"], row["offset"])
                self._captures.setdefault(row["url"], []).append(entry)
        for entries in self._captures.values():
            entries.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def row(self, url: str) -> dict[str, Any]:
        """Return the row of `pages` for a URL: its newest usable capture, else its newest one, with its reason.

        A URL without a capture takes that of the same address under the other of http and https. Redirects are
        followed within the archive; `final_url` says where they led.
        """
        first: dict[str, Any] | None = None
        for number in range(max(1, len(self._places(url, ())))):
            try:
                row = self._follow(url, number)
            except Exception as error:
                logger.exception("reading the capture of %s failed unexpectedly", url)
                row = page_row(Visit(url, url), FetchError("internal_error", error), self._settings)
            row["seconds"] = 0.0
            if row["reason"] is None:
                return row
            first = first or row
        assert first is not None
        return first

    def _places(self, url: str, seen: Collection[str]) -> list[tuple[float, str, int]]:
        """Return the captures of a URL, newest first; those of its twin only where that has not been asked."""
        scheme, _, rest = url.partition("://")
        twin = f"{'http' if scheme == 'https' else 'https'}://{rest}"
        return self._captures.get(url) or ([] if twin in seen else self._captures.get(twin, []))

    def _follow(self, url: str, number: int) -> dict[str, Any]:
        visit = Visit(url, url, seen=[url])
        while True:
            places = self._places(visit.target, visit.seen)
            if not places:
                return page_row(visit, FetchError("not_in_archive", visit.target), self._settings)
            # Only the first hop has a choice of captures: of each further one the newest is meant.
            _, file, offset = places[number if visit.target == url else 0]
            try:
                answer = self._read(visit.target, file, offset)
                if answer.location is None:
                    return page_row(visit, answer, self._settings)
                target = self._redirect(visit, answer.location)
            except FetchError as fault:
                return page_row(visit, fault, self._settings)
            visit.target = target
            visit.seen.append(target)

    def _redirect(self, visit: Visit, location: str) -> str:
        if not location:
            raise FetchError("bad_redirect", visit.target)
        try:
            target = join_url(visit.target, location, allowed_hosts=self._settings.allowed_hosts)
        except BadUrlError as error:
            raise FetchError(error.reason, error) from error
        if target in visit.seen:
            raise FetchError("redirect_loop", target)
        if len(visit.seen) > self._settings.max_redirects:
            raise FetchError("too_many_redirects", target)
        return target

    def _read(self, url: str, file: str, offset: int) -> Response:
        try:
            return self._decoded(url, file, offset, decode=True)
        except FetchError as fault:
            if fault.reason != "bad_encoding":
                raise
            # Some archivers store the decoded body under the original headers.
            return self._decoded(url, file, offset, decode=False)

    def _decoded(self, url: str, file: str, offset: int, *, decode: bool) -> Response:
        record = self._record(file, offset)
        date = parse_date(record.rec_headers.get_header("WARC-Date"))
        raw = _RecordBytes(record.raw_stream)
        if record.rec_type == "resource":
            answer = HTTPResponse(
                body=io.BufferedReader(raw, 65_536),
                headers={"content-type": record.content_type or ""},
                status=200,
                preload_content=False,
                decode_content=False,
            )
        else:
            answer = _http_response(raw)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        body, received, fault = b"", 0, None
        try:
            body, received = read_body(answer, self._settings.max_bytes, decode=decode)
        except FetchError as error:
            if error.reason == "bad_encoding":
                raise
            fault, received = error, error.received
        return Response(url, answer.status, headers, body, received, fault, date.timestamp() if date else None)

    def _record(self, file: str, offset: int) -> Any:
        stream = self._files.get(file)
        if stream is None:
            stream = self._files[file] = open_archive(file)
        stream.seek(offset)
        try:
            return next(ArchiveIterator(stream, no_record_parse=True, arc2warc=True))
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise FetchError("malformed_response", error) from error


class _RecordBytes(io.RawIOBase):
    """The bytes of a record as a raw stream that the standard library can read from."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _RecordSocket:
    """What http.client takes for a connection."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file

    def makefile(self, _mode: str) -> io.BufferedReader:
        return self._file


def _http_response(raw: io.RawIOBase) -> HTTPResponse:
    """Parse status and headers of a record and return a response whose body is still to be read.

    Raises:
        FetchError: it is not HTTP.
    """
    file = io.BufferedReader(raw, 65_536)
    parsed = http.client.HTTPResponse(_RecordSocket(file), method="GET")  # type: ignore[arg-type]
    try:
        with named_faults():
            parsed.begin()
    except FetchError as fault:
        # A record that ends before its headers do would be a lost connection, were it one.
        raise FetchError("malformed_response" if fault.reason == "connection_reset" else fault.reason, fault) from fault
    if parsed.chunked and not _CHUNK_SIZE.match(file.peek(64)):
        # Stored with its chunks joined, but still under the header that announces them.
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
