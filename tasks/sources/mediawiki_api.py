"""Queries to MediaWiki's action API, following its etiquette: serial, with a contact, with maxlag, and with retries."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from tasks.crawl.http import Response
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Patience, Service
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import normalise_url
from tasks.engine.closing import Closing

# A wiki that cannot be reached ends the run, so the retries last long; Retry-After may ask for an hour.
PATIENCE = Patience(total_seconds=120.0, retries=8, backoff_seconds=2.0, max_backoff_seconds=3600.0)

_MAXLAG = 5  # seconds by which its databases may lag before it asks us to wait: what Wikimedia recommends
_MAX_ANSWER_BYTES = 64_000_000  # the API limits an answer to 8 MiB of text; escapes and markup are added to that
_TRANSIENT_ERRORS = frozenset({"maxlag", "ratelimited", "readonly"})


class MediaWikiError(ValueError):
    """The wiki answered a query with an error.

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
        connect_to: Mapping[str, str],
        *,
        contact: str,
        delay_seconds: float,
        patience: Patience = PATIENCE,
    ) -> None:
        """Make the client.

        Args:
            url: of api.php; the user chose it, so it may be on this machine or in a private network.
            connect_to: pattern of host -> `address:port` where its connections are made instead.
            contact: URL or e-mail address for the User-Agent.
            delay_seconds: between the starts of two requests, in seconds.
            patience: limit, retries and back-off.

        Raises:
            ValueError: the URL is not a web address.
        """
        self._url = normalise_url(url, allowed_hosts=[urlsplit(url).netloc.lower()])
        self._service = Service(
            self._url, CrawlSettings(contact=contact), patience, connect_to, delay_seconds=delay_seconds
        )

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

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
                raise MediaWikiError("continue", f"the answer continues at the same position again: {following}")
            going_on = following

    def _answer(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Send a query, and retry it while the wiki asks to wait."""
        fixed = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(_MAXLAG)}
        url = f"{self._url}?{urlencode({**fixed, **fields})}"
        try:
            return self._service.read(url, _answer_in, max_bytes=_MAX_ANSWER_BYTES)
        except FetchError as fault:
            raise ConnectionError(f"{self._url}: {fault}") from fault


def _answer_in(response: Response) -> dict[str, Any]:
    """Return the answer in a response.

    Raises:
        ConnectionError: it contains none.
        FetchError: the wiki asks to wait.
        MediaWikiError: the wiki refuses the query.
    """
    if not response.success:
        raise ConnectionError(f"{response.url}: HTTP {response.status}")
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise ConnectionError(f"{response.url}: expected JSON, got {response.body[:80]!r}") from error
    if not isinstance(answer, dict):
        raise ConnectionError(f"{response.url}: expected a JSON object, got {response.body[:80]!r}")
    refusal = answer.get("error")
    if not isinstance(refusal, dict):
        return answer
    code, info = str(refusal.get("code")), str(refusal.get("info"))
    if code in _TRANSIENT_ERRORS or code.startswith("internal_api_error"):
        raise FetchError(code, info, transient=True, retry_after=response.retry_after)
    raise MediaWikiError(code, info)
