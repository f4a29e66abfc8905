"""Search providers behind one small interface."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.crawl.reasons import http_reason
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Patience, Service, as_it_is
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import host_of, normalise_url
from tasks.engine.reasons import Reason
from tasks.search.interfaces import filled, interfaces
from tasks.search.own_corpus import CorpusSearch
from tasks.search.settings import WebSearchSettings
from tasks.sources.files import file_digest

logger = logging.getLogger(__name__)

# A query is one of many and costs money: a failed one is a row with its reason, and asked again by the next run.
PATIENCE = Patience(total_seconds=30.0, retries=2, backoff_seconds=2.0, max_backoff_seconds=60.0)


class SearchReason(Reason):
    """Why a query has no results."""

    QUERY_FAILED = "query_failed", "the provider did not answer the query"
    BAD_ANSWER = "bad_answer", "the provider's answer is not what its interface promises"
    NO_RESULTS = "no_results", "the provider knows nothing of the title"


_MAX_QUERY_CHARACTERS = 300
_MAX_ANSWER_BYTES = 4_000_000


class SearchError(Exception):
    """A query failed."""

    def __init__(self, reason: str, detail: object) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason  # reason in the table `search`: query_failed | bad_answer


class SearchProvider(Protocol):
    """A service that answers queries."""

    @property
    def name(self) -> str:
        """Name of the provider in the table `search`."""

    def search(self, query: str, results: int) -> list[str]:
        """Return the URLs of at most `results` results, best first. Raises SearchError: there is no answer."""

    def close(self) -> None:
        """Release the provider's connections."""


class _RecordedLine(BaseModel):
    model_config = ConfigDict(strict=True)

    title: str
    results: list[str]


class RecordedSearch:
    """Answers from a JSONL file of `title` and `results`; keeps only those of the titles it will be asked for."""

    name = "recorded"

    def __init__(self, file: str, titles: Collection[str]) -> None:
        """Read the file. Raises FileNotFoundError: there is none; ValueError: a line is malformed."""
        self._results = {title: results for title, results in _recorded_lines(Path(file)) if title in titles}

    @staticmethod
    def notes(file: str) -> dict[str, str]:
        """Return the digest of the file, after a look at every line of it. Raises as above."""
        path = Path(file)
        digest = file_digest(path)
        _check_lines(path, digest)
        return {"recorded_sha256": digest}

    def search(self, query: str, results: int) -> list[str]:
        """Return the recorded results of a title; none if it was not recorded."""
        return self._results.get(query, [])[:results]

    def close(self) -> None:
        """Do nothing: the file is closed already."""


@cache
def _check_lines(path: Path, _digest: str) -> None:
    """Read every line before work starts; once for the process until the file changes."""
    for _ in _recorded_lines(path):
        pass


def _recorded_lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                entry = _RecordedLine.model_validate_json(line.removeprefix(b"\xef\xbb\xbf"))
            except ValidationError as error:
                expected = "a JSON object with title, a text, and results, a list of URLs"
                raise ValueError(f"{path}, line {number}: expected {expected}, got {line[:80]!r}") from error
            yield entry.title, entry.results


class JsonSearch:
    """A provider with a JSON interface over HTTP: one request per query, with delays and retries."""

    def __init__(self, settings: WebSearchSettings, connect_to: Mapping[str, str], contact: str) -> None:
        """Make the client; `contact` may be empty. Raises ValueError: the endpoint is not a web address."""
        self.name: str = settings.provider
        self._interface = interfaces()[settings.provider]
        key = None if settings.key is None else settings.key.get_secret_value()
        self._values = {"key": key, "engine": settings.engine, "language": settings.language}
        path = self._interface.path.format(engine=quote(settings.engine or "", safe=""))
        url = f"{(settings.endpoint or self._interface.endpoint).removesuffix('/').removesuffix(path)}{path}"
        # The user chose the endpoint, so it may be on this machine or in a private network.
        self._endpoint = normalise_url(url, allowed_hosts=[urlsplit(url).netloc.lower()])
        web = CrawlSettings(contact=contact)
        self._service = Service(self._endpoint, web, PATIENCE, connect_to, delay_seconds=settings.delay_seconds)

    def search(self, query: str, results: int) -> list[str]:
        """Ask the provider; see `SearchProvider`."""
        values = self._values | {"query": query[:_MAX_QUERY_CHARACTERS], "results": results}
        fields, body, headers = (
            filled(part, values) for part in (self._interface.query, self._interface.body, self._interface.headers)
        )
        try:
            if body:
                headers |= {"Content-Type": "application/json"}
                sent = json.dumps(body).encode()
                answer = self._service.post(
                    self._endpoint, sent, as_it_is, max_bytes=_MAX_ANSWER_BYTES, headers=headers
                )
            else:
                url = normalise_url(f"{self._endpoint}?{urlencode(fields)}", allowed_hosts=[host_of(self._endpoint)])
                answer = self._service.get(url, max_bytes=_MAX_ANSWER_BYTES, headers=headers)
        except FetchError as fault:
            raise SearchError(
                SearchReason.QUERY_FAILED, fault.reason
            ) from None  # the reason alone: the URL may hold a key
        if not answer.success:
            raise SearchError(SearchReason.QUERY_FAILED, http_reason(answer.status))
        try:
            urls = self._interface.urls(json.loads(answer.body))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise SearchError(SearchReason.BAD_ANSWER, type(error).__name__) from error
        return list(dict.fromkeys(urls))[:results]

    def close(self) -> None:
        """Close the connection."""
        self._service.close()


_LOCAL: Mapping[str, type[RecordedSearch] | type[CorpusSearch]] = {"recorded": RecordedSearch, "bm25": CorpusSearch}


def local_notes(settings: WebSearchSettings) -> dict[str, str]:
    """Return the digest of what a provider on this machine finds its results in: the file of recorded results, or the
    pages of a corpus. Raises what `RecordedSearch` and `CorpusSearch` raise."""
    local = _LOCAL.get(settings.provider)
    return {} if local is None else local.notes(_place(settings))


def open_provider(
    settings: WebSearchSettings, titles: Collection[str], connect_to: Mapping[str, str], contact: str
) -> SearchProvider | None:
    """Return the provider of the settings, for queries for `titles`; None for provider `none`."""
    if settings.provider == "none":
        return None
    local = _LOCAL.get(settings.provider)
    return JsonSearch(settings, connect_to, contact) if local is None else local(_place(settings), titles)


def _place(settings: WebSearchSettings) -> str:
    """Return where a provider on this machine finds its results."""
    (name,) = interfaces()[settings.provider].needs
    return str(getattr(settings, name))
