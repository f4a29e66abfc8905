"""Search results of articles: those in the source, else those that a provider finds for the title."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from storage.errors import StorageError
from storage.schemas import DOCUMENTS, SEARCH
from storage.spending import Account
from storage.store import Store
from tasks.crawl.answers import Answers
from tasks.crawl.reasons import http_reason
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Patience, Service
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import host_of, normalise_url
from tasks.engine.reasons import Reason
from tasks.engine.recipe import finished_build, finished_stage
from tasks.engine.shard import Scratch
from tasks.search.settings import WebSearchSettings, filled, interfaces
from tasks.sources.files import file_digest
from tasks.text.ngrams import split_words

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from tasks.text.tfidf import BM25

_COLUMNS = ["url", "title", "paragraphs"]


class CorpusSearch:
    """Finds pages of a root's latest build by the words of their titles and paragraphs, all of them in memory."""

    name = "bm25"

    def __init__(self, root: str, _titles: Collection[str] = ()) -> None:
        """Find the pages' files. Raises ValueError: the root has no build with documents."""
        try:
            self._root, store = root, Store(root)
            self._files = finished_stage(store, finished_build(store, None), DOCUMENTS.name).in_order
        except (StorageError, ValueError) as error:
            raise ValueError(
                f"search.engine is {root!r}: expected the root of a corpus that was built: {error}"
            ) from error

    @classmethod
    def notes(cls, root: str) -> dict[str, str]:
        """Return the digest of the pages, which decide the results. Raises ValueError: as above."""
        digests = " ".join(file.written.digest for file in cls(root)._files)
        return {"corpus_digest": sha256(digests.encode()).hexdigest()}

    def search(self, query: str, results: int) -> list[str]:
        """Return the pages with words of the query, best first, of equals the first by URL. Raises CorruptShardError: a
        file is damaged."""
        urls, pages = _indexed(self._root, tuple((file.path, file.written.sha256) for file in self._files))
        scores = pages.scores(split_words(query, "unicode"))
        best = np.argsort(-scores, kind="stable")[:results]
        return [urls[page] for page in best if scores[page] > 0]


@lru_cache(maxsize=1)  # a process asks for many shards of articles
def _indexed(root: str, files: tuple[tuple[str, str], ...]) -> tuple[list[str], "BM25"]:
    """Return the pages' URLs, sorted, and what finds them."""
    from tasks.text.tfidf import BM25  # here, because a plan need not wait for it

    store = Store(root)
    words: dict[str, list[str]] = {}
    for path, digest in files:
        for batch in store.read_batches(path, digest, _COLUMNS):
            for row in batch.to_pylist():
                if row["url"] not in words and row["paragraphs"]:
                    words[row["url"]] = split_words("\n".join([row["title"] or "", *row["paragraphs"]]), "unicode")
    return sorted(words), BM25([words[url] for url in sorted(words)])


# A query is one of many and costs money: a failed one is a row with its reason, and asked again by the next run.
PATIENCE = Patience(total_seconds=30.0, retries=2, backoff_seconds=2.0, max_backoff_seconds=60.0)


class SearchReason(Reason):
    """Why a query has no results."""

    QUERY_FAILED = "query_failed", "the provider did not answer the query"
    BAD_ANSWER = "bad_answer", "the provider's answer is not what its interface promises"
    NO_RESULTS = "no_results", "the provider knows nothing of the title"


_MAX_QUERY_CHARACTERS = 300
_MAX_ANSWER_BYTES = 4_000_000


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
        """Return the URLs of at most `results` results, best first. Raises FetchError: there is no answer."""
        values = self._values | {"query": query[:_MAX_QUERY_CHARACTERS], "results": results}
        fields, body, headers = (
            filled(part, values) for part in (self._interface.query, self._interface.body, self._interface.headers)
        )
        try:
            url, sent = self._endpoint, None
            if body:
                headers |= {"Content-Type": "application/json"}
                sent = json.dumps(body).encode()
            else:
                url = normalise_url(f"{url}?{urlencode(fields)}", allowed_hosts=[host_of(url)])
            answer = self._service.read(url, lambda got: got, body=sent, max_bytes=_MAX_ANSWER_BYTES, headers=headers)
        except FetchError as fault:  # the reason alone is passed on: the URL may hold a key
            raise FetchError(SearchReason.QUERY_FAILED, fault.reason) from None
        if not answer.success:
            raise FetchError(SearchReason.QUERY_FAILED, http_reason(answer.status))
        try:
            urls = self._interface.urls(json.loads(answer.body))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FetchError(SearchReason.BAD_ANSWER, type(error).__name__) from error
        return list(dict.fromkeys(urls))[:results]

    def close(self) -> None:
        """Close the connection."""
        self._service.close()


SearchProvider = RecordedSearch | CorpusSearch | JsonSearch
_LOCAL: Mapping[str, type[RecordedSearch] | type[CorpusSearch]] = {"recorded": RecordedSearch, "bm25": CorpusSearch}


def local_notes(settings: WebSearchSettings) -> dict[str, str]:
    """Return the digest of what a provider on this machine finds its results in: the file of recorded results, or the
    pages of a corpus. Raises what `RecordedSearch` and `CorpusSearch` raise."""
    local = _LOCAL.get(settings.provider)
    return {} if local is None else local.notes(_place(settings))


def _place(settings: WebSearchSettings) -> str:
    (name,) = interfaces()[settings.provider].needs
    return str(getattr(settings, name))


_ANSWERS_A_FILE = 100  # on an object store a file exists only once closed, so an interruption may lose this many


def search_articles(
    articles: pa.Table,
    settings: WebSearchSettings,
    *,
    scratch: Scratch,
    connect_to: Mapping[str, str],
    contact: str = "",
    account: Account | None = None,
) -> pa.Table:
    """Return rows of `search`, in the order of articles, by rank: the results of each kept article, or a reason.

    An article whose source has search results keeps them, with provider `source`. Every other title is one query (none
    with provider `none`), whose answer is kept in `scratch`, so that none is paid for twice; a query that fails becomes
    a row with its reason, and the search continues. Its price is written to the `account` before it is sent, once
    whatever its retries. Raises FileNotFoundError: the file of recorded results does not exist; ValueError: a line of
    it is malformed, or the endpoint is not a web address; BudgetSpentError: the account refuses; answers are kept."""
    rows: list[dict[str, Any]] = []
    columns = articles.select(["article_id", "title", "search_results", "drop_reason"]).to_pylist()
    kept = [article for article in columns if article["drop_reason"] is None]
    titles = {article["title"] for article in kept if not article["search_results"]}
    provider: SearchProvider | None = None
    if (local := _LOCAL.get(settings.provider)) is not None:
        provider = local(_place(settings), titles)
    elif settings.provider != "none":
        provider = JsonSearch(settings, connect_to, contact)
    try:
        ledgers = nullcontext() if account is None else account.ledger()
        with ledgers as ledger, Answers(scratch.filesystem, scratch.path, rows=_ANSWERS_A_FILE) as answers:
            for article in kept:
                if article["search_results"]:
                    rows += _rows(article["article_id"], article["search_results"], "source")
                elif provider is not None:
                    if ledger is not None and article["title"] not in answers:
                        ledger.add("search", settings.query_price or 0.0)
                    rows += _ask(provider, article, settings.results, answers)
    finally:
        if isinstance(provider, JsonSearch):
            provider.close()
    return pa.Table.from_pylist(rows, schema=SEARCH.schema)


def _ask(provider: SearchProvider, article: Mapping[str, Any], results: int, answers: Answers) -> list[dict[str, Any]]:
    title = article["title"]
    try:
        urls = answers[title] if title in answers else provider.search(title, results)
    except FetchError as error:
        logger.warning("search for %r at %s failed: %s", article["title"], provider.name, error)
        return [_row(article["article_id"], None, 0, provider.name, error.reason)]
    except Exception:
        logger.exception("search for %r at %s failed unexpectedly", article["title"], provider.name)
        return [_row(article["article_id"], None, 0, provider.name, SearchReason.QUERY_FAILED)]
    if title not in answers:  # a failed query is asked again by the next run
        answers.add(title, urls)
    if not urls:
        return [_row(article["article_id"], None, 0, provider.name, SearchReason.NO_RESULTS)]
    return _rows(article["article_id"], urls, provider.name)


def _rows(article: str, urls: list[str], provider: str) -> list[dict[str, Any]]:
    return [_row(article, url, rank, provider, None) for rank, url in enumerate(urls)]


def _row(article: str, url: str | None, rank: int, provider: str, reason: str | None) -> dict[str, Any]:
    return {"article_id": article, "url": url, "rank": rank, "provider": provider, "reason": reason}
