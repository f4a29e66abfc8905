"""Articles from a live MediaWiki: a list of titles or a category. Planning asks for the latest revision of every page,
fifty at a time; a partition's digest is that of these revisions. So pages without edits are not requested again, and
later exactly the planned revisions are read. An interrupted planning goes on where it stopped (`KeptAnswers`)."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tasks.crawl.service import Patience
from tasks.engine.settings import secret_in
from tasks.sources.dump.articles import FORMAT_VERSION, ArticleReader
from tasks.sources.dump.pages import CATEGORY, DumpPage, Site
from tasks.sources.files import Malformed
from tasks.sources.mediawiki_api import PATIENCE, KeptAnswers, MediaWikiApi
from tasks.sources.settings import MediaWikiSettings, WikitextSettings
from tasks.sources.source import Article, ArticleReason, Partition

_QUERY_CHARACTERS = 3_000  # of titles in a URL, percent-encoded
_ID_BATCH = 50  # the interface's limit without a login


@dataclass(frozen=True)
class PinnedPartition(Partition):
    """A partition and its planned revisions."""

    revisions: tuple[int, ...] = ()  # revision ids, in the order of the pages
    missing: tuple[str, ...] = ()  # titles that the wiki does not have


@dataclass(frozen=True)
class MediaWikiSource:
    """Articles of a live wiki, fifty pages per request."""

    settings: MediaWikiSettings
    wikitext: WikitextSettings
    connect_to: Mapping[str, str] = field(default_factory=dict)  # host -> `address:port` to which its connections go
    contact: str = ""
    kept: KeptAnswers | None = None  # of an interrupted planning, which goes on from them
    patience: Patience = PATIENCE
    partition_pages: int = 500  # ten requests: what a failed partition asks for again
    gives_documents = False

    def partitions(self) -> list[Partition]:
        """Return ranges of pages in the order of the titles, redirects resolved, each page once; queries the wiki.
        Raises ConnectionError: the wiki cannot be reached, or asks us to wait for too long; FileNotFoundError: there is
        no such file of titles; MediaWikiError: the wiki refuses a query; ValueError: no contact was given, not exactly
        one of titles and category, or the environment lacks the token."""
        settings = self.settings
        if bool(settings.titles) == bool(settings.category):
            raise ValueError("source.mediawiki: expected exactly one of titles and category")
        with self._api(self.kept) as api:
            titles = _titles(Path(settings.titles)) if settings.titles else self._members(api)
            pages = list(dict.fromkeys(page for batch in _batches(titles) for page in _latest(api, batch)))
        size = self.partition_pages
        return [self._partition(pages[start : start + size], start) for start in range(0, len(pages), size)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a partition, then its missing titles (`missing_page`). A revision that has been hidden
        or deleted since it was planned has the reason `revision_gone`. Raises ConnectionError: the wiki cannot be
        reached; MediaWikiError: the wiki refuses a query; ValueError: the partition was not planned by this source."""
        if not isinstance(partition, PinnedPartition):
            raise ValueError(f"partition {partition.name} has no revisions: expected one that MediaWikiSource planned")
        with self._api() as api:
            reader = ArticleReader(_site(api), self.wikitext)
            for start in range(0, len(partition.revisions), _ID_BATCH):
                wanted = partition.revisions[start : start + _ID_BATCH]
                pages = dict(_contents(api, wanted))
                for revision in wanted:
                    if revision in pages:
                        yield reader.article(pages[revision])
                    else:
                        name, reason = f"revision {revision}", ArticleReason.REVISION_GONE
                        yield Article(name, revision=str(revision), drop_reason=reason)
        for title in partition.missing:
            yield Article(title, drop_reason=ArticleReason.MISSING_PAGE)

    def _api(self, kept: KeptAnswers | None = None) -> MediaWikiApi:
        settings = self.settings
        if not self.contact.strip():
            raise ValueError(
                "crawl.contact is empty: expected a URL or an e-mail address for the User-Agent, which wikis require"
            )
        return MediaWikiApi(
            settings.api,
            self.connect_to,
            contact=self.contact.strip(),
            delay_seconds=settings.delay_seconds,
            patience=self.patience,
            token=secret_in(settings.token_variable, "source.mediawiki.token_variable", "an OAuth 2 access token"),
            kept=kept,
        )

    def _members(self, api: MediaWikiApi) -> Iterator[str]:
        """Yield the titles of the articles of a category, then those of its subcategories, level by level."""
        name = self.settings.category
        prefix, colon, rest = name.partition(":")
        if colon and _site(api).namespaces.get(" ".join(prefix.replace("_", " ").split()).casefold()) == CATEGORY:
            name = rest.strip()
        level, seen = [f"Category:{name}"], {f"Category:{name}"}
        for depth in range(self.settings.category_depth + 1):
            below: list[str] = []
            for category in level:
                kinds = "page|subcat" if depth < self.settings.category_depth else "page"
                query = {"list": "categorymembers", "cmtitle": category, "cmtype": kinds, "cmlimit": "500"}
                for answer in api.query({**query, "cmnamespace": "0|14"}):
                    for member in answer.get("categorymembers", []):
                        if member["ns"] == 0:
                            yield member["title"]
                        elif member["title"] not in seen:
                            seen.add(member["title"])
                            below.append(member["title"])
            level = below

    def _partition(self, pages: Sequence[int | str], start: int) -> PinnedPartition:
        recipe = [FORMAT_VERSION, self.wikitext.recipe(), self.settings.api, pages]
        return PinnedPartition(
            name=f"pages {start}-{start + len(pages) - 1}",
            digest=hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest(),
            start=start,
            stop=start + len(pages),
            revisions=tuple(page for page in pages if isinstance(page, int)),
            missing=tuple(page for page in pages if isinstance(page, str)),
        )


def _titles(path: Path) -> Iterator[str]:
    malformed = Malformed()
    with path.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, 1):
                title = " ".join(line.replace("_", " ").split())
                if not title or title.startswith("#"):
                    continue
                if "|" in title or "\x1f" in title:
                    malformed.add(f"{path}, line {number}: expected one title, got {title[:80]!r}")
                elif not malformed.number:
                    yield title
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    malformed.check()


def _batches(titles: Iterator[str]) -> Iterator[list[str]]:
    """Yield up to fifty titles at a time, as many as fit in a URL."""
    batch: list[str] = []
    length = 0
    for title in titles:
        size = len(quote(title)) + 3
        if batch and (len(batch) == _ID_BATCH or length + size > _QUERY_CHARACTERS):
            yield batch
            batch, length = [], 0
        batch.append(title)
        length += size
    if batch:
        yield batch


def _latest(api: MediaWikiApi, titles: Sequence[str]) -> list[int | str]:
    """Return the latest revision of each title in order, redirects resolved; the title itself if there is no page."""
    to: dict[str, str] = {}
    latest: dict[str, int] = {}
    query = {"prop": "info", "titles": "|".join(titles), "redirects": "1"}
    for answer in api.query(query):
        for kind in ("normalized", "redirects", "converted", "interwiki"):
            to.update({_written(step): step["to"] for step in answer.get(kind, []) if "to" in step})
        latest.update({page["title"]: page["lastrevid"] for page in answer.get("pages", []) if page.get("lastrevid")})
    return [latest.get(_end(title, to), title) for title in titles]


def _written(step: Mapping[str, Any]) -> str:
    """Return the title at the start of a step as it was requested; a title that is not in NFC comes back escaped. The
    interface converts all its output to NFC, so it must escape such a title."""
    return unquote(step["from"]) if step.get("fromencoded") else str(step["from"])


def _end(title: str, to: Mapping[str, str]) -> str:
    """Return the final title, where normal forms and redirects end."""
    seen = {title}
    while (following := to.get(title)) is not None and following not in seen:
        seen.add(following)
        title = following
    return title


def _contents(api: MediaWikiApi, revisions: Sequence[int]) -> Iterator[tuple[int, DumpPage]]:
    """Yield the pages of some revisions, with their source."""
    query = {"prop": "revisions", "rvprop": "ids|content", "rvslots": "main", "revids": "|".join(map(str, revisions))}
    for answer in api.query(query):
        for page in answer.get("pages", []):
            for revision in page.get("revisions", []):
                slot = revision.get("slots", {}).get("main", {})
                if isinstance(text := slot.get("content"), str):
                    number, model = revision["revid"], slot.get("contentmodel", "wikitext")
                    page_id = str(page["pageid"]) if "pageid" in page else None
                    # A redirect is recognised by its text.
                    yield number, DumpPage(page["title"], page["ns"], False, str(number), model, text, page_id)


def _site(api: MediaWikiApi) -> Site:
    names: dict[str, int] = {}
    base = ""
    for answer in api.query({"meta": "siteinfo", "siprop": "general|namespaces|namespacealiases"}):
        base = answer.get("general", {}).get("base", base)
        for space in answer.get("namespaces", {}).values():
            names.update({name: space["id"] for name in (space.get("name"), space.get("canonical")) if name})
        names.update({alias["alias"]: alias["id"] for alias in answer.get("namespacealiases", [])})
    return Site.named(base, names)
