"""The crawl of a shard while it runs: which URL is asked for next, of which host, and what happens with the answer. One
thread owns all state (queues, rules of sites, journal) and hands single requests to a pool of threads; one more thread
reads and applies the files of sites (`tasks.crawl.site_rules`)."""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from tasks.crawl.site_rules import ReservationFile, SiteRules, Verdict, files_to_read, read_file, rules_cache, rules_of
from tasks.fetching.http import Client, Patience
from tasks.fetching.journal import Journal
from tasks.fetching.progress import CrawlProgress, ProgressCount
from tasks.fetching.queues import Backlog, HostQueues, UrlList
from tasks.fetching.reasons import PageReason
from tasks.fetching.reused_pages import StoredPage
from tasks.fetching.robots import ROBOTS_PATH, Robots
from tasks.fetching.safety import FetchError
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.turns import Pace
from tasks.fetching.urls import DEFAULT_PORTS, host_of, origin_of, within_budget
from tasks.fetching.visit import Answer, RequestResult, Visit, page_row, step

logger = logging.getLogger(__name__)

Report = Callable[[CrawlProgress], None]
StoredPages = Callable[[str], StoredPage | None]

# Origins open at a time. Thirty times the connections: enough to keep all connections busy if sites ask for half a
# minute between requests, few enough that their state takes little memory.
ORIGINS = 1_024
AHEAD = 16  # allowed URLs of a host that wait for their turn
WAITING = 2 * ORIGINS * AHEAD  # with so many waiting visits, no further origin is opened
_JUDGED = 128  # maximum number of an origin's URLs checked against robots.txt at a time
_JUDGING_SECONDS = 0.05  # maximum time for that, so that slow rules do not make other origins wait
_RESULTS_AT_ONCE = 256  # then progress and budgets are checked, even if more results are waiting


def unfetched_row(url: str, stored: StoredPage | None, settings: CrawlSettings) -> dict[str, Any]:
    """Return the row of a URL that was not fetched because the budget was spent."""
    return page_row(Visit(url, url, stored=stored), FetchError(PageReason.BUDGET_SPENT), settings)


def _raise(error: Exception) -> None:
    raise error


@dataclass(slots=True)
class _Origin:
    """The state of one origin. Nothing is requested from it before its robots.txt allows it."""

    name: str  # scheme://host[:port]
    host: str  # host[:port]
    start: int = 0  # its URLs that have not been checked against robots.txt, as a range of the backlog: the next one
    stop: int = 0  # the one after the last
    # visits that redirects led here, with the time before which they must not continue
    held: list[tuple[Visit, float]] = field(default_factory=list)
    busy: bool = False  # whether its robots.txt is being fetched, or URLs are being checked


class ShardCrawl:
    """The crawl of a shard while it runs; all methods except `_fetch` and `_judge` run in the thread that called `run`.
    A visit exists once its URL has been checked against robots.txt. Only a few URLs are checked ahead, so memory
    depends on the number of open hosts, not of URLs."""

    def __init__(
        self,
        client: Client,
        pace: Pace,
        settings: CrawlSettings,
        patience: Patience,
        journal: Journal,
        progress: Report,
    ) -> None:
        self._client = client
        self._pace = pace
        self._settings = settings
        self._patience = patience
        self._journal = journal
        self._progress = progress
        self._queues: HostQueues[Visit] = HostQueues(settings.host_delay_seconds)
        self._rules = rules_cache()
        self._origins: dict[str, _Origin] = {}  # the open ones
        self._failures: Counter[str] = Counter()
        self._given_up: set[str] = set()
        self._jobs: queue.SimpleQueue[tuple[str, Visit, float] | None] = queue.SimpleQueue()
        self._judgements: queue.SimpleQueue[Callable[[], Callable[[], None]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._judged: tuple[SiteRules, Callable[[str], Verdict]] | None = None  # parsed last
        self._most_hosts = 2 * ORIGINS  # above this number, the state of finished hosts is removed
        self._running = 0
        self._open = 0  # URLs without their row

    def run(self, urls: UrlList, stored: StoredPages) -> None:
        """Fetch what is neither journalled nor stored and not due, in the budget: new URLs, then the longest stored."""
        self._stored = stored
        self._backlog = Backlog(urls, self._wanted(urls), self._fetched_at)
        self._unopened = self._backlog.origins()
        self._count = ProgressCount(len(urls) - len(self._backlog), len(urls), self._progress)
        self._open = len(self._backlog)
        number = min(self._settings.connections, max(1, self._open))
        # Daemons: an interrupted crawl must not wait for its slowest server.
        self._workers = [threading.Thread(target=self._fetch, name=f"crawl-{n}", daemon=True) for n in range(number)]
        for worker in (*self._workers, threading.Thread(target=self._judge, name="crawl-robots", daemon=True)):
            worker.start()
        try:
            while self._open and not self._budget_spent():
                self._open_origins()
                self._start_ready()
                self._wait()
                self._count.tick()
            if self._open:
                for url in self._backlog:
                    if url not in self._journal:
                        self._count.add(unfetched_row(url, stored(url), self._settings))
        finally:
            for _ in self._workers:
                self._jobs.put(None)
            self._judgements.put(None)
            self._count.tick(last=True)

    def _wanted(self, urls: UrlList) -> Iterator[int]:
        due = ((index, url) for index, url in enumerate(urls) if (page := self._stored(url)) is None or page.due)
        most = self._settings.budget_domain_pages
        chosen = due if most is None else within_budget(due, self._fetched_at, most)
        return (index for index, url in chosen if url not in self._journal)

    def _fetched_at(self, url: str) -> float:
        page = self._stored(url)
        return 0.0 if page is None else page.fetched_at

    def _fetch(self) -> None:
        while (job := self._jobs.get()) is not None:
            host, visit, delay = job
            try:
                turn = self._pace.turn(visit.target, delay)
                if turn.wait:
                    self._results.put(partial(self._put_back, host, visit, time.monotonic() + turn.wait))
                    continue
                with turn:
                    done = step(visit, self._client, self._settings, self._patience, turn.fault)
                turn.pause(done.pause)
                next_start = 0.0 if turn.sent is None else turn.sent + delay
                self._results.put(partial(self._handle, host, visit, done, next_start))
            except OSError as error:
                self._results.put(partial(_raise, error))

    def _judge(self) -> None:
        """Parse and apply robots.txt, in one thread, so that hostile files cannot slow down the rest of the crawl."""
        while (job := self._judgements.get()) is not None:
            self._results.put(job())

    def _open_origins(self) -> None:
        while len(self._origins) < ORIGINS and self._queues.waiting < WAITING:
            following = next(self._unopened, None)
            if following is None:
                return
            origin = self._origin(following[0])
            _, origin.start, origin.stop = following
            self._advance(origin)
            if len(self._queues) >= self._most_hosts:
                self._queues.forget_idle(time.monotonic(), lambda host: any(self._origins_of(host)))
                self._most_hosts = 2 * max(ORIGINS, len(self._queues))

    def _origin(self, name: str) -> _Origin:
        if name not in self._origins:
            self._origins[name] = _Origin(name, host_of(name))
        return self._origins[name]

    def _origins_of(self, host: str) -> Iterator[_Origin]:
        return (self._origins[name] for scheme in DEFAULT_PORTS if (name := f"{scheme}://{host}") in self._origins)

    def _start_ready(self) -> None:
        now = time.monotonic()
        while self._running < len(self._workers) and (turn := self._queues.take(now)) is not None:
            self._running += 1
            self._jobs.put((*turn, self._queues.delay(turn[0])))
            self._advance_host(turn[0])

    def _wait(self) -> None:
        """Wait for a result, or until another request may start, and handle all results that have arrived."""
        ready = self._queues.next_time() if self._running < len(self._workers) else None
        wait = 1.0 if ready is None else min(1.0, max(0.0, ready - time.monotonic()))
        try:
            result = self._results.get(timeout=wait)
            for _ in range(_RESULTS_AT_ONCE):
                result()
                result = self._results.get_nowait()
            result()
        except queue.Empty:
            return

    def _put_back(self, host: str, visit: Visit, not_before: float) -> None:
        """Queue a visit again: its host, domain or address has just been asked, by this shard or another one."""
        self._running -= 1
        if host in self._given_up:
            self._queues.finish(host)
            self._end(visit, PageReason.HOST_UNAVAILABLE)
        else:
            self._queues.put_back(host, visit, not_before=not_before)

    def _handle(self, host: str, visit: Visit, done: RequestResult, next_start: float) -> None:
        self._running -= 1
        now = time.monotonic()
        self._queues.pause(host, max(next_start, now + done.pause if done.pause else 0.0))
        self._queues.finish(host)
        self._judge_host(host, done.host_failed)
        if done.answer is not None:
            if visit.of_site:
                self._judgements.put(partial(self._read_site_file, visit.url, done.answer))
            else:
                self._finish(visit, done.answer)
        elif visit.of_site or not self._settings.reads_site_files or visit.target == visit.seen[-1]:
            self._queue(visit, now + done.delay)
        else:  # a redirect: its target must be checked first
            origin = self._origin(origin_of(visit.target))
            origin.held.append((visit, now + done.delay))
            self._advance(origin)

    def _finish(self, visit: Visit, answer: Answer) -> None:
        try:
            row = page_row(visit, answer, self._settings)
            self._journal.append(row)
        except OSError:  # a full disk concerns all URLs
            raise
        except Exception as error:
            logger.exception("the row of %s cannot be made", visit.url)
            row = page_row(visit, FetchError(PageReason.INTERNAL_ERROR, error), self._settings)
            self._journal.append(row)
        self._count.add(row)
        self._open -= 1

    def _queue(self, visit: Visit, not_before: float = 0.0) -> None:
        host = host_of(visit.target)
        if host in self._given_up:
            self._end(visit, PageReason.HOST_UNAVAILABLE)
        else:
            self._queues.put(host, visit, not_before=not_before)

    def _advance_host(self, host: str) -> None:
        for origin in list(self._origins_of(host)):
            self._advance(origin)

    def _advance(self, origin: _Origin) -> None:
        """Check the next URLs of an origin, or fetch its own files first; close the origin if nothing is left."""
        if origin.busy:
            return
        if origin.start >= origin.stop and not origin.held:
            del self._origins[origin.name]
            return
        if not origin.held and self._queues.waiting_at(origin.host) >= AHEAD:
            return
        rules = self._known_rules(origin)
        origin.busy = True
        unread = ROBOTS_PATH if rules is None else next(iter(rules.unread), None)
        if rules is None or unread is not None:
            url = f"{origin.name}{unread}"
            self._queue(Visit(url, url, of_site=True))
            return
        held, origin.held = origin.held, []
        urls = self._backlog.urls(origin.start, min(origin.stop, origin.start + _JUDGED))
        self._judgements.put(partial(self._apply_rules, origin, rules, held, urls))

    def _known_rules(self, origin: _Origin) -> SiteRules | None:
        """Return the rules for an origin's URLs, or None if its robots.txt must be fetched first."""
        if origin.host in self._given_up:
            return SiteRules(Robots(PageReason.HOST_UNAVAILABLE))
        known = self._rules.get(origin.name)
        if known is None and not self._settings.robots:
            return SiteRules(Robots(None), files_to_read(self._settings))
        return known

    def _read_site_file(self, url: str, answer: Answer) -> Callable[[], None]:
        """In the judging thread, parse an answer for a site's file; return the function that stores the result."""
        origin = origin_of(url)
        path = url.removeprefix(origin)
        if path == ROBOTS_PATH:
            return partial(
                self._admit, origin, rules_of(origin, answer, self._settings, self._patience.longest_crawl_delay)
            )
        return partial(self._add_file, origin, path, read_file(path, answer, self._settings.user_agent))

    def _add_file(self, name: str, path: str, file: ReservationFile | None) -> None:
        """Store what a file about rights says, unless the rules of its origin were dropped meanwhile."""
        rules = self._known_rules(self._origins[name])
        if rules is not None and path in rules.unread:
            unread = tuple(other for other in rules.unread if other != path)
            self._rules[name] = replace(rules, unread=unread, files=(*rules.files, *([file] if file else [])))
        self._resume(name)

    def _admit(self, name: str, rules: SiteRules) -> None:
        """Store the robots.txt rules of an origin and continue with it."""
        self._rules[name] = rules
        self._slow_down(self._origins[name], rules.robots)
        self._resume(name)

    def _resume(self, name: str) -> None:
        origin = self._origins[name]
        origin.busy = False
        self._advance(origin)

    def _slow_down(self, origin: _Origin, robots: Robots) -> None:
        if robots.delay and robots.refusal is None:
            self._queues.set_delay(origin.host, max(robots.delay, self._settings.host_delay_seconds))

    def _apply_rules(
        self, origin: _Origin, rules: SiteRules, held: list[tuple[Visit, float]], urls: list[str]
    ) -> Callable[[], None]:
        """In the judging thread, check visits and the next URLs of an origin; return the function that stores it."""
        if self._judged is None or self._judged[0] is not rules:
            self._judged = rules, rules.judge()
        judge = self._judged[1]
        ends = time.monotonic() + _JUDGING_SECONDS
        of_held = [judge(visit.target) for visit, _ in held]
        verdicts: list[tuple[str, Verdict]] = []
        allowed = 0
        for url in urls:
            verdict = judge(url)
            verdicts.append((url, verdict))
            allowed += verdict[0] is None
            if allowed >= AHEAD or time.monotonic() > ends:
                break
        return partial(self._release, origin, rules.robots, list(zip(held, of_held, strict=True)), verdicts)

    def _release(
        self,
        origin: _Origin,
        robots: Robots,
        held: list[tuple[tuple[Visit, float], Verdict]],
        verdicts: list[tuple[str, Verdict]],
    ) -> None:
        """Queue the allowed visits and URLs, and end the others."""
        origin.busy = False
        self._slow_down(origin, robots)
        begun = (((Visit(url, url, stored=self._stored(url)), 0.0), verdict) for url, verdict in verdicts)
        for (visit, not_before), (reason, reserved) in chain(held, begun):
            visit.reserved = reserved
            if reason is None:
                self._queue(visit, not_before)
            else:
                self._end(visit, reason)
        origin.start += len(verdicts)
        self._advance(origin)

    def _end(self, visit: Visit, reason: str) -> None:
        """End a visit without a further request; its row shows its last response, if there was one."""
        if visit.of_site:
            self._read_site_file(visit.url, visit.last or FetchError(reason))()
        else:
            self._finish(visit, visit.last or FetchError(reason, visit.target))

    def _judge_host(self, host: str, failed: bool | None) -> None:
        if failed is None:
            return
        if not failed:
            self._failures.pop(host, None)
            return
        self._failures[host] += 1
        if self._failures[host] >= self._patience.failures and host not in self._given_up:
            logger.warning("%s failed %d times in a row: its other URLs are not fetched", host, self._failures[host])
            self._given_up.add(host)
            for visit in self._queues.drain(host):
                self._end(visit, PageReason.HOST_UNAVAILABLE)
            self._advance_host(host)

    def _budget_spent(self) -> bool:
        settings, count = self._settings, self._count
        return (settings.budget_seconds is not None and count.seconds >= settings.budget_seconds) or (
            settings.budget_pages is not None and self._journal.asked >= settings.budget_pages
        )
