"""What an origin's own files say of its URLs: robots.txt first, which may forbid the files on reserved rights."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from tasks.crawl.reasons import PageReason
from tasks.crawl.reservation_files import PATHS, ReservationFile, read_file
from tasks.crawl.robots import Robots, judge_robots
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.visit import Answer

# For the rules of all origins; those of most sites take less than a kilobyte.
CACHE_BYTES = 16 << 20

Verdict = tuple[str | None, list[str]]
"""Why a URL must not be fetched, or None; and the entries of `rights_headers` by which it is reserved."""


@dataclass(frozen=True)
class SiteRules:
    """What is known of one origin."""

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

    def with_file(self, path: str, file: ReservationFile | None) -> "SiteRules":
        """Return the rules with a further file that was read; None if it says nothing."""
        unread = tuple(other for other in self.unread if other != path)
        return replace(self, unread=unread, files=(*self.files, *([file] if file else [])))


class RulesCache:
    """A cache of the rules of origins, up to a size limit; the least recently used entry is removed first."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        """Start empty; all entries take at most `limit` bytes."""
        self._limit = limit
        self._entries: OrderedDict[str, SiteRules] = OrderedDict()
        self.bytes = 0

    def get(self, origin: str) -> SiteRules | None:
        """Return the rules of an origin, or None."""
        rules = self._entries.get(origin)
        if rules is not None:
            self._entries.move_to_end(origin)
        return rules

    def put(self, origin: str, rules: SiteRules) -> None:
        """Store the rules of an origin; the newest entry is kept whatever its size."""
        self._drop(self._entries.pop(origin, None))
        self._entries[origin] = rules
        self.bytes += rules.bytes
        while self.bytes > self._limit and len(self._entries) > 1:
            self._drop(self._entries.popitem(last=False)[1])

    def _drop(self, rules: SiteRules | None) -> None:
        self.bytes -= 0 if rules is None else rules.bytes


class SiteReader:
    """Reads the answers to requests for an origin's own files."""

    def __init__(self, settings: CrawlSettings) -> None:
        """Take whose rules count, how long a delay may be, and which files are read."""
        self._settings = settings
        self._files = PATHS if settings.reservation_files else ()

    def robots(self, origin: str, answer: Answer) -> SiteRules:
        """Return what follows from the answer for robots.txt: it may leave further files to read."""
        robots = judge_robots(answer, self._settings.user_agent)
        if robots.delay > self._settings.max_crawl_delay_seconds:
            robots = replace(robots, refusal=PageReason.CRAWL_DELAY_TOO_LONG)
        if not self._files:
            return SiteRules(robots)
        judge = robots.judge()
        return SiteRules(robots, tuple(path for path in self._files if judge(origin + path) is None))

    def without_robots(self) -> SiteRules | None:
        """Return the rules of an origin of which nothing was read; None if its robots.txt must be read."""
        return None if self._settings.robots else SiteRules(Robots(None), self._files)

    def file(self, path: str, answer: Answer) -> ReservationFile | None:
        """Return what a further file says, or None."""
        return read_file(path, answer, self._settings.user_agent)
