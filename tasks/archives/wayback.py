"""The Internet Archive as a replacement for dead links: the closest capture of a page that is gone from the web. First
its availability interface is asked, then the capture is fetched as it was stored (the `id_` form, without the archive's
own banner and links). All processes of this machine take turns, with the delay of the settings."""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa

from storage.schemas import PAGES
from tasks.engine.closing import Closing
from tasks.fetching.http import Patience, Response
from tasks.fetching.journal import Journal
from tasks.fetching.reasons import SILENT, PageReason
from tasks.fetching.reused_pages import EarlierPages, forget_lost
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import AVAILABILITY_URL, PAGES_URL, CrawlSettings
from tasks.fetching.urls import BadUrlError, archived_url, host_of, join_url
from tasks.fetching.visit import MAX_REDIRECTS, refused_row, response_columns

logger = logging.getLogger(__name__)

# A library with few servers: requests are rare, and stop for minutes if it asks for that.
PATIENCE = Patience(total_seconds=60.0, retries=3, backoff_seconds=10.0, max_backoff_seconds=300.0)
DELAY_SECONDS = 4.0  # between the starts of two requests from this machine: 15 a minute
# Reasons of pages that count as gone. A server that refuses (403), or is down for now (5xx), may still have the page.
_NOWHERE = {PageReason.REDIRECT_LOOP, PageReason.TOO_MANY_REDIRECTS, PageReason.EMPTY_BODY}
_SILENT = SILENT | {PageReason.DNS_ERROR, PageReason.HOST_UNAVAILABLE}
DEAD = _SILENT | _NOWHERE | {"http_404", "http_410"}

_MAX_ANSWER_BYTES = 100_000
_TIMESTAMP = re.compile(r"\d{14}")
# Faults of an answer that concern the capture, not the archive.
_OF_THE_CAPTURE = frozenset(
    {PageReason.TOO_LARGE, PageReason.BAD_ENCODING, PageReason.TRUNCATED_BODY, PageReason.PARTIAL_CONTENT}
)
_NO_ANSWER = frozenset(
    {PageReason.INDEX_FAILED, PageReason.INDEX_BAD_ANSWER, PageReason.ARCHIVE_FAILED, PageReason.ARCHIVE_BAD_ANSWER}
)


class Wayback(Closing):
    """A client of the archive; a context manager."""

    def __init__(self, settings: CrawlSettings, connect_to: Mapping[str, str]) -> None:
        self._settings = settings
        queue = host_of(AVAILABILITY_URL)  # one queue for both services, because they are one archive
        self._index, self._pages = (
            Service(url, settings, PATIENCE, connect_to, delay_seconds=DELAY_SECONDS, queue=queue)
            for url in (AVAILABILITY_URL, PAGES_URL)
        )
        self._failures = 0

    def close(self) -> None:
        """Close the connections to index and pages."""
        self._index.close()
        self._pages.close()

    def row(self, dead: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row of a dead link with the page of its closest capture. The row is unchanged if the archive has
        no usable capture. If the archive does not answer, the reason says so: `index_failed`, `index_bad_answer`,
        `archive_failed` or `archive_bad_answer`."""
        url = dead["url"]
        if archived_url(url) is not None or url.startswith(self._pages.url):
            return dict(dead)
        try:
            if self._failures >= PATIENCE.failures:
                raise FetchError(PageReason.INDEX_FAILED, f"{self._failures} requests in a row failed")
            timestamp = self._closest(url)
            answer = None if timestamp is None else self._capture(timestamp, url)
        except FetchError as fault:
            self._failures += 1
            logger.warning("looking up %s in the archive failed: %s", url, fault)
            return {**dead, "reason": fault.reason}
        self._failures = 0
        columns = {} if answer is None else response_columns(answer, self._settings)
        if columns.get("reason", "none") is not None:
            return dict(dead)
        # The capture's validators mean nothing to the page's original server.
        return {**dead, **columns, "etag": None, "last_modified": None, "archive": self._pages.url}

    def _closest(self, url: str) -> str | None:
        """Return the time of the closest capture that is a success or a redirect, or None."""
        wanted = {"timestamp": self._settings.wayback.timestamp} if self._settings.wayback.timestamp else {}
        try:
            answer = self._index.get(
                f"{self._index.url}?{urlencode({'url': url, **wanted})}", max_bytes=_MAX_ANSWER_BYTES
            )
        except FetchError as fault:
            raise FetchError(PageReason.INDEX_FAILED, fault) from fault
        if not answer.success:
            raise FetchError(PageReason.INDEX_FAILED, f"HTTP {answer.status}")
        try:
            snapshots = json.loads(answer.body)["archived_snapshots"]
            if snapshots == {}:
                return None
            closest = snapshots["closest"]
            timestamp, status = str(closest["timestamp"]), str(closest.get("status", "200"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FetchError(PageReason.INDEX_BAD_ANSWER, repr(answer.body[:80])) from error
        if not _TIMESTAMP.fullmatch(timestamp):
            raise FetchError(PageReason.INDEX_BAD_ANSWER, repr(timestamp[:80]))
        return timestamp if status[:1] in ("2", "3") else None

    def _capture(self, timestamp: str, url: str) -> Response | None:
        """Return the capture closest to a time, following redirects within the archive; None if they lead nowhere."""
        target = f"{self._pages.url}{timestamp}id_/{url}"
        for _ in range(MAX_REDIRECTS + 1):
            try:
                answer = self._pages.get(target, max_bytes=self._settings.max_bytes)
            except FetchError as fault:
                if fault.reason in _OF_THE_CAPTURE:
                    return None
                raise FetchError(PageReason.ARCHIVE_FAILED, fault) from fault
            if answer.location is None:
                # A capture says when it was made (RFC 7089); the archive's own pages, such as "try again", do not.
                if answer.success and answer.fault is None and "memento-datetime" not in answer.headers:
                    raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, "a page without Memento-Datetime")
                return answer
            try:
                target = join_url(target, answer.location, allowed_hosts=["*"])
            except BadUrlError:
                return None
            if not target.startswith(self._pages.url):
                raise FetchError(PageReason.ARCHIVE_BAD_ANSWER, f"a redirect to {target}")
        return None


def replace_dead(
    batches: Iterable[pa.RecordBatch],
    settings: CrawlSettings,
    *,
    journal: Journal,
    connect_to: Mapping[str, str],
    earlier: EarlierPages | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of `pages` in order, with those of dead links replaced by `Wayback.row`. If the archive does not
    answer, a page that an earlier crawl got from it is kept, with the reason in its row. The dead links' journal is in
    a separate directory. Raises CorruptShardError: the earlier crawl's file has been damaged since it was opened."""
    complete = None if earlier is None else earlier.completing()
    forget_lost(journal, earlier)
    dead = replaced = 0
    with Wayback(settings, connect_to) as archive:
        for batch in batches:
            start = 0
            for index, reason in enumerate(batch.column("reason").to_pylist()):
                if reason not in DEAD:
                    continue
                if index > start:
                    yield batch.slice(start, index - start)
                start = index + 1
                row = batch.slice(index, 1).to_pylist()[0]
                url = row["url"]
                stored = None if earlier is None else earlier.get(url)
                if url in journal:  # from before a stop
                    kept = next(journal.batches([url], complete=complete))
                else:
                    row = archive.row(row)
                    if stored is not None and stored.archived and row["reason"] in _NO_ANSWER:
                        row = {**refused_row(url, None), "sha256": stored.sha256, "stale_reason": row["reason"]}
                    journal.append(row)
                    kept = pa.RecordBatch.from_pylist([row], schema=PAGES.schema)
                    if url in journal.bodiless and complete is not None:
                        kept = complete(url, kept)
                dead += 1
                replaced += kept.column("reason").null_count
                if dead % 100 == 0:
                    logger.info("%d of %d dead links are in the archive so far", replaced, dead)
                yield kept
            if start < batch.num_rows:
                yield batch.slice(start)
    logger.info("%d of %d dead links are in the archive", replaced, dead)
