"""Queries to MediaWiki's action interface, as its etiquette asks: serial, with a contact, with maxlag, and patient."""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from tasks.crawl.http import TRANSIENT_STATUS, Client, Response
from tasks.crawl.safety import FetchError, Guard
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import host_of, normalise_url
from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)

_MAX_ANSWER_BYTES = 64_000_000  # the interface cuts an answer at 8 MiB of text; escapes and markup come on top
_TRANSIENT_ERRORS = frozenset({"maxlag", "ratelimited", "readonly"})


class MediaWikiError(ValueError):
    """A query that the wiki refuses.

    Attributes:
        code: the wiki's code for the error.
    """

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{code}: {info}")
        self.code = code


class MediaWikiApi(Closing):
    """One wiki's interface; a context that closes its connection."""

    def __init__(
        self,
        url: str,
        *,
        contact: str,
        maxlag: int,
        delay: float,
        retries: int,
        backoff: float,
        longest_wait: float,
        total_seconds: float,
        connect_to: Mapping[str, str],
    ) -> None:
        """Make the client.

        Args:
            url: of api.php; whoever names it trusts it, so it may be on this machine or in this network.
            contact: URL or e-mail address for the User-Agent.
            maxlag: seconds its databases may lag.
            delay: seconds between requests.
            retries: further requests after one that failed for now.
            backoff: seconds before the first retry, doubled each time.
            longest_wait: seconds between two requests at most, whatever Retry-After asks for.
            total_seconds: limit for one answer.
            connect_to: pattern of host -> `address:port` where its connections are made instead.

        Raises:
            ValueError: the URL is no web address.
        """
        self._url = normalise_url(url, allowed_hosts=[urlsplit(url).netloc.lower()])
        web = CrawlSettings(
            contact=contact, total_seconds=total_seconds, allowed_hosts=(host_of(self._url),), connections=1
        )
        self._client = Client(web, Guard(web.allowed_hosts, connect_to))
        self._maxlag = maxlag
        self._delay = delay
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._next_start = 0.0

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def query(self, fields: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the parts of a query's answer, for as long as it continues.

        Raises:
            ConnectionError: there is no answer.
            MediaWikiError: the wiki refuses the query.
        """
        going_on: dict[str, str] = {}
        while True:
            answer = self._answer({**fields, **going_on})
            part = answer.get("query", {})
            yield part if isinstance(part, dict) else {}
            if "continue" not in answer:
                return
            following = {name: str(value) for name, value in answer["continue"].items()}
            if following == going_on:
                raise MediaWikiError("continue", f"the answer continues where it stood: {following}")
            going_on = following

    def _answer(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Send a query, again while the wiki asks for patience."""
        fixed = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(self._maxlag)}
        url = f"{self._url}?{urlencode({**fixed, **fields})}"
        for attempt in range(self._retries + 1):
            time.sleep(max(0.0, self._next_start - time.monotonic()))
            try:
                response = self._client.get(url, max_bytes=_MAX_ANSWER_BYTES)
                answer, reason, wait = _judged(response)
            except FetchError as fault:
                if not fault.transient:
                    raise ConnectionError(f"{self._url}: {fault}") from fault
                answer, reason, wait = None, str(fault), None
            self._next_start = time.monotonic() + self._delay
            if answer is not None:
                return answer
            asked = f"; it asks to wait {wait:.0f} s" if wait else ""
            # Whoever asks for more than the longest wait is asked again then, and given up after the last retry only.
            wait = min(max(wait or 0.0, self._backoff * 2.0**attempt), self._longest_wait)
            if attempt == self._retries:
                raise ConnectionError(f"{self._url}: {reason}, after {attempt + 1} requests{asked}")
            logger.info("%s: %s%s; the next request in %.1f s", self._url, reason, asked, wait)
            self._next_start = time.monotonic() + max(wait, self._delay)
        raise AssertionError("the last attempt returns or raises")


def _judged(response: Response) -> tuple[dict[str, Any] | None, str, float | None]:
    """Return the answer, or None with the reason to try again and the seconds to wait.

    Raises:
        ConnectionError: no further try will help.
        MediaWikiError: the wiki refuses the query.
    """
    reason = f"HTTP {response.status}" if response.fault is None else response.fault.reason
    if response.fault is not None and response.fault.transient:
        return None, reason, response.retry_after
    if response.status in TRANSIENT_STATUS:
        return None, reason, response.retry_after
    if not response.success or response.fault is not None:
        raise ConnectionError(f"{response.url}: {reason}")
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise ConnectionError(f"{response.url}: expected JSON, got {response.body[:80]!r}") from error
    if not isinstance(answer, dict):
        raise ConnectionError(f"{response.url}: expected a JSON object, got {response.body[:80]!r}")
    refusal = answer.get("error")
    if not isinstance(refusal, dict):
        return answer, "", None
    code, info = str(refusal.get("code")), str(refusal.get("info"))
    if code in _TRANSIENT_ERRORS or code.startswith("internal_api_error"):
        return None, f"{code}: {info}", response.retry_after
    raise MediaWikiError(code, info)
