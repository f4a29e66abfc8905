"""Settings of a dump, and of the wikitext in it; the latter hold for every source that reads wikitext."""

from typing import Literal

from pydantic import Field, field_validator

from tasks.engine.settings import Settings

Archived = Literal["dead", "after", "never"]


class DumpSettings(Settings):
    """Which MediaWiki XML files articles are read from."""

    paths: tuple[str, ...] = Field(
        (), description="XML export or dump files: plain, .bz2 or .gz; a path may hold *, ? or [ ]"
    )
    indexes: tuple[str, ...] = Field(
        (),
        description="multistream index of each file, in the same order; empty = the one that lies beside a file under "
        "the name Wikimedia gives it, where there is one. A file without an index is one partition",
    )


class WikitextSettings(Settings):
    """What is made of wikitext, and which pages are not articles. Names are compared without regard to case; the
    defaults are those of the English Wikipedia. Names of namespaces come from the wiki itself."""

    min_lead_words: int = Field(
        10, ge=0, description="white-space separated words of a lead; one with fewer is refused as `short_lead`"
    )
    archived: Archived = Field(
        "dead",
        description="what becomes of a citation's archive-url. dead: it takes the place of a URL that is not marked "
        "live (url-status=live, dead-url=no), as the encyclopedia itself links; after: it follows its URL; never: it "
        "is used only where there is no other URL",
    )
    external_links: bool = Field(
        False, description="take the links of the sections named in external_sections as references too"
    )
    external_sections: tuple[str, ...] = Field(
        ("external links", "external link", "further reading", "see also", "weblinks"),
        description="sections whose links are not references",
    )
    reference_sections: tuple[str, ...] = Field(
        (
            "references",
            "notes",
            "notes and references",
            "footnotes",
            "sources",
            "bibliography",
            "citations",
            "works cited",
            "general references",
            "references and notes",
        ),
        description="sections in which every link is a reference",
    )
    disambiguation_templates: tuple[str, ...] = Field(
        (
            "disambig",
            "disambiguation",
            "dab",
            "disamb",
            "dmbox",
            "disambiguation cleanup",
            "hndis",
            "hndis-cleanup",
            "human name disambiguation",
            "geodis",
            "geo-dis",
            "place name disambiguation",
            "schooldis",
            "school disambiguation",
            "hospital disambiguation",
            "road disambiguation",
            "roaddis",
            "numberdis",
            "number disambiguation",
            "letter disambiguation",
            "letter-number combination disambiguation",
            "letter-numbercombdisambig",
            "letter–number combination disambiguation",
            "airport disambiguation",
            "callsigndis",
            "call sign disambiguation",
            "mathdab",
            "mathematical disambiguation",
            "tndis",
            "species latin name disambiguation",
            "latin name disambiguation",
            "chinese title disambiguation",
            "taxonomic authority disambiguation",
            "surname",
            "given name",
            "set index article",
            "set index",
            "sia",
            "shipindex",
        ),
        description="templates that mark a page as a disambiguation, a name or a set index",
    )
    disambiguation_suffixes: tuple[str, ...] = Field(
        ("(disambiguation)",), description="ends of titles of disambiguation pages"
    )
    disambiguation_categories: tuple[str, ...] = Field(
        ("disambiguation pages", "all disambiguation pages", "all article disambiguation pages"),
        description="categories of disambiguation pages",
    )
    list_prefixes: tuple[str, ...] = Field(
        ("list of ", "lists of ", "index of ", "outline of ", "glossary of "),
        description="how titles of pages begin that are lists",
    )
    licence: str = Field("CC BY-SA 4.0", description="licence of the text")

    @field_validator(
        "external_sections",
        "reference_sections",
        "disambiguation_templates",
        "disambiguation_suffixes",
        "disambiguation_categories",
        "list_prefixes",
    )
    @classmethod
    def _folded(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not all(name.strip() for name in names):  # every title begins and ends with it
            raise ValueError(f"expected names, got an empty one among {names}")
        return tuple(name.casefold() for name in names)
