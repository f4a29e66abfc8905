"""The URLs of a shard that are still to be fetched, in compact form (a URL costs its own bytes and ten more). Each host
has a queue with a pause between its requests; the caller passes the time and gets the next host."""

import heapq
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.fetching.urls import origin_of

_PIECE = 4096


def urls_of(frontier: pa.Table) -> pa.Array:
    """Return the URLs of a frontier's kept rows, in their order."""
    if frontier.column("drop_reason").null_count < len(frontier):
        frontier = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    chunks = frontier.column("url").chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def give_back() -> None:
    """Return memory that Arrow has freed to the system, because its allocator may not reuse it."""
    pa.default_memory_pool().release_unused()


class UrlList:
    """Distinct URLs in order; stored as Arrow data, returned as strings."""

    def __init__(self, urls: pa.Array) -> None:
        """Sort the URLs and remove duplicates."""
        ordered = urls.take(pc.sort_indices(urls))
        if len(ordered) > 1:
            changes = pc.not_equal(ordered.slice(1), ordered.slice(0, len(ordered) - 1))
            if not pc.all(changes).as_py():
                ordered = ordered.filter(pa.concat_arrays([pa.array([True]), changes]))
        self._urls = ordered

    def __len__(self) -> int:
        return len(self._urls)

    def __getitem__(self, index: int) -> str:
        return str(self._urls[index].as_py())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._urls), _PIECE):
            yield from self._urls.slice(start, _PIECE).to_pylist()


class Backlog:
    """URLs to fetch, origin by origin. An origin's URLs that were never fetched come first, then the others, least
    recently fetched first. Origins are ordered in the same way by their first URL; on a tie, the origin with the most
    URLs comes first, because it takes longest."""

    def __init__(self, urls: UrlList, wanted: Iterable[int], fetched_at: Callable[[str], float]) -> None:
        """Take ascending indices into `urls`, and when each was fetched last: seconds since 1970, 0 for never."""
        self._urls = urls
        self._indices = array("I")
        starts, first_fetched = array("I"), array("d")
        pairs = ((urls[index], index) for index in wanted)
        # By scheme and host; the URLs are sorted, so those of an origin are adjacent.
        for _, group in itertools.groupby(pairs, lambda pair: pair[0].split("/", 3)[:3]):
            dated = sorted((fetched_at(url), index) for url, index in group)
            starts.append(len(self._indices))
            first_fetched.append(dated[0][0])
            self._indices.extend(index for _, index in dated)
        self._bounds = np.append(np.asarray(starts, np.int64), len(self._indices))
        self._order = np.lexsort((-np.diff(self._bounds), np.asarray(first_fetched)))

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[str]:
        return (self._urls[index] for index in self._indices)

    def origins(self) -> Iterator[tuple[str, int, int]]:
        """Yield each origin (scheme://host[:port]), and where its URLs begin and end."""
        for group in self._order:
            start, stop = int(self._bounds[group]), int(self._bounds[group + 1])
            yield origin_of(self._urls[self._indices[start]]), start, stop

    def urls(self, start: int, stop: int) -> list[str]:
        """Return the URLs in a range of the backlog."""
        return [self._urls[index] for index in self._indices[start:stop]]


Item = TypeVar("Item")


@dataclass
class _Host(Generic[Item]):
    delay: float
    waiting: list[tuple[float, int, Item]] = field(default_factory=list)  # heap by (not before, order)
    next_start: float = 0.0
    running: bool = False


class HostQueues(Generic[Item]):
    """Items waiting for their host, which has one at a time, and a delay between two starts."""

    def __init__(self, delay: float) -> None:
        """Start empty; `delay` is that of hosts without a `set_delay`."""
        self._delay = delay
        self._hosts: dict[str, _Host[Item]] = {}
        self._ready: list[tuple[float, int, str]] = []  # heap of (time, order, host); stale entries are corrected
        self._orders = itertools.count()
        self.waiting = 0

    def put(self, host: str, item: Item, *, not_before: float = 0.0) -> None:
        """Add an item, to be started at `not_before` at the earliest."""
        state = self._hosts.setdefault(host, _Host(self._delay))
        heapq.heappush(state.waiting, (not_before, next(self._orders), item))
        self.waiting += 1
        self._schedule(host, state)

    def set_delay(self, host: str, seconds: float) -> None:
        """Set the pause between starts on a host, from its next start on."""
        self._hosts.setdefault(host, _Host(self._delay)).delay = seconds

    def pause(self, host: str, until: float) -> None:
        """Start nothing on a host before `until`."""
        state = self._hosts.setdefault(host, _Host(self._delay))
        state.next_start = max(state.next_start, until)

    def take(self, now: float) -> tuple[str, Item] | None:
        """Return the next host and item that may start now, or None; call `finish` when the item is done."""
        while self._ready and self._ready[0][0] <= now:
            _, _, host = heapq.heappop(self._ready)
            state = self._hosts.get(host)
            if state is None or not state.waiting or state.running:
                continue
            if self._ready_at(state) > now:
                self._schedule(host, state)
                continue
            _, _, item = heapq.heappop(state.waiting)
            self.waiting -= 1
            state.running = True
            state.next_start = now + state.delay
            return host, item
        return None

    def finish(self, host: str) -> None:
        """Record that an item of the host is done."""
        state = self._hosts[host]
        state.running = False
        self._schedule(host, state)

    def put_back(self, host: str, item: Item, *, not_before: float) -> None:
        """Undo a `take`: the item is the next one of its host, which starts nothing before `not_before`."""
        state = self._hosts[host]
        state.running = False
        state.next_start = not_before
        heapq.heappush(state.waiting, (0.0, -next(self._orders), item))
        self.waiting += 1
        self._schedule(host, state)

    def delay(self, host: str) -> float:
        """Return the pause between starts on a host, in seconds."""
        state = self._hosts.get(host)
        return self._delay if state is None else state.delay

    def waiting_at(self, host: str) -> int:
        """Return how many items wait for a host."""
        state = self._hosts.get(host)
        return 0 if state is None else len(state.waiting)

    def __len__(self) -> int:
        return len(self._hosts)

    def forget_idle(self, now: float, needed: Callable[[str], bool]) -> None:
        """Remove hosts and their `set_delay` that have nothing waiting or running and no pause left."""
        for host, state in list(self._hosts.items()):
            if not state.waiting and not state.running and state.next_start <= now and not needed(host):
                del self._hosts[host]

    def next_time(self) -> float | None:
        """Return a time before which `take` returns None; None if no waiting item could start."""
        return self._ready[0][0] if self._ready else None

    def drain(self, host: str) -> list[Item]:
        """Remove and return all waiting items of a host, in order."""
        state = self._hosts.get(host)
        if state is None:
            return []
        items = [item for _, _, item in sorted(state.waiting, key=lambda entry: entry[:2])]
        state.waiting.clear()
        self.waiting -= len(items)
        return items

    def _ready_at(self, state: _Host[Item]) -> float:
        return max(state.next_start, state.waiting[0][0])

    def _schedule(self, host: str, state: _Host[Item]) -> None:
        if state.waiting and not state.running:
            heapq.heappush(self._ready, (self._ready_at(state), next(self._orders), host))
