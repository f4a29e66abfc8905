"""Sections of encyclopedia articles: each as a topic of its own, or all as the sources of their article's lead.

With target `section`, one article becomes many topics, each with the URLs that its section cites. Target `lead` follows
the Wikipedia domains of Shen et al. 2023 (sec. 5): the lead is the target, every section is a document, and nothing is
fetched."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from tasks.sources.dump.source import DumpSource, PageRules
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


# An article, its URL, and its sections: each as its path of headings and an article of its own.
_Entry = tuple[Article, str, Sequence[tuple[str, Article]]]


class SectionsSource:
    """Sections of a dump's articles or of JSONL files, of which up to `malformed` lines of a file are refused."""

    def __init__(
        self, settings: SectionsSettings, dump: DumpSettings, wikitext: WikitextSettings, malformed: int = 0
    ) -> None:
        self._settings = settings
        self._wikitext = wikitext
        self._rules = PageRules(wikitext)
        self._dump = DumpSource(dump, wikitext)
        paths = RecordsSettings(paths=settings.paths)
        self._records = RecordsSource(paths, setting="source.sections.paths", malformed=malformed)

    @property
    def gives_documents(self) -> bool:
        """Whether the source has the articles' documents itself."""
        return self._settings.target == "lead"

    def partitions(self) -> list[Partition]:
        """Return the partitions of the dump or of the JSONL files, with their own digests."""
        parts = self._records.partitions() if self._settings.paths else self._dump.partitions()
        target = self._settings.target
        salt = f"{FORMAT_VERSIONS[target]}|{target}|{self._wikitext.licence}"
        return [replace(part, digest=hashlib.sha256(f"{salt}|{part.digest}".encode()).hexdigest()) for part in parts]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a partition: sections with the URLs they cite, or leads with sections as documents."""
        for article, url, topics in self._entries(partition):
            if not self.gives_documents:
                yield from (topic for _, topic in topics)
            elif article.drop_reason is not None:
                yield article
            else:
                yield replace(article, references=(), documents=tuple(_documents(url, topics)))

    def _entries(self, partition: Partition) -> Iterator[_Entry]:
        if self._settings.paths:
            yield from self._records.parse(partition, self._line_entry, _refused)
            return
        reader, pages = self._dump.open(partition)
        for page in pages:
            article = reader.article(page) if self.gives_documents else Article(page.title)
            url = reader.site.url + quote(page.title.replace(" ", "_"), safe=_URL_SAFE)
            yield article, url, list(reader.sections(page))

    def _line_entry(self, line: bytes) -> _Entry:
        entry = parse_line(SectionedLine, line)
        title, licence, reason = entry.title.replace("_", " "), self._wikitext.licence, self._rules.lead_reason
        topics = []
        for section in entry.sections:
            name, refused = f"{title} ({section.title})", reason(section.text)
            topic = Article(name, section.text, section.refs or (), group=title, licence=licence, drop_reason=refused)
            topics.append((section.title, topic))
        return Article(title, entry.lead, licence=licence, drop_reason=reason(entry.lead)), entry.url, topics


def _refused(name: str) -> _Entry:
    """Return one refused article for a malformed line, whatever the target is."""
    article = refused_line(name)
    return article, "", [("", article)]


def _documents(url: str, topics: Sequence[tuple[str, Article]]) -> Iterator[GivenDocument]:
    """Yield the sections that have enough prose, each under the article's URL with its anchor."""
    anchors: Counter[str] = Counter()
    for path, topic in topics:
        anchor = path.rpartition(" / ")[2].replace(" ", "_")
        anchors[anchor] += 1
        if anchors[anchor] > 1:
            anchor = f"{anchor}_{anchors[anchor]}"  # as MediaWiki distinguishes equal headings
        if topic.drop_reason is None:
            yield GivenDocument(f"{url}#{quote(anchor, safe=_URL_SAFE)}", path, tuple(topic.lead.split("\n")))
