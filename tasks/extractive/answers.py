"""Sentences of sources that answer a question.

A sentence is compared with the question by the words that both have, weighed by how rare they are in the sources. Words
of the title and of the passage before the sentence count half, so that "It was electrified in 1931" is about the
lighthouse that its passage names. A question such as "when" or "how many" asks for a date or a number: a sentence
without a new one counts less."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.sentences import split_sentences
from models.values import Value, find_values
from tasks.engine.data_files import read_data
from tasks.extractive.pile import PilePassage
from tasks.text.content_words import FUNCTION_WORDS
from tasks.verification.words import family, groups, stem

_DATA = read_data("tasks.extractive", "answers.toml")
_MEASURES = {word: words.split() for word, words in _DATA["measures"].items()}
_WANTS: Mapping[str, str] = {**_DATA["wants"], **{f"how {word}": "number" for word in _MEASURES}}
_ASKING = frozenset(_DATA["asking"].split())
_YEARS = range(1000, 2100)
_BY_CONTEXT = 0.5  # weight of a word that only the title or the passage before the sentence has
_RELATED = 0.85  # weight of a synonym or another form of a word
_WITHOUT_VALUE = 0.4  # weight of a sentence without the wanted kind of value
_LEAST = 0.5  # share of the question's weight that an answer has
_NEAR_BEST = 0.85  # share of the best answer's score that further answers have
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class AnsweringSentence:
    """A sentence that answers a question."""

    text: str  # the sentence, on one line
    passage: int  # number of its passage
    score: float  # share of the question that it meets, 0-1


@dataclass(frozen=True)
class _Question:
    """A question as it is compared with sentences."""

    words: tuple[frozenset[str], ...]  # for each content word the stems that mean it, the first question word first
    wanted: str | None  # kind of value that an answer has: "name", "date", "number"; None = any
    values: frozenset[Value]  # values that the question has itself


def answers(question: str, passages: Sequence[PilePassage], title: str = "", most: int = 2) -> list[AnsweringSentence]:
    """Return the sentences that answer a question, best first; none if no sentence meets half of it.

    `title`: what the passages are about; `most`: sentences at most."""
    asked = _read(question)
    sentences = list(_sentences(passages))
    if not asked.words or not sentences:
        return []
    held = [_stems(text) for _, text, _ in sentences]
    weights = _weights(asked, held)
    about = _stems(title)
    scored = []
    for (number, text, before), own in zip(sentences, held, strict=True):
        score = _met(asked, weights, own, about | _stems(before))
        if asked.wanted is not None and not _has_value(text, asked):
            score *= _WITHOUT_VALUE
        scored.append(AnsweringSentence(text, number, score))
    scored.sort(key=lambda answer: -answer.score)
    enough = max(_LEAST, _NEAR_BEST * scored[0].score)
    return [answer for answer in scored[:most] if answer.score >= enough]


def _read(question: str) -> _Question:
    words = [word.casefold() for word in _WORDS.findall(question)]
    begins = (" ".join(words[:count]) for count in (2, 1))
    wanted = next((_WANTS[begin] for begin in begins if begin in _WANTS), None)
    meant = [
        frozenset(stem(each) for each in _MEASURES.get(word, [word]))
        for word in dict.fromkeys(words)
        if word not in _ASKING | FUNCTION_WORDS
    ]
    return _Question(tuple(meant), wanted, frozenset(find_values(question)))


def _sentences(passages: Sequence[PilePassage]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of a passage, a sentence of it, and the sentences before that."""
    for number, passage in enumerate(passages):
        before = ""
        for line in passage.text.split("\n"):
            for sentence in split_sentences(line):
                text = " ".join(sentence.split())
                yield number, text, before
                before = f"{before} {text}"


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word.casefold()) for word in _WORDS.findall(text))


def _weights(asked: _Question, held: Sequence[frozenset[str]]) -> list[float]:
    """Return for each word of the question how rare it is among sentences."""
    counts = Counter(key for own in held for key in own)
    return [math.log(1 + len(held) / (1 + max(counts[key] for key in keys))) for keys in asked.words]


def _met(asked: _Question, weights: Sequence[float], own: frozenset[str], context: frozenset[str]) -> float:
    """Return the share of the question's weight that a sentence has, itself or in its context."""
    result = (
        weight * max(_likeness(keys, own), _BY_CONTEXT * _likeness(keys, context))
        for keys, weight in zip(asked.words, weights, strict=True)
    )
    return sum(result) / sum(weights)


def _likeness(keys: frozenset[str], others: frozenset[str]) -> float:
    if not keys.isdisjoint(others):
        return 1.0
    return _RELATED if not _signs(keys).isdisjoint(_signs(others)) else 0.0


def _signs(keys: Iterable[str]) -> frozenset[object]:
    """Return the groups of synonyms and the families of stems."""
    return frozenset(sign for key in keys for sign in (*groups(key), family(key)) if sign is not None)


def _has_value(text: str, asked: _Question) -> bool:
    """Tell whether a sentence has a value of the wanted kind that the question lacks."""
    return any(value not in asked.values and _is_wanted(value, asked.wanted) for value in find_values(text))


def _is_wanted(value: Value, wanted: str | None) -> bool:
    if wanted == "date":
        return value.kind == "date" or (value.kind == "number" and str(value).isdigit() and int(str(value)) in _YEARS)
    return value.kind == wanted
