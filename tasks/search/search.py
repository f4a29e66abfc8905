"""Search results of articles: those in the source, else those that a provider finds for the title."""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pyarrow as pa

from storage.schemas import SEARCH
from storage.spending import Account
from tasks.crawl.answers import Answers
from tasks.engine.shard import Scratch
from tasks.search.providers import SearchError, SearchProvider, SearchReason, open_provider
from tasks.search.settings import WebSearchSettings

logger = logging.getLogger(__name__)


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
    provider = open_provider(settings, titles, connect_to, contact)
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
        if provider is not None:
            provider.close()
    return pa.Table.from_pylist(rows, schema=SEARCH.schema)


def _ask(provider: SearchProvider, article: Mapping[str, Any], results: int, answers: Answers) -> list[dict[str, Any]]:
    title = article["title"]
    try:
        urls = answers[title] if title in answers else provider.search(title, results)
    except SearchError as error:
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
