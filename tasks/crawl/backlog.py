"""The URLs of a shard, and those still to be fetched, in compact form: a URL costs its own bytes and ten more."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.crawl.urls import origin_of

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


class UrlList(Collection[str]):
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

    def __contains__(self, url: object) -> bool:
        index = pc.index(self._urls, pa.scalar(url, self._urls.type)).as_py()
        return bool(index >= 0)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._urls), _PIECE):
            yield from self._urls.slice(start, _PIECE).to_pylist()


@dataclass(slots=True)
class Stretch:
    """The remaining URLs of an origin: a range of a `Backlog`."""

    origin: str  # scheme://host[:port]
    start: int  # index of the next URL
    stop: int  # index after the last URL


class Backlog:
    """URLs to fetch, origin by origin. Within an origin, URLs that were never fetched come first, then the others,
    least recently fetched first. Origins are ordered likewise by their first URL; on a tie, the origin with the most
    URLs comes first, because it takes longest."""

    def __init__(self, urls: UrlList, wanted: Iterable[int], fetched_at: Callable[[str], float]) -> None:
        """Take ascending indices into `urls`, and when each was fetched last: seconds since 1970, 0 for never."""
        self._urls = urls
        self._indices = array("I")
        starts, first_fetched = array("I"), array("d")
        group: list[tuple[float, int]] = []

        def end_group() -> None:
            if group:
                group.sort()
                starts.append(len(self._indices))
                first_fetched.append(group[0][0])
                self._indices.extend(index for _, index in group)
                group.clear()

        prefix = ""
        for index in wanted:
            url = urls[index]
            if not prefix or not url.startswith(prefix):  # sorted, so the URLs of an origin are adjacent
                end_group()
                prefix = f"{origin_of(url)}/"
            group.append((fetched_at(url), index))
        end_group()
        self._bounds = np.append(np.asarray(starts, np.int64), len(self._indices))
        self._order = np.lexsort((-np.diff(self._bounds), np.asarray(first_fetched)))
        self._next = 0

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[str]:
        return (self._urls[index] for index in self._indices)

    def next_stretch(self) -> Stretch | None:
        """Return the URLs of the next origin, or None after the last one."""
        if self._next >= len(self._order):
            return None
        group = int(self._order[self._next])
        self._next += 1
        start, stop = int(self._bounds[group]), int(self._bounds[group + 1])
        return Stretch(origin_of(self._urls[self._indices[start]]), start, stop)

    def urls(self, start: int, stop: int) -> list[str]:
        """Return the URLs in a range of the backlog."""
        return [self._urls[index] for index in self._indices[start:stop]]
