"""Differences between sources: statements about one thing with values that cannot both be right.

Two statements are about one thing if they count the same and use the same words; one may be longer at its end. Values
of different years have changed, and contradict nothing."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import combinations

from models.values import Value, ValueIndex
from tasks.extractive.notes import statements
from tasks.extractive.pile import PilePassage
from tasks.extractive.simple_clauses import EVENTS, SUBJECT
from tasks.extractive.statements import BEFORE_DUE, CLOCK, DAYS, OFFICE, ONCE, SINGLE, Statement, event_of, stems_of
from tasks.text.content_words import content_words, subject_of
from tasks.text.language import has_finite_verb
from tasks.verification.canonical import canonical
from tasks.verification.words import read, related

_MOST_ADDED = 3  # words that only one of two statements has
_NEAR = Decimal("0.05")  # of a number; a larger difference is not due to rounding
_POINTED = re.compile(r"(?:It|He|She|They|(?:The|This|Its|Their) [a-z]\w*)\b")
# Parts that a sentence does not need: ", built in 1874,", " (built in 1874)", ", built in 1874.", "Built in 1874, "
_ASIDES = [re.compile(part) for part in (r", [^,;.()]+,", r" \([^()]*\)", r", [^,;.()]+(?=\.$)", r"^[^,;.()]+, ")]


@dataclass(frozen=True)
class Difference:
    """At least two statements of one thing, in the order of their passages; if `changed`, of their years."""

    title: str  # of the sources
    statements: Sequence[Statement]
    changed: bool

    @property
    def line(self) -> str:
        """All sides as one sentence."""
        sides = "; ".join(item.sentence.rstrip(".") for item in self.statements)
        return f"{'Over time' if self.changed else 'Sources differ'}: {sides}."

    def stated_in(self, sentence: str) -> bool:
        """Tell whether a sentence may state a side: it has its value, and the words that the sides share."""
        clear = canonical(sentence)
        stems = stems_of(clear)
        kind = self.statements[0].kind
        if kind in ONCE and kind != event_of(clear):
            return False
        if kind == "due" and BEFORE_DUE.isdisjoint(read(clear).texts):
            return False
        shared = frozenset.intersection(*(side.words for side in self.statements))
        if kind not in ONCE | DAYS | {CLOCK, OFFICE}:
            shared |= {kind.partition(" ")[0]}
        if SUBJECT in shared and not self._may_be_of_subject(sentence):
            return False
        has_words = all(any(related(word, other) for other in stems) for word in shared - {SUBJECT})
        return has_words and self._has_value(clear)

    def _has_value(self, clear: str) -> bool:
        """Tell whether a text in canonical form has the value of a side."""
        held, stems = ValueIndex([clear]), stems_of(clear)
        return any(_held(side, held, stems) for side in self.statements)

    def _may_be_of_subject(self, sentence: str) -> bool:
        named = content_words(sentence) & content_words(subject_of(self.title))
        return bool(named) or _POINTED.search(sentence) is not None

    def left_out_of(self, sentence: str) -> str:
        """Return a sentence without an aside that states a side; empty if the rest still does."""
        if not self.stated_in(sentence):
            return sentence
        for match in (match for part in _ASIDES for match in part.finditer(sentence)):
            rest = f"{sentence[: match.start()]}{sentence[match.end() :]}"
            clear = canonical(match[0])
            aside = _begins_aside(clear) and self._has_value(clear)
            if aside and has_finite_verb(rest) and not self.stated_in(rest):
                return f"{rest[:1].upper()}{rest[1:]}"
        return ""


def _begins_aside(part: str) -> bool:
    """Tell whether a part of a sentence may be left out: "built in 1874", "which has 12 rooms", and no main clause."""
    words = [word for word in read(part).words if word.text not in {"first", "originally"}]
    return bool(words) and (words[0].text in {"which", "who"} or words[0].key in EVENTS)


def without_sides(sentence: str, differences: Sequence[Difference]) -> str:
    """Return a sentence without its sides of the differences, by `Difference.left_out_of`; it may be empty."""
    return reduce(lambda rest, item: item.left_out_of(rest), differences, sentence)


def find_differences(title: str, passages: Sequence[PilePassage]) -> list[Difference]:
    """Return the differences between sources, in the order of first mention. `title`: of the sources. A source that
    states two values itself counts for neither."""
    groups: defaultdict[object, list[Statement]] = defaultdict(list)
    for number, passage in enumerate(passages):
        for item in statements(title, passage, number):
            groups[item.kind, item.others, item.bounds, item.apart, item.uncertain].append(item)
    sides = [side for group in groups.values() for side in _differing(title, group, passages)]
    results: dict[frozenset[tuple[int, str]], Difference] = {}
    for side in sides:  # one line if two sentences differ in two values
        key = frozenset((item.passage, item.sentence) for item in side)
        results.setdefault(key, _difference(title, side))
    return sorted(results.values(), key=lambda item: min(each.passage for each in item.statements))


def _difference(title: str, sides: Sequence[Statement]) -> Difference:
    changed = sides[0].years != sides[1].years and sides[0].kind not in ONCE
    return Difference(title, sorted(sides, key=lambda item: min(item.years)) if changed else sides, changed)


def _differing(
    title: str, group: Sequence[Statement], passages: Sequence[PilePassage]
) -> Iterator[Sequence[Statement]]:
    """Yield sides that all exclude each other, of different sources."""
    pairs = [(one, other) for one, other in combinations(group, 2) if differ(one, other)]
    torn = {id(item) for pair in pairs if len({passages[each.passage].source for each in pair}) == 1 for item in pair}
    found: list[list[Statement]] = []
    for one, other in pairs:
        texts = [passages[each.passage].text for each in (one, other)]
        if id(one) in torn or id(other) in torn or not _under_one_heading(title, (one, other), texts):
            continue
        for sides in found:
            if any(each is one or _agree(each, one) for each in sides):
                if all(differ(each, other) for each in sides):
                    sides.append(other)
                break
        else:
            found.append([one, other])
    yield from found


def _agree(one: Statement, other: Statement) -> bool:
    return one.words == other.words and not _exclude(one, other)


def _under_one_heading(title: str, sides: Sequence[Statement], texts: Sequence[str]) -> bool:
    """Tell whether a side's passage has each word in the heading of the other, as far as the title has not."""
    known = [stems_of(f"{title}\n{text}") | side.heading for side, text in zip(sides, texts, strict=True)]
    return all(
        any(related(word, there) for there in words)
        for side, words in zip(sides, reversed(known), strict=True)
        for word in side.heading
    )


def differ(one: Statement, other: Statement) -> bool:
    """Tell whether two statements of one kind are about one thing and cannot both be right, or have different years."""
    if one.tense and other.tense and one.tense != other.tense:
        return False
    if one.label and other.label and _may_be_of_page(one):
        return False
    return _of_one_time(one, other) and _of_one_thing(one, other) and _exclude(one, other)


def _may_be_of_page(labelled: Statement) -> bool:
    """Tell whether a label may name the author, or the day, of a page."""
    if labelled.kind == OFFICE:
        return labelled.words.isdisjoint(SINGLE)
    return labelled.kind in DAYS and not labelled.jotted


def _of_one_time(one: Statement, other: Statement) -> bool:
    """Tell whether two statements have the same years, or one each."""
    if one.kind in ONCE or one.years == other.years:
        return True
    return len(one.years) == len(other.years) == 1 and one.kind not in {OFFICE, *DAYS}


def _of_one_thing(one: Statement, other: Statement) -> bool:
    shorter, longer = sorted((one, other), key=lambda item: len(item.words))
    few, many = shorter.words, longer.words
    if SUBJECT in few ^ many:  # "the opening" is that "of the gym" in a pile about the gym
        few, many = few - {SUBJECT}, many - {SUBJECT}
    added = [word for word in many if not any(related(word, there) for there in few)]
    if not few or len(added) != len(many) - len(few):
        return False
    if one.jotted or other.jotted:
        return all(any(related(word, there) for there in shorter.heading) for word in added)
    if one.kind in ONCE or one.kind == OFFICE:
        return not added
    return len(added) <= _MOST_ADDED and longer.before.isdisjoint(added) and longer.limited.isdisjoint(added)


def _exclude(one: Statement, other: Statement) -> bool:
    """Tell whether two values cannot both be right."""
    if one.kind == OFFICE:
        return set(str(one.value).split()).isdisjoint(str(other.value).split())
    if one.kind in ONCE:
        return any(a != b for a, b in zip(_date(one.value), _date(other.value), strict=False) if a and b)
    a, b = Decimal(str(one.value)), Decimal(str(other.value))
    if one.kind in {CLOCK, *DAYS}:
        return a != b
    return not (_rounded(a, b) or _rounded(b, a))


def _date(value: Value) -> tuple[int | None, ...]:
    """Return year, month and day of a date, as far as they are known."""
    return value.key if value.kind == "date" and isinstance(value.key, tuple) else (int(str(value)),)  # type: ignore[return-value]


def _rounded(exact: Decimal, coarse: Decimal) -> bool:
    """Tell whether a number is another one when it is rounded to as many digits, and little changes by it."""
    near = abs(exact - coarse) <= _NEAR * max(abs(exact), abs(coarse))
    return near and exact.quantize(Decimal(1).scaleb(int(coarse.normalize().as_tuple().exponent))) == coarse


def _held(side: Statement, held: ValueIndex, stems: frozenset[str]) -> bool:
    if side.kind in ONCE:
        return Value("number", Decimal(str(_date(side.value)[0]))) in held
    if side.kind == OFFICE:
        return side.value in held or set(str(side.value).split()) <= stems
    return side.value in held
