"""The crawl of one shard of hosts: every URL of its frontier becomes exactly one row of `pages`.

One thread holds all state (queues, robots, journal) and hands single requests to a pool of threads. What a killed run
has in its journal is not fetched again.
"""

import contextlib
import logging
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import PAGES
from tasks.crawl.archived import archived_pages
from tasks.crawl.earlier import EarlierPages, StoredPage
from tasks.crawl.http import Client
from tasks.crawl.journal import BATCH_BYTES, Journal
from tasks.crawl.lookup import BoundedResolver
from tasks.crawl.politeness import HostQueues
from tasks.crawl.progress import CrawlProgress, ProgressCount
from tasks.crawl.replay import Replay
from tasks.crawl.robots import Robots, judge_robots
from tasks.crawl.safety import FetchError, Guard, Resolver, system_resolver
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import host_matches, host_of, origin_of
from tasks.crawl.visit import Answer, Step, Visit, page_row, step

logger = logging.getLogger(__name__)

Report = Callable[[CrawlProgress], None]


def crawl_batches(
    frontier: pa.Table,
    captures: pa.Table | None,
    settings: CrawlSettings,
    *,
    journal: Journal,
    connect_to: Mapping[str, str],
    progress: Report,
    earlier: EarlierPages | None = None,
    resolver: Resolver = system_resolver,
) -> Iterator[pa.RecordBatch]:
    """Yield one row of `pages` for each distinct URL of the frontier's kept rows, in order of URL.

    Rows come in batches of some 32 MB: memory stays flat however large the shard.

    Args:
        frontier: rows of `frontier` of the hosts of one shard.
        captures: rows of `captures`; used where the settings name an archive, then pages come from the web only where
            the settings have it fetch what is missing.
        settings: settings of the crawl.
        journal: rows fetched so far; the new ones are added.
        connect_to: pattern of host (or host:port) -> `address:port` where its connections are made instead.
        progress: called about once a second, and once at the end.
        earlier: pages of an earlier crawl: those that are not due are taken over, the others asked for conditionally.
        resolver: looks host names up; may hang.

    Raises:
        ValueError: the settings name an archive and there are no captures.
        OSError: an archive file cannot be read.
        CorruptShardError: the earlier crawl's file has been damaged since it was opened.
        KeyboardInterrupt, SystemExit: the crawl was told to stop; the journal holds what was fetched.
    """
    kept = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    urls: list[str] = sorted(set(kept.column("url").to_pylist()))
    if settings.from_archives:
        if captures is None:
            raise ValueError(f"crawl.archive names {len(settings.archive)} files: expected their captures, got none")
        if not (settings.common_crawl.indexes or settings.fetch_missing):
            yield from _replay(urls, captures, settings, progress)
            return
        archived_pages(urls, captures, settings, journal=journal, connect_to=connect_to, progress=progress)
        if not settings.fetch_missing:
            yield from journal.batches(urls)
            return
    private = [*settings.allowed_hosts, *connect_to]
    if not settings.contact and any(not host_matches(host_of(url), private) for url in urls):
        logger.warning("crawl.contact is empty: give sites on the web an address they can turn to")
    guard = Guard(settings.allowed_hosts, connect_to, BoundedResolver(resolver, settings.lookup_seconds))
    client = Client(settings, guard)
    stored = _stored_pages(urls, journal, earlier)
    try:
        with _stopped_by_sigterm():
            unfetched = _Crawl(client, settings, journal, progress).run(urls, stored)
    finally:
        journal.close()
        client.close()
    yield from journal.batches(urls, unfetched, None if earlier is None else earlier.reader().complete)


def _stored_pages(urls: list[str], journal: Journal, earlier: EarlierPages | None) -> dict[str, StoredPage]:
    """Return the pages that an earlier crawl has of some URLs; the journal forgets rows whose bodies it lacks."""
    stored = {} if earlier is None else {url: page for url in urls if (page := earlier.get(url)) is not None}
    for url, digest in list(journal.bodiless.items()):
        if url not in stored or stored[url].sha256 != digest:
            journal.forget(url)
    return stored


def _replay(urls: list[str], captures: pa.Table, settings: CrawlSettings, progress: Report) -> Iterator[pa.RecordBatch]:
    count = ProgressCount(0, len(urls), progress)
    group: list[dict[str, Any]] = []
    size = 0
    with Replay(captures, settings) as replay:
        for url in urls:
            row = replay.row(url)
            count.add(row)
            count.tick()
            group.append(row)
            size += len(row["body"] or b"")
            if size >= BATCH_BYTES:
                yield pa.RecordBatch.from_pylist(group, schema=PAGES.schema)
                group, size = [], 0
    if group:
        yield pa.RecordBatch.from_pylist(group, schema=PAGES.schema)
    count.tick(last=True)


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the crawl by an exception, so that the journal is closed, where nobody else handles it."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(143)

    if ours:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _Crawl:
    """The state of a running crawl; every method runs in the thread that called `run`, but for `_work`."""

    def __init__(self, client: Client, settings: CrawlSettings, journal: Journal, progress: Report) -> None:
        self._client = client
        self._settings = settings
        self._journal = journal
        self._progress = progress
        self._queues: HostQueues[Visit] = HostQueues(settings.host_delay_seconds, settings.host_concurrency)
        self._robots: dict[str, Robots] = {}
        self._held: dict[str, list[tuple[Visit, float]]] = {}  # by origin, until its robots.txt is known
        self._failures: Counter[str] = Counter()
        self._given_up: set[str] = set()
        self._jobs: queue.SimpleQueue[tuple[str, Visit] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[str, Visit, Step]] = queue.SimpleQueue()
        self._running = 0
        self._open = 0  # URLs without their row

    def run(self, urls: list[str], stored: Mapping[str, StoredPage]) -> list[dict[str, Any]]:
        """Fetch the URLs that the journal lacks, but for stored pages that are not due.

        What was never fetched goes first, then the stored pages from the oldest on: a budget that ends every crawl
        early still gets round.

        Returns:
            The rows of those that the budget left out.
        """
        missing = [url for url in urls if url not in self._journal and (url not in stored or stored[url].due)]
        missing.sort(key=lambda url: stored[url].fetched_at if url in stored else 0.0)
        self._count = ProgressCount(len(urls) - len(missing), len(urls), self._progress)
        self._open = len(missing)
        for url in missing:
            self._enqueue(Visit(url, url, stored=stored.get(url)))
        self._start_workers(min(self._settings.connections, max(1, len(missing))))
        try:
            while self._open and not self._budget_spent():
                self._start_ready()
                self._wait()
                self._count.tick()
            left = [Visit(url, url, stored=stored.get(url)) for url in missing if url not in self._journal]
            rows = [page_row(visit, FetchError("budget_spent"), self._settings) for visit in left]
            for row in rows:
                self._count.add(row)
            return rows
        finally:
            for _ in self._workers:
                self._jobs.put(None)
            self._count.tick(last=True)

    def _start_workers(self, number: int) -> None:
        # Daemons: an interrupted crawl must not wait for its slowest server.
        self._workers = [threading.Thread(target=self._work, name=f"crawl-{n}", daemon=True) for n in range(number)]
        for worker in self._workers:
            worker.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            host, visit = job
            self._results.put((host, visit, step(visit, self._client, self._settings)))

    def _start_ready(self) -> None:
        now = time.monotonic()
        while self._running < len(self._workers) and (turn := self._queues.take(now)) is not None:
            self._running += 1
            self._jobs.put(turn)

    def _wait(self) -> None:
        """Wait for a result, or until another request may start, and handle all results that are there."""
        ready = self._queues.next_time() if self._running < len(self._workers) else None
        wait = 1.0 if ready is None else min(1.0, max(0.0, ready - time.monotonic()))
        try:
            result = self._results.get(timeout=wait)
            while True:
                self._handle(*result)
                result = self._results.get_nowait()
        except queue.Empty:
            return

    def _handle(self, host: str, visit: Visit, done: Step) -> None:
        self._running -= 1
        now = time.monotonic()
        if done.pause:
            self._queues.pause(host, now + done.pause)
        self._queues.finish(host)
        self._judge_host(host, done.host_failed)
        if done.answer is None:
            self._enqueue(visit, now + done.delay)
        elif visit.robots:
            self._admit(origin_of(visit.url), judge_robots(done.answer, self._settings.user_agent))
        else:
            self._finish(visit, done.answer)

    def _finish(self, visit: Visit, answer: Answer) -> None:
        try:
            row = page_row(visit, answer, self._settings)
            self._journal.append(row)
        except OSError:  # a full disk concerns all URLs
            raise
        except Exception as error:
            logger.exception("the row of %s cannot be made", visit.url)
            row = page_row(visit, FetchError("internal_error", error), self._settings)
            self._journal.append(row)
        self._count.add(row)
        self._open -= 1

    def _enqueue(self, visit: Visit, not_before: float = 0.0) -> None:
        """Queue a visit at the host of its next request, behind that host's robots.txt."""
        host = host_of(visit.target)
        if host in self._given_up:
            self._end(visit, "host_unavailable")
            return
        if self._settings.robots and not visit.robots:
            origin = origin_of(visit.target)
            robots = self._robots.get(origin)
            if robots is None:
                self._hold(origin, visit, not_before)
                return
            reason = robots.reason(visit.target)
            if reason is not None:
                self._end(visit, reason)
                return
        self._queues.put(host, visit, not_before=not_before)

    def _hold(self, origin: str, visit: Visit, not_before: float) -> None:
        first = origin not in self._held
        self._held.setdefault(origin, []).append((visit, not_before))
        if first:
            url = f"{origin}/robots.txt"
            self._enqueue(Visit(url, url, robots=True))

    def _admit(self, origin: str, robots: Robots) -> None:
        """Take in what the robots.txt of an origin says and release the visits that waited for it."""
        self._robots[origin] = robots
        if robots.delay:
            delay = min(robots.delay, self._settings.max_crawl_delay_seconds)
            self._queues.set_delay(host_of(origin), max(delay, self._settings.host_delay_seconds))
        for visit, not_before in self._held.pop(origin, []):
            self._enqueue(visit, not_before)

    def _end(self, visit: Visit, reason: str) -> None:
        """End a visit without a further request: as its last one ended, where there was one."""
        if visit.robots:
            self._admit(origin_of(visit.url), Robots("robots_unreachable", None, self._settings.user_agent))
        else:
            self._finish(visit, visit.last or FetchError(reason, visit.target))

    def _judge_host(self, host: str, failed: bool | None) -> None:
        if failed is None:
            return
        self._failures[host] = self._failures[host] + 1 if failed else 0
        if self._failures[host] >= self._settings.host_failure_limit and host not in self._given_up:
            logger.warning("%s failed %d times in a row: its other URLs are given up", host, self._failures[host])
            self._given_up.add(host)
            for visit in self._queues.drain(host):
                self._end(visit, "host_unavailable")

    def _budget_spent(self) -> bool:
        settings, count = self._settings, self._count
        return (
            (settings.budget_seconds is not None and count.seconds >= settings.budget_seconds)
            or (settings.budget_bytes is not None and self._journal.bytes >= settings.budget_bytes)
            or (settings.budget_pages is not None and self._journal.asked >= settings.budget_pages)
        )
