"""Look up host names in bounded time: the system's resolver can hang for minutes and cannot be stopped. Each look-up
runs in its own thread, which is abandoned when its time is over. Callers that ask for the same name wait for the same
look-up, and an answer is cached, so that a busy host costs one look-up a minute."""

import threading
import time
from collections import OrderedDict
from concurrent.futures import Future

from tasks.crawl.reasons import PageReason
from tasks.crawl.safety import FetchError, Resolver

LOOKUP_SECONDS = 10.0  # a system's resolver asks each of its servers twice, for 5 s
_KEPT_SECONDS = 60.0  # the resolver does not return the TTL; hosts that move often have one of a minute or more
_KEPT_NAMES = 10_000
_AT_ONCE = 128


class BoundedResolver:
    """A resolver with a time limit and a cache; usable from many threads."""

    def __init__(
        self,
        resolver: Resolver,
        seconds: float,
        *,
        kept_seconds: float = _KEPT_SECONDS,
        kept_names: int = _KEPT_NAMES,
        at_once: int = _AT_ONCE,
    ) -> None:
        """Start empty; beyond `kept_names` the least recently used goes; `at_once` counts hanging ones too."""
        self._resolver = resolver
        self._seconds = seconds
        self._kept_seconds = kept_seconds
        self._kept_names = kept_names
        self._slots = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._lookups: OrderedDict[tuple[str, int], tuple[float, Future[list[str]]]] = OrderedDict()

    def __call__(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host. Raises FetchError: `dns_timeout`; OSError: the name has no address."""
        ends = time.monotonic() + self._seconds
        lookup = self._lookup(host, port)
        try:
            return lookup.result(max(0.0, ends - time.monotonic()))
        except TimeoutError as error:
            if lookup.done():  # then it is the resolver's own error
                raise
            raise FetchError(PageReason.DNS_TIMEOUT, host, transient=True) from error

    def _lookup(self, host: str, port: int) -> Future[list[str]]:
        """Return a running or still valid look-up, or start a new one."""
        now = time.monotonic()
        with self._lock:
            started, earlier = self._lookups.get((host, port), (now, None))
            if earlier is not None and (not earlier.done() or now - started < self._kept_seconds):
                self._lookups.move_to_end((host, port))
                return earlier
            lookup: Future[list[str]] = Future()
            self._lookups[host, port] = now, lookup
            while len(self._lookups) > self._kept_names:
                self._lookups.popitem(last=False)
        if not self._slots.acquire(timeout=self._seconds):
            self._forget(host, port, lookup)
            lookup.set_exception(FetchError(PageReason.DNS_TIMEOUT, f"{host}: too many look-ups hang", transient=True))
            return lookup
        threading.Thread(target=self._run, args=(host, port, lookup), name="lookup", daemon=True).start()
        return lookup

    def _run(self, host: str, port: int, lookup: Future[list[str]]) -> None:
        try:
            lookup.set_result(self._resolver(host, port))
        except Exception as error:  # noqa: BLE001 - all callers get it, whatever it is
            self._forget(host, port, lookup)
            lookup.set_exception(error)
        finally:
            self._slots.release()

    def _forget(self, host: str, port: int, lookup: Future[list[str]]) -> None:
        """Remove a failed look-up, so that the next caller tries again."""
        with self._lock:
            if self._lookups.get((host, port), (0.0, None))[1] is lookup:
                del self._lookups[host, port]
