"""Content words of a sentence, and how many of them other texts contain."""

from collections.abc import Set

from tasks.engine.data_files import read_data
from tasks.text.ngrams import split_words

FUNCTION_WORDS = frozenset(
    read_data("tasks.text", "words.toml")["function_words"]
)  # texts in other languages keep all their words


def content_words(text: str) -> frozenset[str]:
    """Return the different words of a text, in lower case, without function words."""
    return frozenset(split_words(text, "unicode")) - FUNCTION_WORDS


def overlap(words: Set[str], others: Set[str]) -> float:
    """Return the share of `words` that are in `others`, 0-1; 0 without words."""
    return len(words & others) / len(words) if words else 0.0
