"""The given sources as tables of the pipeline: URLs fetched by the crawl, files as pages that are there already."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from storage.schemas import ARTICLES, FRONTIER, PAGES
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource
from tasks.crawl.crawl import crawl_batches
from tasks.crawl.frontier import build_frontier
from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress

ARTICLE = "summary"  # id of the only article


def article(title: str, urls: Sequence[str] = ()) -> pa.Table:
    """Return the ARTICLES row of a topic without a lead; in the split `test`, which decoding reads."""
    row: dict[str, Any] = dict.fromkeys(ARTICLES.schema.names)
    row |= {"article_id": ARTICLE, "title": title, "lead": "", "references": urls, "split": "test"}
    return pa.Table.from_pylist([row], schema=ARTICLES.schema)


def fetch(
    title: str,
    given: Sequence[GivenSource],
    settings: SummarySettings,
    *,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> tuple[pa.Table, pa.Table]:
    """Return the FRONTIER of all sources, in their order as ranks, and the PAGES of those that can be read.

    URLs are fetched under the crawl's own rules: public addresses, robots.txt, politeness, limits. A file is a page
    whose URL is its number and name, on a host of its own.

    Args:
        title: of the topic.
        given: the sources.
        settings: limits.
        connect_to: pattern of host -> `address:port` where its connections are made instead.
        progress: called about once a second while pages are fetched."""
    crawl = settings.crawl
    places = [index for index, source in enumerate(given) if source.is_url]
    frontier = build_frontier(
        article(title, [given[index].name for index in places]), None, crawl, article_shard=0, host_shards=1
    )
    rows = [{**row, "rank": places[row["rank"]]} for row in frontier.to_pylist()]
    pages: list[pa.RecordBatch] = []
    if places:
        with TemporaryDirectory(prefix="wikisum-") as folder, Journal(pafs.LocalFileSystem(), folder) as journal:
            pages += crawl_batches(frontier, None, crawl, journal=journal, connect_to=connect_to, progress=progress)
    files = [(index, source) for index, source in enumerate(given) if source.body is not None]
    rows += [_frontier_row(index, source) for index, source in files]
    pages += list(_file_pages(files))
    return (pa.Table.from_pylist(rows, schema=FRONTIER.schema), pa.Table.from_batches(pages, schema=PAGES.schema))


def file_url(index: int, source: GivenSource) -> str:
    """Return the address under which a file is in the tables; no fetched page has such a one."""
    return f"file:{index}:{source.name}"


def _frontier_row(index: int, source: GivenSource) -> dict[str, Any]:
    url = file_url(index, source)
    return {
        "article_id": ARTICLE,
        "article_shard": 0,
        "url": url,
        "host": url,
        "host_shard": 0,
        "provenance": "citation",
        "rank": index,
        "drop_reason": None,
    }


def _file_pages(files: Sequence[tuple[int, GivenSource]]) -> Iterator[pa.RecordBatch]:
    for index, source in files:
        url, body = file_url(index, source), source.body or b""
        row = {
            **dict.fromkeys(PAGES.schema.names),
            "url": url,
            "host": url,
            "final_url": url,
            "mime": source.mime,
            "charset": source.charset,
            "bytes": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "fetched_at": datetime.now(UTC),
            "body": body,
        }
        yield pa.RecordBatch.from_pylist([row], schema=PAGES.schema)
