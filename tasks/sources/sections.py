"""Sections of encyclopedia articles: each as a topic of its own, or all as the sources of their article's lead.

With target `section`, one article becomes many topics, each with the URLs that its section cites. Target `lead` follows
the Wikipedia domains of Shen et al. 2023 (sec. 5): the lead is the target, every section is a document, and nothing is
fetched."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

from tasks.sources.dump.articles import ArticleReader, PageRules
from tasks.sources.dump.pages import DumpPage
from tasks.sources.dump.source import DumpSource
from tasks.sources.records import Line, RecordsSource, parse_line, refused_line
from tasks.sources.settings import DumpSettings, RecordsSettings, SectionsSettings, WikitextSettings
from tasks.sources.source import Article, GivenDocument, Partition

# By target: rises when the same bytes would give other articles.
FORMAT_VERSIONS = {"section": 1, "lead": 2}
_URL_SAFE = "/:@!$&'()*+,;=~"


class SectionLine(Line):
    """A section; its title is its path of headings."""

    title: str
    text: str
    refs: tuple[str, ...] | None = None


class SectionedLine(Line):
    """An article with its sections."""

    title: str
    lead: str
    url: str
    sections: tuple[SectionLine, ...]


@dataclass(frozen=True)
class _Topic:
    """A section as an article of its own, and its path of headings."""

    article: Article
    path: str = ""


@dataclass(frozen=True)
class _Entry:
    """An article with its sections as topics."""

    article: Article
    url: str
    topics: tuple[_Topic, ...]

    def documents(self) -> Iterator[GivenDocument]:
        """Yield the sections that have enough prose, each under the article's URL with its anchor."""
        anchors: Counter[str] = Counter()
        for topic in self.topics:
            anchor = topic.path.rpartition(" / ")[2].replace(" ", "_")
            anchors[anchor] += 1
            if anchors[anchor] > 1:
                anchor = f"{anchor}_{anchors[anchor]}"  # as MediaWiki distinguishes equal headings
            if topic.article.drop_reason is None:
                url = f"{self.url}#{quote(anchor, safe=_URL_SAFE)}"
                yield GivenDocument(url, topic.path, tuple(topic.article.lead.split("\n")))


class SectionsSource:
    """Sections of a dump's articles or of JSONL files."""

    name = "sections"

    def __init__(
        self, settings: SectionsSettings, dump: DumpSettings, wikitext: WikitextSettings, *, malformed: int = 0
    ) -> None:
        """Take the settings; no file is opened yet. Up to `malformed` lines of a JSONL file are refused."""
        self._settings = settings
        self._wikitext = wikitext
        self._rules = PageRules(wikitext)
        self._dump = DumpSource(dump, wikitext)
        self._records = RecordsSource(
            RecordsSettings(paths=settings.paths), setting="source.sections.paths", malformed=malformed
        )

    @property
    def gives_documents(self) -> bool:
        """Whether the source has the articles' documents itself."""
        return self._settings.target == "lead"

    def partitions(self) -> list[Partition]:
        """Return the partitions of the dump or of the JSONL files, with their own digests."""
        parts = self._dump.partitions() if self._settings.over == "dump" else self._records.partitions()
        target = self._settings.target
        salt = f"{FORMAT_VERSIONS[target]}|{target}|{self._wikitext.min_lead_words}|{self._wikitext.licence}"
        return [replace(part, digest=hashlib.sha256(f"{salt}|{part.digest}".encode()).hexdigest()) for part in parts]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a partition: sections with the URLs they cite, or leads with sections as documents."""
        for entry in self._entries(partition):
            if not self.gives_documents:
                yield from (topic.article for topic in entry.topics)
            elif entry.article.drop_reason is not None:
                yield entry.article
            else:
                yield replace(entry.article, references=(), documents=tuple(entry.documents()))

    def _entries(self, partition: Partition) -> Iterator[_Entry]:
        if self._settings.over == "jsonl":
            yield from self._records.parse(partition, self._line_entry, _refused)
            return
        reader, pages = self._dump.open(partition)
        for page in pages:
            yield self._page_entry(reader, page)

    def _page_entry(self, reader: ArticleReader, page: DumpPage) -> _Entry:
        sections = [_Topic(article, path) for path, article in reader.sections(page)]
        article = reader.article(page) if self.gives_documents else Article(page.title, "", ())
        url = reader.site.url + quote(page.title.replace(" ", "_"), safe=_URL_SAFE)
        return _Entry(article, url, tuple(sections))

    def _line_entry(self, line: bytes) -> _Entry:
        """Return the article of a line. Raises MalformedLineError: the line is not a valid article."""
        entry = parse_line(SectionedLine, line)
        title = entry.title.replace("_", " ")
        article = Article(
            title, entry.lead, (), licence=self._wikitext.licence, drop_reason=self._rules.lead_reason(entry.lead)
        )
        return _Entry(article, entry.url, tuple(self._topic(title, section) for section in entry.sections))

    def _topic(self, title: str, section: SectionLine) -> _Topic:
        article = Article(
            title=f"{title} ({section.title})",
            lead=section.text,
            references=section.refs or (),
            group=title,
            licence=self._wikitext.licence,
            drop_reason=self._rules.lead_reason(section.text),
        )
        return _Topic(article, section.title)


def _refused(name: str) -> _Entry:
    """Return what stands for a malformed line: one refused article, whatever becomes a topic."""
    article = refused_line(name)
    return _Entry(article, "", (_Topic(article),))
