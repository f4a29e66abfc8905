"""MegaWika 2 (Barham et al. 2025, arXiv:2508.03828): articles with the places of their web citations.

A row is a line of JSON with `title`, `wikicode`, `last_revision` and `elements`: headings, paragraphs, tables and so
on, in order. A paragraph has `elements` of its own: texts (`content`) and citations (`url`, null where a citation is no
link; one with several links occurs once for each). The lead is the paragraphs before the first heading. The copy on the
hub holds no text of the cited pages, so they are crawled like those of any other source.

Read as `schema.md` of that copy says, by `type` and field names; not checked against its files. `wikicode` is used only
to recognise redirects and disambiguations; it may be missing. Titles of other namespaces are recognised by the names
that every MediaWiki knows and by English ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from tasks.sources.dump.articles import ArticleReader
from tasks.sources.dump.pages import DumpPage, Site
from tasks.sources.dump.prose import ITEM
from tasks.sources.encyclopedia.entry import EncyclopediaPage, objects, one_line, title_in
from tasks.sources.settings import WikitextSettings

COLUMNS = ("title", "wikicode", "last_revision", "elements")
_SITE = Site.named("", {"Wikipedia": 4, "Portal": 100, "Draft": 118, "TimedText": 710, "Module": 828})


def megawika_entry(row: Mapping[str, Any], settings: WikitextSettings) -> EncyclopediaPage:
    """Return the article of a row. Raises ValueError: the row is not of this layout."""
    if "elements" not in row:
        raise ValueError(f"expected a column 'elements', got {', '.join(map(str, row)) or 'none'}")
    elements = objects(row["elements"], "elements")
    title, source, revised = title_in(row, "title"), row.get("wikicode"), row.get("last_revision")
    page = DumpPage(title, _namespace(title), False, None, "wikitext", source if isinstance(source, str) else "")
    return EncyclopediaPage(
        title,
        text="\n\n".join(_lead(elements)),
        references=tuple(_urls(elements)),
        revision=revised if isinstance(revised, str) else None,
        reason=ArticleReader(_SITE, settings).page_reason(page),
    )


def _lead(elements: list[Mapping[str, Any]]) -> Iterator[str]:
    for element in elements:
        if element.get("type") == "heading":
            return
        if element.get("type") == "paragraph":
            texts = (one.get("content") for one in _within(element) if one.get("type") == "text")
            yield one_line(text for text in texts if isinstance(text, str))
        else:
            yield ITEM


def _within(paragraph: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return objects(paragraph.get("elements"), "elements: elements")


def _urls(value: Any) -> Iterator[str]:
    """Yield the URLs of the citations in an element, however deep, as in the cells of a table."""
    if isinstance(value, list):
        for one in value:
            yield from _urls(one)
    elif isinstance(value, Mapping):
        url = value.get("url")
        if str(value.get("type")).startswith("citation") and isinstance(url, str) and url:
            yield url
        yield from _urls([one for one in value.values() if isinstance(one, list | Mapping)])


def _namespace(title: str) -> int:
    prefix, colon, _ = title.partition(":")
    return _SITE.namespaces.get(" ".join(prefix.split()).casefold(), 0) if colon else 0
