"""The columns of a document that its text alone decides: language, signals of quality, counts of personal data. The
signals are those of filters of web corpora; `storage/schemas.toml` says what each means and which paper it is from. How
a paragraph ends is a feature of the model of junk paragraphs too."""

import re
from collections.abc import Sequence
from typing import Any

from tasks.rights.personal import count_personal
from tasks.text.language import sure_language

# Rae et al. 2021, app. A.1.1: a page of English prose has at least two of them.
_STOP_WORDS = frozenset({"the", "be", "to", "of", "and", "that", "have", "with"})
_LETTER = re.compile(r"[^\W\d_]")
ENDS = re.compile(r"[.!?](?:[\"”'’»)\]]|\[\d+\]|\d)*+\s*$")  # a text that ends with a sentence
_SENTENCE = re.compile(r"[.!?。！？](?=[\s\"”'’)\]]|$)")
_BULLETS = ("•", "●", "○", "■", "‣", "*", "- ", "– ", "— ")
_ELLIPSES = ("…", "...")
_SHORT = 30  # characters (Penedo et al. 2024, sec. 3.6)
_END = 12  # characters: the last mark of a sentence, and the quotation marks and references that may follow it


def quality_signals(paragraphs: Sequence[str]) -> dict[str, float]:
    """Return the signals of a page by name (`storage.page_columns`); shares are 0-1. Some paragraph has words."""
    lines = max(1, len(paragraphs))
    words = no_letter = letters = characters = symbols = sentences = placeholders = repeated = 0
    stops: set[str] = set()
    seen: set[str] = set()
    for text in paragraphs:
        split = text.lower().split()
        words += len(split)
        letters += sum(map(len, split))
        stops |= _STOP_WORDS.intersection(split)
        no_letter += sum(not (word.isalpha() or _LETTER.search(word)) for word in split)
        symbols += text.count("#") + text.count("…") + text.count("...")
        sentences += len(_SENTENCE.findall(text))
        placeholders += text.count("{") + text.count("lorem ipsum") + text.count("Lorem ipsum")
        characters += len(text)
        repeated += len(text) if text in seen else 0
        seen.add(text)
    return {
        "words": words,
        "word_length": letters / max(1, words),
        "stop_words": len(stops),
        "alphabetic": 1 - no_letter / max(1, words),
        "symbols": symbols / max(1, words),
        "bullets": sum(text.startswith(_BULLETS) for text in paragraphs) / lines,
        "ellipses": sum(text.endswith(_ELLIPSES) for text in paragraphs) / lines,
        "sentences": sentences,
        "placeholders": placeholders,
        "ended": sum(ENDS.search(text[-_END:]) is not None for text in paragraphs) / lines,
        "short": sum(len(text) < _SHORT for text in paragraphs) / lines,
        "repeated": repeated / max(1, characters),
    }


# Characters of a page by which its language is told: twice as many cost twice as much and tell 2 in 1,500 pages more.
_SAMPLE = 1_000


def text_columns(paragraphs: Sequence[str]) -> dict[str, Any]:
    """Return `language`, `quality` and `personal` of DOCUMENTS; all null for a page without text."""
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
