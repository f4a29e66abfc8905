"""robots.txt, after RFC 9309: what an origin allows, even if its file is missing, broken, huge or not a robots.txt.

A hostile robots.txt can be expensive: half a megabyte of wildcards takes a second to parse, 33 MB of memory and a
quarter of a second per URL. So only the rules for us are kept, as compressed text; they are parsed for a number of URLs
at once; and a file with too many rules to apply in bounded time forbids its origin.
"""

import logging
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from tasks.crawl.http import Response
from tasks.crawl.path_patterns import PathRules, path_of
from tasks.crawl.reasons import HOST_FAULTS, PageReason
from tasks.crawl.robots_groups import decoded, group_for
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

_ALLOW, _DISALLOW = "+", "-"  # before the patterns that are kept

Judge = Callable[[str], str | None]


@dataclass(frozen=True)
class Robots:
    """What robots.txt says about one origin.

    Attributes:
        refusal: reason for refusing every URL of the origin, or None.
        rules: compressed text of the rules for us; empty if everything is allowed.
        delay: seconds between requests by Crawl-delay or Request-rate; 0 without these.
    """

    refusal: str | None
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
        written = zlib.decompress(self.rules).decode("utf-8", "surrogateescape").split("\n")
        rules = PathRules((line[0] == _ALLOW, line[1:]) for line in written)

        def reason(url: str) -> str | None:
            path = path_of(url)
            # The file itself is always allowed (RFC 9309, 2.2.2).
            return None if path == ROBOTS_PATH or rules.allows(path) else PageReason.ROBOTS_DISALLOWED

        return reason


def judge_robots(answer: Response | FetchError, user_agent: str) -> Robots:
    """Return the rules that follow from the answer to a request for robots.txt.

    A success is parsed, whatever its type. 4xx and redirects that lead nowhere mean that there is no file, so
    everything is allowed; 429, 5xx, a file that does not arrive, and one with too many rules forbid the origin (RFC
    9309, 2.3.1).

    Args:
        answer: last response after redirects, or the error.
        user_agent: product token, with or without version.
    """
    if isinstance(answer, FetchError):
        return Robots(answer.reason if answer.reason in HOST_FAULTS else PageReason.ROBOTS_UNREACHABLE)
    if answer.status == 429 or answer.status >= 500 or (answer.success and answer.fault is not None):
        return Robots(PageReason.ROBOTS_UNREACHABLE)
    if not answer.success:
        return Robots(None)
    return read_rules(answer.body, user_agent, answer.url)


def read_rules(body: bytes, user_agent: str, name: str = "a robots.txt") -> Robots:
    """Read a robots.txt, at most its first `ROBOTS_BYTES`; warnings call it by its name."""
    text = decoded(body[:ROBOTS_BYTES])
    if len(body) >= ROBOTS_BYTES:
        # Without the last line: a truncated rule could forbid too much.
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    group = group_for(user_agent.partition("/")[0], text)
    wildcards = [pattern.count("*") for _, pattern in group.rules if "*" in pattern]
    if len(group.rules) > MAX_RULES or len(wildcards) > MAX_WILDCARD_RULES or sum(wildcards) > MAX_WILDCARDS:
        logger.warning(
            "%s has %d rules for us, %d of them with %d wildcards: expected at most %d, %d and %d; it is refused",
            name,
            len(group.rules),
            len(wildcards),
            sum(wildcards),
            MAX_RULES,
            MAX_WILDCARD_RULES,
            MAX_WILDCARDS,
        )
        return Robots(PageReason.ROBOTS_TOO_COMPLEX)
    lines = "\n".join(f"{_ALLOW if allows else _DISALLOW}{pattern}" for allows, pattern in group.rules)
    return Robots(None, zlib.compress(lines.encode("utf-8", "surrogateescape")) if lines else b"", group.delay)
