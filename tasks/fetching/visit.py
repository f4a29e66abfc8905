"""The visit of one URL: each step sends one request and decides what to do next. A step never waits. A retry, or a
redirect to another host, goes back to the queues, so that no thread sleeps and every hop respects its host."""

import hashlib
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from requests.cookies import RequestsCookieJar
from w3lib.html import get_meta_refresh

from storage.schemas import PAGES
from tasks.fetching.content import declared_type, hopeless_type, settled_type
from tasks.fetching.http import Client, Patience, Response, retry_wait
from tasks.fetching.reasons import HOST_FAULTS, SILENT, PageReason, http_reason
from tasks.fetching.reused_pages import StoredPage
from tasks.fetching.robots import ROBOTS_BYTES
from tasks.fetching.safety import FetchError
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import BadUrlError, host_of, join_url
from tasks.rights.reservations import rights_headers

logger = logging.getLogger(__name__)

Answer = Response | FetchError

MAX_REDIRECTS = 5  # followed for one URL; for robots.txt RFC 9309, 2.3.1.2, asks for at least as many

_MARKUP = frozenset({"text/html", "application/xhtml+xml"})
_HEAD = 16_384  # bytes of a page that may send its readers elsewhere
_SECONDS = 10.0  # until it does; a page that waits longer is meant to be read
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1"


@dataclass(slots=True)
class Visit:
    """A URL between its first request and its result."""

    url: str  # URL of the frontier, or of a file about a whole site
    target: str  # URL of the next request: `url`, or the target of its redirects
    of_site: bool = False  # whether this is a file about a whole site: robots.txt, ai.txt or tdmrep.json
    seen: list[str] = field(default_factory=list)  # URLs requested so far
    # Cookies that its redirects have set: many sites send a client without cookies back.
    cookies: RequestsCookieJar | None = None  # None before the first request: a shard has many visits that wait
    shown: dict[str, int] = field(default_factory=dict)  # by URL: hash of the cookies that its last request had
    attempts: int = 0  # requests sent, redirect hops not counted
    tries: int = 0  # requests sent for `target`
    started: float | None = None  # monotonic time of the first request, or None
    last: Answer | None = None  # last answer, if the request is to be retried
    stored: StoredPage | None = None  # page of an earlier crawl that its server may confirm, or None
    doubted: bool = False  # whether a confirmation was of another page; then the page is requested unconditionally
    confirmed: bool = False  # whether the server has confirmed the stored page
    reserved: Sequence[str] = ()  # entries of the site's files that reserve `target` (`tasks.crawl.site_rules`)

    @property
    def cookie_state(self) -> int:
        """A hash of the cookies that its next request has."""
        return hash(frozenset((cookie.domain, cookie.name, cookie.value) for cookie in self.cookies or ()))

    @property
    def validators(self) -> dict[str, str]:
        """Headers that make the next request conditional, if its URL is the one of the stored page."""
        if self.stored is None or self.doubted or self.target != self.stored.final_url:
            return {}
        return self.stored.validators


@dataclass(frozen=True)
class RequestResult:
    """The result of one request."""

    answer: Answer | None  # final answer, or None if another request follows
    delay: float = 0.0  # seconds to wait before that request
    pause: float = 0.0  # seconds that the host asked us to wait
    # whether the failure suggests that the host is down; None if it says nothing about the host
    host_failed: bool | None = None


# Reasons that say nothing about a page, although it is not retried. If robots.txt cannot be read, the pages get its
# host's fault, which may be as temporary as their own.
_OF_ROBOTS = {PageReason.ROBOTS_UNREACHABLE, PageReason.ROBOTS_TOO_COMPLEX, PageReason.CRAWL_DELAY_TOO_LONG}
_OURS = {PageReason.BUDGET_SPENT, PageReason.HOST_UNAVAILABLE, PageReason.INTERNAL_ERROR}
_NO_ANSWER = SILENT | _OF_ROBOTS | _OURS


def step(
    visit: Visit, client: Client, settings: CrawlSettings, patience: Patience, fault: FetchError | None = None
) -> RequestResult:
    """Send the next request of a visit, unless there is a `fault`; a bug of ours ends it with `internal_error`."""
    try:
        return _step(visit, client, settings, patience, fault)
    except OSError:  # errors of the network are FetchErrors: this is an error of our disk, which concerns all URLs
        raise
    except Exception as error:
        logger.exception("fetching %s failed unexpectedly", visit.target)
        return RequestResult(FetchError(PageReason.INTERNAL_ERROR, error))


def _step(
    visit: Visit, client: Client, settings: CrawlSettings, patience: Patience, fault: FetchError | None
) -> RequestResult:
    if visit.started is None:
        visit.started = time.monotonic()
    visit.tries += 1
    visit.attempts += 1 if visit.tries > 1 or not visit.seen else 0
    if visit.cookies is None:
        visit.cookies = RequestsCookieJar()
    if visit.tries == 1:
        visit.seen.append(visit.target)
        visit.shown[visit.target] = visit.cookie_state
    answer = _ask(visit, client, settings) if fault is None else fault
    if isinstance(answer, Response) and answer.status == 304 and visit.validators:
        assert visit.stored is not None
        if visit.stored.contradicted_by(answer.headers.get("etag")):
            visit.doubted = True
            return RequestResult(None, host_failed=False)
        visit.confirmed = True
        return RequestResult(answer, host_failed=False)
    retry = _retry(visit, answer, patience)
    if retry is not None:
        return retry
    if isinstance(answer, Response) and answer.location is not None:
        return _follow(visit, answer, settings)
    if isinstance(answer, Response) and not visit.of_site and (target := refresh_target(visit, answer, settings)):
        visit.target, visit.tries, visit.last = target, 0, None
        return RequestResult(None, host_failed=False)
    return RequestResult(answer, host_failed=_host_failed(answer))


def _ask(visit: Visit, client: Client, settings: CrawlSettings) -> Answer:
    try:
        if visit.of_site:
            return client.request(visit.target, max_bytes=ROBOTS_BYTES, cut=True, cookies=visit.cookies)

        def inspect(_status: int, headers: Mapping[str, str], start: bytes | None) -> str | None:
            declared, charset = declared_type(headers.get("content-type"))
            if start is None:
                return PageReason.NOT_HTML if hopeless_type(declared, settings.accepted_types) else None
            media = settled_type(declared, start, charset)
            return None if media is None or media in settings.accepted_types else PageReason.NOT_HTML

        return client.request(
            visit.target, headers={"Accept": _ACCEPT, **visit.validators}, inspect=inspect, cookies=visit.cookies
        )
    except FetchError as fault:
        return fault


def _retry(visit: Visit, answer: Answer, patience: Patience) -> RequestResult | None:
    """Return the step that retries the request later, or None if it must not be retried."""
    fault = answer if isinstance(answer, FetchError) else answer.setback
    if fault is None or not fault.transient:
        return None
    failed = _host_failed(answer)
    wait = retry_wait(visit.tries - 1, fault.retry_after, patience.backoff_seconds, patience.max_backoff_seconds)
    pause = wait if fault.reason == PageReason.RATE_LIMITED or fault.retry_after is not None else 0.0
    if visit.tries > patience.retries:
        return RequestResult(answer, pause=pause, host_failed=failed)
    visit.last = answer
    return RequestResult(None, delay=wait, pause=pause, host_failed=failed)


def _host_failed(answer: Answer) -> bool:
    fault = answer if isinstance(answer, FetchError) else answer.fault
    if fault is not None:
        return fault.reason in HOST_FAULTS
    return isinstance(answer, Response) and answer.status == 429


def _follow(visit: Visit, answer: Response, settings: CrawlSettings) -> RequestResult:
    assert answer.location is not None
    try:
        visit.target = redirect_target(visit, answer.location, settings)
    except FetchError as fault:
        # The row keeps status and URL of the last hop.
        return RequestResult(replace(answer, content=b"", fault=fault), host_failed=False)
    visit.tries, visit.last = 0, None
    return RequestResult(None, host_failed=False)


def redirect_target(visit: Visit, location: str, settings: CrawlSettings) -> str:
    """Return a redirect's target in normal form. Raises FetchError: it is invalid or a loop, or there were too many."""
    if not location:
        raise FetchError(PageReason.BAD_REDIRECT, visit.target)
    try:
        target = join_url(visit.target, location, allowed_hosts=settings.allowed_hosts)
    except BadUrlError as error:
        raise FetchError(error.reason, error) from error
    if target in visit.seen and visit.shown.get(target, visit.cookie_state) == visit.cookie_state:
        raise FetchError(PageReason.REDIRECT_LOOP, target)
    if len(visit.seen) > MAX_REDIRECTS:
        raise FetchError(PageReason.TOO_MANY_REDIRECTS, target)
    return target


def refresh_target(visit: Visit, answer: Response, settings: CrawlSettings) -> str | None:
    """Return where a page sends its readers at once by `<meta http-equiv="refresh">`; None for a page that stays, that
    only loads itself again, or whose target cannot be followed: it is kept as a page then."""
    if not answer.success or answer.fault is not None:
        return None
    head = answer.body[:_HEAD]
    declared, charset = declared_type(answer.headers.get("content-type"))
    if b"refresh" not in head.lower() or settled_type(declared, head, charset) not in _MARKUP:
        return None
    seconds, target = get_meta_refresh(head.decode("utf-8", "replace"), visit.target)
    if seconds is None or target is None or seconds > _SECONDS:
        return None
    try:
        return redirect_target(visit, target, settings)
    except FetchError:
        return None


def page_row(visit: Visit, answer: Answer, settings: CrawlSettings) -> dict[str, Any]:
    """Return the row of `pages` for a finished visit. The stored page is kept if its server confirms it, or if a
    temporary fault says nothing about it. Then the row has no body and no reason, which `EarlierPages` adds."""
    seconds = 0.0 if visit.started is None else time.monotonic() - visit.started
    fault = answer if isinstance(answer, FetchError) else answer.setback
    passes = fault is not None and (fault.transient or fault.reason in _NO_ANSWER)  # it says nothing about the page
    if visit.stored is not None and (visit.confirmed or passes):
        row = refused_row(visit.url, None)
        row.update(sha256=visit.stored.sha256, attempts=visit.attempts, seconds=seconds)
        if isinstance(answer, Response):
            row.update(status=answer.status, fetched_at=_arrival(answer))
        if not visit.confirmed and fault is not None:
            row["stale_reason"] = fault.reason
        elif settings.reads_site_files:
            row["rights_headers"] = list(visit.reserved)
        return row
    row = refused_row(visit.url, answer.reason if isinstance(answer, FetchError) else None)
    row.update(attempts=visit.attempts, seconds=seconds)
    if isinstance(answer, FetchError):
        row["final_url"] = visit.target if visit.target != visit.url else None
        return row
    row.update(response_columns(answer, settings))
    if row["rights_headers"] is not None:
        row["rights_headers"] = [*row["rights_headers"], *visit.reserved]
    return row


def _arrival(answer: Response) -> datetime | None:
    return None if answer.arrived is None else datetime.fromtimestamp(answer.arrived, UTC)


def response_columns(answer: Response, settings: CrawlSettings) -> dict[str, Any]:
    """Return the columns of `pages` that come from a response, including its reason."""
    declared, charset = declared_type(answer.headers.get("content-type"))
    content = answer.body
    media = settled_type(declared, content, charset)
    reason: str | None = None
    if answer.fault is not None:
        reason = answer.fault.reason
    elif not answer.success:
        reason = http_reason(answer.status)
    elif not content.strip():
        reason = PageReason.EMPTY_BODY
    elif media not in settings.accepted_types:
        reason = PageReason.NOT_HTML
    body = content if reason is None else None
    return {
        "status": answer.status,
        "reason": reason,
        "final_url": answer.url,
        "mime": media,
        "charset": charset,
        "bytes": answer.received,
        "sha256": None if body is None else hashlib.sha256(body).hexdigest(),
        "rights_headers": None if body is None else rights_headers(answer.headers),
        "etag": answer.headers.get("etag"),
        "last_modified": answer.headers.get("last-modified"),
        "fetched_at": _arrival(answer),
        "body": body,
    }


def refused_row(url: str, reason: str | None) -> dict[str, Any]:
    """Return a row of `pages` for a URL without any response."""
    known = {"url": url, "host": host_of(url), "reason": reason, "bytes": 0, "seconds": 0.0, "attempts": 0}
    return dict.fromkeys(PAGES.schema.names) | known
