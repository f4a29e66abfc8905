"""Tell paragraphs about a page's subject from those that only look like prose: a linear model on cheap features.

Rules refuse what no author writes. What passes them and is still no source for a summary (references, captions, teasers
of other stories, comments of readers, notes on authors) differs from prose by degrees, so its marks (`junk.toml`) are
weighed. The weights were fitted on paragraphs read one by one (`benchmarks/paragraph_quality.py`)."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import fill, read_data
from tasks.paragraphs.page_context import KINDS, page_word_features, sections
from tasks.paragraphs.page_context import NAMES as PAGE_WORDS
from tasks.rights.text_columns import ENDS
from tasks.text.boilerplate_phrases import fold
from tasks.text.english import LEAST_SHARE, function_word_share, has_finite_verb
from tasks.text.pattern_sets import PatternSet

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"""[.!?…](?:["”'’»)\]]|\[\d+\])*(?=\s|$)""")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_OTHERS = re.compile(r"[\x00-\x7f]+")
_DIGITS = b"0123456789"
_NO_SIGNS = bytes(byte for byte in range(128) if chr(byte).isalnum() or chr(byte).isspace())
_NEAR = (-3, -2, -1, 1, 2, 3)  # neighbours whose kind says something of a paragraph's
_SPARED = 1  # paragraphs that a page of nothing but junk keeps
_first = itemgetter(0)
_MOST = 3.0  # of a mark per ten words; more says no more


@cache
def feature_names() -> list[str]:
    """Return the names of the features, in the order of `page_features`."""
    return [*_text_features("", ()), *_TYPICAL, *[f"below_{kind}" for kind in KINDS]]


@cache
def marks() -> tuple[dict[str, re.Pattern[str]], dict[str, re.Pattern[str]]]:
    """Return the marks of junk by name: those of a text in lower case, which are searched for in half the time that
    they take where the pattern has to ignore case, and those of the text as it is."""
    data = read_data("tasks.paragraphs", "junk.toml")
    parts = {**data["parts"], "ENDS": ENDS.pattern}
    folded, exact = (
        {name: re.compile(fill(pattern, parts)) for name, pattern in data[kind].items()} for kind in ("folded", "exact")
    )
    return folded, exact


def junk_probabilities(texts: Sequence[str], refused: Sequence[bool], language: str | None = None) -> list[float]:
    """Return for each paragraph of a page the probability (0-1) that it is junk; 0 for refused ones. All are 0 on a
    page that is not in English, because the weights were fitted on English pages. `texts` are in order; `language`: ISO
    639-1 code of those that are not refused, None = not sure."""
    if not is_english([text for text, no in zip(texts, refused, strict=True) if not no], language):
        return [0.0] * len(texts)
    intercept, (means, scales, weights) = _weights()
    scores = intercept + ((page_features(texts, refused) - means) / scales) @ weights
    found = iter((1 / (1 + np.exp(-scores))).tolist())
    return [0.0 if no else next(found) for no in refused]


def find_junk(
    texts: Sequence[str], refused: Sequence[bool], threshold: float, language: str | None = None
) -> list[bool]:
    """Tell which paragraphs of a page are junk: those as likely as a threshold, but for the best of a page of junk. A
    page that would lose every paragraph that no rule refuses keeps the `_SPARED` ones that are least likely junk, of
    equals the first ones: something of what was cited or chosen is read, and a page that is misjudged is not lost.
    `threshold`: probability (0-1); the other arguments are those of `junk_probabilities`."""
    probabilities = junk_probabilities(texts, refused, language)
    candidates = [i for i, no in enumerate(refused) if not no]
    junk = {i for i in candidates if probabilities[i] >= threshold}
    if len(junk) == len(candidates):
        junk -= set(sorted(candidates, key=probabilities.__getitem__)[:_SPARED])
    return [i in junk for i in range(len(texts))]


def is_english(texts: Sequence[str], language: str | None = None) -> bool:
    """Tell whether a page is in English, by language or by function words, of which lists of references have few."""
    if language == "en":
        return True
    return function_word_share([word.casefold() for text in texts for word in _WORD.findall(text)]) > LEAST_SHARE


def page_features(texts: Sequence[str], refused: Sequence[bool]) -> NDArray[np.float64]:
    """Return the features of each paragraph that is not refused [k, f]; of the others headings and spaces alone are
    read."""
    kept = [i for i, no in enumerate(refused) if not no]
    words = [_WORD.findall(text) if not no else [] for text, no in zip(texts, refused, strict=True)]
    own = {i: _text_features(texts[i], words[i]) for i in kept}
    place = _Places(texts, refused, own)
    of_words, below = page_word_features(words, refused), sections(texts, refused)
    others = len(kept) - 1
    known = others / (others + _FEW)
    rows = [[*own[i].values(), *place.features(i), *of_words[i], *[below[i] == kind for kind in KINDS]] for i in kept]
    features = np.array(rows, np.float64).reshape(len(kept), len(feature_names()))
    of_page = features[:, -len(_TYPICAL) - len(KINDS) : -len(KINDS)]
    typical = np.array(list(_TYPICAL.values()))
    of_page[:] = typical + known * (of_page - typical)
    return features


@cache
def _mark_sets() -> list[tuple[PatternSet, list[tuple[str, re.Pattern[str]]]]]:
    """Return what finds the marks of a text in lower case, and of the text as it is, each with its marks in order."""
    return [(PatternSet(list(named.values())), list(named.items())) for named in marks()]


@cache
def _weights() -> tuple[float, NDArray[np.float64]]:
    """Return the intercept, and means, scales and weights [3, f] of the features in the order of `page_features`."""
    data = read_data("tasks.paragraphs", "quality_weights.toml")
    return data["intercept"], np.array([data["features"][name] for name in feature_names()]).T


# What a page says of a paragraph, and what it says of a typical one: a paragraph that stands alone counts as typical,
# because the page says nothing of it, and one of few as nearly so.
_TYPICAL = {
    "position": 0.5,
    "from_end": 0.06,
    "page_length": 4.5,
    "page_kept": 0.55,
    "near_kept": 0.6,
    "near_length": 2.7,
    "near_function_words": 0.33,
    "near_ends": 0.7,
    "near_reference": 0.05,
    **dict(zip(PAGE_WORDS, (0.55, 0.9, 0.5), strict=True)),
}
_FEW = 3.0  # other candidates with which a page says half of what a long one says


def _text_features(text: str, words: Sequence[str]) -> dict[str, float]:
    count = max(1, len(words))
    length = math.log(count)
    sentences = len(_SENTENCE_END.findall(text))
    ascii_bytes, others = text.encode("ascii", "ignore"), "" if text.isascii() else _OTHERS.sub("", text)
    function_words = function_word_share(list(map(str.casefold, words)))
    found, counted = dict.fromkeys(chain(*marks()), 0), read_data("tasks.paragraphs", "junk.toml")["counted"]
    for read, (together, named) in zip((fold(text), text), _mark_sets(), strict=True):
        for name, mark in map(named.__getitem__, together.candidates(read)):
            found[name] = len(mark.findall(read)) if name in counted else mark.search(read) is not None
    reference = sum(found[name] > 0 for name in ("reference_word", "pages", "volume", "year", "initials"))
    verbs = [has_finite_verb(sentence) for sentence in _BETWEEN_SENTENCES.split(text)]
    return {
        "words": length,
        "words_squared": length**2,
        "function_words": function_words,
        "capitalised": sum(map(str.isupper, map(_first, words))) / count,
        "digits": (len(ascii_bytes) - len(ascii_bytes.translate(None, _DIGITS)) + sum(map(str.isdigit, others)))
        / max(1, len(text)),
        "punctuation": (len(ascii_bytes.translate(None, _NO_SIGNS)) + sum(map(_is_sign, others))) / max(1, len(text)),
        "word_length": sum(map(len, words)) / count,
        "sentences": math.log1p(sentences),
        "sentence_length": length - math.log(max(1, sentences)),
        "commas": text.count(",") / count,
        "reference": reference * max(0.0, 0.35 - function_words),
        "verb": float(any(verbs)),
        "verbs": sum(verbs) / len(verbs),
        **{name: float(number > 0) for name, number in found.items()},
        **{f"{name}_rate": min(10 * found[name] / count, _MOST) for name in counted},
    }


def _is_sign(character: str) -> bool:
    return not (character.isalnum() or character.isspace())


class _Places:
    """Where paragraphs stand on a page, and beside what."""

    def __init__(self, texts: Sequence[str], refused: Sequence[bool], own: Mapping[int, Mapping[str, float]]) -> None:
        self._refused, self._own = refused, own
        self._lengths = [math.log1p(text.count(" ")) for text in texts]
        self._kept = len(own) / max(1, len(texts))

    def features(self, i: int) -> list[float]:
        """Return the first features of `_TYPICAL`, as they are before they are drawn towards the typical ones."""
        count = len(self._refused)
        near = [i + step for step in _NEAR if 0 <= i + step < count]
        kept = [self._own[j] for j in near if not self._refused[j]]

        def mean(name: str) -> float:
            return sum(own[name] for own in kept) / len(kept) if kept else _TYPICAL[f"near_{name}"]

        return [
            i / max(1, count - 1),
            float(count - 1 - i < 3),
            math.log(count),
            self._kept,
            len(kept) / len(near) if near else _TYPICAL["near_kept"],
            sum(self._lengths[j] for j in near) / len(near) if near else _TYPICAL["near_length"],
            mean("function_words"),
            mean("ends"),
            mean("reference"),
        ]
