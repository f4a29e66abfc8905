"""robots.txt, after RFC 9309: what an origin allows, even if its file is missing, broken, huge or not a robots.txt.

A hostile robots.txt can be expensive: half a megabyte of wildcards takes a second to parse, 33 MB of memory and a
quarter of a second per URL. So only the rules for us are kept, as compressed text; they are parsed for a number of URLs
at once; and a file with too many rules to apply in bounded time forbids its origin.
"""

import logging
import math
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from tasks.crawl.content import settled_type
from tasks.crawl.http import Response
from tasks.crawl.safety import FetchError

logger = logging.getLogger(__name__)

ROBOTS_PATH = "/robots.txt"
# RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file is ignored.
ROBOTS_BYTES = 512 * 1024
# Limits of the rules for us. Matching a wildcard searches the whole URL, which takes 5 us for the longest: a thousand
# such rules cost 5 ms per URL. Large sites have hundreds.
MAX_RULES = 10_000
MAX_WILDCARD_RULES = 1_000
MAX_WILDCARDS = 10_000
_ENTRY_BYTES = 500  # of an entry without any rules

# Faults that stop the request for robots.txt and would also stop the pages. The pages get the same reason, so that the
# Internet Archive is asked for the pages of a dead host.
_SAME_FOR_PAGES = frozenset(
    {"dns_error", "dns_timeout", "private_address", "connect_error", "connection_reset", "timeout", "tls_error"}
)
# The spellings that the parser accepts.
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
        refusal: reason for refusing every URL of the origin, or None.
        agent: product token to which the rules are matched.
        rules: compressed text of the rules that may apply to the agent; empty if everything is allowed.
        delay: seconds between requests by Crawl-delay or Request-rate; 0 without these.
    """

    refusal: str | None
    agent: str
    rules: bytes = b""
    delay: float = 0.0

    @property
    def bytes(self) -> int:
        """Memory that it takes, about."""
        return _ENTRY_BYTES + len(self.rules)

    def judge(self) -> Judge:
        """Parse the rules; return a function that returns why a URL must not be fetched, or None if it may be."""
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


def judge_robots(answer: Response | FetchError, user_agent: str) -> Robots:
    """Return the rules that follow from the answer to a request for robots.txt.

    A success is parsed (a web page instead of robots.txt has no rules). 4xx and redirects that lead nowhere mean that
    there is no file, so everything is allowed; 429, 5xx, a file that does not arrive, and one with too many rules
    forbid the origin (RFC 9309, 2.3.1).

    Args:
        answer: last response after redirects, or the error.
        user_agent: product token, with or without version.
    """
    agent = user_agent.partition("/")[0]
    if isinstance(answer, FetchError):
        return Robots(answer.reason if answer.reason in _SAME_FOR_PAGES else "robots_unreachable", agent)
    if answer.status == 429 or answer.status >= 500 or (answer.success and answer.fault is not None):
        return Robots("robots_unreachable", agent)
    if not answer.success:
        return Robots(None, agent)
    return read_rules(answer.body, agent, answer.url)


def read_rules(body: bytes, agent: str, name: str = "a robots.txt") -> Robots:
    """Read a robots.txt, at most its first `ROBOTS_BYTES`; warnings call it by its name."""
    text = body[:ROBOTS_BYTES]
    if len(body) >= ROBOTS_BYTES:
        text = text.rpartition(b"\n")[0]  # without the last line: a truncated rule could forbid too much
    if settled_type(None, text) == "text/html":
        return Robots(None, agent)
    lines = _own_lines(text.decode("utf-8-sig", "replace").replace("\x00", ""), agent)
    wildcards = [line.count("*") for line in lines if "*" in line and _AGENT.match(line) is None]
    if len(lines) > MAX_RULES or len(wildcards) > MAX_WILDCARD_RULES or sum(wildcards) > MAX_WILDCARDS:
        logger.warning(
            "%s has %d rules for us, %d of them with %d wildcards: expected at most %d, %d and %d; it is refused",
            name, len(lines), len(wildcards), sum(wildcards), MAX_RULES, MAX_WILDCARD_RULES, MAX_WILDCARDS,
        )  # fmt: skip
        return Robots("robots_too_complex", agent)
    own = "\n".join(lines)
    try:
        return Robots(None, agent, zlib.compress(own.encode("utf-8", "replace")), _delay(Protego.parse(own), agent))
    except Exception:
        logger.warning("%s cannot be parsed: treated as empty", name, exc_info=True)
        return Robots(None, agent)


def _own_lines(text: str, agent: str) -> list[str]:
    """Return the lines of all groups that may apply to an agent, without comments.

    A group is some User-agent lines and everything up to the next ones, as in the parser. Groups that name neither `*`
    nor a part of the agent's token do not apply.
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
