"""Search results of articles: those in the source, else those that a provider finds for the title."""

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from storage.errors import StorageError
from storage.recipes import ShardRecord
from storage.schemas import DOCUMENTS, SEARCH
from storage.spending import Account
from storage.store import Store
from tasks.engine.job import Scratch
from tasks.engine.reasons import Reason
from tasks.engine.recipe import finished_build, finished_stage
from tasks.fetching.answers import Answers
from tasks.fetching.http import Patience
from tasks.fetching.reasons import http_reason
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import host_of, normalise_url
from tasks.search.settings import WebSearchSettings, filled, interfaces
from tasks.sources.files import check_is_file, file_digest
from tasks.text.ngrams import split_words

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from tasks.text.tfidf import BM25

Search = Callable[[str], list[str]]  # a title -> the URLs of its results, best first
# A query is one of many and costs money: a failed one is a row with its reason. If many fail in a row, the provider is
# at fault, and none of them may be stored: the shard fails, and the next run asks again.
_FAILED_IN_A_ROW = 5
PATIENCE = Patience(total_seconds=30.0, retries=2, backoff_seconds=2.0, max_backoff_seconds=60.0)


class SearchReason(Reason):
    """Why a query has no results."""

    QUERY_FAILED = "query_failed", "the provider did not answer the query"
    BAD_ANSWER = "bad_answer", "the provider's answer is not what its interface promises"
    NO_RESULTS = "no_results", "the provider has no result for the title"


_COLUMNS = ["url", "title", "paragraphs"]
_MAX_QUERY_CHARACTERS = 300
_MAX_ANSWER_BYTES = 4_000_000
_ANSWERS_A_FILE = 100  # on an object store a file exists only once closed, so an interruption may lose this many


def local_notes(settings: WebSearchSettings) -> dict[str, str]:
    """Return the digest of a local provider's data: the file of recorded results, each line of which is checked, or the
    pages of a corpus. Raises FileNotFoundError: the file does not exist; ValueError: a line of it is malformed, or the
    root has no build with documents."""
    if settings.provider == "recorded":
        file = Path(str(settings.recorded))
        check_is_file(file, "search.recorded")
        digest = file_digest(file)
        _check_lines(file, digest)
        return {"recorded_sha256": digest}
    if settings.provider == "bm25":
        digests = " ".join(record.written.digest for record in _pages_of(str(settings.engine)))
        return {"corpus_digest": sha256(digests.encode()).hexdigest()}
    return {}


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


class _RecordedLine(BaseModel):
    model_config = ConfigDict(strict=True)

    title: str
    results: list[str]


def _pages_of(root: str) -> list[ShardRecord]:
    """Return the records of the documents of a root's latest build. Raises ValueError: it has no such build."""
    try:
        store = Store(root)
        return finished_stage(store, finished_build(store, None), DOCUMENTS.name).in_order
    except (StorageError, ValueError) as error:
        raise ValueError(f"search.engine is {root!r}: expected the root of a corpus that was built: {error}") from error


def _find_pages(root: str, files: tuple[tuple[str, str], ...], results: int, query: str) -> list[str]:
    """Return the pages with words of the query, best first, of equals the first by URL. Raises CorruptShardError: a
    file is damaged."""
    urls, pages = _indexed(root, files)
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


def _ask_over_http(service: Service, settings: WebSearchSettings, query: str) -> list[str]:
    """Return the URLs that a provider with a JSON interface finds, best first; FetchError: it does not answer."""
    interface = interfaces()[settings.provider]
    key = None if settings.key is None else settings.key.get_secret_value()
    values = {
        **{"query": query[:_MAX_QUERY_CHARACTERS], "results": settings.results},
        **{"key": key, "engine": settings.engine, "language": settings.language},
    }
    fields, body, headers = (filled(part, values) for part in (interface.query, interface.body, interface.headers))
    try:
        url, sent = service.url, None
        if body:
            headers |= {"Content-Type": "application/json"}
            sent = json.dumps(body).encode()
        else:
            url = normalise_url(f"{url}?{urlencode(fields)}", allowed_hosts=[host_of(url)])
        answer = service.read(url, lambda got: got, body=sent, max_bytes=_MAX_ANSWER_BYTES, headers=headers)
    except FetchError as fault:  # the reason alone is passed on: the URL may hold a key
        raise FetchError(SearchReason.QUERY_FAILED, fault.reason) from None
    if not answer.success:
        raise FetchError(SearchReason.QUERY_FAILED, http_reason(answer.status))
    try:
        urls = interface.urls(json.loads(answer.body))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FetchError(SearchReason.BAD_ANSWER, f"{type(error).__name__}: {error}"[:200]) from error
    return list(dict.fromkeys(urls))[: settings.results]


@contextmanager
def _search_of(
    settings: WebSearchSettings, titles: Collection[str], connect_to: Mapping[str, str], contact: str
) -> Iterator[Search | None]:
    """Yield what searches for these titles; None for provider `none`. Raises what `search_articles` says."""
    if settings.provider == "none":
        yield None
    elif settings.provider == "recorded":  # keeps only what it will be asked for
        recorded = {title: urls for title, urls in _recorded_lines(Path(str(settings.recorded))) if title in titles}
        yield lambda title: recorded.get(title, [])[: settings.results]
    elif settings.provider == "bm25":
        files = tuple((record.path, record.written.sha256) for record in _pages_of(str(settings.engine)))
        yield partial(_find_pages, str(settings.engine), files, settings.results)
    else:
        interface = interfaces()[settings.provider]
        path = interface.path.format(engine=quote(settings.engine or "", safe=""))
        url = f"{(settings.endpoint or interface.endpoint).removesuffix('/').removesuffix(path)}{path}"
        # The user chose the endpoint, so it may be on this machine or in a private network.
        url = normalise_url(url, allowed_hosts=[urlsplit(url).netloc.lower()])
        web, delay = CrawlSettings(contact=contact), settings.delay_seconds
        with Service(url, web, PATIENCE, connect_to, delay_seconds=delay) as service:
            yield partial(_ask_over_http, service, settings)


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
    with provider `none`), whose answer is kept in `scratch`, so that none is paid for twice. A query that fails becomes
    a row with its reason, and the search continues. Its price is written to the `account` before it is sent, once
    whatever its retries. Raises FileNotFoundError: the file of recorded results does not exist. ValueError: a line of
    it is malformed, or the endpoint is not a web address. ConnectionError: the provider failed on query after query.
    BudgetSpentError: the account refuses. CorruptShardError: a file of the corpus that is searched is damaged; answers
    are kept."""
    rows: list[dict[str, Any]] = []
    columns = articles.select(["article_id", "title", "search_results", "drop_reason"]).to_pylist()
    kept = [article for article in columns if article["drop_reason"] is None]
    titles = {article["title"] for article in kept if not article["search_results"]}
    ledgers = nullcontext() if account is None else account.ledger()
    failed = 0
    with (
        _search_of(settings, titles, connect_to, contact) as search,
        ledgers as ledger,
        Answers(scratch.filesystem, scratch.path, rows=_ANSWERS_A_FILE) as answers,
    ):
        for article in kept:
            title, urls, provider, reason = article["title"], article["search_results"], "source", None
            if not urls:
                if search is None:
                    continue
                if ledger is not None and title not in answers:
                    ledger.add("search", settings.query_price or 0.0)
                provider = settings.provider
                urls, reason = _ask(search, provider, title, answers)
                failed = failed + 1 if reason in (SearchReason.QUERY_FAILED, SearchReason.BAD_ANSWER) else 0
                if failed == _FAILED_IN_A_ROW:
                    raise ConnectionError(
                        f"search.provider {provider}: {failed} queries in a row failed, the last one with {reason}; "
                        "check the section search. Answers are kept, and the next run asks for the others"
                    )
            fields = {"article_id": article["article_id"], "provider": provider, "reason": reason}
            rows += [{**fields, "url": url, "rank": rank} for rank, url in enumerate(urls or [None])]
    return pa.Table.from_pylist(rows, schema=SEARCH.schema)


def _ask(search: Search, provider: str, title: str, answers: Answers) -> tuple[list[str], str | None]:
    """Return the results of a title; of none, the reason. Only an answer is kept."""
    if title in answers:
        urls: list[str] = answers[title]
    else:
        try:
            urls = search(title)
        except FetchError as error:
            logger.warning("search for %r at %s failed: %s", title, provider, error)
            return [], error.reason
        except StorageError:  # the corpus that is searched is damaged, for every title
            raise
        except Exception:
            logger.exception("search for %r at %s failed unexpectedly", title, provider)
            return [], SearchReason.QUERY_FAILED
        answers.add(title, urls)
    return urls, None if urls else SearchReason.NO_RESULTS
