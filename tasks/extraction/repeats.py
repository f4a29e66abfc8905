"""Boilerplate recognised by its repetition on many pages of one host."""

from collections import Counter
from collections.abc import Sequence

_SHORT = 300  # characters; a longer text on two pages is more likely quoted or syndicated than boilerplate


def repeated_boilerplate(paragraph_lists: Sequence[Sequence[str]], *, pages: int) -> set[str]:
    """Return the short paragraphs that occur on at least `pages` different pages of one host.

    Paragraphs are compared exactly, because sentences that differ only in a number say different things. Pages with the
    same paragraphs are one page under several URLs, and count once.

    Args:
        paragraph_lists: the paragraphs of each page of one host.
        pages: number of pages from which a repeated paragraph is boilerplate, at least 2.

    Raises:
        ValueError: `pages` is less than 2, so that every paragraph would be boilerplate.
    """
    if pages < 2:
        raise ValueError(f"pages must be at least 2, got {pages}")
    different = {tuple(paragraphs) for paragraphs in paragraph_lists}
    counts = Counter(text for paragraphs in different for text in set(paragraphs) if len(text) <= _SHORT)
    return {text for text, count in counts.items() if count >= pages}
