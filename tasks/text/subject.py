"""The name of an article's subject, and sentences that name it."""

import re

_WORD = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})


def subject_of(title: str) -> str:
    """Return a title without what only tells it from others of that name: "Mercury (planet)"."""
    return re.sub(r"(?<!\s)\s*\([^()]*\)$", "", title.strip()) or title.strip()


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are compared."""
    return _WORD.findall(text.casefold())


def names_subject(sentence: str, title: str) -> bool:
    """Whether a sentence has every word of the subject's name, articles apart."""
    return set(words_of(subject_of(title))) - _ARTICLES <= set(words_of(sentence))
