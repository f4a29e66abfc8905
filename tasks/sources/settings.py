"""Settings of the sources: which one articles come from, and where each of them finds its files or its wiki."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from tasks.engine.data_files import read_data
from tasks.engine.settings import Settings, tuning
from tasks.fetching.settings import WrittenUrl


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
    category_depth: int = Field(0, ge=0, le=100)
    """levels of subcategories whose articles are read too"""
    delay_seconds: float = tuning(0.1, ge=0, le=86_400)
    """between the starts of two requests, in seconds; no two are sent at the same time"""


class SectionsSettings(Settings):
    """The source of the sections, and whether they become topics or documents."""

    target: Literal["section", "lead"] = "section"
    """section: each section is a topic with the URLs it cites; lead: the lead is the target and the sections are its
    documents (Shen et al. 2023), given by the source and not fetched; texts that have lost their full stops, as those
    of FreshWiki, want paragraphs.filter.preset none"""
    paths: tuple[str, ...] = ()
    """JSONL files, also gzip: objects of title, lead, url and sections, a list of title, text and refs (URLs); a path
    may hold *, ? or [ ]; empty = the articles of source.dump"""


# Share of the sentence forms of leads and pages that only test articles and their pages use.
HELD_BACK = 0.3
WORLD_TOPICS = 1_000_000  # titles are unique up to 6 kinds x the 172,032 names of a kind


class MiniwebSettings(Settings):
    """How large the generated world is, how it changes, and what goes wrong in its web."""

    topics: int = Field(400, ge=1, le=WORLD_TOPICS)
    """number of articles in week 0"""
    seed: int = Field(1, ge=0, le=2**32 - 1)
    """seed of the world: another seed gives other topics, facts and pages"""
    week: int = Field(0, ge=0, le=5200)
    """week of the world; each one adds new topics, edits and dead links"""
    growth: float = Field(0.01, ge=0, le=1)
    """new topics per week, as a share of `topics`"""
    edits: float = Field(0.02, ge=0, le=1)
    """share of topics whose lead is edited each week"""
    deaths: float = Field(0.01, ge=0, lt=1)
    """share of living pages that turn into dead links each week"""
    held_back: ClassVar[float] = HELD_BACK
    hosts: int = Field(12, ge=12, le=5000)
    """hosts that serve articles' pages, in addition to search, mirror and link hosts"""
    partition_topics: ClassVar[int] = 1000  # of one part of the source
    oversized_bytes: int = Field(24_000_000, ge=0, le=10_000_000_000)
    """decoded size of an oversized page, bytes"""

    @model_validator(mode="after")
    def _within_the_world(self) -> "MiniwebSettings":
        if self.topics_now > WORLD_TOPICS:
            raise ValueError(f"week {self.week} would have {self.topics_now} topics, expected at most {WORLD_TOPICS}")
        return self

    @property
    def of_facts(self) -> "MiniwebSettings":
        """The settings that decide what is true of the topics; the others, of the web around them, have defaults."""
        names = ("topics", "seed", *(("week", "growth", "edits") if self.week else ()))
        return MiniwebSettings.model_validate({name: getattr(self, name) for name in names})

    @property
    def topics_now(self) -> int:
        """Number of articles in the settings' week."""
        return self.topics + int(self.topics * self.growth * self.week)


_NAMES: dict[str, list[str]] = read_data("tasks.sources.dump", "wikitext.toml")["names"]


class DumpSettings(Settings):
    """Which MediaWiki XML files articles are read from."""

    paths: tuple[str, ...] = ()
    """XML export or dump files: plain, .bz2 or .gz; a path may hold *, ? or [ ]"""


class WikitextSettings(Settings):
    """What is made of wikitext, and which pages are not articles. Names are compared without regard to case; the
    defaults are those of the English Wikipedia. Names of namespaces come from the wiki itself."""

    names: dict[str, tuple[str, ...]] = Field(default_factory=dict, validate_default=True)
    """names of another wiki, as JSON, by kind: external_sections (whose links are not references), reference_sections
    (in which every link is one), disambiguation_templates, disambiguation_suffixes (of titles),
    disambiguation_categories, and list_prefixes (of titles of lists)"""
    licence: str = "CC BY-SA 4.0"
    """licence of the text"""

    @field_validator("names")
    @classmethod
    def _folded(cls, names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Add the defaults of the kinds that are not given, and fold all names."""
        if unknown := sorted(names.keys() - _NAMES.keys()):
            raise ValueError(f"names has {unknown[0]!r}: expected {', '.join(_NAMES)}")
        if not all(name.strip() for kind in names.values() for name in kind):  # every title begins and ends with it
            raise ValueError(f"expected names, got an empty one among {dict(names)}")
        return {kind: tuple(name.casefold() for name in names.get(kind, _NAMES[kind])) for kind in _NAMES}


EncyclopediaLayout = Literal["structured", "megawika", "html"]


class EncyclopediaSettings(Settings):
    """Which files, in which layout. What counts as an article and as a reference is set in `source.wikitext`."""

    layout: EncyclopediaLayout = "structured"
    """structured: structured contents of Wikimedia Enterprise, such as wikimedia/structured-wikipedia on the hub;
    megawika: MegaWika 2 (jhu-clsp/megawika-2), whose cited pages are crawled; html: HTML dumps of Wikimedia Enterprise
    (enwiki-NS0-20250820-ENTERPRISE-HTML.json.tar.gz)"""
    paths: tuple[str, ...] = ()
    """files of one kind: .jsonl, .ndjson or .json with an object a line, also .gz; .tar.gz archives of such files;
    .parquet. Lines and Parquet are read in parts; a .gz or .tar.gz is one part, so unpack large ones. A path may hold
    *, ? or [ ]"""


class Tensor2TensorSettings(Settings):
    """The folder of the published shards."""

    urls: str = ""
    """folder or pattern of the URL shards, such as wiki_urls/ or wiki_urls.json-0004?-of-01000"""
    content: str = ""
    """folder or pattern of the content shards, such as wiki_content/ (wiki_content.tfrecords-…)"""
    split: ClassVar[str] = "files"  # theirs, by the number of the file


LayoutName = Literal["columns", "multi-news", "wcep-10", "multi-xscience", "rotten-tomatoes", "hed", "wikisum"]


_COLUMNS = ("documents", "summary", "title", "id")


class CollectionSettings(Settings):
    """Which files, in which layout. Splits are those of a column `split`, else those in the files' names: train; valid,
    validation, val or dev; test. If none are given, articles are split by a hash."""

    layout: LayoutName = "columns"
    """columns: any JSONL, JSON, CSV or Parquet with the columns named below; multi-news: train.src and train.tgt;
    wcep-10: train.jsonl.gz; multi-xscience: train.json.gz; rotten-tomatoes: rottentomatoes.json; hed: the files of Shen
    et al. 2023, such as mred/train.csv or Film/train.csv; wikisum: data/*.parquet of `wikisum export`"""
    paths: tuple[str, ...] = ()
    """files, text also gzip (.gz); a path may hold *, ? or [ ]; of parallel files the .src ones"""
    columns: dict[str, str] = Field(default_factory=dict)
    """in layout columns, the names of columns, as JSON: documents (a list of strings or of objects with `text`, or one
    string), summary, title (without one, a title is the beginning of the first document) and id (a unique name;
    without one, file and row); by default there are `documents` and `summary`"""
    separator: str = ""
    """in layout columns, the separator between the documents of one string; empty = one document"""
    paragraph_words: int | None = Field(100, ge=1, le=1_000_000)
    """words a paragraph has at most: a longer one is cut between sentences; null = a document is one paragraph, as its
    models read it in Shen et al. 2023, sec. 3"""

    @field_validator("columns")
    @classmethod
    def _are_known(cls, columns: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(columns.keys() - set(_COLUMNS)):
            raise ValueError(f"columns has {unknown[0]!r}: expected {', '.join(_COLUMNS)}")
        return columns


# Sections that a source reads in addition to its own.
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
    """miniweb: a generated web, embedded; records: JSONL files of your own; dump: a MediaWiki XML dump; encyclopedia: a
    parsed Wikipedia (structured contents and HTML dumps of Wikimedia, MegaWika 2); mediawiki: titles or a category of a
    live wiki; tensor2tensor: the published WikiSum shards; sections: the sections of a dump's or of JSONL articles;
    collection: a published corpus of documents and summaries"""
    malformed: int = tuning(0, ge=0, le=10**12)
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
