"""Documents that a source gives, in the form that extraction gives those it finds in pages."""

from collections.abc import Iterable

import pyarrow as pa

from storage.schemas import DOCUMENTS
from tasks.hashing import article_id, shard_of
from tasks.sources.sections import GivenDocument

ENGINE = "given"


def given_documents(documents: Iterable[GivenDocument], source_name: str, *, article_shards: int) -> pa.Table:
    """Return DOCUMENTS rows, in the order of the documents.

    Args:
        documents: what a source gives for the articles of a partition.
        source_name: name of the source, part of every article's id.
        article_shards: number of article shards.

    Returns:
        A row for each document: a citation of its article, with no boilerplate in it.
    """
    rows = []
    for document in documents:
        id_ = article_id(source_name, document.article)
        rows.append(
            {
                "article_id": id_,
                "article_shard": shard_of(id_, article_shards),
                "url": document.url,
                "provenance": "citation",
                "rank": document.rank,
                "title": document.title,
                "paragraphs": document.paragraphs,
                "boilerplate": [False] * len(document.paragraphs),
                "engine": ENGINE,
                "reason": None,
            }
        )
    return pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)
