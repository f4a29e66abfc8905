"""The pages of a host shard, compressed until all are extracted, and the boilerplate that their repetition shows."""

import json
import zlib
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tasks.extraction.engines import Extracted

_SHORT = 300  # characters; a longer text on two pages is more likely quoted or syndicated than boilerplate


class HostRepeats:
    """The short paragraphs that are on several pages of one host. Paragraphs are compared exactly, because sentences
    that differ only in a number say different things; by their hashes of 64 bits, so that a host with a hundred
    thousand pages takes some megabytes. Pages with the same paragraphs are one page under several URLs, and count
    once."""

    def __init__(self, pages: int) -> None:
        """Start empty; on so many `pages` a paragraph is boilerplate; 0 = none is. Raises ValueError: 1 or negative."""
        if pages < 2 and pages != 0:
            raise ValueError(f"pages must be 0 or at least 2, got {pages}")
        self._least = pages
        self._pages: set[int] = set()
        self._texts = array("q")  # hashes of the short paragraphs of each page

    def add(self, paragraphs: Sequence[str]) -> None:
        """Count a page."""
        page = hash(tuple(paragraphs))
        if self._least and page not in self._pages:
            self._pages.add(page)
            self._texts.extend({hash(text) for text in paragraphs if len(text) <= _SHORT})

    def marks(self, paragraphs: Sequence[str]) -> list[bool]:
        """Return for each paragraph of a page whether it is boilerplate, once all pages are counted."""
        return [len(text) <= _SHORT and hash(text) in self._repeated for text in paragraphs]

    @cached_property
    def _repeated(self) -> frozenset[int]:
        texts, counts = np.unique(np.array(self._texts, np.int64), return_counts=True)
        return frozenset(texts[counts >= self._least].tolist())


def columns_of(page: Extracted, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of DOCUMENTS that a page has by itself, with its `page_columns`."""
    found = {"title": page.title, "paragraphs": page.paragraphs, "engine": page.engine, "reason": page.reason}
    return found | facts


class PackedPages:
    """What was found in each page, compressed, and the paragraphs that repeat on each host."""

    def __init__(self, repeated_pages: int) -> None:
        """Start without pages; from `repeated_pages` on a paragraph is boilerplate of its host (`HostRepeats`)."""
        self._least = repeated_pages
        self._packed: dict[str, bytes] = {}
        self._repeats: dict[str, HostRepeats] = {}

    def add(self, url: str, host: str, page: Extracted, facts: dict[str, Any]) -> None:
        """Keep a page and its `page_columns`."""
        repeats = self._repeats.get(host)
        if repeats is None:
            repeats = self._repeats[host] = HostRepeats(self._least)
        repeats.add(page.paragraphs)
        self._packed[url] = zlib.compress(json.dumps([host, columns_of(page, facts)]).encode(), 1)

    def columns(self, url: str) -> dict[str, Any] | None:
        """Return a page's columns of DOCUMENTS, once all pages are there; None if it is not one of them."""
        packed = self._packed.get(url)
        if packed is None:
            return None
        host, columns = json.loads(zlib.decompress(packed))
        return {**columns, "boilerplate": self._repeats[host].marks(columns["paragraphs"])}
