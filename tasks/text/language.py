"""English by its words: the share of the commonest tells running prose, finite verbs (by form) tell sentences,
discourse markers which sentences belong together. Any language by the character statistics of py3langid: offline, one
model in memory; and the paragraphs of a page in another one than their article's, of which a summary has no use. The
letters of short texts, lists of names and tables say little about their language: they follow their page, if most of it
is surely in another language."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from models.sentences import first_sentence
from tasks.engine.data_files import read_data
from tasks.text.boilerplate_phrases import fold
from tasks.text.ngrams import split_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


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
_PAST = re.compile(  # unless it only describes the words before it: "the lock, painted red", "a church built by"
    r"(?<!,)(?<!\b[Aa])(?<!\b[Aa]n)(?<!\b[Tt]he)\s"
    r"(?!(?:United|red|Red|based|located|used|called|named)\b)[a-z]+ed\b(?! (?:by|in|at|from)\b)"
)


def has_finite_verb(text: str) -> bool:
    """Tell whether a text has a finite verb. Rarer present forms ("herons nest") are missed: "no" proves nothing."""
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


LANGUAGES = frozenset(read_data("tasks.text", "words.toml")["languages"])


# Those that the form offers: the others can be asked for by their codes.
SUMMARIZED = frozenset(read_data("tasks.text", "words.toml")["summarized"])


def check_language(code: str) -> str:
    """Return the code of a language that can be recognised. Raises ValueError: it cannot."""
    if code not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise ValueError(f"{code!r} is not a language that its letters show: expected one of {known}")
    return code


LanguageCode = Annotated[str, AfterValidator(check_language)]
"""The type of a setting that is such a code."""


_CHARACTERS = 40  # enough to recognise the language
_PROBABILITY = 0.9  # from which it is sure
_WORDS = 6  # from which the share of the commonest English words says something
_BYTES = 40  # in UTF-8, from which one language can be asked for: a Chinese character says as much as three letters


def sure_language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language; None if it is too short to tell, or if two are likely."""
    if len(text) < _CHARACTERS:
        return None
    if is_english(text):  # so says the model of all 1,355 of 1,501 cited pages that are, at forty times the cost
        return "en"
    language, probability = _identifier().classify(text)
    return str(language) if probability >= _PROBABILITY else None


def language_probability(text: str, language: str) -> float | None:
    """Return the probability (0-1) of a language (ISO 639-1) or its macrolanguage, 1 of English for what is English by
    its words; None for too short a text."""
    if language == "en" and is_english(text):
        return 1.0
    if len(text.encode()) < _BYTES:
        return None
    check_language(language)
    probabilities = dict(_identifier().rank(text))
    groups = (group.split() for group in read_data("tasks.text", "words.toml")["macrolanguages"])
    codes = next((group for group in groups if language in group), [language])
    return float(sum(probabilities[code] for code in codes))


def is_english(text: str) -> bool:
    """Tell whether a text of six words or more has as many of the commonest English words as prose."""
    words = text.lower().split()
    return len(words) >= _WORDS and function_word_share(words) > LEAST_SHARE


# Below which a paragraph is surely in another language, whichever: related ones share what is left, so that the
# likeliest is often not sure. No English sentence was among 90 paragraphs of cited pages below it whose likeliest
# language was not sure.
_EXCLUDED = 0.001
_UNLIKELY = 0.5  # below which a paragraph follows its page, if that is foreign
_PAGE_CHARACTERS = 200  # of surely foreign paragraphs, below which they say nothing of the others on their page


def article_language(lead: str) -> str | None:
    """Return the ISO 639-1 code of the language of an article's lead; None if it is not sure."""
    return "en" if is_english(lead) else sure_language(lead)  # also of one that is short


def in_other_language(texts: Sequence[str], refused: Sequence[bool], language: str) -> list[bool]:
    """Tell of each paragraph whether it is in another language, False if refused; ValueError for an unknown code."""
    probabilities = [
        1.0 if no else language_probability(text, language) for text, no in zip(texts, refused, strict=True)
    ]
    other = [probability is not None and probability < _EXCLUDED for probability in probabilities]
    foreign = sum(len(text) for text, is_other in zip(texts, other, strict=True) if is_other)
    kept = sum(len(text) for text, no in zip(texts, refused, strict=True) if not no)
    if foreign < _PAGE_CHARACTERS or 2 * foreign <= kept:
        return other
    return [probability is None or probability < _UNLIKELY for probability in probabilities]


@lru_cache(maxsize=1)
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # here, because settings import this module

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
