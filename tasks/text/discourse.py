"""Discourse markers between neighbouring paragraphs of a page (Liu & Lapata 2019, app. A.2).

The appendix asks whether two adjacent paragraphs "are connected with" a marker. A marker connects the text after it to
the text before it, so it is searched in the first sentence of the later paragraph. Further down it connects sentences
within that paragraph, and words such as "also" would connect nearly every pair."""

import re
from collections.abc import Iterator, Sequence

from models.sentences import first_sentence
from tasks.engine.data_files import read_data

MARKERS: tuple[str, ...] = tuple(read_data("tasks.text", "words.toml")["markers"])

_MARKER = re.compile(
    r"(?<![\w-])(?:" + "|".join(marker.replace(" ", r"\s+") for marker in MARKERS) + r")(?![\w-])", re.IGNORECASE
)


def has_marker(paragraph: str) -> bool:
    """Tell whether a marker connects a paragraph to the one before it; whole words, ignoring case."""
    return _MARKER.search(first_sentence(paragraph)) is not None


def marked_pairs(urls: Sequence[str], positions: Sequence[int], texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (earlier, later) for neighbours on a page, refused paragraphs counted, that a marker connects."""
    index_of = {page_position: index for index, page_position in enumerate(zip(urls, positions, strict=True))}
    for (url, position), later in index_of.items():
        earlier = index_of.get((url, position - 1))
        if earlier is not None and has_marker(texts[later]):
            yield earlier, later
