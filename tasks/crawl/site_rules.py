"""The rules of an origin's files for its URLs. robots.txt comes first, and may forbid the two others. In these a site
says for all its pages that texts must not be mined.

ai.txt (Spawning, 2023) has the syntax of a robots.txt, and forbids kinds of files by their endings. The list of rules
in tdmrep.json (TDM Reservation Protocol, W3C community group report, 2024) counts by its first rule whose location
matches. Their rules become entries of `rights_headers`, like the headers of the page; this module refuses no page. A
file that could not be read is such an entry too, because it may reserve the page."""

import json
import logging
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from cachetools import LRUCache

from tasks.fetching.http import Response
from tasks.fetching.reasons import PageReason
from tasks.fetching.robots import (
    MAX_WILDCARD_RULES,
    MAX_WILDCARDS,
    PathPattern,
    Robots,
    has_arrived,
    judge_robots,
    path_of,
    read_rules,
)
from tasks.fetching.safety import FetchError
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.visit import Answer
from tasks.rights.reservations import AI_TXT, TDMREP, UNREAD

logger = logging.getLogger(__name__)

PATHS = ("/ai.txt", "/.well-known/tdmrep.json")
_RESERVED = (1, "1")


@dataclass(frozen=True)
class ReservationFile:
    """The rules of one of the files."""

    sign: str  # its entry in `rights_headers` where it reserves a page
    bytes: int  # memory that it takes, about
    reader: Callable[[], Callable[[str], bool]]  # parses the rules; returns what tells whether a URL is reserved


def _ai_txt(rules: Robots) -> Callable[[str], bool]:
    """Return what tells whether an ai.txt reserves a URL: what it forbids is reserved."""
    judge = rules.judge()

    def is_reserved(url: str) -> bool:
        # A page whose address has no ending is HTML, of which such a file speaks as *.html; that of a folder too.
        page = url.partition("?")[0]
        return any(judge(form) is not None for form in (url, f"{page}{'index' if page.endswith('/') else ''}.html"))

    return is_reserved


def _tdmrep(locations: bytes) -> Callable[[str], bool]:
    """Return what tells whether a tdmrep.json reserves a URL, from compressed JSON of its rules."""
    patterns = [(PathPattern(place), reserved) for place, reserved in json.loads(zlib.decompress(locations))]

    def is_reserved(url: str) -> bool:
        path = path_of(url)
        return next((reserved for pattern, reserved in patterns if pattern.matches(path)), False)

    return is_reserved


def read_file(path: str, answer: Response | FetchError, user_agent: str) -> ReservationFile | None:
    """Return what a file says, or None if it says nothing or the site does not have it. A file that cannot be applied
    in bounded time reserves the site. A file that cannot be read is an entry of every page."""
    unread = ReservationFile(UNREAD[AI_TXT if path == PATHS[0] else TDMREP], 0, lambda: lambda _url: True)
    if not has_arrived(answer):
        return unread
    if not answer.success:
        return None
    if path == PATHS[0]:
        rules = read_rules(answer.body, user_agent, answer.url)
        says = rules.refusal is not None or rules.rules
        return ReservationFile(AI_TXT, len(rules.rules), partial(_ai_txt, rules)) if says else None
    try:
        locations = _locations(answer.body, answer.url)
    except (ValueError, RecursionError) as error:
        logger.info("%s is not JSON: %s", answer.url, error)
        return unread if answer.body.lstrip()[:1] in (b"[", b"{") else None  # else it is a page that says "not found"
    return None if locations is None else ReservationFile(TDMREP, len(locations), partial(_tdmrep, locations))


def _locations(body: bytes, name: str) -> bytes | None:
    """Return the locations of a tdmrep.json and whether each is reserved, as compressed JSON; None if none is. Raises
    ValueError or RecursionError: it is not JSON."""
    written = json.loads(body)
    # One rule alone is often written without the list.
    rules = [
        (rule["location"].encode("utf-8", "replace").decode(), rule["tdm-reservation"] in _RESERVED)
        for rule in (written if isinstance(written, list) else [written])
        if isinstance(rule, dict) and isinstance(rule.get("location"), str) and "tdm-reservation" in rule
    ]
    stars = sum(location.count("*") for location, _ in rules)
    if len(rules) > MAX_WILDCARD_RULES or stars > MAX_WILDCARDS:
        message = "%s has %d rules with %d wildcards: expected at most %d and %d; its site counts as reserved"
        logger.warning(message, name, len(rules), stars, MAX_WILDCARD_RULES, MAX_WILDCARDS)
        rules = [("/", True)]
    if not any(reserved for _, reserved in rules):
        return None
    return zlib.compress(json.dumps(rules).encode())


# For the rules of all origins; those of most sites take less than a kilobyte.
CACHE_BYTES = 16 << 20

Verdict = tuple[str | None, list[str]]
"""Why a URL must not be fetched, or None; and the entries of `rights_headers` by which it is reserved."""


@dataclass(frozen=True)
class SiteRules:
    """The rules of one origin."""

    robots: Robots  # its robots.txt
    unread: tuple[str, ...] = ()  # paths of further files that must be read before its pages
    files: tuple[ReservationFile, ...] = ()  # those that were read and reserve something

    @property
    def bytes(self) -> int:
        """Memory that they take, about."""
        return self.robots.bytes + sum(file.bytes for file in self.files)

    def judge(self) -> Callable[[str], Verdict]:
        """Parse all files; return a function that judges a URL."""
        refuses = self.robots.judge()
        uses = self.robots.reserves()
        readers = [(file.sign, file.reader()) for file in self.files]

        def verdict(url: str) -> Verdict:
            reason = refuses(url)
            signs = [] if reason else [*uses(url), *(sign for sign, is_reserved in readers if is_reserved(url))]
            return reason, signs

        return verdict


def rules_cache(limit: int = CACHE_BYTES) -> LRUCache[str, SiteRules]:
    """Return an empty cache of the rules of origins, which take at most `limit` bytes; the newest are kept anyway."""
    return LRUCache(limit, lambda rules: min(rules.bytes, limit))


def files_to_read(settings: CrawlSettings) -> tuple[str, ...]:
    """Return the paths of the files besides robots.txt that are read of each origin."""
    return PATHS if settings.reservation_files else ()


def rules_of(origin: str, answer: Answer, settings: CrawlSettings, longest_delay: float) -> SiteRules:
    """Return what follows from an origin's answer for robots.txt: it may leave further files to read. Pages of a host
    that asks for a Crawl-delay above `longest_delay`, in seconds, are refused."""
    robots = judge_robots(answer, settings.user_agent)
    if robots.delay > longest_delay:
        robots = replace(robots, refusal=PageReason.CRAWL_DELAY_TOO_LONG)
    if not (files := files_to_read(settings)):
        return SiteRules(robots)
    judge = robots.judge()
    return SiteRules(robots, tuple(path for path in files if judge(origin + path) is None))
