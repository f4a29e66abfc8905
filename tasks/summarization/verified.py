"""Decoding by verifier: a summary whose sentences the paragraphs read say, or which are theirs.

A sentence of the model stays if verifier and model together hold it true. One that fails gives way to the sentences of
the paragraphs that hold its values, speak of the subject and can be read alone; where there are none it is left out. A
definition comes first where there is one, and what others tell goes. Last come a few sentences of the paragraphs with
what several of them hold and the summary lacks, since much fails."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import exp

import torch
from torch import Tensor

from models.search.certainty import LikelySentence
from models.search.step import Hypothesis
from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values
from models.vocabulary import Vocabulary
from tasks.summarization.examples import name_subject
from tasks.text.content_words import names_subject, subject_of, words_of
from tasks.text.language import MARKERS
from tasks.text.standalone import defects
from tasks.verification.verifier import Verifier

# Chosen in one world of the mini web (seed 11), where a few sentences more raise what is recalled by ten points.
_MODEL = 0.5  # power of the model's probability in the product with the verifier's
_MORE = 5  # sentences added at the end
_HELD_BY = 2  # paragraphs that hold a value for which one is added
_LEAST = 3  # sentences, where the paragraphs have values for them
_JOINED = re.compile(rf"(?:{'|'.join(map(re.escape, MARKERS))}), ", re.IGNORECASE)  # to what is not shown
_DEFINES = re.compile(r"(?:\b(?:is|was)|,) (?:an?|the|one of) ")
_TWICE = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b\d+(?:,\d+)*\b")
_SMALL = frozenset(["a", "an", "the", "of", "in", "at", "by", "for", "on", "from", "without", "next", "under"])


@dataclass(frozen=True)
class WrittenSentence:
    """A sentence of a summary."""

    text: str  # as written
    place: int | None = None  # number of the model's sentence; None if it is not the model's
    paragraph: int | None = None  # number of the paragraph that it is taken from; None if it is the model's


class VerifiedWriter:
    """Chooses the sentences of an article's summary."""

    def __init__(self, verifier: Verifier, title: str, paragraphs: Sequence[str], least: float) -> None:
        """Read the paragraphs that the model read; `least` is the verifier's times the model's probability of a
        sentence that stays."""
        self._verifier, self._title, self._paragraphs, self._least = verifier, title, paragraphs, least
        self._context, self._own = ValueIndex([title, *paragraphs]), ValueIndex([title])
        name = frozenset(words_of(subject_of(title))) - _SMALL
        self._name = name - self._context.lower or name  # without "River": the river Tavil is not any river
        self._stated = [pair for number in range(len(paragraphs)) for pair in self._sentences(number)]
        self._held = Counter(value for text in paragraphs for value in self._values(text))

    def write(self, written: Sequence[LikelySentence]) -> list[WrittenSentence]:
        """Return the sentences of the summary, of which the first names the subject. `written`: sentences of the
        model."""
        kept: list[WrittenSentence] = []
        definition = written[0].text if written else ""
        for place, one in enumerate(written):
            if self._belief(one) >= self._least:
                kept.append(WrittenSentence(one.text, place))
            else:
                self._add(kept, self._values(one.text))
        chosen = self._without_told(self._with_subject_first(kept, definition))
        self._add(chosen, frozenset(value for value, count in self._held.items() if count >= _HELD_BY), _MORE)
        self._add(chosen, frozenset(self._held), _LEAST - len(chosen))
        if not chosen and written:  # no paragraph names the subject: the likeliest sentence stays, whatever it is worth
            place = max(range(len(written)), key=lambda number: written[number].log_prob)
            return self._with_subject_first([WrittenSentence(written[place].text, place)], definition)
        return chosen

    def _belief(self, written: LikelySentence) -> float:
        """Return how surely a sentence is true, by verifier and model."""
        numbers = _NUMBER.findall(written.text)
        # A word right after itself, or a number for two things: "140 metres long, with a main span of 140 metres".
        if _TWICE.search(written.text) or len(set(numbers)) < len(numbers) or not self._values(written.text):
            return 0.0
        # A pronoun may stand for anybody: only of the paragraphs that name the subject is it certainly that.
        said = self._verifier.probabilities([(written.text, text) for text in self._paragraphs if self._names(text)])
        return float(said.max(initial=0.0)) * exp(_MODEL * written.log_prob)

    def _add(self, kept: list[WrittenSentence], values: frozenset[Value], most: int | None = None) -> None:
        """Add sentences of the paragraphs for values that the summary lacks: those with most of them first, less those
        that it has."""
        told = {value for sentence in kept for value in self._values(sentence.text)}

        def gain(stated: tuple[WrittenSentence, frozenset[Value]]) -> int:
            _, held = stated
            return len(values & held - told) - len(told & held)

        for _ in range(len(values) if most is None else most):
            best = max(self._stated, key=gain, default=None)
            if best is None or gain(best) <= 0:
                return
            kept.append(best[0])
            told |= best[1]

    def _with_subject_first(self, kept: list[WrittenSentence], definition: str) -> list[WrittenSentence]:
        """Return the sentences with one that names the subject first, as it stands or with the name put in: one that
        can be read alone if possible, and of these the first that defines the subject, if one does."""
        if kept and kept[0].place is not None:
            kept[0] = replace(kept[0], text=name_subject(kept[0].text, self._title, definition))
        texts = ((number, text) for number, one in enumerate(self._paragraphs) for text in split_sentences(one))
        read = (WrittenSentence(text, paragraph=number) for number, text in texts)
        every = chain(kept, (stated for stated, _ in self._stated), read)
        naming = (one for one in every if names_subject(one.text, self._title))
        first = max(naming, key=lambda one: (not defects(one.text), self._defines(one.text)), default=None)
        return kept if first is None else [first, *(sentence for sentence in kept if sentence.text != first.text)]

    def _defines(self, text: str) -> bool:
        """Whether a text says right behind the subject's name, or the last word of that, what the subject is."""
        found = _DEFINES.search(text)
        return found is not None and words_of(text[: found.start()])[-1:] == words_of(subject_of(self._title))[-1:]

    def _without_told(self, kept: Sequence[WrittenSentence]) -> list[WrittenSentence]:
        """Return the sentences without those behind the first whose values all stand in others; the last go first."""
        left = Counter(value for sentence in kept for value in self._values(sentence.text))
        chosen = list(kept)
        for sentence in reversed(kept[1:]):
            values = self._values(sentence.text)
            if all(left[value] > 1 for value in values):
                left.subtract(values)
                chosen.remove(sentence)
        return chosen

    def _names(self, text: str) -> bool:
        """Whether a text has half of the words of the subject's name, such as the last name of a person."""
        return 2 * len(self._name.intersection(words_of(text))) >= max(len(self._name), 1)

    def _values(self, text: str) -> frozenset[Value]:
        """Return the values of a text but for the subject's name, for numbers in words, which say too little, and for
        words whose capital only opens a sentence."""
        digits = text.replace(",", "")
        found = (value for value in find_values(text, self._context) if value not in self._own)
        return frozenset(
            value
            for value in found
            if (value.kind != "number" or str(value) in digits)
            and (value.kind != "name" or " " in str(value) or str(value) in self._context.inner_names)
        )

    def _sentences(self, number: int) -> Iterator[tuple[WrittenSentence, frozenset[Value]]]:
        """Yield the sentences of a paragraph that are about the subject and can be read alone, with their values but
        for its name. What follows a sentence with the name, or a part of it, is about the subject too ("the river"),
        until a sentence leads over to another one, or needs the page."""
        about = False
        sentences = split_sentences(self._paragraphs[number])
        for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
            alone = sentence[match.end() :] if (match := _JOINED.match(sentence)) else sentence
            text = alone[:1].upper() + alone[1:]
            values, readable = self._values(text), not defects(text)
            # A sentence before one on another of its names, or a part of it, leads over to that.
            names = {word for value in values if value.kind == "name" for word in str(value).split()}
            others = names.difference(self._context.lower).intersection(words_of(following))
            leads_over = bool(others) and not self._names(following)
            named = self._names(text)
            about = not leads_over and (readable if named else about)
            if about and readable and values:
                yield WrittenSentence(text, paragraph=number), values


def verified(
    writer: VerifiedWriter,
    hypothesis: Hypothesis,
    pieces: Sequence[str],
    written: Sequence[LikelySentence],
    vocabulary: Vocabulary,
) -> tuple[str, list[str], Hypothesis]:
    """Return the text, the pieces and the tokens of a model's summary with the sentences that a writer chooses; a
    sentence of a paragraph attends to that. The writer has read the paragraphs of `hypothesis.attention`, in their
    order; `pieces` and `written` are those of the hypothesis."""
    tokens: list[int] = []
    spelled: list[str] = []
    attention: list[Tensor] = [hypothesis.attention[:0]]
    chosen = writer.write(written)
    for sentence in chosen:
        if sentence.place is None:
            looks = torch.zeros(1, hypothesis.attention.shape[1])
            looks[0, sentence.paragraph] = 1.0
        else:
            looks = hypothesis.attention[written[sentence.place].tokens]
        if sentence.place is not None and sentence.text == written[sentence.place].text:
            ids = hypothesis.tokens[written[sentence.place].tokens]
            spelled += pieces[written[sentence.place].tokens]
        else:
            ids = vocabulary.encode(sentence.text)
            spelled += vocabulary.pieces(ids)
            looks = looks.mean(dim=0, keepdim=True).expand(len(ids), -1)
        tokens += ids
        attention.append(looks)
    text = " ".join(" ".join(sentence.text.split()) for sentence in chosen)
    return text, spelled, replace(hypothesis, tokens=tokens, attention=torch.cat(attention))
