"""robots.txt, after RFC 9309: what an origin allows, also where its file is missing, broken, huge or no robots.txt."""

import logging
import math
from dataclasses import dataclass

from protego import Protego

from tasks.crawl.content import settled_type
from tasks.crawl.http import Response
from tasks.crawl.safety import FetchError

logger = logging.getLogger(__name__)

# RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file is left.
ROBOTS_BYTES = 512 * 1024
# RFC 9309, 2.3.1.2: at least five redirects.
ROBOTS_REDIRECTS = 5

# Where these stop the request for robots.txt they would stop the page as well: its rows say so.
_SAME_FOR_PAGES = frozenset({"dns_error", "dns_timeout", "private_address", "connect_error", "tls_error"})


@dataclass(frozen=True)
class Robots:
    """What robots.txt says about one origin.

    Attributes:
        refusal: reason that every URL of the origin ends with, or None.
        rules: parsed rules, or None where everything is allowed.
        agent: product token that the rules are matched with.
    """

    refusal: str | None
    rules: Protego | None
    agent: str

    def reason(self, url: str) -> str | None:
        """Return why a URL must not be fetched, or None."""
        if self.refusal is not None:
            return self.refusal
        try:
            allowed = self.rules is None or self.rules.can_fetch(url, self.agent)
        except Exception:
            logger.exception("the rules of robots.txt cannot be applied to %s", url)
            return "internal_error"
        return None if allowed else "robots_disallowed"

    @property
    def delay(self) -> float:
        """Seconds between requests that Crawl-delay or Request-rate ask for; 0 where neither does."""
        if self.rules is None:
            return 0.0
        delay = self.rules.crawl_delay(self.agent) or 0.0
        rate = self.rules.request_rate(self.agent)
        if rate is not None and rate.requests:
            delay = max(delay, rate.seconds / rate.requests)
        return delay if math.isfinite(delay) else 0.0


def judge_robots(answer: Response | FetchError, user_agent: str) -> Robots:
    """Return what the answer to a request for robots.txt means.

    A success is parsed (a web page in its place has no rules). 4xx and redirects that lead nowhere mean that there is
    none, so all is allowed; 429, 5xx and a file that does not arrive forbid the origin (RFC 9309, 2.3.1).

    Args:
        answer: last response, redirects followed, or why there is none.
        user_agent: product token, with or without version.
    """
    agent = user_agent.partition("/")[0]
    if isinstance(answer, FetchError):
        return Robots(answer.reason if answer.reason in _SAME_FOR_PAGES else "robots_unreachable", None, agent)
    if answer.status == 429 or answer.status >= 500 or (answer.success and answer.fault is not None):
        return Robots("robots_unreachable", None, agent)
    if not answer.success:
        return Robots(None, None, agent)
    return Robots(None, parse_rules(answer.body), agent)


def parse_rules(body: bytes) -> Protego | None:
    """Parse a robots.txt, at most its first `ROBOTS_BYTES`; None where it holds no rules."""
    text = body[:ROBOTS_BYTES]
    if len(body) >= ROBOTS_BYTES:
        text = text.rpartition(b"\n")[0]  # half a rule could forbid too much
    if settled_type(None, text) == "text/html":
        return None
    try:
        return Protego.parse(text.decode("utf-8-sig", "replace").replace("\x00", ""))
    except Exception:
        logger.warning("robots.txt cannot be parsed: treated as empty", exc_info=True)
        return None
