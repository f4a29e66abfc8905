"""Answers requests for the URLs of the mini web: a pure function of the settings, the host and the path."""

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import parse_qs, urlsplit

from tasks.sources.miniweb.html import render_html, render_listing
from tasks.sources.miniweb.links import (
    DOMAIN,
    LINK_HOST,
    REDIRECTS,
    SEARCH_HOST,
    WITHOUT_ROBOTS,
    Fate,
    Link,
    Links,
    hosts_of,
)
from tasks.sources.miniweb.pages import Page, Pages
from tasks.sources.miniweb.pdf import render_pdf
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.world import World

HTML, HTML_LATIN1 = "text/html; charset=utf-8", "text/html; charset=iso-8859-1"
_PAGE = re.compile(r"-(\d+)-(\d+)\.(?:html|pdf)$")
_GUIDE = re.compile(r"^/regions/.*-g(\d+)-(\d+)\.html$")
_DETOUR = re.compile(r"^/(old|to|today|hop/[123]|loop/[ab])/(\d+)-(\d+)$")
_FILLER = b"<p>" + b"The printer would not stop. " * 36 + b"</p>\n"


@dataclass(frozen=True)
class Answer:
    """A response of the web.

    Attributes:
        status: HTTP status.
        body: bytes of the body, already encoded as the headers say.
        headers: headers beside Content-Length and Date.
        filler: decoded bytes of filler to send behind the body (an oversized page).
        seconds: how long to wait before answering.
        flaky: the first request is to get 500 in place of this.
    """

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    filler: int = 0
    seconds: float = 0.0
    flaky: bool = False


class Miniweb:
    """The whole web of one world, and the articles that cite it."""

    def __init__(self, settings: MiniwebSettings) -> None:
        self.settings = settings
        self.world = World(settings.seed)
        self.links = Links(settings, self.world)
        self.pages = Pages(settings, self.world, self.links)
        self.hosts = hosts_of(settings)
        self._known = frozenset(self.hosts)

    def expected(self, topic: int) -> list[Link]:
        """Return every URL that a topic cites or a search for it finds, once, with what becomes of it."""
        return self.links.expected(topic)

    def answer(self, host: str, target: str) -> Answer:
        """Return the response to a GET request.

        Args:
            host: lower-case host name, without port.
            target: path and query as in the request line.
        """
        parts = urlsplit(target)
        if host not in self._known:
            return _error(404, f"There is no host {host}.")
        if parts.path == "/robots.txt":
            return self._robots(host)
        if host == f"{SEARCH_HOST}.{DOMAIN}":
            return self._search(parts.query) if parts.path == "/search" else self._front(host, parts.path)
        if match := _DETOUR.match(parts.path):
            return self._detour(host, match[1], int(match[2]), int(match[3]))
        if match := _PAGE.search(parts.path):
            return self._page(host, parts.path, int(match[1]), int(match[2]))
        if match := _GUIDE.match(parts.path):
            region, number = int(match[1]), int(match[2])
            if number < 10 and self.links.guide_url(region, number) == f"http://{host}{parts.path}":
                return _html(self.pages.guide(region, number))
        return self._front(host, parts.path)

    def _page(self, host: str, path: str, topic: int, slot: int) -> Answer:
        """Answer for a page that is named by topic and slot, in the way of its fate."""
        if not self.links.has_page(topic, slot) or self.links.page_url(topic, slot) != f"http://{host}{path}":
            return _error(404, "There is no such page.")
        link = self.links.link(topic, slot)
        if link.status in (404, 410):
            return _error(link.status, "This page is no longer here.")
        fate = link.fate
        if fate is Fate.LOOP:
            return _error(404, "There is no such page.")
        if fate is Fate.EMPTY:
            return Answer(200, headers={"Content-Type": HTML})
        page = self.pages.page(topic, slot)
        if fate is Fate.PDF:
            return Answer(200, render_pdf(page.title, page.paragraphs), {"Content-Type": "application/pdf"})
        if fate is Fate.OVERSIZED:
            return self._oversized(page, zipped=topic % 2 == 0)
        if fate is Fate.CALLED_UTF8:
            return Answer(200, render_html(page).encode("latin-1", "xmlcharrefreplace"), {"Content-Type": HTML})
        if fate is Fate.CALLED_LATIN1:
            return Answer(200, render_html(page).encode(), {"Content-Type": HTML_LATIN1})
        return _html(page, self.settings.slow_seconds if fate is Fate.SLOW else 0.0, flaky=fate is Fate.FLAKY)

    def _oversized(self, page: Page, *, zipped: bool) -> Answer:
        body, size = render_html(page).encode(), self.settings.oversized_bytes
        if zipped:
            return Answer(200, _zipped(body, size), {"Content-Type": HTML, "Content-Encoding": "gzip"})
        return Answer(200, body, {"Content-Type": HTML}, filler=size)

    def _detour(self, host: str, kind: str, topic: int, slot: int) -> Answer:
        """Answer for a URL that redirects: once, three times, or for ever."""
        if not self.links.has_page(topic, slot):
            return _error(404, "There is no such page.")
        fate = self.links.planned_fate(topic, slot)
        start = urlsplit(self.links.link(topic, slot).url)
        page_url = self.links.page_url(topic, slot)
        code = f"{topic}-{slot}"
        if start.netloc != host or not start.path.endswith(f"/{code}"):
            return _error(404, "There is no such page.")
        if fate in REDIRECTS and start.path == f"/{kind}/{code}":
            return _redirect(REDIRECTS[fate], page_url)
        if fate is Fate.CHAIN and kind.startswith("hop/"):
            hops = int(kind[-1])
            return _redirect(302, page_url if hops == 1 else f"http://{host}/hop/{hops - 1}/{code}")
        if fate is Fate.LOOP and kind.startswith("loop/"):
            return _redirect(302, f"http://{host}/loop/{'b' if kind == 'loop/a' else 'a'}/{code}")
        return _error(404, "There is no such page.")

    def _robots(self, host: str) -> Answer:
        name = host.split(".")[0]
        if name.startswith(WITHOUT_ROBOTS):  # which allows everything
            return _error(404, "There is no such page.")
        rules = ["User-agent: *", "Disallow: /private/", "Disallow: /search?"]
        if name == SEARCH_HOST:
            rules = ["User-agent: *", "Allow: /"]
        if name.startswith("academy"):
            rules.append(f"Crawl-delay: {self.settings.crawl_delay:g}")
        return Answer(200, ("\n".join(rules) + "\n").encode(), {"Content-Type": "text/plain; charset=utf-8"})

    def _search(self, query: str) -> Answer:
        """Answer a search for a title in the JSON of SearXNG (format=json) or as a page."""
        fields = parse_qs(query)
        text = fields.get("q", [""])[0].strip().strip('"')
        topic = self.world.find(text)
        links = self.links.search_results(topic) if topic is not None else []
        if fields.get("format") != ["json"]:
            rows = [(self._link_title(link), link.url) for link in links]
            return Answer(200, render_listing(f"Search results for {text}", rows).encode(), {"Content-Type": HTML})
        results = [
            {
                "url": link.url, "title": self._link_title(link), "content": "", "engine": "miniweb",
                "engines": ["miniweb"], "category": "general", "positions": [place], "score": 1 / place,
                "template": "default.html", "parsed_url": [*urlsplit(link.url), ""],
            }
            for place, link in enumerate(links, 1)
        ]  # fmt: skip
        answer = {
            "query": text, "number_of_results": len(results), "results": results, "answers": [], "corrections": [],
            "infoboxes": [], "suggestions": [], "unresponsive_engines": [],
        }  # fmt: skip
        return Answer(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    def _link_title(self, link: Link) -> str:
        slug = re.sub(r"-g?\d+-\d+(\.\w+)?$", "", urlsplit(link.url).path.rsplit("/", 1)[-1])
        return slug.replace("-", " ").title() or link.url

    def _front(self, host: str, path: str) -> Answer:
        """Answer for a host's front page: its newest pages."""
        if path != "/":
            return _error(404, "There is no such page.")
        rows = []
        if host not in (f"{LINK_HOST}.{DOMAIN}", f"{SEARCH_HOST}.{DOMAIN}"):
            topics = range(min(60, self.settings.topics_now))
            links = (link for topic in topics for link in self.links.expected(topic))
            rows = [(self._link_title(link), link.url) for link in links if urlsplit(link.url).netloc == host]
        return Answer(200, render_listing(host, list(dict.fromkeys(rows))).encode(), {"Content-Type": HTML})


def _html(page: Page, seconds: float = 0.0, *, flaky: bool = False) -> Answer:
    body = render_html(page).encode()
    tag = blake2b(body, digest_size=8).hexdigest()
    return Answer(200, body, {"Content-Type": HTML, "ETag": f'"{tag}"'}, seconds=seconds, flaky=flaky)


def _redirect(status: int, location: str) -> Answer:
    return Answer(status, b"", {"Location": location, "Content-Type": HTML})


def _error(status: int, message: str) -> Answer:
    body = f'<!DOCTYPE html>\n<html lang="en"><title>{status}</title><h1>{status}</h1><p>{message}</p></html>\n'
    return Answer(status, body.encode(), {"Content-Type": HTML})


def fill(size: int) -> bytes:
    """Return `size` bytes of paragraphs that say nothing."""
    return (_FILLER * (size // len(_FILLER) + 1))[:size]


@lru_cache(maxsize=2)
def _zipped_filler(size: int) -> bytes:
    return gzip.compress(fill(size), compresslevel=6, mtime=0)


def _zipped(body: bytes, size: int) -> bytes:
    """Return body and filler as gzip: two members, of which the second is a bomb."""
    return gzip.compress(body, mtime=0) + _zipped_filler(size)
