"""The pages of a host shard after their extraction, kept compressed until all are extracted."""

import json
import zlib
from typing import Any

from tasks.extraction.engines import Extracted
from tasks.extraction.repeats import HostRepeats


def columns_of(page: Extracted, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of DOCUMENTS that a page has by itself, with its `page_columns`."""
    found = {"title": page.title, "paragraphs": page.paragraphs, "engine": page.engine, "reason": page.reason}
    return found | facts


class PackedPages:
    """What was found in each page, compressed, and the paragraphs that repeat on each host."""

    def __init__(self, repeated_pages: int) -> None:
        """Start without pages.

        Args:
            repeated_pages: pages from which a paragraph is boilerplate of its host (`HostRepeats`).
        """
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
