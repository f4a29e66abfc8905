"""Tell paragraphs about a page's subject from those that only look like prose: a linear model on cheap features.

Rules refuse what no author writes. What passes them and is still no source for a summary (references, captions, teasers
of other stories, comments of readers, notes on authors) differs from prose by degrees, so its marks are weighed. The
weights were fitted on paragraphs read one by one (`benchmarks/paragraph_quality.py`).
"""

import math
import re
from collections.abc import Sequence

from tasks.paragraphs.junk_marks import MARKS
from tasks.paragraphs.junk_sections import KINDS, sections
from tasks.paragraphs.page_words import NAMES as PAGE_WORDS
from tasks.paragraphs.page_words import page_word_features
from tasks.paragraphs.quality_weights import INTERCEPT, MEANS, SCALES, WEIGHTS
from tasks.text.english import LEAST_SHARE, function_word_share
from tasks.text.verbs import has_finite_verb

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]]|\[\d+\])*(?=\s|$)""")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_NEAR = (-3, -2, -1, 1, 2, 3)  # neighbours whose kind says something of a paragraph's
_MOST = 3.0  # of a mark per ten words; more says no more


def feature_names() -> list[str]:
    """Return the names of the features, in the order of `page_features`."""
    return [*_TEXT_NAMES, *_PAGE_NAMES]


def junk_probabilities(texts: Sequence[str], refused: Sequence[bool], language: str | None = None) -> list[float]:
    """Return for each paragraph of a page the probability (0-1) that it is junk; 0 for refused ones.

    All are 0 on a page that is not in English, because the weights were fitted on English pages.

    Args:
        texts: paragraphs of one page, in order.
        refused: for each, whether a rule refused it.
        language: ISO 639-1 code of the language of the texts that are not refused; None = not sure.
    """
    if not is_english([text for text, no in zip(texts, refused, strict=True) if not no], language):
        return [0.0] * len(texts)
    return [
        0.0 if no else _probability(features)
        for features, no in zip(page_features(texts, refused), refused, strict=True)
    ]


def is_english(texts: Sequence[str], language: str | None = None) -> bool:
    """Tell whether a page is in English: its language is, or its words are as often function words as in prose.

    Lists of references have few function words, and would pass for another language by these alone.
    """
    if language == "en":
        return True
    return function_word_share([word.casefold() for text in texts for word in _WORD.findall(text)]) > LEAST_SHARE


def page_features(texts: Sequence[str], refused: Sequence[bool]) -> list[list[float]]:
    """Return the features of each paragraph of a page: those of its text, of its place and neighbours, and section."""
    words = [_WORD.findall(text) for text in texts]
    own = [_text_features(text, of_text) for text, of_text in zip(texts, words, strict=True)]
    kept = 1 - sum(refused) / max(1, len(texts))
    beside = zip(own, sections(texts, refused), page_word_features(words, refused), strict=True)
    return [
        features + _place_features(own, refused, kept, i) + [float(section == kind) for kind in KINDS] + on_page
        for i, (features, section, on_page) in enumerate(beside)
    ]


def _probability(features: Sequence[float]) -> float:
    score = INTERCEPT + sum(
        weight * (value - mean) / scale
        for value, weight, mean, scale in zip(features, WEIGHTS, MEANS, SCALES, strict=True)
    )
    return 1 / (1 + math.exp(-score))


_COUNTED = (
    "reference_word", "pages", "volume", "initials", "year", "site", "chat", "you", "bars", "capitals", "figures",
    "parenthesis", "speaks",
)  # fmt: skip
_TEXT_NAMES = [
    "words", "words_squared", "function_words", "capitalised", "digits", "punctuation", "word_length", "sentences",
    "sentence_length", "commas", "reference", "verb", "verbs", *MARKS, *[f"{name}_rate" for name in _COUNTED],
]  # fmt: skip
_PAGE_NAMES = ["position", "from_end", "page_length", "page_kept", "near_kept", "near_words", "near_function_words",
               "near_ends", "near_reference", *[f"below_{kind}" for kind in KINDS], *PAGE_WORDS]  # fmt: skip
_AT = {name: i for i, name in enumerate(_TEXT_NAMES)}


def _text_features(text: str, words: Sequence[str]) -> list[float]:
    count = max(1, len(words))
    length = math.log(count)
    sentences = len(_SENTENCE_END.findall(text))
    function_words = function_word_share([word.casefold() for word in words])
    found = {name: len(mark.findall(text)) for name, mark in MARKS.items()}
    reference = sum(found[name] > 0 for name in ("reference_word", "pages", "volume", "year", "initials"))
    verbs = [has_finite_verb(sentence) for sentence in _BETWEEN_SENTENCES.split(text)]
    return [
        length,
        length**2,
        function_words,
        sum(word[0].isupper() for word in words) / count,
        sum(character.isdigit() for character in text) / max(1, len(text)),
        sum(not (character.isalnum() or character.isspace()) for character in text) / max(1, len(text)),
        sum(map(len, words)) / count,
        math.log1p(sentences),
        length - math.log(max(1, sentences)),
        text.count(",") / count,
        reference * max(0.0, 0.35 - function_words),
        float(any(verbs)),
        sum(verbs) / len(verbs),
        *[float(number > 0) for number in found.values()],
        *[min(10 * found[name] / count, _MOST) for name in _COUNTED],
    ]


def _place_features(own: Sequence[Sequence[float]], refused: Sequence[bool], kept: float, i: int) -> list[float]:
    count = len(own)
    near = [i + step for step in _NEAR if 0 <= i + step < count]
    shares = max(1, len(near))

    def mean(name: str) -> float:
        return sum(own[j][_AT[name]] for j in near) / shares

    return [
        i / max(1, count - 1),
        float(count - 1 - i < 3),
        math.log(count),
        kept,
        sum(not refused[j] for j in near) / shares,
        mean("words"),
        mean("function_words"),
        mean("ends"),
        mean("reference"),
    ]
