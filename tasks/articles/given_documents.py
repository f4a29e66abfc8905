"""The stage `given`: documents that the source itself contains, in the same layout as those of the crawl."""

from collections.abc import Collection, Iterable

import pyarrow as pa

from storage.schemas import GIVEN
from tasks.articles.articles import drop_reason
from tasks.articles.lead_text import target_of
from tasks.engine.hashing import article_id, shard_of
from tasks.rights.licences import licence_of
from tasks.rights.text_columns import text_columns
from tasks.sources.choice import open_source
from tasks.sources.settings import SourceSettings
from tasks.sources.source import Article, GivenDocument, GivenReason, Partition

_NO_DOCUMENT = GivenDocument("", None, ())


def read_given_documents(
    *,
    partition: Partition,
    source: SourceSettings,
    source_name: str,
    article_shards: int,
    search_will_follow: bool = False,
) -> pa.Table:
    """Return the GIVEN rows of one partition of a source (`given_documents`)."""
    return given_documents(
        open_source(source).read(partition),
        source_name,
        article_shards=article_shards,
        search_will_follow=search_will_follow,
    )


def given_documents(
    articles: Iterable[Article], source_name: str, *, article_shards: int, search_will_follow: bool = False
) -> pa.Table:
    """Return GIVEN rows for the documents of usable articles, in order, as citations ranked by that order. The reasons:
    no_documents, in the single row of an article without documents; duplicate_url, for a document whose URL an earlier
    document of the article has; no_text. A document has the licence that the source gives its article."""
    rows = []
    for article in articles:
        if drop_reason(article, target_of(article), search_will_follow=search_will_follow) is not None:
            continue
        id_ = article_id(source_name, article.identity)
        urls: set[str] = set()
        for rank, document in enumerate(article.documents or (_NO_DOCUMENT,)):
            rows.append(
                {
                    "article_id": id_,
                    "article_shard": shard_of(id_, article_shards),
                    "url": document.url,
                    "provenance": "citation",
                    "rank": rank,
                    "title": document.title,
                    "paragraphs": document.paragraphs,
                    "boilerplate": [False] * len(document.paragraphs),
                    "engine": None,
                    "reason": _document_reason(document, urls),
                    "licence": article.licence and (licence_of(article.licence) or article.licence),
                    "licence_source": None if article.licence is None else "source",
                    "reservations": [],
                    **text_columns(document.paragraphs),
                }
            )
            urls.add(document.url)
    return pa.Table.from_pylist(rows, schema=GIVEN.schema)


def _document_reason(document: GivenDocument, urls: Collection[str]) -> str | None:
    if document is _NO_DOCUMENT:
        return GivenReason.NO_DOCUMENTS
    if document.url in urls:
        return GivenReason.DUPLICATE_URL
    return None if document.paragraphs else GivenReason.NO_TEXT
