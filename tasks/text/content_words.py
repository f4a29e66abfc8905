"""Words that carry content: those of a sentence, how many of them other texts contain, and an article's subject."""

import re
from collections.abc import Set

from tasks.engine.data_files import read_data
from tasks.text.ngrams import split_words

# Texts in other languages keep all their words.
FUNCTION_WORDS = frozenset(read_data("tasks.text", "words.toml")["function_words"])


def content_words(text: str) -> frozenset[str]:
    """Return the different words of a text, in lower case, without function words."""
    return frozenset(split_words(text, "unicode")) - FUNCTION_WORDS


def overlap(words: Set[str], others: Set[str]) -> float:
    """Return the share of `words` that are in `others`, 0-1; 0 without words."""
    return len(words & others) / len(words) if words else 0.0


_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})


def subject_of(title: str) -> str:
    """Return a title without the remark that distinguishes it from others of that name: "Mercury (planet)"."""
    return re.sub(r"(?<!\s)\s*\([^()]*\)$", "", title.strip()) or title.strip()


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _WORD.findall(text.casefold())


def names_subject(sentence: str, title: str) -> bool:
    """Whether a sentence has every word of the subject's name, articles apart."""
    return set(words_of(subject_of(title))) - _ARTICLES <= set(words_of(sentence))
