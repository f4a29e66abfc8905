"""The stage `documents`: every page extracted once, one row for each article that cites or found it
(Liu & Lapata 2019, sec. 3).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from storage.schemas import DOCUMENTS
from tasks.engine.failure_logs import working_on
from tasks.extraction.engines import Extracted
from tasks.extraction.extractor import Extractor
from tasks.extraction.page_columns import page_columns
from tasks.extraction.repeats import repeated_boilerplate
from tasks.extraction.settings import ExtractSettings

_OF_PAGE = ["url", "host", "reason", "mime", "charset", "body", "final_url", "rights_headers"]
_ORDER = ["article_shard", "article_id", "provenance", "rank", "url"]


def extract_documents(
    frontier: pa.Table, pages: pa.Table | Iterable[pa.RecordBatch], settings: ExtractSettings
) -> pa.Table:
    """Extract a host shard's pages and group the documents by article.

    Args:
        frontier: FRONTIER rows of the shard, from all articles; rows with a `drop_reason` are left out.
        pages: the PAGES shard, as a table or in batches; the bodies of one batch are in memory at a time.
        settings: engines and limits.

    Returns:
        DOCUMENTS table with one row for each (article, URL) of the frontier, sorted by article shard, article,
        provenance, rank and URL. Where a URL was both cited and found, the row has the citation. A page
        without a body keeps its reason; a URL that is not among the pages has the reason `page_missing`.
        `boilerplate` only marks the paragraphs that repeat across pages of the host; they are not removed. Rights,
        language, quality and personal data are columns and refuse nothing here.

    Raises:
        RuntimeError: the extracting process cannot be started.
    """
    extracted, hosts, facts = _extract_pages(pages.to_batches() if isinstance(pages, pa.Table) else pages, settings)
    boilerplate = _boilerplate(hosts, extracted, settings)
    missing = Extracted(None, (), None, "page_missing")
    unknown = page_columns(missing, "", ())
    rows: list[dict[str, Any]] = []
    done: set[tuple[str, str]] = set()
    columns = [*_ORDER, "drop_reason"]
    for row in frontier.select(columns).sort_by([(column, "ascending") for column in _ORDER]).to_pylist():
        key = (row["article_id"], row["url"])
        if row.pop("drop_reason") is not None or key in done:
            continue
        done.add(key)
        page = extracted.get(row["url"], missing)
        rows.append(
            {
                **row,
                "title": page.title,
                "paragraphs": page.paragraphs,
                "boilerplate": boilerplate.get(row["url"], ()),
                "engine": page.engine,
                "reason": page.reason,
                **facts.get(row["url"], unknown),
            }
        )
    return pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)


def _extract_pages(
    pages: Iterable[pa.RecordBatch], settings: ExtractSettings
) -> tuple[dict[str, Extracted], dict[str, list[str]], dict[str, dict[str, Any]]]:
    """Return what was found in each page, by URL, the URLs of each host, and the columns on rights and text by URL."""
    extracted: dict[str, Extracted] = {}
    facts: dict[str, dict[str, Any]] = {}
    hosts: defaultdict[str, list[str]] = defaultdict(list)
    with Extractor(settings) as extractor:
        for batch in pages:
            for row in zip(*batch.select(_OF_PAGE).columns, strict=True):
                url, host, *rest = (value.as_py() for value in row)
                reason, mime, charset, body, final_url, headers = rest
                hosts[host].append(url)
                if reason is not None or body is None:
                    page = Extracted(None, (), None, reason or "no_body")
                else:
                    working_on(f"page {url}")
                    page = extractor.extract(body, mime=mime, charset=charset)
                extracted[url] = page
                facts[url] = page_columns(page, final_url or url, headers or ())
    return extracted, hosts, facts


def _boilerplate(
    hosts: Mapping[str, list[str]], extracted: Mapping[str, Extracted], settings: ExtractSettings
) -> dict[str, tuple[bool, ...]]:
    """Return for each page whether its paragraphs repeat across pages of its host."""
    marks: dict[str, tuple[bool, ...]] = {}
    for urls in hosts.values():
        lists = [extracted[url].paragraphs for url in urls]
        repeated = repeated_boilerplate(lists, pages=settings.repeated_pages) if settings.repeated_pages else set()
        for url in urls:
            marks[url] = tuple(text in repeated for text in extracted[url].paragraphs)
    return marks
