"""Answers requests for the URLs of the mini web: a pure function of the settings, the host and the path. Pages are
HTML in the designs of `html.toml`, or PDF; the articles that cite them are a source."""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from html import escape
from textwrap import wrap
from urllib.parse import parse_qsl, urlsplit

from tasks.engine.data_files import read_data
from tasks.engine.hashing import stable_hash
from tasks.sources.miniweb.links import (
    DETOURS,
    LINK_HOST,
    SEARCH_HOST,
    SITES,
    WITHOUT_ROBOTS,
    Fate,
    Link,
    Links,
    hosts_of,
)
from tasks.sources.miniweb.pages import PageContent, Pages
from tasks.sources.miniweb.world import WORLD_VERSION, World
from tasks.sources.settings import HELD_BACK, MiniwebSettings
from tasks.sources.source import Article, Partition

_HTML = read_data("tasks.sources.miniweb", "html.toml")
_TEXTS: Mapping[str, str] = _HTML["chrome"] | _HTML["parts"]
CHROME = tuple(_HTML["chrome"].values())  # no extractor should return any of these sentences
LICENCE_URL = "https://creativecommons.org/publicdomain/zero/1.0/"  # the web is ours, and for everybody


def _composed(text: str) -> str:
    return re.sub("<<([a-z]+)>>", lambda name: _composed(_TEXTS[name[1]]), text)


_DESIGNS = {name: _composed(text) for name, text in _HTML["designs"].items()}
_DOCUMENT = _composed(_TEXTS["page"])


def render_html(page: PageContent) -> str:
    """Return the page as an HTML5 document; it declares no character set."""
    genre = SITES[page.genre]
    words = {name: escape(getattr(page, name)) for name in ("title", "author", "date", "caption", "url")}
    blocks = [f"<{tag}>{_linked(text, page)}</{tag}>" for tag, text in page.blocks]
    items = (f'<li class="comment"><b>{escape(name)}</b><p>{escape(text)}</p></li>' for name, text in page.comments)
    words |= {"opening": "\n".join(blocks[:3]), "rest": "\n".join(blocks[3:]), "comments": "\n".join(items)}
    words |= {"site": escape(genre.site), "design": genre.design, "related": _links(page.related)}
    return _DOCUMENT.format(body=_DESIGNS[genre.design].format_map(words), licence=LICENCE_URL, **words)


def _linked(text: str, page: PageContent) -> str:
    """Return a paragraph in which the first mention of every related topic is a link."""
    markup = escape(text, quote=False)
    for name, url in page.related:
        markup = markup.replace(escape(name, quote=False), f'<a href="{url}">{escape(name, quote=False)}</a>', 1)
    return markup


def _links(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f'<li><a href="{escape(url)}">{escape(text)}</a></li>' for text, url in rows)


_LINES = 58


def render_pdf(title: str, paragraphs: Sequence[str]) -> bytes:
    """Return a valid one-page PDF 1.4 with a title and paragraphs, cut where the page ends."""
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*wrap(paragraph, 92), ""]
    escaped = (re.sub(r"([\\()])", r"\\\1", line).encode("cp1252", "replace") for line in lines[:_LINES])
    shown = b"".join(b"(%s) Tj T*\n" % line for line in escaped)
    stream = b"BT /F1 10 Tf 13 TL 50 800 Td\n" + shown + b"ET"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R\n"
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )
    file, table = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(file)
    return file + b"xref\n0 6\n" + table + trailer


HTML = "text/html; charset=utf-8"
_PAGE = re.compile(r"-(\d+)-(\d+)\.(?:html|pdf)$")
_GUIDE = re.compile(r"^/regions/.*-g(\d+)-(\d+)\.html$")
_DETOUR = re.compile(r"^/via/(\d)/(\d+)-(\d+)$")
_SLOW_SECONDS = 0.05  # before a slow page is answered
CRAWL_DELAY = 0.02  # seconds, asked for by the robots.txt of the academy hosts
_FILLER = b"<p>" + b"The printer would not stop. " * 36 + b"</p>\n"


@dataclass(frozen=True)
class Answer:
    """A response of the web, its body encoded as the headers say."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": HTML})  # besides Date and the length
    seconds: float = 0.0  # to wait before answering
    chunked: bool = False  # sent in chunks, without its length
    flaky: bool = False  # the first request gets status 500 instead of this


class Miniweb:
    """The whole web of one world, and the articles that cite it."""

    def __init__(self, settings: MiniwebSettings) -> None:
        self.settings = settings
        self.world = World(settings.seed, HELD_BACK)
        self.links = Links(settings, self.world)
        self.pages = Pages(settings, self.world, self.links)
        self.hosts = dict.fromkeys(hosts_of(settings))

    def expected(self, topic: int) -> list[Link]:
        """Return every URL that a topic cites or a search for it finds, once each, with its behaviour."""
        return list(dict.fromkeys([*self.links.references(topic), *self.links.search_results(topic)]))

    def answer(self, host: str, target: str) -> Answer:
        """Return the response to a GET request: a lower-case host without port, path and query of the request line."""
        url = urlsplit(target)
        if host not in self.hosts:
            return _not_found(f"There is no host {host}.")
        if url.path == "/robots.txt":
            return self._robots(host)
        if url.path == "/search" and host == SEARCH_HOST:
            return self._search(url.query)
        if url.path == "/":
            return self._front(host)
        if match := _DETOUR.match(url.path):
            return self._detour(host, int(match[1]), int(match[2]), int(match[3]))
        if match := _PAGE.search(url.path):
            return self._page(f"http://{host}{url.path}", int(match[1]), int(match[2]))
        if match := _GUIDE.match(url.path):
            region, number = int(match[1]), int(match[2])
            if number < 10 and self.links.guide_url(region, number) == f"http://{host}{url.path}":
                return _tagged(render_html(self.pages.guide(region, number)).encode())
        return _not_found()

    def _page(self, url: str, topic: int, slot: int) -> Answer:
        """Answer for a page that is named by topic and slot, according to its fate."""
        if not self.links.has_page(topic, slot) or self.links.page_url(topic, slot) != url:
            return _not_found()
        fate, status = self.links.link(topic, slot)[1:3]
        if fate is Fate.LOOP or status in (404, 410):
            return _not_found("This page is no longer here.", status or 404)
        if fate is Fate.EMPTY:
            return Answer(200)
        page = self.pages.page(topic, slot)
        if fate is Fate.PDF:
            return Answer(200, render_pdf(page.title, page.paragraphs), {"Content-Type": "application/pdf"})
        text = render_html(page)
        body, size = text.encode(), self.settings.oversized_bytes
        if fate is Fate.OVERSIZED and topic % 2:
            return Answer(200, body + _filler(size), chunked=True)
        if fate is Fate.OVERSIZED:  # two members of gzip, of which the second is a bomb
            zipped = gzip.compress(body, mtime=0) + _zipped_filler(size)
            return Answer(200, zipped, {"Content-Type": HTML, "Content-Encoding": "gzip"})
        if fate is Fate.CALLED_UTF8:
            return Answer(200, text.encode("latin-1", "xmlcharrefreplace"))
        if fate is Fate.CALLED_LATIN1:
            return Answer(200, body, {"Content-Type": "text/html; charset=iso-8859-1"})
        seconds = _SLOW_SECONDS if fate is Fate.SLOW else 0.0
        return replace(_tagged(body), seconds=seconds, flaky=fate is Fate.FLAKY)

    def _detour(self, host: str, hop: int, topic: int, slot: int) -> Answer:
        """Answer for a URL that redirects: at hop 1 to the page, before it to the next hop, in a loop to itself."""
        status, hops = DETOURS.get(self.links.planned_fate(topic, slot), (404, -1))
        served_here = self.links.has_page(topic, slot) and urlsplit(self.links.link(topic, slot).url).netloc == host
        if not served_here or hop not in (range(1, hops + 1) if hops else (0,)):
            return _not_found()
        following = f"http://{host}/via/{max(hop - 1, 0)}/{topic}-{slot}"
        location = self.links.page_url(topic, slot) if hop == 1 else following
        return Answer(status, b"", {"Location": location, "Content-Type": HTML})

    def _robots(self, host: str) -> Answer:
        if host.startswith(WITHOUT_ROBOTS):  # which allows everything
            return _not_found()
        rules = "Allow: /\n" if host == SEARCH_HOST else "Disallow: /private/\nDisallow: /search?\n"
        delay = f"Crawl-delay: {CRAWL_DELAY:g}\n" if host.startswith("academy") else ""
        return Answer(200, f"User-agent: *\n{rules}{delay}".encode(), {"Content-Type": "text/plain; charset=utf-8"})

    def _search(self, query: str) -> Answer:
        fields = dict(parse_qsl(query))
        text = fields.get("q", "").strip().strip('"')
        topic = self.world.find(text)
        links = [] if topic is None else [(_title(link.url), link.url) for link in self.links.search_results(topic)]
        if fields.get("format") != "json":
            return listing(f"Search results for {text}", links)
        results = [
            {"url": url, "title": title, "content": "", "engine": "miniweb", "category": "general", "score": 1 / rank}
            for rank, (title, url) in enumerate(links, 1)
        ]
        answer = {"query": text, "number_of_results": len(results), "results": results, "suggestions": []}
        return Answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _front(self, host: str) -> Answer:
        links = (link.url for topic in range(min(60, self.settings.topics_now)) for link in self.expected(topic))
        shown = host not in (LINK_HOST, SEARCH_HOST)
        rows = [(_title(url), url) for url in dict.fromkeys(links) if shown and urlsplit(url).netloc == host]
        return listing(host, rows)


def listing(title: str, rows: Iterable[tuple[str, str]]) -> Answer:
    """Return a page that lists links: (text, URL) each."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><h1>{escape(title)}</h1>'
    page = f'<!DOCTYPE html>\n<html lang="en">{head}\n<ul>\n{_links(rows)}\n</ul></html>\n'
    return Answer(200, page.encode())


def _title(url: str) -> str:
    slug = re.sub(r"-g?\d+-\d+(\.\w+)?$", "", urlsplit(url).path.rsplit("/", 1)[-1])
    return slug.replace("-", " ").title() or url


def _tagged(body: bytes) -> Answer:
    """Return a page with an ETag, which tells that it is unchanged."""
    return Answer(200, body, {"Content-Type": HTML, "ETag": f'"{blake2b(body, digest_size=8).hexdigest()}"'})


def _not_found(message: str = "There is no such page.", status: int = 404) -> Answer:
    body = f'<!DOCTYPE html>\n<html lang="en"><title>{status}</title><h1>{status}</h1><p>{message}</p></html>\n'
    return Answer(status, body.encode())


def _filler(size: int) -> bytes:
    return (_FILLER * (size // len(_FILLER) + 1))[:size]


@lru_cache(maxsize=2)
def _zipped_filler(size: int) -> bytes:
    return gzip.compress(_filler(size), compresslevel=6, mtime=0)


class MiniwebSource:
    """Topics 0 to N - 1 of a world, written when they are read; their search results come from the web itself."""

    gives_documents = False

    def __init__(self, settings: MiniwebSettings) -> None:
        self._web = Miniweb(settings)
        self._settings = settings

    def partitions(self) -> list[Partition]:
        """Return ranges of topics; a digest changes with edits, new topics and settings that change leads or URLs."""
        count, size = self._settings.topics_now, self._settings.partition_topics
        return [self._partition(start, min(start + size, count)) for start in range(0, count, size)]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of a range of topics."""
        for topic in range(partition.start, partition.stop):
            yield Article(
                title=self._web.world.title(topic),
                lead=self._web.pages.lead(topic),
                split=self._web.world.split(topic),
                references=tuple(link.url for link in self._web.links.references(topic)),
                revision=str(self._web.pages.revision(topic)),
                licence="CC0-1.0",
            )

    def _partition(self, start: int, stop: int) -> Partition:
        settings = self._settings
        revisions = ((topic, self._web.pages.revision(topic)) for topic in range(start, stop) if settings.week)
        edits = ",".join(f"{topic}:{revision}" for topic, revision in revisions if revision)
        digest = stable_hash(
            "miniweb", WORLD_VERSION, settings.seed, settings.hosts, repr(HELD_BACK), start, stop, edits
        )
        return Partition(f"topics {start}-{stop - 1}", f"{digest:016x}", start, stop)
