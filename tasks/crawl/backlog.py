"""The URLs of a shard, and those that are still to be asked for: of a million each costs its own bytes and ten more."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.crawl.urls import origin_of

_PIECE = 4096


def urls_of(frontier: pa.Table) -> pa.Array:
    """Return the URLs of a frontier's kept rows, as they come."""
    if frontier.column("drop_reason").null_count < len(frontier):
        frontier = frontier.filter(pc.is_null(frontier.column("drop_reason")))
    chunks = frontier.column("url").chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def give_back() -> None:
    """Give memory that Arrow has freed back to the system: its allocator may not find a use for it."""
    pa.default_memory_pool().release_unused()


class UrlList(Collection[str]):
    """Distinct URLs in order; held as Arrow data, given out as strings."""

    def __init__(self, urls: pa.Array) -> None:
        """Sort the URLs and leave repeated ones out."""
        ordered = urls.take(pc.sort_indices(urls))
        if len(ordered) > 1:
            changes = pc.not_equal(ordered.slice(1), ordered.slice(0, len(ordered) - 1))
            if not pc.all(changes).as_py():
                ordered = ordered.filter(pa.concat_arrays([pa.array([True]), changes]))
        self._urls = ordered

    def __len__(self) -> int:
        return len(self._urls)

    def __getitem__(self, place: int) -> str:
        return str(self._urls[place].as_py())

    def __contains__(self, url: object) -> bool:
        place = pc.index(self._urls, pa.scalar(url, self._urls.type)).as_py()
        return bool(place >= 0)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self._urls), _PIECE):
            yield from self._urls.slice(start, _PIECE).to_pylist()


@dataclass(slots=True)
class Stretch:
    """What is left of an origin's URLs: places in a `Backlog`.

    Attributes:
        origin: scheme://host[:port].
        start: place of the next one.
        stop: place behind the last one.
    """

    origin: str
    start: int
    stop: int


class Backlog:
    """URLs to be asked for, origin by origin.

    Of one origin, what was never fetched comes first, then from what was fetched longest ago. Origins come likewise by
    the first of their URLs, and the one with the most of them first: it takes longest.
    """

    def __init__(self, urls: UrlList, wanted: Iterable[int], fetched_at: Callable[[str], float]) -> None:
        """Take the wanted URLs.

        Args:
            urls: all URLs of the shard.
            wanted: places in `urls`, ascending.
            fetched_at: when a URL was fetched last, seconds since 1970; 0 for never.
        """
        self._urls = urls
        self._places = array("I")
        starts, first_fetched = array("I"), array("d")
        group: list[tuple[float, int]] = []

        def end_group() -> None:
            if group:
                group.sort()
                starts.append(len(self._places))
                first_fetched.append(group[0][0])
                self._places.extend(place for _, place in group)
                group.clear()

        prefix = ""
        for place in wanted:
            url = urls[place]
            if not prefix or not url.startswith(prefix):  # sorted: the URLs of an origin stand together
                end_group()
                prefix = f"{origin_of(url)}/"
            group.append((fetched_at(url), place))
        end_group()
        self._bounds = np.append(np.asarray(starts, np.int64), len(self._places))
        self._order = np.lexsort((-np.diff(self._bounds), np.asarray(first_fetched)))
        self._next = 0

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return (self._urls[place] for place in self._places)

    def next_stretch(self) -> Stretch | None:
        """Return the URLs of the next origin, or None where all have been given out."""
        if self._next >= len(self._order):
            return None
        group = int(self._order[self._next])
        self._next += 1
        start, stop = int(self._bounds[group]), int(self._bounds[group + 1])
        return Stretch(origin_of(self._urls[self._places[start]]), start, stop)

    def urls(self, start: int, stop: int) -> list[str]:
        """Return the URLs at some places of the backlog."""
        return [self._urls[place] for place in self._places[start:stop]]
