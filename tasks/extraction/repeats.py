"""Boilerplate recognised by its repetition on many pages of one host."""

from array import array
from collections.abc import Sequence
from functools import cached_property

import numpy as np

_SHORT = 300  # characters; a longer text on two pages is more likely quoted or syndicated than boilerplate


class HostRepeats:
    """The short paragraphs that are on several pages of one host.

    Paragraphs are compared exactly, because sentences that differ only in a number say different things; by their
    hashes of 64 bits, so that a host with a hundred thousand pages takes some megabytes. Pages with the same paragraphs
    are one page under several URLs, and count once.
    """

    def __init__(self, pages: int) -> None:
        """Start without pages.

        Args:
            pages: number of pages from which a repeated paragraph is boilerplate, at least 2; 0 = none is.

        Raises:
            ValueError: `pages` is 1, so that every paragraph would be boilerplate, or negative.
        """
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
