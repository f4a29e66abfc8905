"""What a layout reads out of a row, the cited URLs among the links of a rendered citation, and the article that a row
becomes: one set of rules for all layouts."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tasks.sources.dump.articles import PageRules
from tasks.sources.dump.prose import paragraphs_of
from tasks.sources.settings import Archived
from tasks.sources.source import Article, ArticleReason


@dataclass(frozen=True)
class EncyclopediaPage:
    """A page of an encyclopedia."""

    title: str
    text: str  # its lead, as `paragraphs_of` reads it: blank lines between paragraphs, list items marked
    references: tuple[str, ...]  # URLs it cites in order of first citation, repetitions included
    revision: str | None = None
    licence: str | None = None  # its licence; None = that of the settings
    reason: str | None = None  # why the page is not an article, if the row says so
    templates: tuple[str, ...] = ()  # names of its templates, without their namespace
    categories: tuple[str, ...] = ()  # names of its categories, without their namespace
    page: str | None = None  # number of the page, which stays when it is renamed, or None

    def article(self, rules: PageRules, licence: str) -> Article:
        """Return the article: whole, or with the reason why it is refused. `licence` is that of a row that names
        none."""
        reason = self.reason or rules.page_reason(self.title, self.templates, self.categories)
        lead = "" if reason else "\n".join(paragraphs_of(self.text))
        reason = reason or rules.lead_reason(lead)
        return Article(
            title=self.title,
            lead=lead,
            references=() if reason else tuple(dict.fromkeys(self.references)),
            revision=self.revision,
            licence=self.licence or licence,
            page=self.page,
            drop_reason=reason,
        )


def title_in(row: Mapping[str, Any], column: str) -> str:
    """Return the title that a row has in a column. Raises ValueError: it has none."""
    title = row.get(column)
    if not isinstance(title, str) or not title.strip():
        raise ValueError(f"column {column!r}: expected a title, got {title!r:.60}")
    return title.replace("_", " ").strip()


def objects(value: Any, column: str) -> list[Mapping[str, Any]]:
    """Return a list of objects, as it stands or as JSON; none for null. Raises ValueError: it is something else."""
    found = [] if value is None or value == "" else json.loads(value) if isinstance(value, str) else value
    if isinstance(found, list) and all(isinstance(one, Mapping) for one in found):
        return found
    raise ValueError(f"column {column!r}: expected a list of objects, got {value!r:.60}")


def identifier_in(row: Mapping[str, Any], column: str) -> str | None:
    """Return the identifier of an object in a column as a string, or None."""
    holder = row.get(column)
    found = holder.get("identifier") if isinstance(holder, Mapping) else None
    return None if found is None else str(found)


def of_enterprise(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `EncyclopediaPage` that rows of Wikimedia Enterprise have in common: licences by their
    identifiers, the number of the page, else that of its Wikidata entity, and a reason if it is no article; None for
    what a row lacks. Raises ValueError: it has no title, or its licences are something else."""
    page, licences = row.get("identifier"), row.get("license")
    found = [licences] if isinstance(licences, Mapping) else objects(licences, "license")
    names = (one.get("identifier") or one.get("name") or one.get("url") for one in found)
    return {
        "title": title_in(row, "name"),
        "reason": None if identifier_in(row, "namespace") in (None, "0") else ArticleReason.OTHER_NAMESPACE,
        "revision": identifier_in(row, "version"),
        "licence": ", ".join(dict.fromkeys(str(name) for name in names if name)) or None,
        "page": identifier_in(row, "main_entity") if page is None else str(page),
    }


def one_line(parts: Iterable[str]) -> str:
    """Return texts as one line, words separated by single spaces."""
    return " ".join(" ".join(parts).split())


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
