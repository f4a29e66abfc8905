"""robots.txt, after RFC 9309: what an origin allows, also where its file is missing, broken, huge or no robots.txt.

Whoever writes a robots.txt decides what it costs to read: half a megabyte of wildcards takes a second to parse, 33 MB
to hold and a quarter of a second for each URL. So only the rules for us are kept, as compressed text; they are parsed
where a number of URLs is judged; and a file with more of them than can be applied in bounded time forbids its origin.
"""

import logging
import math
import re
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from tasks.crawl.content import settled_type
from tasks.crawl.http import Response
from tasks.crawl.safety import FetchError

logger = logging.getLogger(__name__)

# RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file is left.
ROBOTS_BYTES = 512 * 1024
# Of the rules that could concern us. A wildcard is looked for in all of a URL, which takes 5 us in the longest: a
# thousand rules with them cost 5 ms a URL. Large sites have hundreds.
MAX_RULES = 10_000
MAX_WILDCARD_RULES = 1_000
MAX_WILDCARDS = 10_000
# Of the rules of all origins; those of most sites take less than a kilobyte.
CACHE_BYTES = 16 << 20
_ENTRY_BYTES = 500  # of an entry without any rules

# Where these stop the request for robots.txt they would stop the page as well: its rows say so, and so a dead host's
# pages are looked for in the Internet Archive.
_SAME_FOR_PAGES = frozenset(
    {"dns_error", "dns_timeout", "private_address", "connect_error", "connection_reset", "timeout", "tls_error"}
)
# The spellings that the parser takes.
_AGENT = re.compile(r"user[- ]?agent(?:\s*:\s*|\s+|$)(.*)", re.IGNORECASE)
_SITE_WIDE = re.compile(r"(sitemaps?|site-map|host)(\s*:|\s|$)", re.IGNORECASE)
_RULE = re.compile(
    r".*:|(dis+al+[oa]w|diasllow|allow|crawl[- ]delay|request[- ]rate|visit[- ]time)(\s|$)", re.IGNORECASE
)

Judge = Callable[[str], str | None]


@dataclass(frozen=True)
class Robots:
    """What robots.txt says about one origin.

    Attributes:
        refusal: reason that every URL of the origin ends with, or None.
        agent: product token that the rules are matched with.
        rules: compressed text of the rules that could concern the agent; empty where everything is allowed.
        delay: seconds between requests that Crawl-delay or Request-rate ask for; 0 where neither does.
    """

    refusal: str | None
    agent: str
    rules: bytes = b""
    delay: float = 0.0

    def judge(self) -> Judge:
        """Parse the rules; return a function that says why a URL must not be fetched, or None where it may be."""
        if self.refusal is not None or not self.rules:
            return lambda _url: self.refusal
        try:
            rules = Protego.parse(zlib.decompress(self.rules).decode())
        except Exception:
            logger.exception("the rules of a robots.txt cannot be parsed again")
            return lambda _url: "internal_error"

        def reason(url: str) -> str | None:
            try:
                return None if rules.can_fetch(url, self.agent) else "robots_disallowed"
            except Exception:
                logger.exception("the rules of robots.txt cannot be applied to %s", url)
                return "internal_error"

        return reason


class RobotsCache:
    """What the robots.txt of origins say, up to a limit; the one that was used least recently is forgotten first."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        """Start empty.

        Args:
            limit: bytes of all entries.
        """
        self._limit = limit
        self._entries: OrderedDict[str, Robots] = OrderedDict()
        self.bytes = 0

    def get(self, origin: str) -> Robots | None:
        """Return what is known of an origin, or None."""
        robots = self._entries.get(origin)
        if robots is not None:
            self._entries.move_to_end(origin)
        return robots

    def put(self, origin: str, robots: Robots) -> None:
        """Keep what an origin's robots.txt says; the newest entry stays whatever its size."""
        self._drop(self._entries.pop(origin, None))
        self._entries[origin] = robots
        self.bytes += _ENTRY_BYTES + len(robots.rules)
        while self.bytes > self._limit and len(self._entries) > 1:
            self._drop(self._entries.popitem(last=False)[1])

    def _drop(self, robots: Robots | None) -> None:
        self.bytes -= 0 if robots is None else _ENTRY_BYTES + len(robots.rules)


def judge_robots(answer: Response | FetchError, user_agent: str) -> Robots:
    """Return what the answer to a request for robots.txt means.

    A success is parsed (a web page in its place has no rules). 4xx and redirects that lead nowhere mean that there is
    none, so all is allowed; 429, 5xx, a file that does not arrive, and one with too many rules forbid the origin
    (RFC 9309, 2.3.1).

    Args:
        answer: last response, redirects followed, or why there is none.
        user_agent: product token, with or without version.
    """
    agent = user_agent.partition("/")[0]
    if isinstance(answer, FetchError):
        return Robots(answer.reason if answer.reason in _SAME_FOR_PAGES else "robots_unreachable", agent)
    if answer.status == 429 or answer.status >= 500 or (answer.success and answer.fault is not None):
        return Robots("robots_unreachable", agent)
    if not answer.success:
        return Robots(None, agent)
    return read_rules(answer.body, agent)


def read_rules(body: bytes, agent: str) -> Robots:
    """Read a robots.txt, at most its first `ROBOTS_BYTES`."""
    text = body[:ROBOTS_BYTES]
    if len(body) >= ROBOTS_BYTES:
        text = text.rpartition(b"\n")[0]  # half a rule could forbid too much
    if settled_type(None, text) == "text/html":
        return Robots(None, agent)
    lines = _own_lines(text.decode("utf-8-sig", "replace").replace("\x00", ""), agent)
    wildcards = [line.count("*") for line in lines if "*" in line and _AGENT.match(line) is None]
    if len(lines) > MAX_RULES or len(wildcards) > MAX_WILDCARD_RULES or sum(wildcards) > MAX_WILDCARDS:
        logger.warning(
            "a robots.txt has %d rules for us, %d of them with %d wildcards: expected at most %d, %d and %d",
            len(lines), len(wildcards), sum(wildcards), MAX_RULES, MAX_WILDCARD_RULES, MAX_WILDCARDS,
        )  # fmt: skip
        return Robots("robots_too_complex", agent)
    own = "\n".join(lines)
    try:
        return Robots(None, agent, zlib.compress(own.encode("utf-8", "replace")), _delay(Protego.parse(own), agent))
    except Exception:
        logger.warning("robots.txt cannot be parsed: treated as empty", exc_info=True)
        return Robots(None, agent)


def _own_lines(text: str, agent: str) -> list[str]:
    """Return the lines of all groups that could be meant for an agent, comments left out.

    A group is its User-agent lines and what follows up to the next ones, as the parser has it. Groups that name
    neither `*` nor a part of the agent are for others.
    """
    token = agent.lower()
    kept: list[str] = []
    names: list[str] = []
    concerns, ruled = False, True
    for written in text.splitlines():
        line = written.partition("#")[0].strip()
        if not line or _SITE_WIDE.match(line):
            continue
        named = _AGENT.match(line)
        if named is None:
            ruled = ruled or _RULE.match(line) is not None
            if concerns:
                kept.append(line)
            continue
        if ruled:
            names, concerns, ruled = [], False, False
        names.append(line)
        name = named[1].lower()
        concerns = concerns or name == "*" or name.replace("*", "") in token
        if concerns:
            kept += names
            names = []
    return kept


def _delay(rules: Protego, agent: str) -> float:
    delay = float(rules.crawl_delay(agent) or 0.0)
    rate = rules.request_rate(agent)
    if rate is not None and rate.requests:
        delay = max(delay, rate.seconds / rate.requests)
    return delay if math.isfinite(delay) else 0.0
