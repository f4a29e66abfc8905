"""The interface of an article source: partitions that can be read independently, each a stream of articles."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tasks.engine.reasons import Reason


class ArticleReason(Reason):
    """Why an article is not used: found by its source, or by the stages `intake` and `articles`."""

    EMPTY_TITLE = "empty_title", "the source has no title for it"
    EMPTY_LEAD = "empty_lead", "the source has no lead section for it: there is no target"
    NO_SOURCES = "no_sources", "neither a reference nor a search result nor a document"
    DUPLICATE_TITLE = "duplicate_title", "there is already an article with that title or name; the first one is kept"
    MALFORMED_LINE = ("malformed_line", "the line of JSON is not an article; `source.malformed` limits them")
    MALFORMED_ROW = ("malformed_row", "the row is not of its corpus's layout; `source.malformed` limits them")
    MISSING_PAGE = "missing_page", "the wiki has no page of that title"
    REVISION_GONE = "revision_gone", "that revision was hidden or deleted after it was planned"
    NO_CONTENT = "no_content", "the shards have URLs for it, but no text"
    REDIRECT = "redirect", "the page only leads to another one"
    OTHER_NAMESPACE = "other_namespace", "the page is not an article: a discussion, a template, a file"
    NOT_WIKITEXT = "not_wikitext", "the page is not written in wikitext"
    LIST = "list", "a list, by its title"
    DISAMBIGUATION = (
        "disambiguation",
        "the page only lists pages of similar titles, by its title, templates or categories",
    )
    SHORT_LEAD = "short_lead", "the lead has fewer than ten words"
    APPARATUS = "apparatus", "a section of references or links"
    FROZEN_TEST_ARTICLE = (
        "frozen_test_article",
        "it has the title or the lead of a test article on which models are judged",
    )


class GivenReason(Reason):
    """Why a document that a source gives is not used."""

    NO_DOCUMENTS = "no_documents", "the source has no document for the article"
    DUPLICATE_URL = "duplicate_url", "there is already a document with that URL; the first one is kept"
    NO_TEXT = "no_text", "the document has no text"


@dataclass(frozen=True)
class GivenDocument:
    """A text that the source itself provides for an article, so that it is not fetched."""

    url: str  # its URL, or any name that no other document of the article has
    title: str | None
    paragraphs: tuple[str, ...]  # its prose, in order


@dataclass(frozen=True)
class Article:
    """One article as a source yields it, before any check."""

    title: str
    lead: str = ""  # lead section, plain prose; empty if the source has none
    references: tuple[str, ...] = ()  # cited URLs in order of first citation, as written
    search_results: tuple[str, ...] = ()  # URLs of search results, best first
    split: str | None = None  # train | valid | test if the source decides it, else None
    group: str | None = None  # articles of one group are in the same split; None = the article alone
    revision: str | None = None  # the source's revision, or None
    licence: str | None = None  # licence of the lead, or None
    drop_reason: str | None = None  # set if the source itself refuses the article (a redirect, a list), else None
    # Texts that the source itself provides for the article, in addition to those that are fetched
    documents: tuple[GivenDocument, ...] = ()
    id: str | None = None  # its identity in its source; None = its title
    # Number by which the source knows it whatever its title, such as MediaWiki's page id; None = not known
    page: str | None = None
    # The lead is a published summary, the target unchanged; otherwise it may hold remains of a page, which are
    # removed
    published_target: bool = False
    # The number of templates in the lead without a known text, by their names
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Its identity among the articles of its source."""
        return self.title if self.id is None else self.id


@dataclass(frozen=True)
class Partition:
    """A part of a source that is read as one shard of `intake`."""

    name: str  # a readable name, such as a byte range of a file
    digest: str  # changes exactly when the partition's content does; it goes into the shard's key
    start: int  # first unit (topic, byte, file) of the partition
    stop: int  # one past its last unit

    def recipe(self) -> dict[str, str]:
        """Return what the shard depends on: the content, not its location."""
        return {"digest": self.digest}


class Source(Protocol):
    """A source of articles. A source streams: its input is never in memory as a whole."""

    @property
    def gives_documents(self) -> bool:
        """Whether articles may have documents that the source itself holds."""

    def partitions(self) -> list[Partition]:
        """Return the partitions in a fixed order; reads every file once, for the digests. Raises FileNotFoundError: an
        input is missing, or nothing matches a pattern; ValueError: no path was given, or an input is not of the format
        in the settings."""

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a partition in a fixed order. Raises FileNotFoundError: an input is missing;
        ValueError: malformed or damaged input, naming file and line: the first twenty where there are more."""
