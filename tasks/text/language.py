"""The language of a text, by the character statistics of py3langid: offline, one model in memory; and the paragraphs
of a page in another one than their article's, of which a summary has no use. Short texts, lists of names and tables are
told badly by their letters: they follow their page, if most of it is surely in another language."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from tasks.engine.data_files import read_data
from tasks.text.english import LEAST_SHARE, function_word_share

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LANGUAGES = frozenset(read_data("tasks.text", "words.toml")["languages"])


def check_language(code: str) -> str:
    """Return the code of a language that can be told. Raises ValueError: it cannot."""
    if code not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise ValueError(f"{code!r} is no language that can be told by its letters: expected one of {known}")
    return code


LanguageCode = Annotated[str, AfterValidator(check_language)]
"""The type of a setting that is such a code."""


_CHARACTERS = 40  # from which the language can be told
_PROBABILITY = 0.9  # from which it is sure
_WORDS = 6  # from which the share of the commonest English words says something
_BYTES = 40  # in UTF-8, from which one language can be asked for: a Chinese character says as much as three letters


def sure_language(text: str) -> str | None:
    """Return the ISO 639-1 code of a text's language; None if it is too short to tell, or if two are likely."""
    if len(text) < _CHARACTERS:
        return None
    if is_english(
        text
    ):  # so says the model of each of the 1,355 of 1,501 cited pages that are, at forty times the cost
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
# likeliest is often not sure. Of 90 paragraphs of cited pages below it whose likeliest language was not sure, none was
# an English sentence.
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
