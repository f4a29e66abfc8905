"""Structured contents of Wikimedia Enterprise: `wikimedia/structured-wikipedia` on the hub, or its own snapshots.

A row has `name`, `abstract`, `sections` and, in newer releases, `references`. A section is an object of `type` section,
`name` and `has_parts`; its parts are paragraphs (`value`), lists (`has_parts` of list items) and sections. A part has
`links` (`url`, `text`) and `citations` (`identifier`, `text` such as [1]), which name entries of `references`: an entry
has `identifier`, `metadata` (the fields of its template), `text` and, from a bibliography, `source`, both with `links`.
The lead is the first section if that has no name or the name Abstract, else `abstract`. Older releases have no
references: their articles have sources only from a search.

Read as the schemas and examples of github.com/wikimedia-enterprise say; not checked against files of the hub, so nested
columns may also be strings of JSON. Infoboxes and tables are not read: what only they cite comes last."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tasks.sources.dump.markup import field_urls, plain_heading
from tasks.sources.dump.prose import ITEM
from tasks.sources.encyclopedia.entry import EncyclopediaPage, cited_urls, is_source, objects, of_enterprise, one_line
from tasks.sources.settings import WikitextSettings

COLUMNS = ("name", "identifier", "main_entity", "abstract", "sections", "references", "version", "license", "namespace")
Part = Mapping[str, Any]


def structured_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the page of a row. Raises ValueError: the row is not of this layout."""
    sections = objects(row.get("sections"), "sections")
    if "abstract" not in row and "sections" not in row:
        raise ValueError(f"expected a column 'sections' or 'abstract', got {', '.join(map(str, row)) or 'none'}")
    references = objects(row.get("references"), "references")
    urls = {str(one.get("identifier")): _reference_urls(one, settings) for one in references}
    cited = [url for section in sections for url in _section_urls(section, urls, settings)]
    return EncyclopediaPage(
        text=_lead(sections, row.get("abstract")),
        references=(*cited, *(url for found in urls.values() for url in found)),
        **of_enterprise(row),
    )


def _lead(sections: Sequence[Part], abstract: Any) -> str:
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
    if name in settings.external_sections and not settings.external_links:
        return
    listing = inherited or name in settings.reference_sections or name in settings.external_sections
    yield from (url for one in _listed(section, "citations") for url in urls.get(str(one.get("identifier")), ()))
    if listing:
        yield from cited_urls(_urls_of_links(section), settings.archived)
    for part in _listed(section, "has_parts"):
        yield from _section_urls(part, urls, settings, inherited=listing)


def _reference_urls(reference: Part, settings: WikitextSettings) -> list[str]:
    """Return the URLs of an entry: those of its template's fields, else of its links, else of its bibliography's."""
    metadata = reference.get("metadata")
    metadata = json.loads(metadata) if isinstance(metadata, str) and metadata else metadata
    # A map of Arrow is a list of pairs.
    pairs = metadata.items() if isinstance(metadata, Mapping) else metadata if isinstance(metadata, list) else ()
    fields = {str(name).replace("_", "-"): str(value) for name, value in pairs if value}
    if found := [url for url in field_urls(fields, settings.archived) if is_source(url)]:
        return found
    for holder in (reference.get("text"), reference.get("source")):
        if isinstance(holder, Mapping) and (found := cited_urls(_urls_of_links(holder), settings.archived)):
            return found
    return []


def _urls_of_links(holder: Part) -> Iterator[str]:
    return (link["url"] for link in _listed(holder, "links") if isinstance(link.get("url"), str))


def _listed(part: Part, name: str) -> list[Part]:
    return objects(part.get(name), f"sections: {name}")
