"""Discourse markers between neighbouring paragraphs of a page (Liu & Lapata 2019, app. A.2).

The appendix asks whether two adjacent paragraphs "are connected with" a marker. A marker ties what follows it to what
came before, so it is looked for in the first sentence of the later paragraph: further down it ties sentences of
that paragraph to each other, and words such as "also" would join nearly every pair. `scope` widens this.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from tasks.text.sentences import first_sentence

MarkerScope = Literal["first_sentence", "paragraph"]

# The 36 markers of Liu & Lapata 2019, app. A.2, as printed there.
MARKERS = (
    "again", "also", "another", "comparatively", "furthermore", "at the same time", "however", "immediately", "indeed",
    "instead", "to be sure", "likewise", "meanwhile", "moreover", "nevertheless", "nonetheless", "notably", "otherwise",
    "regardless", "similarly", "unlike", "in addition", "even", "in turn", "in exchange", "in this case",
    "in any event", "finally", "later", "as well", "especially", "as a result", "example", "in fact", "then",
    "the day before",
)  # fmt: skip

_MARKER = re.compile(
    r"(?<![\w-])(?:" + "|".join(marker.replace(" ", r"\s+") for marker in MARKERS) + r")(?![\w-])", re.IGNORECASE
)


def has_marker(paragraph: str, scope: MarkerScope = "first_sentence") -> bool:
    """Say whether a paragraph is tied to the one before it by a marker, as whole words in any case.

    Raises:
        ValueError: unknown scope.
    """
    if scope == "first_sentence":
        return _MARKER.search(first_sentence(paragraph)) is not None
    if scope == "paragraph":
        return _MARKER.search(paragraph) is not None
    raise ValueError(f"unknown scope of markers {scope!r}: expected 'first_sentence' or 'paragraph'")


def marked_pairs(
    urls: Sequence[str], positions: Sequence[int], texts: Sequence[str], scope: MarkerScope = "first_sentence"
) -> Iterator[tuple[int, int]]:
    """Yield (earlier, later) for paragraphs that follow each other on one page and are joined by a marker.

    Args:
        urls: page of each of N paragraphs.
        positions: place of each in its page, counting all its paragraphs, refused ones too: two that were parted by
            a third are no neighbours, whatever became of it.
        texts: the paragraphs.
        scope: where in the later paragraph a marker may stand.
    """
    places = {place: index for index, place in enumerate(zip(urls, positions, strict=True))}
    for (url, position), later in places.items():
        earlier = places.get((url, position - 1))
        if earlier is not None and has_marker(texts[later], scope):
            yield earlier, later
