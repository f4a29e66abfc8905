"""The columns of a document that its text alone decides: language, signals of quality, counts of personal data."""

from collections.abc import Sequence
from typing import Any

from tasks.rights.personal import count_personal
from tasks.rights.signals import quality_signals
from tasks.text.language import sure_language

# Characters of a page by which its language is told: twice as many cost twice as much and tell 2 in 1,500 pages more.
_SAMPLE = 1_000


def text_columns(paragraphs: Sequence[str]) -> dict[str, Any]:
    """Return `language`, `quality` and `personal` of DOCUMENTS; all null for a page without text.

    Args:
        paragraphs: main text of the page.
    """
    if not paragraphs:
        return {"language": None, "quality": None, "personal": None}
    return {
        "language": language_of(paragraphs),
        "quality": quality_signals(paragraphs),
        "personal": count_personal(paragraphs),
    }


def language_of(paragraphs: Sequence[str]) -> str | None:
    """Return the language of a page's longest paragraphs, which are seldom menus or names; None if it is not sure."""
    return sure_language(_longest(paragraphs))


def _longest(paragraphs: Sequence[str]) -> str:
    text, missing = [], _SAMPLE
    for paragraph in sorted(paragraphs, key=len, reverse=True):
        text.append(paragraph[:missing])
        missing -= len(text[-1])
        if missing <= 0:
            break
    return " ".join(text)
