"""Common Crawl, or an archive with its interface: look up the captures of a URL in the index. The index is a CDX server
that answers with a line of JSON for each capture of a URL; only one process of this machine asks it at a time. For more
than some thousand URLs use `tasks/archives/columnar.py`."""

import json
import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import CAPTURES
from tasks.archives.remote_files import PATIENCE
from tasks.engine.closing import Closing
from tasks.engine.job import Scratch
from tasks.fetching.answers import Answers
from tasks.fetching.progress import CrawlProgress, ProgressCount
from tasks.fetching.reasons import PageReason
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import BadUrlError, host_of, normalise_url, surt_key
from tasks.fetching.visit import MAX_REDIRECTS, refused_row

logger = logging.getLogger(__name__)

_INDEX_LINES = 50  # captures of one URL that an index is asked for
CAPTURES_TRIED = 2  # of one URL, best first
MAX_RECORD_BYTES = 12_000_000  # as it is in the archive; Common Crawl itself cuts pages at a much lower limit
_MAX_LINE_BYTES = 20_000
_ANSWERS_A_FILE = 2_000  # as many rows as a segment of the journal has
FILE_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_./+=-]*"
_TIMESTAMP = re.compile(r"\d{14}")
# The number of pages, alone or in an object. An index that does not count them has a line for each capture, or nothing.
_PAGES = re.compile(rb"\d*|\{.*\}", re.DOTALL)
_PROBE = "http://example.com/"
_NOBODYS = "http://no-capture.invalid/"  # no archive has a page of it (RFC 2606)
_NO_CAPTURES = re.compile(rb"no (captures|resource) found", re.IGNORECASE)  # pywb's words
_NO_ANSWER = frozenset({PageReason.INDEX_FAILED, PageReason.INDEX_BAD_ANSWER})


@dataclass(frozen=True)
class IndexLine:
    """One capture in an index."""

    status: int  # HTTP status of the captured response
    captured_at: datetime  # time of the capture
    filename: str  # archive file, below the data URL
    offset: int  # first byte of the record in the file
    length: int  # bytes of the record there
    redirect: str | None  # target of a redirect that leads to another URL (`redirect_target`)
    truncated: bool  # whether the index says that the archiver cut the record short


def _lines_in(body: bytes) -> list[dict[str, Any]]:
    """Return the lines of an answer. Raises FetchError: a line is not a JSON object, so the answer was cut short, or it
    is not from an index."""
    try:
        lines = [json.loads(line) for line in body.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise FetchError(PageReason.INDEX_BAD_ANSWER, repr(body[:80])) from error
    if not all(isinstance(line, dict) for line in lines):
        raise FetchError(PageReason.INDEX_BAD_ANSWER, repr(body[:80]))
    return lines


def redirect_target(written: object, key: str, allowed_hosts: Collection[str]) -> str | None:
    """Return the normal form of the target that an index names for a redirect. None: it is not a URL, or it is another
    spelling of the URL with this key, such as https for http, which the index has under the same key."""
    if not written:
        return None
    try:
        target = normalise_url(str(written), allowed_hosts=allowed_hosts)
    except BadUrlError:
        return None
    return target if surt_key(target) != key else None


def _parsed(fields: Mapping[str, Any], url: str, settings: CrawlSettings) -> IndexLine | None:
    try:
        timestamp, filename = str(fields["timestamp"]), str(fields["filename"])
        offset, length = int(fields["offset"]), int(fields["length"])
        status = int(fields["status"])
        if not (_TIMESTAMP.fullmatch(timestamp) and re.fullmatch(FILE_NAME, filename)) or ".." in filename:
            return None
        if not (0 <= offset < 1 << 62 and 0 < length < 1 << 62 and 100 <= status <= 999):
            return None
        date = datetime.strptime(timestamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except (ValueError, KeyError, TypeError):
        return None
    target = redirect_target(fields.get("redirect"), surt_key(url), settings.allowed_hosts)
    return IndexLine(status, date, filename, offset, length, target, bool(fields.get("truncated")))


def look_up_shard(
    frontier: pa.Table,
    settings: CrawlSettings,
    *,
    shard: int,
    scratch: Scratch,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> pa.Table:
    """Return the captures in the indexes of a host shard's kept URLs, and of their redirects' targets, in order of URL.
    What is looked up is kept in the scratch folder, dates as strings. A URL that could not be looked up has a row with
    the reason. Raises ConnectionError: an index does not exist, or no longer answers; what was looked up is kept."""
    kept = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    urls: list[str] = sorted(set(kept.column("url").to_pylist()))
    rows: list[dict[str, Any]] = []
    with (
        Answers(scratch.filesystem, scratch.path, rows=_ANSWERS_A_FILE) as answers,
        _Indexes(settings, connect_to) as indexes,
    ):
        count = ProgressCount(sum(url in answers for url in urls), len(urls), progress)
        failed = []

        def answered(url: str, captures: list[dict[str, Any]]) -> None:
            answers.add(url, captures)
            reason = captures[-1]["reason"] if captures else PageReason.NOT_IN_ARCHIVE
            count.add({**refused_row(url, reason), "body": b""})
            count.tick()

        for url in urls:
            if url not in answers:
                captures = indexes.rows(url)
                if _has_failed(captures):
                    failed.append(url)
                else:
                    answered(url, captures)
        for url in failed:  # once more, because an outage may be over
            captures = indexes.rows(url)
            if _has_failed(captures):
                indexes.check()
            answered(url, captures)
        for url in urls:
            for row in answers[url]:
                date = row.get("captured_at")
                rows.append({**row, "host_shard": shard, "captured_at": date and datetime.fromisoformat(date)})
        count.tick(last=True)
    unique = {(row["url"], row.get("file"), row.get("offset")): row for row in rows}
    return pa.Table.from_pylist(list(unique.values()), schema=CAPTURES.schema)


def _has_failed(rows: list[dict[str, Any]]) -> bool:
    """Tell whether a look-up got no answer that says whether there is a capture."""
    return bool(rows) and rows[-1]["reason"] in _NO_ANSWER


class _Indexes(Closing):
    """The CDX index servers of the settings, opened and checked on first use."""

    def __init__(self, settings: CrawlSettings, connect_to: Mapping[str, str]) -> None:
        self._settings = settings
        self._connect_to = connect_to
        self._services: list[Service] = []
        self._failures = 0
        self._fault: FetchError | None = None
        self._silent: dict[str, bool] = {}  # by index: whether it answers with nothing where it has no capture

    def close(self) -> None:
        """Close the connections."""
        for service in self._services:
            service.close()

    def check(self) -> None:
        """Check that the indexes answer, so that a failed look-up is due to its URL; ConnectionError if not."""
        for service in self._services:  # one that does not exist answers 404 as for a URL
            try:
                answer = service.get(_query(service.url, _PROBE, showNumPages="true"), max_bytes=_MAX_LINE_BYTES)
            except FetchError as fault:
                raise ConnectionError(f"{service.url} does not answer: {fault.reason}") from fault
            if not answer.success:
                raise ConnectionError(f"{service.url}: expected a CDX index, got HTTP {answer.status}")
            if not _PAGES.fullmatch(answer.body.strip()):
                raise ConnectionError(f"{service.url}: expected a CDX index, got {answer.body[:80]!r}")
        self._failures = 0

    def rows(self, url: str) -> list[dict[str, Any]]:
        """Return the rows of a URL and of its redirects; a failed look-up has a row with the reason."""
        rows: list[dict[str, Any]] = []
        target: str | None = url
        asked: list[str] = []
        while target is not None and target not in asked and len(asked) <= MAX_REDIRECTS:
            asked.append(target)
            try:
                lines = self._lines(target)
            except FetchError as fault:
                logger.warning("%s was not looked up: %s", target, fault)
                return [*rows, {"url": target, "decoded": False, "reason": fault.reason}]
            rows += [self._row(target, line) for line in lines]
            target = lines[0].redirect if lines and 300 <= lines[0].status < 400 else None
        return rows

    def _lines(self, url: str) -> list[IndexLine]:
        """Return the captures to try: complete successes of the first index that has any, else one other capture."""
        chosen = self._settings.common_crawl
        if not self._services:
            for index in chosen.indexes:
                queue, delay = host_of(index), chosen.delay_seconds
                service = Service(index, self._settings, PATIENCE, self._connect_to, delay_seconds=delay, queue=queue)
                self._services.append(service)
            self.check()
        if self._failures >= PATIENCE.failures:
            raise ConnectionError(
                f"{', '.join(chosen.indexes)}: {self._failures} look-ups in a row failed, the last one with "
                f"{self._fault}; finished look-ups are kept, and the next run does the others"
            )
        others: list[IndexLine] = []
        try:
            for service in self._services:
                lines = self._find(service, url)
                good = [line for line in lines if 200 <= line.status < 300 and not line.truncated]
                if good:
                    self._failures = 0
                    return good[:CAPTURES_TRIED]
                others += lines
        except FetchError as fault:
            self._failures += 1
            self._fault = fault
            raise
        self._failures = 0
        # A redirect may still lead to a page, best if it names another URL; an error page or a truncated page does not.
        return sorted(others, key=lambda line: (not 300 <= line.status < 400, line.redirect is None))[:1]

    def _find(self, service: Service, url: str) -> list[IndexLine]:
        """Return the captures of a URL, best first. Raises FetchError: `index_failed` or `index_bad_answer`."""
        query = _query(service.url, url, limit=str(_INDEX_LINES))
        try:
            answer = service.get(query, max_bytes=_INDEX_LINES * _MAX_LINE_BYTES)
        except FetchError as fault:
            raise FetchError(PageReason.INDEX_FAILED, fault) from fault
        if answer.status == 404 and _NO_CAPTURES.search(answer.refusal):
            return []
        if not answer.success:
            raise FetchError(PageReason.INDEX_FAILED, f"HTTP {answer.status}")
        written = _lines_in(answer.body)
        captures = [line for fields in written if (line := _parsed(fields, url, self._settings)) is not None]
        if not captures and (written or not self._is_silent(service)):
            raise FetchError(PageReason.INDEX_BAD_ANSWER, repr(answer.body[:80]))
        return sorted(captures, key=lambda line: self._settings.common_crawl.preference(line.captured_at))

    def _is_silent(self, service: Service) -> bool:
        """Return whether an index sends an empty answer where it has no capture. If the server says so in words, an
        empty answer is a fault. Raises FetchError: `index_failed`."""
        if service.url not in self._silent:
            try:
                answer = service.get(_query(service.url, _NOBODYS, limit="1"), max_bytes=_MAX_LINE_BYTES)
            except FetchError as fault:
                raise FetchError(PageReason.INDEX_FAILED, fault) from fault
            self._silent[service.url] = answer.success and not answer.body.strip()
        return self._silent[service.url]

    def _row(self, url: str, line: IndexLine) -> dict[str, Any]:
        return {
            "url": url,
            "decoded": False,
            "reason": PageReason.TOO_LARGE if line.length > MAX_RECORD_BYTES else None,
            "file": f"{self._settings.common_crawl.data_url}{line.filename}",
            "offset": line.offset,
            "length": line.length,
            "captured_at": line.captured_at.isoformat(),
        }


def _query(index: str, url: str, **fields: str) -> str:
    # matchType is explicit, because an index takes a URL that ends in * for a prefix.
    query = urlencode({"url": url, "matchType": "exact", "output": "json", **fields})
    return f"{index}{'&' if '?' in index else '?'}{query}"
