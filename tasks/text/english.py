"""English by its words: the share of the commonest tells running prose, finite verbs (by form) tell sentences,
discourse markers which sentences belong together."""

import re
from collections.abc import Iterator, Sequence

from models.sentences import first_sentence
from tasks.engine.data_files import read_data
from tasks.text.boilerplate_phrases import fold
from tasks.text.ngrams import split_words

FUNCTION_WORDS = frozenset(read_data("tasks.text", "words.toml")["commonest"])
# Share of the words of a text: below it no text of many words is English prose, above it none is in another language.
LEAST_SHARE = 0.25


def function_word_share(words: Sequence[str]) -> float:
    """Return the share (0-1) of the commonest English words among words in lower case; 0 of no words."""
    return sum(map(FUNCTION_WORDS.__contains__, words)) / max(1, len(words))


_VERBS = frozenset(read_data("tasks.text", "words.toml")["verbs"])
_WORD = re.compile(r"\w+")
_LESS_SURE = re.compile(  # "may" in small letters alone, because May is a month
    r"\b(?:may|(?i:(?<!top )(?<!bottom )left))\b|(?i:\wn['’]t)\b"
)
_PAST = re.compile(  # unless it only describes what stands before it: "the lock, painted red", "a church built by"
    r"(?<!,)(?<!\b[Aa])(?<!\b[Aa]n)(?<!\b[Tt]he)\s"
    r"(?!(?:United|red|Red|based|located|used|called|named)\b)[a-z]+ed\b(?! (?:by|in|at|from)\b)"
)


def has_finite_verb(text: str) -> bool:
    """Tell whether a text has a finite verb. Rarer present forms ("herons nest") are missed: "no" is no proof."""
    plain = text.isascii() and "_" not in text  # its words are what a pattern takes for words, at a tenth of the time
    words = split_words(text) if plain else _WORD.findall(fold(text))
    if not _VERBS.isdisjoint(words):
        return True
    other = "'" in text or "’" in text or "may" in words or "left" in words
    return (other and _LESS_SURE.search(text) is not None) or _PAST.search(text) is not None


# Discourse markers between neighbouring paragraphs of a page (Liu & Lapata 2019, app. A.2).
# The appendix asks whether two adjacent paragraphs "are connected with" a marker. A marker connects the text after it
# to the text before it, so it is searched in the first sentence of the later paragraph. Further down it connects
# sentences within that paragraph, and words such as "also" would connect nearly every pair.
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
