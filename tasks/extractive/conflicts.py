"""Differences between sources on a subject: another date of what happens once, another number of the same things.

Only words next to the subject's name are read, so few differences are found, and hardly any wrongly. Numbers
that have different years of their own have changed, and contradict nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import takewhile

from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values
from tasks.engine.data_files import read_data
from tasks.extractive.pile import PilePassage
from tasks.text.content_words import FUNCTION_WORDS, subject_of, words_of
from tasks.text.language import has_finite_verb

_DATA = read_data("tasks.extractive", "conflicts.toml")
_SLOTS = {verb: group.split()[0] for group in _DATA["once"] for verb in group.split()}
_ITSELF = _DATA["itself"].split()
_ONCE = "|".join(_SLOTS)
_DATE = r"(?P<value>(?:\d{1,2} )?(?:[A-Z][a-z]{2,8} )?(?:\d{1,2}, )?(?:1\d|20)\d\d)"
_END = r"(?=[.,;)]|$| and )"  # "opened in 2012 as a school", "has 12 rooms in the tower": of a part, or of a time
_NAME = r"(?:the )?[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,4}"
_ASIDE = r"(?: \([^()]*\))?(?:, [^,;.()]{3,80},)?"
_HAPPENED = re.compile(
    rf"{_ASIDE} (?:(?:was|were)(?: originally| officially)? (?P<done>{_ONCE})|(?P<does>{'|'.join(_ITSELF)}))"
    rf"(?:(?<=born|died) in {_NAME}(?:, {_NAME})?,?| to (?:the public|traffic))?"
    rf"(?: by {_NAME})? (?:in|on) {_DATE}(?=[.,;)]|$| and | by )"
)
_BORN = re.compile(rf" \((?P<done>born) {_DATE}(?=[;,)])")
_OPENING = re.compile(
    rf"^(?P<done>{_ONCE.title()})(?:(?<=Born) in {_NAME})?(?: by {_NAME})? (?:in|on) {_DATE}(?: by {_NAME})?,"
    r" (?:the )?$"
)
_DATED = re.compile(rf"^(?:In|On) {_DATE},? (?:the )?$")
_DONE = re.compile(rf" (?:was|were) (?P<done>{_ONCE}){_END}")
_MADE = re.compile(rf"\b(?P<done>{_ONCE}) (?:the )?$")  # before the name: "Pell built Harrow Mill in 1874"
_THEN = re.compile(rf" (?:in|on) {_DATE}{_END}")
_TOLD = rf"(?:{_ONCE})\b[^,;.()]{{0,60}} (?:in|on) {_DATE.replace('(?P<value>', '(?:')}"
# What a sentence can do without: "Built in 1874, ...", ", built in 1874,", " (built in 1874)", "a mill built in 1874."
_ASIDES = re.compile(
    rf"^{_TOLD}[^,;.()]*, |, (?:originally |first )?{_TOLD}[^,;.()]*,| \({_TOLD}[^()]*\)"
    rf"|(?<!\bwas)(?<!\bwere)(?<!\bbeen)(?<!\bthat)(?<!\bwhich)(?<!\band)(?<!\bit),? {_TOLD}(?=\.$)",
    re.IGNORECASE,
)
_CAN = _DATA["can"]
_FIGURE = (
    r" (?P<value>[$€£]?\d[\d,.]*(?<=\d)(?: [mb]illion)?)(?:[ -](?P<unit>[a-z]+(?: [a-z]+)?))?"
    r"(?=[.,;)]|$| in \d{4}| and (?![a-z]+(?: [a-z]+)?[.,;)]))"  # "24 cars and lorries" are of both
)
_NUMBERED = re.compile(
    rf"{_ASIDE}(?: (?:is|was) an? (?P<kind>[a-z -]{{1,60}}?),? (?:that|which)|, which)?"
    rf" (?:can (?P<can>{'|'.join(_CAN)})|(?P<what>{'|'.join(_DATA['states'].split())}|ha[sd] an? [a-z]+ of))"
    rf"(?P<most> up to)?(?: a total of)?{_FIGURE}"
)
_FURTHER = re.compile(rf"(?:,| and|, and){_FIGURE}")
_OTHER_FIGURE = re.compile(r",?(?: and| or| to)? \d")
_OF = re.compile(r"(?:^|[,;] )[Tt]he (?P<what>[a-z]+ of) (?:the )?$")
_AMOUNTS = re.compile(rf" (?:is|was|were){_FIGURE}")
_YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-9]{2})\b")
_IN_YEAR = re.compile(r"(?:In|By) \d{4},? ")
_IS_A = re.compile(rf"{_ASIDE} (?:is|was) (?:an?|the) ([A-Za-z -]{{1,80}})")
_NAMED = re.compile(r"(?<![\w’'-])(?!(?:The|In|On|By) )[A-Z][\w’'-]*(?: (?:(?:of|of the|de|von) )?[A-Z][\w’'-]*){1,5}")
_PRONOUN = re.compile(r"(?:It|He|She)(?= )")
# Of the subject itself, not of "Harrow Mill Bridge" or "Harrow Mill's".
_PREDICATE = re.compile(rf"{_ASIDE} (?:[a-z]+(?:s|ed)|had|stood|lay|ran|became|began)\b")


@dataclass(frozen=True)
class Statement:
    """What a sentence says of the subject."""

    subject: str  # the subject, in lower case
    nouns: frozenset[str]  # words for it: the last of its name, and the noun that the passage uses for it
    slot: str  # what is stated: two statements with the same slot are about the same thing
    value: Value  # what it is said to be
    text: str  # the statement as a clause that names the subject
    year: int | None  # in which a number was so: the only year of its sentence; None without, and of what happens once
    sentence: str  # that says it, on one line
    passage: int  # number of its passage


@dataclass(frozen=True)
class Difference:
    """At least two statements of one slot that differ, in the order of their passages; if `changed`, of their years."""

    statements: Sequence[Statement]
    changed: bool

    @property
    def line(self) -> str:
        """All statements as one sentence."""
        if self.changed:
            return f"Over time: {'; '.join(f'{one.text} ({one.year})' for one in self.statements)}."
        return f"Sources differ: {'; '.join(one.text for one in self.statements)}."

    def stated_in(self, sentence: str) -> bool:
        """Return whether a sentence tells one side: a verb or unit of the slot, one of the values, and the subject,
        also as a pronoun at the beginning, or as one of its nouns."""
        first, words = self.statements[0], words_of(sentence)
        verbs = [verb for verb, slot in _SLOTS.items() if slot == first.slot]
        nouns = frozenset[str]().union(*(statement.nouns for statement in self.statements))
        of = not nouns.isdisjoint(words) or words[:1] in (["it"], ["he"], ["she"])
        if not of or not set(verbs or words_of(first.slot)[-1:]) & set(words):
            return False
        values = [statement.value for statement in self.statements]
        if verbs:  # "built in 1874" tells a side also of two days of that year
            values = [Value("number", Decimal(str(_date(value)[0]))) for value in values]
        held = ValueIndex([sentence])
        return any(value in held for value in values)

    def left_out_of(self, sentence: str) -> str:
        """Return a sentence without asides that tell one side; empty if the rest still does."""
        if not self.stated_in(sentence):
            return sentence
        rest = _ASIDES.sub("", sentence)
        rest = f"{rest[:1].upper()}{rest[1:]}"
        return "" if self.stated_in(rest) or not has_finite_verb(rest) else rest


def without_sides(sentence: str, told: Sequence[Difference]) -> str:
    """Return a sentence without its side of the differences, by `Difference.left_out_of`; it may be empty."""
    return reduce(lambda rest, one: one.left_out_of(rest), told, sentence)


def differences(title: str, passages: Sequence[PilePassage]) -> list[Difference]:
    """Return the differences between sources on the title's subject, in the order of first mention. A slot for which
    one source has two values is left out, because it can have several."""
    slots: defaultdict[tuple[str, str], list[Statement]] = defaultdict(list)
    for number, passage in enumerate(passages):
        for statement in statements(title, passage.text, number):
            slots[statement.subject, statement.slot].append(statement)
    results = [_difference(told, [passages[item.passage].source for item in told]) for told in slots.values()]
    return [item for item in results if item is not None]


def statements(title: str, text: str, passage: int = 0) -> Iterator[Statement]:
    """Yield what the sentences of a text say of the title's subject, and of names of two words or more; nothing where
    the title has no word."""
    subject, before = subject_of(title), ""
    if not subject.split():
        return  # a title without a word
    nouns = {subject.split()[-1].lower()}
    for sentence in split_sentences(text):
        line = written = " ".join(sentence.split())
        rest = before.removeprefix("The ")
        if rest.startswith(subject) and _PREDICATE.match(rest, len(subject)):
            first, second, *_ = *line.split(maxsplit=2), "", ""
            if _PRONOUN.match(line):
                line = f"{subject} {line.partition(' ')[2]}"
            elif first == "The" and second in nouns:
                line = f"{subject} {line.split(maxsplit=2)[2]}"
        before = line
        mentioned = list(re.finditer(rf"(?<!\w){re.escape(subject)}(?!\w)", line, re.IGNORECASE))
        for match in mentioned[:1]:
            nouns |= _kinds(line[match.end() :])
        named = [item for item in _NAMED.finditer(line) if item[0].casefold() != subject.casefold()]
        for match in (*mentioned, *named):
            own = frozenset(nouns if match in mentioned else {match[0].split()[-1].lower()})
            for slot, figure, clause, may_change in _told(line[: match.start()], match[0], line[match.end() :]):
                values = [value for value in find_values(figure) if value.kind != "name"]
                if len(values) == 1:
                    years = set(_YEAR.findall(line)) if may_change else set()
                    year = int(years.pop()) if len(years) == 1 else None
                    yield Statement(match[0].casefold(), own, slot, values[0], clause, year, written, passage)


def _kinds(after: str) -> set[str]:
    """Return the word for the subject behind a mention, such as "ferry" in " is a car ferry of ours"."""
    match = _IS_A.match(after)
    words = list(takewhile(lambda word: word not in FUNCTION_WORDS, match[1].split())) if match else []
    while words and words[-1].endswith("ed"):  # "a ferry operated by"
        words.pop()
    return {word for word in words[-1:] if word.islower()}


def _told(before: str, name: str, after: str) -> Iterator[tuple[str, str, str, bool]]:
    """Yield slot, value as written, clause and whether it may change, for the statements next to a mention."""
    alone = before.removesuffix("The ").removesuffix("the ")
    name = f"{before[len(alone) :].capitalize()}{name}"
    of, plain = _OF.search(before), not alone or _IN_YEAR.fullmatch(alone) is not None
    begins = plain or alone.endswith((", ", "; "))
    if begins and (match := _HAPPENED.match(after)):
        yield _SLOTS[match["done"] or match["does"]], match["value"], f"{name}{match[0]}", False
    elif match := _AMOUNTS.match(after) if of else _NUMBERED.match(after) if plain else None:
        yield from _numbered(of, name, after, match)
    elif dated := _dated(before, name, after, begins):
        yield dated


def _numbered(
    of: re.Match[str] | None, name: str, after: str, match: re.Match[str]
) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the same of the figures behind a verb: "carries 24 cars and 150 passengers"."""
    result = match.groupdict() | (of.groupdict() if of else {})
    if not FUNCTION_WORDS.isdisjoint((result.get("kind") or "").split()):
        return  # "is a mill in a valley that has 12 farms"
    verb = f"{result['what'] or _CAN[result['can']]}{result.get('most') or ''}"
    begin, figures = match.start("value"), [match]
    while further := None if of else _FURTHER.match(after, figures[-1].end()):
        figures.append(further)
    units = [figure["unit"] or "" for figure in figures]
    if _OTHER_FIGURE.match(after, figures[-1].end()) or any(each.partition(" ")[0] in FUNCTION_WORDS for each in units):
        return  # "24 cars, 26 in summer"
    for item, unit in zip(figures, units, strict=True):
        if unit or verb.endswith(" of"):
            clause = f"{f'The {verb} ' if of else ''}{name}{after[:begin]}{after[item.start('value') : item.end()]}"
            yield f"{verb} {unit}", item["value"], clause, True


def _dated(before: str, name: str, after: str, begins: bool) -> tuple[str, str, str, bool] | None:
    """Return the same for passive statements: before the mention, around it, or in brackets after it."""
    for first, then in ((_OPENING, None), (_DATED, _DONE), (_MADE, _THEN), (None, _BORN)):
        one, other = first.search(before) if first else None, then.match(after) if then else None
        if (one or (first is None and begins)) and (other or then is None):
            parts = (one.groupdict() if one else {}) | (other.groupdict() if other else {})
            verb, value = parts["done"].lower(), parts["value"]
            if verb in {"died", "began", "sank"}:
                return None
            return _SLOTS[verb], value, f"{name} was {verb} {'on' if len(value.split()) == 3 else 'in'} {value}", False
    return None


def _difference(told: Sequence[Statement], sources: Sequence[str]) -> Difference | None:
    different: list[Statement] = []
    for one, source in zip(told, sources, strict=True):
        others = [other for other in told if not _agree(one, other)]
        if any(sources[told.index(other)] == source for other in others):
            return None
        if others and all(not _agree(one, other) for other in different):
            different.append(one)
    if len(different) < 2:
        return None
    years = [item.year for item in different]
    changed = None not in years and len(set(years)) == len(years)
    return Difference(sorted(different, key=lambda one: one.year or 0) if changed else different, changed)


def _agree(one: Statement, other: Statement) -> bool:
    """Return whether both may be true: they are equal, one is less exact, or only one has a time."""
    if (one.year is None) != (other.year is None):
        return True
    if one.slot in _SLOTS.values():
        pairs = zip(_date(one.value), _date(other.value), strict=False)
        return all(mine == theirs or None in (mine, theirs) for mine, theirs in pairs)
    a, b = str(one.value), str(other.value)
    if a[:1].isdigit() != b[:1].isdigit():
        return True  # of money and of something else
    return _rounded(a, b) or _rounded(b, a)


def _date(value: Value) -> tuple[object, ...]:
    return value.key if value.kind == "date" and isinstance(value.key, tuple) else (int(Decimal(str(value))),)


def _rounded(figure: str, to: str) -> bool:
    """Return whether a number is another one when it is rounded to as many digits."""
    exact, coarse = (Decimal(each.strip("$€£")) for each in (figure, to))
    return exact.quantize(Decimal(1).scaleb(int(coarse.normalize().as_tuple().exponent))) == coarse
