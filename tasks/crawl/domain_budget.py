"""Limit the number of URLs that a crawl requests from each registered domain."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from tasks.crawl.domains import registered_domain
from tasks.crawl.urls import host_of
from tasks.engine.hashing import stable_hash


def within_budget(
    urls: Iterable[tuple[int, str]], fetched_at: Callable[[str], float], most: int
) -> Iterator[tuple[int, str]]:
    """Yield at most `most` URLs of each registered domain, in their order.

    Those fetched longest ago, or never, are chosen first, and among these by a hash: the same ones each time, from all
    parts of a site.

    Args:
        urls: place and URL in normal form, by place.
        fetched_at: when a URL was fetched last, seconds since 1970; 0 for never.
        most: maximum number of URLs of a domain.
    """
    chosen: defaultdict[str, list[tuple[float, int, int, str]]] = defaultdict(list)  # heaps, the last one to take first
    for place, url in urls:
        heap = chosen[registered_domain(host_of(url))]
        entry = (-fetched_at(url), -stable_hash("domain budget", url), place, url)
        if len(heap) < most:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    yield from sorted((place, url) for heap in chosen.values() for _, _, place, url in heap)
