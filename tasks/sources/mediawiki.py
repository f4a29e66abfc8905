"""Articles from a live MediaWiki: a list of titles or a category. Planning asks for the latest revision of every page,
fifty at a time; a partition's digest is that of these revisions. So pages without edits are not requested again, and
later exactly the planned revisions are read. Queries to its action API follow its etiquette: serial, with a contact,
with maxlag, and with retries.

The answers of a listing are kept on the root until it is done, so that an interrupted one continues. A listing asks the
same questions in the same order, each with the token that the answer before it gave. So it simply begins again: a
question whose answer is kept is not asked, and the first request continues from the last token. The check before a run
keeps its answers for the run, so both read the same revisions.

An answer is kept only if it is what the interface promises. It must say for each page and revision whether the wiki has
it. A missing statement is a failure, and the next run asks again."""

import base64
import hashlib
import json
import logging
import time
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

from storage.store import Store
from storage.writing import naming_a_full_disk
from tasks.engine.closing import Closing
from tasks.engine.grouping import packed
from tasks.engine.settings import secret_in
from tasks.fetching.answers import Answers
from tasks.fetching.http import Patience, Response
from tasks.fetching.safety import FetchError
from tasks.fetching.service import Service
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import normalise_url
from tasks.sources.dump.pages import CATEGORY, DumpPage, Site
from tasks.sources.dump.source import FORMAT_VERSION, ArticleReader
from tasks.sources.files import Malformed, check_is_file
from tasks.sources.settings import MediaWikiSettings, WikitextSettings
from tasks.sources.source import Article, ArticleReason, Partition

logger = logging.getLogger(__name__)
T = TypeVar("T")

# A wiki that cannot be reached ends the run, so the retries last long; Retry-After may ask for an hour.
PATIENCE = Patience(total_seconds=120.0, retries=8, backoff_seconds=2.0, max_backoff_seconds=3600.0)

_VERSION = 2  # version of the articles made from the answers, in the digest of a partition
_MAXLAG = 5  # seconds by which its databases may lag before it asks us to wait: what Wikimedia recommends
_MAX_ANSWER_BYTES = 64_000_000  # the API limits an answer to 8 MiB of text; escapes and markup are added to that
_TRANSIENT_ERRORS = frozenset({"maxlag", "ratelimited", "readonly"})
# Modules whose warnings say that a part of the query was ignored, so that the answer may lack what was asked for.
_OF_THE_QUERY = ("query", "categorymembers")
# Marks of a title or revision that does not exist, or must not be shown.
_NO_PAGE = ("missing", "invalid", "special")
_NO_TEXT = ("texthidden", "textmissing", "suppressed", "badcontentformat")


_FOLDER = "intake/.scratch-00000." + hashlib.sha256(b"listing").hexdigest()[:16]  # pruned like that of any shard
_ANSWERS_A_FILE = 10  # answers that a killed process asks for again on an object store, which cannot append to files
_MOST_NS = 86_400 * 10**9  # a day without use, after which a listing starts again, because its pages have been edited


class KeptAnswers(Closing):
    """Answers by the URL that was asked, on the root; for one writer at a time, which holds it."""

    def __init__(self, store: Store) -> None:
        """Take the root; nothing is read before the first question."""
        self._store = store
        self._answers: Answers | None = None  # compressed: a listing of millions is in memory

    def get(self, url: str) -> dict[str, Any] | None:
        """Return the answer to a question, None if it is not kept. Raises OSError: the root cannot be read."""
        if self._answers is None:
            written = [info.mtime_ns for info in self._store.infos(_FOLDER).values()]
            if written and time.time_ns() - max(written) > _MOST_NS:
                self._store.delete_folder(_FOLDER)
            self._answers = Answers(self._store.filesystem, self._store.path(_FOLDER), rows=_ANSWERS_A_FILE)
        result = self._answers.get(url)
        answer: dict[str, Any] | None = (
            None if result is None else json.loads(zlib.decompress(base64.b64decode(result)))
        )
        return answer

    def add(self, url: str, answer: dict[str, Any]) -> None:
        """Keep an answer (`Answers.add`). Raises OSError: the root cannot be written; StorageFullError: it is full."""
        assert self._answers is not None, "get comes first"
        with naming_a_full_disk(self._store.path(_FOLDER)):
            self._answers.add(url, base64.b64encode(zlib.compress(json.dumps(answer).encode())).decode())

    def close(self) -> None:
        """Close the file being written."""
        if self._answers is not None:
            self._answers.close()

    def forget(self) -> None:
        """Delete the answers, if any were asked for: the listing is done, and the next one begins anew. Raises
        StorageError: the root cannot be written."""
        if self._answers is not None:
            self.close()
            self._store.delete_folder(_FOLDER)
            self._answers = None


class MediaWikiError(ValueError):
    """The wiki answered a query with an error: its code for it, and what it says about it."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{code}: {info}")
        self.code, self.info = code, info


class MediaWikiApi(Closing):
    """One wiki's interface; a context that closes its connection."""

    def __init__(
        self, settings: MediaWikiSettings, contact: str, patience: Patience = PATIENCE, kept: KeptAnswers | None = None
    ) -> None:
        """Make the client. The user chose the URL of api.php, so it may be on this machine or in a private network. A
        token is sent with every request and to no other host. New answers are added to those `kept` of an interrupted
        listing. Raises ValueError: the contact is missing, the URL is not a web address, the environment lacks the
        token, or it would be sent unencrypted."""
        if not contact.strip():
            raise ValueError(
                "crawl.contact is empty: expected a URL or an e-mail address for the User-Agent, which wikis require"
            )
        self._token = secret_in(settings.token_variable, "source.mediawiki.token_variable", "an OAuth 2 access token")
        self._url = normalise_url(settings.api, allowed_hosts=[urlsplit(settings.api).netloc.lower()])
        local = urlsplit(self._url).hostname in ("localhost", "127.0.0.1", "::1")
        if self._token is not None and not (local or self._url.startswith("https://")):
            raise ValueError(f"{self._url}: expected an https:// URL, since a token is sent to it")
        self._kept = kept
        self._service = Service(
            self._url,
            CrawlSettings(contact=contact.strip()),
            patience,
            {},
            delay_seconds=settings.delay_seconds,
            keep_cookies=self._token is not None,  # with a session the wiki need not check the token again
        )

    def close(self) -> None:
        """Close the connections, and keep the answers so far."""
        self._service.close()
        if self._kept is not None:
            self._kept.close()

    def each(self, fields: Mapping[str, str], reader: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """Yield what `reader` makes of each part of a query's answer, for as long as it continues. Raises
        ConnectionError: the wiki does not answer, or the reader refuses the answer; MediaWikiError: the wiki refuses
        the query."""
        for part, keep in self._parts(fields):
            result = self._read(reader, part)
            keep()
            yield result

    def whole(self, fields: Mapping[str, str], reader: Callable[[list[dict[str, Any]]], T]) -> T:
        """Return what `reader` makes of all parts of a query's answer; raises as `each`."""
        parts = list(self._parts(fields))
        result = self._read(reader, [part for part, _ in parts])
        for _, keep in parts:
            keep()
        return result

    def _read(self, reader: Callable[[Any], T], answer: Any) -> T:
        try:
            return reader(answer)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            fault = f"{type(error).__name__} {error}"
            raise ConnectionError(f"{self._url}: the answer is not of the interface's shape: {fault}") from error

    def _parts(self, fields: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], Callable[[], None]]]:
        """Yield the parts of an answer, each with what keeps it once it has been read."""
        going_on: dict[str, str] = {}
        while True:
            fixed = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(_MAXLAG)}
            url = f"{self._url}?{urlencode({**fixed, **fields, **going_on})}"
            answer = None if self._kept is None else self._kept.get(url)
            known = answer is not None
            answer = self._asked(url) if answer is None else answer
            yield answer["query"], partial(self._keep, None if known else url, answer)
            if "continue" not in answer:
                return
            following = {name: str(value) for name, value in answer["continue"].items()}
            if following == going_on:
                raise MediaWikiError("continue", f"the answer continues at the same position again: {following}")
            going_on = following

    def _keep(self, url: str | None, answer: dict[str, Any]) -> None:
        if self._kept is not None and url is not None:
            self._kept.add(url, answer)

    def _asked(self, url: str) -> dict[str, Any]:
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        try:
            return self._service.read(url, _answer_in, max_bytes=_MAX_ANSWER_BYTES, headers=headers)
        except FetchError as fault:
            raise ConnectionError(f"{self._url}: {self._without_token(fault)}") from None
        except ConnectionError as error:
            raise ConnectionError(self._without_token(error)) from None
        except MediaWikiError as error:
            raise MediaWikiError(error.code, self._without_token(error.info)) from None

    def _without_token(self, text: object) -> str:
        """Return a text that may repeat what was sent, without the token."""
        return str(text) if self._token is None else str(text).replace(self._token, "[token]")


def _answer_in(response: Response) -> dict[str, Any]:
    """Return the answer in a response. Raises ConnectionError: it contains none; FetchError: the wiki asks to wait;
    MediaWikiError: the wiki refuses the query."""
    if not response.success:
        raise ConnectionError(f"{response.url}: HTTP {response.status}")
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise ConnectionError(f"{response.url}: expected JSON, got {response.body[:80]!r}") from error
    if not isinstance(answer, dict):
        raise ConnectionError(f"{response.url}: expected a JSON object, got {response.body[:80]!r}")
    refusal = answer.get("error") or answer.get("errors")
    if refusal:
        if isinstance(refusal, list):
            refusal = refusal[0]
        said = refusal if isinstance(refusal, dict) else {"code": "error", "info": refusal}
        code, info = str(said.get("code")), str(said.get("info") or said.get("text"))
        if code in _TRANSIENT_ERRORS or code.startswith("internal_api_error"):
            raise FetchError(code, info, transient=True, retry_after=response.retry_after)
        raise MediaWikiError(code, info)
    warnings = _warnings(answer)
    if ignored := [text for module, text in warnings.items() if module in _OF_THE_QUERY]:
        raise MediaWikiError("warnings", ignored[0])
    if not isinstance(answer.get("query"), dict) or not isinstance(answer.get("continue", {}), dict):
        raise ConnectionError(f"{response.url}: expected the answer to a query, got {response.body[:80]!r}")
    for module, text in warnings.items():
        logger.info("%s: the module %s warns: %s", response.url.partition("?")[0], module, text)
    return answer


def _warnings(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the first 300 characters of each module's warnings; an older wiki has them below `*`."""
    said = answer.get("warnings")
    modules = said.items() if isinstance(said, dict) else [("query", said)] if said else []
    return {
        module: str((of.get("warnings") or of.get("*")) if isinstance(of, dict) else of)[:300] for module, of in modules
    }


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
    contact: str = ""
    kept: KeptAnswers | None = None  # of an interrupted planning, which continues from them
    patience: Patience = PATIENCE
    partition_pages: int = 500  # ten requests: what a failed partition asks for again
    gives_documents = False

    def partitions(self) -> list[Partition]:
        """Return ranges of pages in the order of the titles, redirects resolved, each page once; queries the wiki.
        Raises ConnectionError: the wiki cannot be reached, or asks us to wait for too long. FileNotFoundError: the file
        of titles does not exist. MediaWikiError: the wiki refuses a query. ValueError: no contact was given, not
        exactly one of titles and category, or the environment lacks the token."""
        settings = self.settings
        if bool(settings.titles) == bool(settings.category):
            raise ValueError("source.mediawiki: expected exactly one of titles and category")
        with MediaWikiApi(settings, self.contact, self.patience, self.kept) as api:
            titles = _titles(Path(settings.titles)) if settings.titles else self._members(api)
            batches = packed(titles, lambda title: len(quote(title)) + 3, _QUERY_CHARACTERS, _ID_BATCH)
            pages = list(dict.fromkeys(page for batch in batches for page in _latest(api, batch)))
        size = self.partition_pages
        return [self._partition(pages[start : start + size], start) for start in range(0, len(pages), size)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a partition, then its missing titles (`missing_page`). A revision that has been hidden
        or deleted since it was planned has the reason `revision_gone`. Raises ConnectionError: the wiki cannot be
        reached; MediaWikiError: the wiki refuses a query; ValueError: the partition was not planned by this source."""
        if not isinstance(partition, PinnedPartition):
            raise ValueError(f"partition {partition.name} has no revisions: expected one that MediaWikiSource planned")
        with MediaWikiApi(self.settings, self.contact, self.patience) as api:
            reader = ArticleReader(_site(api), self.wikitext)
            for start in range(0, len(partition.revisions), _ID_BATCH):
                wanted = partition.revisions[start : start + _ID_BATCH]
                query = {"prop": "revisions", "rvprop": "ids|content", "rvslots": "main"}
                revids = {"revids": "|".join(map(str, wanted))}
                pages = api.whole({**query, **revids}, partial(_contents, wanted))
                for revision in wanted:
                    page = pages[revision]
                    if page is not None:
                        yield reader.article(page)
                    else:
                        name, reason = f"revision {revision}", ArticleReason.REVISION_GONE
                        yield Article(name, revision=str(revision), drop_reason=reason)
        for title in partition.missing:
            yield Article(title, drop_reason=ArticleReason.MISSING_PAGE)

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
                for members in api.each({**query, "cmnamespace": "0|14"}, _category_members):
                    for namespace, title in members:
                        if namespace == 0:
                            yield title
                        elif title not in seen:
                            seen.add(title)
                            below.append(title)
            level = below

    def _partition(self, pages: Sequence[int | str], start: int) -> PinnedPartition:
        recipe = [FORMAT_VERSION, _VERSION, self.wikitext.recipe(), self.settings.api, pages]
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
    check_is_file(path, "source.mediawiki.titles")
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


def _category_members(part: Mapping[str, Any]) -> list[tuple[int, str]]:
    return [(member["ns"], member["title"]) for member in part["categorymembers"]]


def _latest(api: MediaWikiApi, titles: Sequence[str]) -> list[int | str]:
    """Return the latest revision of each title in order, redirects resolved; the title itself if it has no page."""
    query = {"prop": "info", "titles": "|".join(titles), "redirects": "1"}
    return api.whole(query, partial(_revisions_of, titles))


def _revisions_of(titles: Sequence[str], parts: Sequence[Mapping[str, Any]]) -> list[int | str]:
    """Return what `_latest` does. Raises ConnectionError: the answer says nothing of a title."""
    to: dict[str, str] = {}
    latest: dict[str, int] = {}
    absent: set[str] = set()
    for part in parts:
        for kind in ("normalized", "redirects", "converted"):
            for step in part.get(kind, []):
                # a title that is not in NFC comes back escaped, as all output is converted to NFC
                to[unquote(step["from"]) if step.get("fromencoded") else step["from"]] = step["to"]
        absent.update(link["title"] for link in part.get("interwiki", []))
        for page in part.get("pages", []):
            if page.get("lastrevid"):
                latest[page["title"]] = page["lastrevid"]
            elif "lastrevid" in page or any(sign in page for sign in _NO_PAGE):
                absent.add(page["title"])
    ends = [_end(title, to) for title in titles]
    for title, end in zip(titles, ends, strict=True):  # a circle of redirects leads to no page
        if end not in latest and end not in to and unicodedata.normalize("NFC", end) not in absent:
            raise ConnectionError(f"the wiki's answer says nothing of the page {title!r}, not even that it is missing")
    return [latest.get(end, title) for title, end in zip(titles, ends, strict=True)]


def _end(title: str, to: Mapping[str, str]) -> str:
    """Return the final title, where normal forms and redirects end."""
    seen = {title}
    while (following := to.get(title)) is not None and following not in seen:
        seen.add(following)
        title = following
    return title


def _contents(revisions: Sequence[int], parts: Sequence[Mapping[str, Any]]) -> dict[int, DumpPage | None]:
    """Return the text of each revision, None for one that is hidden or deleted. Raises ConnectionError: the answer says
    nothing of a revision."""
    texts: dict[int, DumpPage | None] = {}
    for part in parts:
        unknown = part.get("badrevids", {})
        for revision in unknown.values() if isinstance(unknown, dict) else unknown:
            texts[revision["revid"]] = None
        for page in part.get("pages", []):
            for revision in page.get("revisions", []):
                number, slot = revision["revid"], revision.get("slots", {}).get("main", {})
                if isinstance(text := slot.get("content"), str):
                    page_id = str(page["pageid"]) if "pageid" in page else None
                    model = slot.get("contentmodel", "wikitext")
                    # A redirect is recognised by its text.
                    texts[number] = DumpPage(page["title"], page["ns"], False, str(number), model, text, page_id)
                elif any(sign in slot or sign in revision for sign in _NO_TEXT):
                    texts[number] = None
    if silent := [revision for revision in revisions if revision not in texts]:
        raise ConnectionError(f"the wiki's answer says nothing of revision {silent[0]}, not even that it is gone")
    return texts


def _site(api: MediaWikiApi) -> Site:
    return api.whole({"meta": "siteinfo", "siprop": "general|namespaces|namespacealiases"}, _site_in)


def _site_in(parts: Sequence[Mapping[str, Any]]) -> Site:
    whole = {name: value for part in parts for name, value in part.items()}
    names: dict[str, int] = {}
    for space in whole["namespaces"].values():
        names.update({name: space["id"] for name in (space.get("name"), space.get("canonical")) if name})
    names.update({alias["alias"]: alias["id"] for alias in whole.get("namespacealiases", [])})
    return Site.named(whole["general"]["base"], names)
