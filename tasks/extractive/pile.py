"""A pile of passages about a title, cut into sentences, and the concepts that the sentences hold.

A concept is a content word, a bigram, or a value (name, number or date): a summary is to cover these (Gillick & Favre
2009). Two arrays hold the place of each, so that counts over a pile are sums over them. A concept or sentence is
described only by counts and places in the pile, never by words. So weights that were learned on some topics can be used
on any other.
"""

import re
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values
from models.words import END_MARKS, is_caseless, written_words
from tasks.text.content_words import FUNCTION_WORDS, content_words, overlap, subject_of
from tasks.text.ngrams import split_words
from tasks.text.standalone import defects, is_list, is_reference, without_opener
from tasks.text.tfidf import TfIdf

Floats = NDArray[np.float64]
KINDS = ("word", "bigram", "value")
_LEAST_WORDS = 6
_ENDS = (*'.!?"\u201d', *END_MARKS, *"؟…»」』")


@dataclass(frozen=True)
class PilePassage:
    """A paragraph of a source."""

    text: str  # the paragraph
    source: str = ""  # its page or file
    position: int = 0  # 0-based, in its source
    title: str = ""  # of its source
    note: bool = False  # whether its source is a note, whose lines may state something without a sentence


@dataclass(frozen=True)
class PileSentence:
    """A sentence of a passage."""

    text: str  # as written, on one line, without a first word such as "However"
    passage: int  # number of its passage in the pile
    place: int  # 0-based, in its passage
    words: list[str] = field(repr=False)  # its words as written
    tokens: list[str] = field(repr=False)  # its words as they are compared
    defects: int  # signs that it needs its page (`tasks.text.standalone`)
    whole: bool  # whether it is a sentence: some words, a capital, a mark at the end, more than a list of names


@dataclass(frozen=True)
class Concepts:
    """The different concepts of one kind in a pile."""

    names: Sequence[Any]  # [C] the concepts, in order of first occurrence
    # [O] Of each occurrence the number of its sentence and of its concept, which occurs once in a sentence
    sentence: NDArray[np.int64]
    concept: NDArray[np.int64]

    @classmethod
    def of(cls, held: Sequence[Collection[Hashable]]) -> "Concepts":
        """Number what each of N sentences holds, which must be in an order that is the same everywhere."""
        numbers: dict[Hashable, int] = {}
        concept = [numbers.setdefault(item, len(numbers)) for each in held for item in each]
        sentence = np.repeat(np.arange(len(held)), list(map(len, held)))
        return cls(list(numbers), sentence.astype(np.int64), np.array(concept, np.int64))


class Pile:
    """Passages about a title, best first, as sentences and concepts."""

    def __init__(
        self, title: str, passages: Sequence[PilePassage], cut: Callable[[str], str] = lambda sentence: sentence
    ) -> None:
        """Cut passages into sentences, and each sentence as `cut` says; one of which nothing is left is left out."""
        self.title = title
        self.passages = passages
        title_words = split_words(title, "unicode")
        self.topic = content_words(title)
        name = subject_of(title)
        self.subject = content_words(name)
        texts = [passage.text for passage in passages]
        tokens = [split_words(text, "unicode") for text in texts]
        # [P] tf-idf similarity of each passage with the title
        self.similarity: Floats = TfIdf(tokens).similarity(title_words) if passages else np.zeros(0)
        self.sentences = [
            _sentence(text, number, index, name)
            for number, passage in enumerate(texts)
            if not is_reference(passage)
            for index, sentence in enumerate(split_sentences(passage))
            if (text := cut(" ".join(sentence.split())))
        ]
        context = ValueIndex([title, *texts])
        held: tuple[Callable[[PileSentence], Collection[Hashable]], ...] = (
            lambda one: dict.fromkeys(word for word in one.tokens if word not in FUNCTION_WORDS),
            lambda one: dict.fromkeys(bigrams(one.tokens)),
            lambda one: find_values(one.text, context),
        )
        # Of each kind of `KINDS`
        self.concepts = tuple(Concepts.of([find(sentence) for sentence in self.sentences]) for find in held)


def bigrams(tokens: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of neighbouring words, without those of two function words."""
    return [
        (item, other) for item, other in pairwise(tokens) if item not in FUNCTION_WORDS or other not in FUNCTION_WORDS
    ]


def _sentence(text: str, passage: int, place: int, subject: str) -> PileSentence:
    line = without_opener(text)
    words = written_words(line)
    whole = (
        len(words) >= _LEAST_WORDS
        and (line[0].isupper() or is_caseless(line[0]) or _begins_small_name(line, subject))
        and line.endswith(_ENDS)
        and not is_list(line)
    )
    return PileSentence(line, passage, place, words, split_words(line, "unicode"), defects(line), whole)


def _begins_small_name(line: str, subject: str) -> bool:
    """Tell whether a line begins with a name that has a small first letter: the subject, or one such as "eBay"."""
    return (bool(subject) and line.startswith(f"{subject} ")) or _SMALL_NAME.match(line) is not None


_RANK_POWER = 0.3  # how slowly a passage's weight falls with its rank
_SMALL_NAME = re.compile(r"[a-z][A-Z]\w*(?:['’]s)? ")
_SPEECH = re.compile(r"\b(?:said|says|told|tells|added|adds|asked|thinks?|believes?)\b")
_COPULA = re.compile(r"\b(?:is|was|are|were) (?:a|an|the|one)\b")
_PAST = re.compile(r"\b(?:was|were|had|[a-z]+ed)\b")
_YEARS = range(1500, 2100)


class SentencePlaces:
    """The places of the sentences of a pile: one array of N numbers a property."""

    def __init__(self, pile: Pile) -> None:
        numbers: dict[str, int] = {}
        source = np.array([numbers.setdefault(each.source, len(numbers)) for each in pile.passages], np.int64)
        position = np.array([each.position for each in pile.passages], np.float64)
        last, best, total, passages = (np.zeros(len(numbers)) for _ in range(4))
        np.maximum.at(last, source, position)
        np.maximum.at(best, source, pile.similarity)
        np.add.at(total, source, pile.similarity)
        np.add.at(passages, source, 1)
        self.sources = len(numbers)
        self.passage = np.array([each.passage for each in pile.sentences], np.int64)
        self.source = source[self.passage]
        self.position = position[self.passage]
        self.relative = self.position / np.maximum(last[self.source], 1)
        self.similarity = pile.similarity[self.passage]
        self.best = best[self.source]
        self.mean = (total / passages)[self.source]
        self.place = np.array([each.place for each in pile.sentences], np.float64)
        self.length = np.bincount(self.passage, minlength=len(pile.passages))[self.passage]
        words = [set(each.tokens) for each in pile.sentences]
        self.topic = np.array([overlap(pile.topic, each) for each in words])
        self.subject = np.array([overlap(pile.subject, each) for each in words])
        self.readable = np.array([each.whole and not each.defects for each in pile.sentences], np.float64)
        self.likeness = _likeness(pile, self.passage, self.source)


def _likeness(pile: Pile, passage: NDArray[np.int64], source: NDArray[np.int64]) -> Floats:
    """Return [N, 7] cosines, by words weighed by their rarity in sentences.

    That of a sentence and of its passage with the title. That of sentence, passage and source with what the passages
    similar to the title are about (pseudo-relevance feedback, Lavrenko & Croft 2001). That of the sentence with its
    source, and with all others.
    """
    from sklearn.preprocessing import normalize  # here, because it takes a second that --help need not wait

    if not pile.sentences:
        return np.zeros((0, 7))
    vectors = TfIdf([each.tokens for each in pile.sentences])
    rows, title = vectors.paragraphs, vectors.project(split_words(pile.title, "unicode")).toarray()[0]
    every = np.arange(len(pile.sentences))

    def together(of: NDArray[np.int64]) -> sparse.csr_array:
        return sparse.csr_array((np.ones(len(of)), (of, every))) @ rows

    passages, sources = normalize(together(passage)), together(source).toarray()
    about = normalize((passages.T @ (passages @ title))[None])[0]
    own, others = (normalize(each) for each in (sources, sources.sum(axis=0) - sources))
    of = np.repeat(every, np.diff(rows.indptr))
    return np.column_stack(
        [
            rows @ title,
            (passages @ title)[passage],
            rows @ about,
            (passages @ about)[passage],
            (own @ about)[source],
            *(np.bincount(of, rows.data * each[source[of], rows.indices], len(every)) for each in (own, others)),
        ]
    )


def concept_features(pile: Pile, places: SentencePlaces, kind: int) -> Floats:
    """Return [C, F] of the concepts of a kind (its number in `KINDS`)."""
    concepts = pile.concepts[kind]
    size = len(concepts.names)
    rows, columns = concepts.sentence, concepts.concept
    count = np.bincount(columns, minlength=size)

    def mean(of: NDArray[np.floating]) -> Floats:
        return np.bincount(columns, of[rows], size) / count

    def most(of: NDArray[np.floating]) -> Floats:
        result = np.full(size, -np.inf)
        np.maximum.at(result, columns, of[rows])
        return result

    in_passages = _distinct(columns, places.passage[rows], len(pile.passages))
    in_sources = np.bincount(_distinct(columns, places.source[rows], places.sources)[0], minlength=size)
    ranked = (in_passages[1] + 1.0) ** -_RANK_POWER
    held = np.bincount(in_passages[0], minlength=size)
    shared = [
        np.log(count),
        np.log(held),
        np.log(in_sources),
        in_sources / max(places.sources, 1),
        count / max(len(pile.sentences), 1),
        np.log1p(np.bincount(in_passages[0], ranked, size)),
        np.log1p(-most(-places.passage.astype(np.float64))),
        -most(-places.relative),
        np.log1p(-most(-places.position)),
        mean(places.topic),
        most(places.topic),
        mean(places.subject),
        most(places.similarity),
        mean(places.similarity),
        mean(places.readable),
        np.full(size, np.log(max(places.sources, 1))),
        np.full(size, np.log(max(len(pile.sentences), 1))),
        *(most(each) for each in places.likeness.T),
        *(mean(each) for each in places.likeness.T),
    ]
    own = np.array([_OWN[kind](name, pile) for name in concepts.names], np.float64).reshape(size, _OWN_WIDTH)
    return np.column_stack([*shared, own])


def sentence_features(pile: Pile, places: SentencePlaces, probabilities: Sequence[Floats]) -> Floats:
    """Return [N, F] of the sentences, given the probability of each concept ([C] of each kind)."""
    length = np.array([len(each.words) for each in pile.sentences], np.float64)
    held = [_held(each, known, len(length)) for each, known in zip(pile.concepts, probabilities, strict=True)]
    (words, word_mean, word_most, _), (pairs, pair_mean, _, _), (values, value_mean, _, value_count) = held
    ordinary = np.array([_wording(each) for each in pile.sentences], np.float64).reshape(len(length), _WORDING_WIDTH)
    columns = [
        np.log(np.maximum(length, 1)),
        np.log1p(places.position),
        places.relative,
        places.place,
        places.length,
        np.log1p(places.passage),
        places.similarity,
        places.topic,
        places.subject,
        places.best,
        places.mean,
        np.full(len(length), places.sources),
        _centrality(pile),
        value_count / length,
        words / length,
        word_mean,
        word_most,
        pairs / length,
        pair_mean,
        pairs,
        values / length,
        value_mean,
    ]
    return np.column_stack([*columns, places.likeness, ordinary])


def _distinct(
    one: NDArray[np.int64], other: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different pairs of two arrays, whose second holds numbers below `size`."""
    pairs = np.unique(one * max(size, 1) + other)
    return pairs // max(size, 1), pairs % max(size, 1)


def _held(concepts: Concepts, probability: Floats, sentences: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the sum, mean, maximum and number of the probabilities of each sentence's concepts."""
    values = probability[concepts.concept]
    count = np.bincount(concepts.sentence, minlength=sentences).astype(np.float64)
    total: Floats = np.bincount(concepts.sentence, values, sentences).astype(np.float64)
    most = np.zeros(sentences)
    np.maximum.at(most, concepts.sentence, values)
    return total, total / np.maximum(count, 1), most, count


def _centrality(pile: Pile) -> Floats:
    """Return the cosine of each sentence with all sentences together, words weighed by their rarity."""
    concepts, sentences = pile.concepts[0], len(pile.sentences)
    count = np.bincount(concepts.concept, minlength=len(concepts.names))
    rarity = np.log(sentences / np.maximum(count, 1))
    whole = float(np.sqrt(((count * rarity) ** 2).sum())) or 1.0
    product = np.bincount(concepts.sentence, (count * rarity**2)[concepts.concept], sentences)
    own = np.sqrt(np.bincount(concepts.sentence, (rarity**2)[concepts.concept], sentences))
    return np.asarray(product / np.maximum(own, 1e-9) / whole)


def _wording(sentence: PileSentence) -> list[float]:
    text, length = sentence.text, len(sentence.words)
    content = sum(token not in FUNCTION_WORDS for token in sentence.tokens)
    return [
        sentence.defects,
        sentence.whole,
        sum(word[:1].isupper() for word in sentence.words[1:]) / length,
        sum(any(map(str.isdigit, word)) for word in sentence.words) / length,
        content / max(len(sentence.tokens), 1),
        text.count(",") / length,
        text.count("(") / length,
        text.count('"') + text.count("\u201c"),
        _SPEECH.search(text) is not None,
        _COPULA.search(text) is not None,
        _PAST.search(text) is not None,
    ]


def _word(word: str, pile: Pile) -> list[float]:
    return [len(word), word in pile.topic, word[0].isdigit(), word.isdigit() and len(word) == 4]


def _bigram(pair: tuple[str, str], pile: Pile) -> list[float]:
    in_title, plain = (sum(word in words for word in pair) for words in (pile.topic, FUNCTION_WORDS))
    return [len(pair[0]) + len(pair[1]), in_title, plain, any(word[0].isdigit() for word in pair)]


def _value(value: Value, pile: Pile) -> list[float]:
    name = value.key if value.kind == "name" and isinstance(value.key, tuple) else ()
    year = value.kind == "number" and not isinstance(value.key, str | tuple) and value.key in _YEARS
    in_title = sum(str(word) in pile.topic for word in name) / max(len(name), 1)
    return [len(name), in_title, year, value.kind == "date"]


_OWN: tuple[Callable[[object, Pile], list[float]], ...] = (_word, _bigram, _value)  # type: ignore[assignment]
_OWN_WIDTH = 4
_WORDING_WIDTH = 11
