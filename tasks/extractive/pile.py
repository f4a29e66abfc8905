"""A pile of passages about a title, cut into sentences, and the concepts that the sentences hold.

A concept is a content word, a bigram, or a value (name, number or date): what a summary is made to cover (Gillick &
Favre 2009). Where each stands is kept as two arrays, so that counts over a pile are sums over them.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.sentences import split_sentences
from models.values import ValueIndex, find_values
from tasks.text.content_words import FUNCTION_WORDS, subject_of
from tasks.text.ngrams import split_words
from tasks.text.standalone import defects, is_list, without_opener
from tasks.text.tfidf import TfIdf

Floats = NDArray[np.float64]
KINDS = ("word", "bigram", "value")
_LEAST_WORDS = 6
_ENDS = (".", "!", "?", '"', "\u201d")


@dataclass(frozen=True)
class PilePassage:
    """A paragraph of a source.

    Attributes:
        text: the paragraph.
        source: its page or file.
        position: 0-based, in its source.
    """

    text: str
    source: str = ""
    position: int = 0


@dataclass(frozen=True)
class PileSentence:
    """A sentence of a passage.

    Attributes:
        text: as written, on one line, without a first word such as "However".
        passage: number of its passage in the pile.
        place: 0-based, in its passage.
        words: its words as written.
        tokens: its words as they are compared.
        defects: signs that it needs its page (`tasks.text.standalone`).
        whole: whether it is a sentence: some words, a capital, a mark at the end, more than a list of names.
    """

    text: str
    passage: int
    place: int
    words: list[str] = field(repr=False)
    tokens: list[str] = field(repr=False)
    defects: int
    whole: bool


@dataclass(frozen=True)
class Concepts:
    """The different concepts of one kind in a pile.

    Attributes:
        names: [C] the concepts, in order of first occurrence.
        sentence, concept: [O] of each occurrence the number of its sentence and of its concept; a concept occurs once
            in a sentence.
    """

    names: Sequence[Any]
    sentence: NDArray[np.int64]
    concept: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[Collection[Hashable]]) -> "Concepts":
        """Number what each of N sentences holds, which must be in an order that is the same everywhere."""
        numbers: dict[Hashable, int] = {}
        concept = [numbers.setdefault(one, len(numbers)) for each in held for one in each]
        sentence = np.repeat(np.arange(len(held)), list(map(len, held)))
        return cls(list(numbers), sentence.astype(np.int64), np.array(concept, np.int64))


class Pile:
    """Passages about a title, best first, as sentences and concepts.

    Attributes:
        title: of the topic.
        passages: as given.
        similarity: [P] tf-idf similarity of each passage with the title.
        sentences: all sentences of the passages, in their order.
        concepts: of each kind of `KINDS`.
        subject, topic: content words of the title's name, and of the whole title.
    """

    def __init__(
        self, title: str, passages: Sequence[PilePassage], cut: Callable[[str], str] = lambda sentence: sentence
    ) -> None:
        """Cut passages into sentences, and each sentence as `cut` says; one of which nothing is left is left out."""
        self.title = title
        self.passages = passages
        title_words = split_words(title, "unicode")
        self.topic = frozenset(title_words) - FUNCTION_WORDS
        self.subject = frozenset(split_words(subject_of(title), "unicode")) - FUNCTION_WORDS
        texts = [passage.text for passage in passages]
        tokens = [split_words(text, "unicode") for text in texts]
        self.similarity: Floats = TfIdf(tokens).similarity(title_words) if passages else np.zeros(0)
        self.sentences = [
            _sentence(text, number, place)
            for number, passage in enumerate(texts)
            for place, sentence in enumerate(split_sentences(passage))
            if (text := cut(" ".join(sentence.split())))
        ]
        context = ValueIndex([title, *texts])
        held: tuple[Callable[[PileSentence], Collection[Hashable]], ...] = (
            lambda one: dict.fromkeys(word for word in one.tokens if word not in FUNCTION_WORDS),
            lambda one: dict.fromkeys(bigrams(one.tokens)),
            lambda one: find_values(one.text, context),
        )
        self.concepts = tuple(Concepts.of([find(one) for one in self.sentences]) for find in held)


def bigrams(tokens: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of neighbouring words, but for those of two function words."""
    return [(one, other) for one, other in pairwise(tokens) if one not in FUNCTION_WORDS or other not in FUNCTION_WORDS]


def _sentence(text: str, passage: int, place: int) -> PileSentence:
    line = without_opener(text)
    words = line.split()
    whole = len(words) >= _LEAST_WORDS and line[0].isupper() and line.endswith(_ENDS) and not is_list(line)
    return PileSentence(line, passage, place, words, split_words(line, "unicode"), defects(line), whole)
