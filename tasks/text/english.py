"""The commonest words of English, whose share tells running English prose from other text."""

from collections.abc import Sequence

from tasks.engine.data_files import read_data

FUNCTION_WORDS = frozenset(read_data("tasks.text", "words.toml")["commonest"])
# Share of the words of a text: below it no text of many words is English prose, above it none is in another language.
LEAST_SHARE = 0.25


def function_word_share(words: Sequence[str]) -> float:
    """Return the share (0-1) of the commonest English words among words in lower case; 0 of no words."""
    return sum(word in FUNCTION_WORDS for word in words) / max(1, len(words))
