"""Sentences of two sources that say the same with another value: another price, date, length or person in an office.

`conflicts.py` reads what is said of a name, with verbs that it knows. This module knows no verbs. Two sentences have
one slot if the longer one has all ordinary words of the shorter one, few others, and none that distinguishes two things
("adults", "north", "revised"). They differ if one value of one kind and unit differs and all others are the same. A
line such as "Length: 214 km" is about the title's subject."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values
from tasks.engine.data_files import read_data
from tasks.extractive.conflicts import Difference, Statement, differences
from tasks.extractive.pile import PilePassage
from tasks.text.content_words import content_words
from tasks.verification.frames import Frame, framed
from tasks.verification.words import LIMITS, NEGATORS, Word, WordKind, read, related, small_words, stem

_DATA = read_data("tasks.extractive", "slots.toml")
_APART = frozenset(_DATA["apart"].split())
_LIGHT = frozenset(map(stem, _DATA["light"].split()))
_MEASURES = {stem(word): line.split()[0] for line in _DATA["measures"].split("\n") for word in line.split()}
_BOUNDS = frozenset().union(*(words for name, words in LIMITS.items() if name != "all"))
_MOST_WORDS = 30  # of a sentence; longer ones say several things
_MOST_OTHERS = 3  # words that only the longer sentence has
_NEAR = Decimal("0.05")  # of a number; a larger difference is not due to rounding
_POINTING = frozenset({"it", "he", "she", "they", "this", "that", "these", "those", "we", "i", "you", "there"})
_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w’'-]+(?: [A-Z][\w.’'-]*){0,3}"
_ROLE = r"[a-z][a-z -]{2,40}?"
_OFFICES = (
    re.compile(rf"^(?:The |Our |Its )(?P<role>{_ROLE}) (?P<verb>is|was|will be) (?P<name>{_NAME})[.,]?$"),
    re.compile(rf"^(?P<role>[A-Z][a-z -]{{2,40}}): (?P<name>{_NAME})\.?$"),
    re.compile(rf"^(?P<name>{_NAME}) (?P<verb>is|was|will be) (?:the|our|its) (?P<role>{_ROLE})\.?$"),
)
_LABEL = re.compile(r"^[A-Z][a-z -]{2,30}: (?=\S)")
_DAY = "day"
_ENDINGS = frozenset({"st", "nd", "rd", "th"})  # of ordinals, torn off
_MONTHS = frozenset(small_words("months")) | {"may, the month"}
_PREPOSITIONS = frozenset(small_words("prepositions")) | {"by"}
_TENSES = {word: tense for tense, words in _DATA["tenses"].items() for word in words.split()}
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_REACH = 2  # words before a number in which a bound of it is


@dataclass(frozen=True)
class StatedSentence:
    """A sentence of a source, and what limits what it says."""

    text: str  # on one line
    passage: int  # number of its passage
    words: tuple[Word, ...]
    stems: frozenset[str]  # of its ordinary words and names; of a label those of the title too
    apart: frozenset[str]  # words that distinguish things
    limits: frozenset[str]  # stems of words right after a preposition, such as "case" in "a phone with a case"
    tense: str  # past | present | future; empty if only an ordinary verb shows it
    uncertain: bool
    label: bool  # "Chair: Ann Lee"


@dataclass(frozen=True)
class Proposition:
    """A sentence with one of its values taken out."""

    value: Value
    unit: str  # what is counted; "day" for a day of a month; empty for a name in an office
    stems: frozenset[str]  # what is said of it
    others: frozenset[str]  # other numbers of the sentence
    bounds: frozenset[str]  # words such as "about" before the value
    sentence: StatedSentence


class SlotDifference(Difference):
    """Sentences of one slot with different values."""

    def stated_in(self, sentence: str) -> bool:
        """Return whether a sentence has one of the values, and all words that the sides share."""
        held = ValueIndex([sentence])
        own = _stems(sentence)
        shared = frozenset.intersection(*(_stems(statement.sentence) for statement in self.statements))
        has_value = any(
            statement.value in held or statement.value in find_values(sentence) for statement in self.statements
        )
        return has_value and all(any(_same(word, other) for other in own) for word in shared)

    def left_out_of(self, sentence: str) -> str:
        """Return a sentence unchanged, or nothing if it states a side."""
        return "" if self.stated_in(sentence) else sentence


def contradictions(title: str, passages: Sequence[PilePassage]) -> list[Difference]:
    """Return the differences between sources: those that `conflicts.py` finds by names, then slots with different
    values."""
    of_names = differences(title, passages)
    known = {(side.passage, side.sentence) for difference in of_names for side in difference.statements}
    by_unit: defaultdict[str, list[Proposition]] = defaultdict(list)
    for number, passage in enumerate(passages):
        for one in propositions(title, passage.text, number):
            by_unit[one.unit].append(one)
    results: list[Difference] = []
    for one, other in (pair for group in by_unit.values() for pair in combinations(group, 2)):
        sides = {(each.sentence.passage, each.sentence.text) for each in (one, other)}
        same_source = passages[one.sentence.passage].source == passages[other.sentence.passage].source
        if not same_source and not sides <= known and differ(one, other):
            results.append(SlotDifference([_statement(one), _statement(other)], changed=False))
            known |= sides
    return [*of_names, *sorted(results, key=lambda one: one.statements[0].passage)]


def _statement(one: Proposition) -> Statement:
    text, slot = one.sentence.text, " ".join(sorted(one.stems))
    return Statement("", frozenset(), slot, one.value, text.rstrip("."), None, text, one.sentence.passage)


def propositions(title: str, text: str, passage: int = 0) -> Iterator[Proposition]:
    """Yield what the sentences of a text say with one value each. `title`: of the pile; `passage`: its number."""
    about = frozenset(map(stem, content_words(title)))
    for line in text.split("\n"):
        for piece in split_sentences(line):
            sentence = _stated(" ".join(piece.split()), passage, about)
            if sentence is not None:
                yield from _offices(sentence)
                yield from _measured(sentence)


def _stated(text: str, passage: int, about: frozenset[str]) -> StatedSentence | None:
    """Return a sentence; None if it asserts nothing that can be compared."""
    words = read(text).words
    label = _LABEL.match(text) is not None
    says = label or _is_sentence(text)
    if (
        not words
        or not says
        or len(words) > _MOST_WORDS
        or words[0].text in _POINTING
        or any(word.text == "next" for word in words)
    ):
        return None
    frames = {part.frame for part in framed(text)}
    if frames & {Frame.DENIED, Frame.FICTIONAL} or any(word.text in NEGATORS for word in words):
        return None
    return StatedSentence(
        text,
        passage,
        words,
        _stems(text) | (about if label else frozenset()),
        frozenset(word.text for word in words if word.text in _APART),
        frozenset(words[n].key for n in range(1, len(words)) if _limited(words, n)),
        next((_TENSES[word.text] for word in words if word.text in _TENSES), ""),
        Frame.UNCERTAIN in frames,
        label,
    )


def _is_sentence(text: str) -> bool:
    begins = text[:1].isupper() or text[:1].isdigit()
    return begins and text.endswith(".") and not text.isupper() and not any(mark in text for mark in ":|")


def _offices(sentence: StatedSentence) -> Iterator[Proposition]:
    """Yield who holds an office: "The chair is Ann Lee", "Chair: Ann Lee"."""
    match = next((match for pattern in _OFFICES if (match := pattern.match(sentence.text))), None)
    if match is not None:
        name = Value("name", tuple(match["name"].casefold().split()))
        yield Proposition(name, "", _stems(match["role"]), frozenset(), frozenset(), sentence)


def _measured(sentence: StatedSentence) -> Iterator[Proposition]:
    """Yield a sentence once for each of its numbers that counts something, and each day of a month."""
    words = sentence.words
    numbers = [n for n, word in enumerate(words) if word.kind is WordKind.NUMBER]
    for place in numbers:
        unit = _unit(words, place) if _DECIMAL.fullmatch(words[place].key) else None
        if unit is not None:
            value = Value("number", Decimal(words[place].key))
            others = frozenset(words[n].key for n in numbers if n != place)
            bounds = frozenset(word.text for word in words[max(place - _REACH, 0) : place] if word.text in _BOUNDS)
            yield Proposition(value, unit, sentence.stems - {unit}, others, bounds, sentence)


def _unit(words: Sequence[Word], place: int) -> str | None:
    """Return the stem of what a number counts, or "day" next to a month; None for neither."""
    near = [words[n] for n in (place - 1, place + 1) if 0 <= n < len(words)]
    if len(words[place].key) < 3 and any(word.text in _MONTHS for word in near):
        return _DAY
    after = words[place + 1] if place + 1 < len(words) else None
    return after.key if after is not None and after.kind is WordKind.WORD and after.text not in _ENDINGS else None


def _limited(words: Sequence[Word], place: int) -> bool:
    """Tell whether a word is the first one with content after a preposition."""
    if not words[place].kind:
        return False
    before = words[place - 2 : place] if words[place - 1].text in {"a", "an", "the"} else words[place - 1 : place]
    return bool(before) and before[0].text in _PREPOSITIONS


def differ(one: Proposition, other: Proposition) -> bool:
    """Tell whether two propositions have one slot and cannot both be true."""
    a, b = one.sentence, other.sentence
    same = (one.unit, one.others, one.bounds) == (other.unit, other.others, other.bounds)
    if not same or (a.apart, a.uncertain) != (b.apart, b.uncertain) or (a.tense and b.tense and a.tense != b.tense):
        return False
    if one.unit in {"", _DAY} and a.label and b.label:
        return False  # the authors, or the days, of two pages
    if not one.unit and len(one.stems) != len(other.stems):
        return False  # "the chair of the council" is not "the chair"
    shorter, longer = sorted((one.stems, other.stems), key=len)
    added = [word for word in longer if not any(_same(word, there) for there in shorter)]
    if not shorter or len(added) > _MOST_OTHERS or len(added) != len(longer) - len(shorter):
        return False
    return (a.limits | b.limits).isdisjoint(added) and _exclude(one.value, other.value)


def _exclude(one: Value, other: Value) -> bool:
    """Tell whether two values cannot both be right: names without a common word, numbers that are not rounded alike."""
    if one.kind == "name":
        return set(str(one).split()).isdisjoint(str(other).split())
    a, b = Decimal(str(one)), Decimal(str(other))
    return not (_rounded(a, b) or _rounded(b, a))


def _rounded(exact: Decimal, coarse: Decimal) -> bool:
    """Tell whether a number is another one when it is rounded to as many digits, and little changes by it."""
    near = abs(exact - coarse) <= _NEAR * max(abs(exact), abs(coarse))
    return near and exact.quantize(Decimal(1).scaleb(int(coarse.normalize().as_tuple().exponent))) == coarse


def _stems(text: str) -> frozenset[str]:
    """Return the stems of the ordinary words and names of a text; for a measure its noun."""
    words = (word for word in read(text).words if word.kind in {WordKind.WORD, WordKind.NAME})
    kept = (word.key for word in words if word.text not in _MONTHS)
    return frozenset(_MEASURES.get(key, key) for key in kept if key not in _LIGHT)


def _same(word: str, other: str) -> bool:
    return word == other or related(word, other)
