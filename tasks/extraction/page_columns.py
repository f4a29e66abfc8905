"""The columns of a document on rights and text: what the page, its headers, its site and its own text say."""

from collections.abc import Sequence
from typing import Any

from tasks.crawl.reasons import PageReason
from tasks.extraction.engines import Extracted
from tasks.rights.claims import Claim, settle
from tasks.rights.licences import domain_licence, licence_of_url
from tasks.rights.reservations import header_licences, header_reservations
from tasks.rights.text_columns import text_columns


def page_columns(page: Extracted, url: str, headers: Sequence[str]) -> dict[str, Any]:
    """Return the columns on rights and text of DOCUMENTS; a site's licence counts only where the page claims none."""
    claims = [Claim(page.licence, page.licence_source)] if page.licence_source is not None else []
    linked = [licence for address in header_licences(headers) if (licence := licence_of_url(address)) is not None]
    claim = _of_page(claims, [Claim(licence, "link-header") for licence in linked])
    if claim is None and page.reason is None and (site := domain_licence(url)) is not None:
        claim = Claim(site, "domain")
    signs = [*header_reservations(headers), *page.reservations]
    if page.reason == PageReason.ROBOTS_DISALLOWED:
        signs.append("robots.txt")
    return {
        "licence": None if claim is None else claim.licence,
        "licence_source": None if claim is None else claim.source,
        "reservations": signs,
        **text_columns(page.paragraphs),
    }


def _of_page(html: list[Claim], header: list[Claim]) -> Claim | None:
    """Return the claim of HTML and headers together; where the HTML contradicts itself, so does the whole."""
    return html[0] if html and html[0].licence is None else settle([*html, *header])
