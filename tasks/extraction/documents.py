"""The stage `documents`: every page extracted once, a row for each article that has it (Liu & Lapata 2019, sec. 3). The
pages of a host shard are compressed until all are extracted; then it is known which of their paragraphs repeat."""

import json
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from storage.recipes import TALLY
from storage.schemas import DOCUMENTS
from tasks.engine.failure_logs import working_on
from tasks.extraction.engines import Extracted
from tasks.extraction.extractor import Extractor
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.settings import ExtractSettings
from tasks.fetching.reasons import PageReason
from tasks.rights.claims import Claim, settle
from tasks.rights.licences import domain_licence, licence_of_url
from tasks.rights.reservations import header_licences, header_reservations
from tasks.rights.text_columns import text_columns

_SHORT = 300  # characters; a longer text on two pages is more likely quoted or syndicated than boilerplate

REPEATED_PAGES = 3  # a short line on at least so many different pages of one host is boilerplate


class HostRepeats:
    """The short paragraphs that are on several pages of one host. Paragraphs are compared exactly, because sentences
    that differ only in a number say different things; by their hashes of 64 bits, so that a host with a hundred
    thousand pages takes some megabytes. Pages with the same paragraphs are one page under several URLs, and count
    once."""

    def __init__(self, pages: int) -> None:
        """Start empty; on so many `pages`, at least 2, a paragraph is boilerplate."""
        self._least = pages
        self._pages: set[int] = set()
        self._texts = array("q")  # hashes of the short paragraphs of each page

    def add(self, paragraphs: Sequence[str]) -> None:
        """Count a page."""
        page = hash(tuple(paragraphs))
        if page not in self._pages:
            self._pages.add(page)
            self._texts.extend({hash(text) for text in paragraphs if len(text) <= _SHORT})

    def marks(self, paragraphs: Sequence[str]) -> list[bool]:
        """Return for each paragraph of a page whether it is boilerplate, once all pages are counted."""
        return [len(text) <= _SHORT and hash(text) in self._repeated for text in paragraphs]

    @cached_property
    def _repeated(self) -> frozenset[int]:
        texts, counts = np.unique(np.array(self._texts, np.int64), return_counts=True)
        return frozenset(texts[counts >= self._least].tolist())


def page_columns(page: Extracted, url: str, headers: Sequence[str]) -> dict[str, Any]:
    """Return the columns of DOCUMENTS that depend on the page alone. The claims of HTML and headers count together; if
    the HTML contradicts itself, the result is contradictory. A site's licence counts only if the page claims none."""
    claims = [Claim(page.licence, page.licence_source)] if page.licence_source is not None else []
    linked = [licence for address in header_licences(headers) if (licence := licence_of_url(address)) is not None]
    if claims and claims[0].licence is None:
        claim: Claim | None = claims[0]
    else:
        claim = settle([*claims, *(Claim(licence, "link-header") for licence in linked)])
    if claim is None and page.reason is None and (site := domain_licence(url)) is not None:
        claim = Claim(site, "domain")
    signs = [*header_reservations(headers), *page.reservations]
    if page.reason == PageReason.ROBOTS_DISALLOWED:
        signs.append("robots.txt")
    return {
        "title": page.title,
        "paragraphs": page.paragraphs,
        "page_numbers": page.page_numbers,
        **page.origin._asdict(),
        "engine": page.engine,
        "reason": page.reason,
        "licence": None if claim is None else claim.licence,
        "licence_source": None if claim is None else claim.source,
        "reservations": signs,
        **text_columns(page.paragraphs),
    }


_OF_PAGE = ["url", "host", "reason", "mime", "charset", "body", "final_url", "rights_headers"]
_ORDER = ["article_shard", "article_id", "provenance", "rank", "url"]
_BATCH_ROWS = 256


def extract_documents(
    frontier: pa.Table, pages: Iterable[pa.RecordBatch], settings: ExtractSettings
) -> Iterator[pa.RecordBatch]:
    """Extract a host shard's pages and yield DOCUMENTS rows, one for each (article, URL) of the frontier's kept rows.

    They are sorted by article shard, article, provenance, rank and URL. All texts of the pages are in memory at the
    same time, compressed to a third. Repeated lines of a host are known only after its last page, and rows are in the
    order of articles, not of pages. Only the bodies of one batch of PAGES are in memory.

    If a URL was both cited and found, the row has the citation. A page without a body keeps its reason; a URL that is
    not among the pages has the reason `page_missing`. `boilerplate` only marks the paragraphs that repeat across pages
    of the host. Rights, language, quality and personal data are columns and refuse nothing here. The first batch has in
    its metadata how much text had been encoded twice. Raises RuntimeError: the extracting process cannot be started."""
    extracted, tally = _extract_pages(pages, settings)
    schema = DOCUMENTS.schema.with_metadata({TALLY: json.dumps(tally)}) if tally else DOCUMENTS.schema
    none = Extracted(None, (), None, DocumentReason.PAGE_MISSING)
    missing = {**page_columns(none, "", ()), "boilerplate": ()}
    chosen = frontier.select([*_ORDER, "drop_reason"]).sort_by([(column, "ascending") for column in _ORDER])
    article, done = None, set[str]()
    for batch in chosen.to_batches(max_chunksize=_BATCH_ROWS):
        rows: list[dict[str, Any]] = []
        for row in batch.to_pylist():
            if row["article_id"] != article:
                article, done = row["article_id"], set()
            if row.pop("drop_reason") is None and row["url"] not in done:
                done.add(row["url"])
                rows.append(row | (extracted(row["url"]) or missing))
        yield pa.RecordBatch.from_pylist(rows, schema=schema)
        schema = DOCUMENTS.schema  # the pages are counted once


def _extract_pages(
    pages: Iterable[pa.RecordBatch], settings: ExtractSettings
) -> tuple[Callable[[str], dict[str, Any] | None], Counter[str]]:
    """Return a function that returns a page's columns of DOCUMENTS by its URL, None if it is not one of the pages, and
    what was counted."""
    packed: dict[str, bytes] = {}
    tally: Counter[str] = Counter()
    repeats = defaultdict[str, HostRepeats](lambda: HostRepeats(REPEATED_PAGES))
    with Extractor(settings) as extractor:
        for batch in pages:
            for row in zip(*batch.select(_OF_PAGE).columns, strict=True):
                url, host, reason, mime, charset, body, final_url, headers = (value.as_py() for value in row)
                if reason is not None or body is None:
                    page = Extracted(None, (), None, reason or DocumentReason.NO_BODY)
                else:
                    working_on(f"page {url}")
                    page = extractor.extract(body, mime=mime, charset=charset)
                if page.mended:
                    tally.update({"pages with text encoded twice": 1, "pieces of such text mended": page.mended})
                columns = page_columns(page, final_url or url, headers or ())
                repeats[host].add(columns["paragraphs"])
                packed[url] = zlib.compress(json.dumps([host, columns]).encode(), 1)

    def extracted(url: str) -> dict[str, Any] | None:
        if url not in packed:
            return None
        host, columns = json.loads(zlib.decompress(packed[url]))
        return {**columns, "boilerplate": repeats[host].marks(columns["paragraphs"])}

    return extracted, tally
