"""Registered domains: whose servers a host's are by its name, and how many URLs of each a crawl requests."""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import tld

from tasks.crawl.urls import bare_host, host_of
from tasks.engine.hashing import stable_hash


@lru_cache(maxsize=100_000)
def registered_domain(host: str) -> str:
    """Return the domain that somebody registered for a host, such as `example.co.uk` for `www.example.co.uk:8080`.

    The public suffixes are those of registries, from the list that `tld` contains. The list's private part (platforms
    whose users have names below theirs, such as `github.io`) does not count: one operator serves them all. An address,
    and a name that no registry knows (`localhost`, `a.test`), is its own domain. `host`: host[:port] of a URL in normal
    form."""
    found = tld.get_fld(f"http://{host}/", fail_silently=True, search_private=False)
    return found or bare_host(host)


def within_budget(
    urls: Iterable[tuple[int, str]], fetched_at: Callable[[str], float], most: int
) -> Iterator[tuple[int, str]]:
    """Yield at most `most` URLs of each registered domain, in their order. Those fetched longest ago, or never, are
    chosen first, and among these by a hash: the same ones each time, from all parts of a site. `urls`: place and URL in
    normal form, by place; `fetched_at`: seconds since 1970, 0 for never."""
    chosen: defaultdict[str, list[tuple[float, int, int, str]]] = defaultdict(list)  # heaps, the last one to take first
    for place, url in urls:
        heap = chosen[registered_domain(host_of(url))]
        entry = (-fetched_at(url), -stable_hash("domain budget", url), place, url)
        if len(heap) < most:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    yield from sorted((place, url) for heap in chosen.values() for _, _, place, url in heap)
