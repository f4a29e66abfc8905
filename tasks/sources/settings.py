"""Settings of the sources: which one articles come from, and where each of them finds its files or its wiki."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from tasks.crawl.settings import WrittenUrl
from tasks.engine.settings import Settings, tuning
from tasks.sources.collection.settings import CollectionSettings
from tasks.sources.dump.settings import DumpSettings, WikitextSettings
from tasks.sources.encyclopedia.settings import EncyclopediaSettings
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.tensor2tensor.settings import Tensor2TensorSettings


class RecordsSettings(Settings):
    """Which JSONL files articles are read from. Fields of a line: title, lead, references[, search_results, group,
    split, revision, licence, page, documents]; others are ignored. If the first line of a file has `documents`, every
    line of it may have them: a list of objects with `text`, whose lines are paragraphs, or `paragraphs`, and optionally
    `url` and `title`. Such a line needs no `references`."""

    paths: tuple[str, ...] = ()
    """JSONL files, also gzip (.gz); a path may hold *, ? or [ ]"""


class MediaWikiSettings(Settings):
    """Which pages of which wiki are read, and how politely."""

    api: WrittenUrl = "https://en.wikipedia.org/w/api.php"
    """URL of the wiki's api.php"""
    token_variable: str | None = tuning(None)
    """environment variable that holds an OAuth 2 access token of the wiki, such as that of an owner-only consumer, for
    higher rate limits; null = none is sent"""
    titles: str = ""
    """file of titles, one a line, UTF-8; empty lines and those that begin with # are skipped"""
    category: str = ""
    """category whose articles are read, with or without its namespace"""
    category_depth: int = Field(0, ge=0)
    """levels of subcategories whose articles are read too"""
    delay_seconds: float = tuning(0.1, ge=0, le=86_400)
    """between the starts of two requests, in seconds; no two are sent at the same time"""


class SectionsSettings(Settings):
    """Where the sections come from, and whether they become topics or documents."""

    over: Literal["dump", "jsonl"] = "dump"
    """dump: the articles of source.dump; jsonl: those of the JSONL files below"""
    target: Literal["section", "lead"] = "section"
    """section: each section is a topic with the URLs it cites; lead: the lead is the target and the sections are its
    documents (Shen et al. 2023), given by the source and not fetched; texts that have lost their full stops, as those
    of FreshWiki, want paragraphs.filter.preset none"""
    paths: tuple[str, ...] = ()
    """JSONL files, also gzip: objects of title, lead, url and sections, a list of title, text and refs (URLs); a path
    may hold *, ? or [ ]"""


# Sections that a source reads beside its own.
_ALSO_READ: Mapping[str, Sequence[str]] = {
    "dump": ("wikitext",),
    "encyclopedia": ("wikitext",),
    "mediawiki": ("wikitext",),
    "sections": ("dump", "wikitext"),
}


class SourceSettings(Settings):
    """Which source articles come from, and the settings of each. Partitions carry digests of what they hold."""

    kind: Literal[
        "miniweb", "records", "dump", "encyclopedia", "mediawiki", "tensor2tensor", "sections", "collection"
    ] = "miniweb"
    """miniweb: a generated web, embedded; records: JSONL files of your own; dump: a MediaWiki XML dump; encyclopedia:
    one that others have parsed: structured contents and HTML dumps of Wikimedia, MegaWika 2; mediawiki: titles or a
    category of a live wiki; tensor2tensor: the published WikiSum shards; sections: the sections of a dump's or of JSONL
    articles; collection: a published corpus of documents and summaries"""
    malformed: int = tuning(0, ge=0)
    """malformed lines or rows that a file of records, sections, an encyclopedia or a collection may have: they are
    refused (`malformed_line`, `malformed_row`); with more the build stops and names the first twenty"""
    miniweb: MiniwebSettings = MiniwebSettings()
    records: RecordsSettings = RecordsSettings()
    dump: DumpSettings = DumpSettings()
    encyclopedia: EncyclopediaSettings = EncyclopediaSettings()
    wikitext: WikitextSettings = WikitextSettings()
    """what is an article and a reference in a dump, an encyclopedia, a live wiki or sections of a dump"""
    mediawiki: MediaWikiSettings = MediaWikiSettings()
    tensor2tensor: Tensor2TensorSettings = Tensor2TensorSettings()
    sections: SectionsSettings = SectionsSettings()
    collection: CollectionSettings = CollectionSettings()

    def recipe(self) -> dict[str, Any]:
        """Return the kind and the sections that it reads; settings of other sources change nothing."""
        read = {"kind", self.kind, *_ALSO_READ.get(self.kind, ())}
        return {name: value for name, value in super().recipe().items() if name in read}
