"""Settings of a dump, and of the wikitext in it; the latter hold for every source that reads wikitext."""

from typing import Literal

from pydantic import Field, field_validator

from tasks.engine.data_files import read_data
from tasks.engine.settings import Settings

Archived = Literal["dead", "after", "never"]
_NAMES: dict[str, list[str]] = read_data("tasks.sources.dump", "wikitext.toml")["names"]


class DumpSettings(Settings):
    """Which MediaWiki XML files articles are read from."""

    paths: tuple[str, ...] = ()
    """XML export or dump files: plain, .bz2 or .gz; a path may hold *, ? or [ ]"""
    indexes: tuple[str, ...] = ()
    """multistream index of each file, in the same order; empty = the one that lies beside a file under the name
    Wikimedia gives it, where there is one. A file without an index is one partition"""


class WikitextSettings(Settings):
    """What is made of wikitext, and which pages are not articles. Names are compared without regard to case; the
    defaults are those of the English Wikipedia. Names of namespaces come from the wiki itself."""

    min_lead_words: int = Field(10, ge=0)
    """white-space separated words of a lead; one with fewer is refused as `short_lead`"""
    archived: Archived = "dead"
    """what becomes of a citation's archive-url. dead: it takes the place of a URL that is not marked live
    (url-status=live, dead-url=no), as the encyclopedia itself links; after: it follows its URL; never: it is used only
    where there is no other URL"""
    external_links: bool = False
    """take the links of the sections named in external_sections as references too"""
    external_sections: tuple[str, ...] = tuple(_NAMES["external_sections"])
    """sections whose links are not references"""
    reference_sections: tuple[str, ...] = tuple(_NAMES["reference_sections"])
    """sections in which every link is a reference"""
    disambiguation_templates: tuple[str, ...] = tuple(_NAMES["disambiguation_templates"])
    """templates that mark a page as a disambiguation, a name or a set index"""
    disambiguation_suffixes: tuple[str, ...] = tuple(_NAMES["disambiguation_suffixes"])
    """ends of titles of disambiguation pages"""
    disambiguation_categories: tuple[str, ...] = tuple(_NAMES["disambiguation_categories"])
    """categories of disambiguation pages"""
    list_prefixes: tuple[str, ...] = tuple(_NAMES["list_prefixes"])
    """how titles of pages begin that are lists"""
    licence: str = "CC BY-SA 4.0"
    """licence of the text"""

    @field_validator(*_NAMES)
    @classmethod
    def _folded(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not all(name.strip() for name in names):  # every title begins and ends with it
            raise ValueError(f"expected names, got an empty one among {names}")
        return tuple(name.casefold() for name in names)
