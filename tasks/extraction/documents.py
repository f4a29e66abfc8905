"""The stage `documents`: every page extracted once, a row for each article that has it (Liu & Lapata 2019, sec. 3)."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from storage.schemas import DOCUMENTS
from tasks.engine.failure_logs import working_on
from tasks.extraction.engines import Extracted
from tasks.extraction.extractor import Extractor
from tasks.extraction.page_columns import page_columns
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.repeats import PackedPages, columns_of
from tasks.extraction.settings import ExtractSettings

_OF_PAGE = ["url", "host", "reason", "mime", "charset", "body", "final_url", "rights_headers"]
_ORDER = ["article_shard", "article_id", "provenance", "rank", "url"]
_BATCH_ROWS = 256


def extract_documents(
    frontier: pa.Table, pages: Iterable[pa.RecordBatch], settings: ExtractSettings
) -> Iterator[pa.RecordBatch]:
    """Extract a host shard's pages and yield DOCUMENTS rows, one for each (article, URL) of the frontier's kept rows.

    They are sorted by article shard, article, provenance, rank and URL. The texts of all pages are in memory at the
    same time, compressed to a third, but the bodies of one batch of PAGES alone: what repeats on a host is known after
    its last page, and rows are in the order of articles, not of pages.

    Where a URL was both cited and found, the row has the citation. A page without a body keeps its reason; a URL that
    is not among the pages has the reason `page_missing`. `boilerplate` only marks the paragraphs that repeat across
    pages of the host; rights, language, quality and personal data are columns and refuse nothing here. Raises
    RuntimeError: the extracting process cannot be started.
    """
    extracted = _extract_pages(pages, settings)
    none = Extracted(None, (), None, DocumentReason.PAGE_MISSING)
    missing = {**columns_of(none, page_columns(none, "", ())), "boilerplate": ()}
    chosen = frontier.select([*_ORDER, "drop_reason"]).sort_by([(column, "ascending") for column in _ORDER])
    article, done = None, set[str]()
    for batch in chosen.to_batches(max_chunksize=_BATCH_ROWS):
        rows: list[dict[str, Any]] = []
        for row in batch.to_pylist():
            if row["article_id"] != article:
                article, done = row["article_id"], set()
            if row.pop("drop_reason") is None and row["url"] not in done:
                done.add(row["url"])
                rows.append(row | (extracted.columns(row["url"]) or missing))
        yield pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS.schema)


def _extract_pages(pages: Iterable[pa.RecordBatch], settings: ExtractSettings) -> PackedPages:
    packed = PackedPages(settings.repeated_pages)
    with Extractor(settings) as extractor:
        for batch in pages:
            for row in zip(*batch.select(_OF_PAGE).columns, strict=True):
                url, host, reason, mime, charset, body, final_url, headers = (value.as_py() for value in row)
                if reason is not None or body is None:
                    page = Extracted(None, (), None, reason or DocumentReason.NO_BODY)
                else:
                    working_on(f"page {url}")
                    page = extractor.extract(body, mime=mime, charset=charset)
                packed.add(url, host, page, page_columns(page, final_url or url, headers or ()))
    return packed
