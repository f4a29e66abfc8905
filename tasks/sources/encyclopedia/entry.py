"""One set of rules for all layouts: the fields of a row, the cited URLs among the links of a rendered citation, and the
article of a row."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tasks.engine.data_files import read_data
from tasks.sources.dump.markup import field_urls, plain_heading
from tasks.sources.dump.pages import DumpPage, Site
from tasks.sources.dump.prose import ITEM, paragraphs_of
from tasks.sources.dump.source import ArticleReader, PageRules
from tasks.sources.settings import WikitextSettings
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
    """Return a list of objects, given as such or as JSON; none for null. Raises ValueError: it is something else."""
    result = [] if value is None or value == "" else json.loads(value) if isinstance(value, str) else value
    if isinstance(result, list) and all(isinstance(item, Mapping) for item in result):
        return result
    raise ValueError(f"column {column!r}: expected a list of objects, got {value!r:.60}")


def identifier_in(row: Mapping[str, Any], column: str) -> str | None:
    """Return the identifier of an object in a column as a string, or None."""
    holder = row.get(column)
    result = holder.get("identifier") if isinstance(holder, Mapping) else None
    return None if result is None else str(result)


def of_enterprise(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an `EncyclopediaPage` that rows of Wikimedia Enterprise have in common; None for what a row
    lacks. They are licences by their identifiers, the number of the page, else that of its Wikidata entity, and a
    reason if it is not an article. Raises ValueError: it has no title, or its licences are something else."""
    page, licences = row.get("identifier"), row.get("license")
    result = [licences] if isinstance(licences, Mapping) else objects(licences, "license")
    names = (item.get("identifier") or item.get("name") or item.get("url") for item in result)
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


_PROJECTS, _ARCHIVES = (
    re.compile(rf"(?:.+\.)?(?:{'|'.join(hosts)})", re.I)
    for hosts in read_data("tasks.sources.dump", "wikitext.toml")["hosts"].values()
)
_IDENTIFIER = "_(identifier)"  # titles of the pages that explain a DOI, an ISBN and similar identifiers


def cited_urls(links: Iterable[str]) -> list[str]:
    """Return the URLs that a rendered citation cites, in order. A link after the page of an identifier (a DOI) does not
    count as a source. If one link is the archived copy of its neighbour, the citation shows first the one that its
    editors chose, so that one is kept. `links` are those of the citation in order, wiki links included."""
    results: list[str] = []
    identifier = False
    for link in links:
        if not identifier and is_source(link):
            results.append(f"https:{link}" if link.startswith("//") else link)
        identifier = link.endswith(_IDENTIFIER)
    kept: list[str] = []
    for url in results:
        if kept and _is_archive(kept[-1]) != _is_archive(url):
            copy, original = (kept[-1], url) if _is_archive(kept[-1]) else (url, kept[-1])
            bare = original.partition("://")[2].rstrip("/")
            if bare in copy or "://" not in copy.partition("://")[2]:  # a short link to an archive holds no URL
                continue
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


# Structured contents of Wikimedia Enterprise: `wikimedia/structured-wikipedia` on the hub, or its own snapshots.
#
# A row has `name`, `abstract`, `sections` and, in newer releases, `references`. A section is an object of `type`
# section, `name` and `has_parts`; its parts are paragraphs (`value`), lists (`has_parts` of list items) and sections.
# A part has `links` (`url`, `text`) and `citations` (`identifier`, `text` such as [1]), which name entries of
# `references`: an entry has `identifier`, `metadata` (the fields of its template), `text` and, from a bibliography,
# `source`, both with `links`. The lead is the first section if that has no name or the name Abstract, else
# `abstract`. Older releases have no references: their articles have sources only from a search.
#
# Read as the schemas and examples of github.com/wikimedia-enterprise say; not checked against files of the hub, so
# nested columns may also be strings of JSON. Infoboxes and tables are not read: what only they cite comes last.

Part = Mapping[str, Any]


def structured_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the page of a row. Raises ValueError: the row is not of this layout."""
    sections = objects(row.get("sections"), "sections")
    if "abstract" not in row and "sections" not in row:
        raise ValueError(f"expected a column 'sections' or 'abstract', got {', '.join(map(str, row)) or 'none'}")
    references = objects(row.get("references"), "references")
    urls = {str(reference.get("identifier")): _reference_urls(reference, settings) for reference in references}
    cited = [url for section in sections for url in _section_urls(section, urls, settings)]
    return EncyclopediaPage(
        text=_structured_lead(sections, row.get("abstract")),
        references=(*cited, *(url for result in urls.values() for url in result)),
        **of_enterprise(row),
    )


def _structured_lead(sections: Sequence[Part], abstract: Any) -> str:
    if sections and str(sections[0].get("name") or "").casefold() in ("", "abstract"):
        text = "\n\n".join(map(_line, _listed(sections[0], "has_parts")))
        if text.strip():
            return text
    return "\n\n".join(abstract.splitlines()) if isinstance(abstract, str) else ""


def _line(part: Part) -> str:
    """Return a part as a line, without the marks of its citations; what is not a paragraph as a list's item."""
    if part.get("type") != "paragraph":
        return ITEM
    text = str(part.get("value") or "")
    for citation in _listed(part, "citations"):
        mark = citation.get("text")
        text = text.replace(mark, "") if isinstance(mark, str) and mark.startswith("[") else text
    return one_line([text])


def _section_urls(
    section: Part, urls: Mapping[str, Sequence[str]], settings: WikitextSettings, *, inherited: bool = False
) -> Iterator[str]:
    """Yield the URLs that a section and its subsections cite; in a list of references every link is one."""
    name = plain_heading(str(section.get("name") or ""))
    if name in settings.names["external_sections"]:
        return
    listing = inherited or name in settings.names["reference_sections"]
    yield from (url for item in _listed(section, "citations") for url in urls.get(str(item.get("identifier")), ()))
    if listing:
        yield from cited_urls(_urls_of_links(section))
    for part in _listed(section, "has_parts"):
        yield from _section_urls(part, urls, settings, inherited=listing)


def _reference_urls(reference: Part, settings: WikitextSettings) -> list[str]:
    """Return the URLs of an entry: those of its template's fields, else of its links, else of its bibliography's."""
    metadata = reference.get("metadata")
    metadata = json.loads(metadata) if isinstance(metadata, str) and metadata else metadata
    # A map of Arrow is a list of pairs.
    pairs = metadata.items() if isinstance(metadata, Mapping) else metadata if isinstance(metadata, list) else ()
    fields = {str(name).replace("_", "-"): str(value) for name, value in pairs if value}
    if results := [url for url in field_urls(fields) if is_source(url)]:
        return results
    for holder in (reference.get("text"), reference.get("source")):
        if isinstance(holder, Mapping) and (results := cited_urls(_urls_of_links(holder))):
            return results
    return []


def _urls_of_links(holder: Part) -> Iterator[str]:
    return (link["url"] for link in _listed(holder, "links") if isinstance(link.get("url"), str))


def _listed(part: Part, name: str) -> list[Part]:
    return objects(part.get(name), f"sections: {name}")


# MegaWika 2 (Barham et al. 2025, arXiv:2508.03828): articles with the places of their web citations.
#
# A row is a line of JSON with `title`, `wikicode`, `last_revision` and `elements`: headings, paragraphs, tables and so
# on, in order. A paragraph has `elements` of its own: texts (`content`) and citations (`url`, null for a citation
# without a link; one with several links occurs once for each). The lead is the paragraphs before the first heading. The
# copy on the hub holds no text of the cited pages, so they are crawled like those of any other source.
#
# Read as `schema.md` of that copy says, by `type` and field names; not checked against its files. `wikicode` is used
# only to recognise redirects and disambiguations; it may be missing. Titles of other namespaces are recognised by the
# names that every MediaWiki knows and by English ones.

_NAMESPACES = Site.named("", {"Wikipedia": 4, "Portal": 100, "Draft": 118, "TimedText": 710, "Module": 828})


def megawika_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the article of a row. Raises ValueError: the row is not of this layout."""
    if "elements" not in row:
        raise ValueError(f"expected a column 'elements', got {', '.join(map(str, row)) or 'none'}")
    elements = objects(row["elements"], "elements")
    title, source, revised = title_in(row, "title"), row.get("wikicode"), row.get("last_revision")
    prefix, colon, _ = title.partition(":")
    namespace = _NAMESPACES.namespaces.get(" ".join(prefix.split()).casefold(), 0) if colon else 0
    page = DumpPage(title, namespace, False, None, "wikitext", source if isinstance(source, str) else "")
    return EncyclopediaPage(
        title,
        text="\n\n".join(_megawika_lead(elements)),
        references=tuple(_cited_within(elements)),
        revision=revised if isinstance(revised, str) else None,
        reason=ArticleReader(_NAMESPACES, settings).page_reason(page),
    )


def _megawika_lead(elements: list[Mapping[str, Any]]) -> Iterator[str]:
    for element in elements:
        if element.get("type") == "heading":
            return
        if element.get("type") == "paragraph":
            parts = objects(element.get("elements"), "elements: elements")
            texts = (part.get("content") for part in parts if part.get("type") == "text")
            yield one_line(text for text in texts if isinstance(text, str))
        else:
            yield ITEM


def _cited_within(value: Any) -> Iterator[str]:
    """Yield the URLs of the citations in an element, however deep, as in the cells of a table."""
    if isinstance(value, list):
        for one in value:
            yield from _cited_within(one)
    elif isinstance(value, Mapping):
        url = value.get("url")
        if str(value.get("type")).startswith("citation") and isinstance(url, str) and url:
            yield url
        yield from _cited_within([item for item in value.values() if isinstance(item, list | Mapping)])
