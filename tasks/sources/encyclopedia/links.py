"""The cited URLs among the links of a rendered citation."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from tasks.sources.dump.settings import Archived

# A wiki's own pages and those of its sister projects are no sources.
_PROJECTS = re.compile(
    r"(?:.+\.)?(?:wikipedia|wikimedia|wikidata|wiktionary|wikisource|wikibooks|wikiquote|wikinews|wikiversity"
    r"|wikivoyage|wikispecies|mediawiki|toolforge|wmflabs)\.org",
    re.I,
)
_ARCHIVES = re.compile(
    r"(?:.+\.)?(?:archive\.org|archive-it\.org|archive\.(?:today|ph|is|li|md|vn|fo)|webcitation\.org|ghostarchive\.org"
    r"|perma\.cc|webarchive\.[\w.-]+)",
    re.I,
)
_IDENTIFIER = "_(identifier)"  # how the pages are called that explain a DOI, an ISBN and the like


def cited_urls(links: Iterable[str], archived: Archived) -> list[str]:
    """Return the URLs that a rendered citation cites, in order. A link after the page of an identifier (a DOI) is no
    source. Where one link is the archived copy of its neighbour, the citation shows first the one that its editors
    chose, so `dead` keeps that one. `links` are those of the citation in order, wiki links included."""
    found: list[str] = []
    identifier = False
    for link in links:
        if not identifier and is_source(link):
            found.append(f"https:{link}" if link.startswith("//") else link)
        identifier = link.endswith(_IDENTIFIER)
    originals = [url for url in found if not _is_archive(url)]
    if archived == "after" or not originals:
        return found
    if archived == "never":
        return originals
    kept: list[str] = []
    for url in found:
        if not (kept and _same_page(kept[-1], url)):
            kept.append(url)
    return kept


def is_source(url: str) -> bool:
    """Whether a link leads out of the encyclopedia, to a page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme in ("http", "https", "") and "." in host and _PROJECTS.fullmatch(host) is None


def _is_archive(url: str) -> bool:
    return _ARCHIVES.fullmatch(urlsplit(url).hostname or "") is not None and "/details/" not in url


def _same_page(shown: str, other: str) -> bool:
    """Whether of two neighbours one is the archived copy of the other."""
    if _is_archive(shown) == _is_archive(other):
        return False
    copy, original = (shown, other) if _is_archive(shown) else (other, shown)
    bare = original.partition("://")[2].rstrip("/")
    return bare in copy or "://" not in copy.partition("://")[2]  # a short link to an archive does not hold the URL
