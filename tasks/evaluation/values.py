"""Values of a text: its names, numbers and dates, and whether other texts contain them.

A summary is true to its sources only if its values occur there (entity-level factual consistency, Nan et al. 2021).
Numbers and dates are compared by value ("1.8 million" is 1,800,000, "ten" is 10), names word by word, with or without
surrounding words that the other text writes in lower case ("the River Tavil" matches "the Tavil" if that text also
contains "the river").
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from models.sentences import split_sentences

Kind = Literal["name", "number", "date"]
Date = tuple[int, int, int | None]
_REMEMBERED = 2048  # texts: several metrics and systems read the paragraphs of an article, which are some 600
_REMEMBERED_WORDS = 65_536  # a corpus repeats its words, and each is folded in every text

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), start=1)}
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?P<year1>\d{{4}})-(?P<month1>\d\d)-(?P<day1>\d\d)\b"
    rf"|\b(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<month2>{_MONTH}) (?P<year2>\d{{4}})\b"
    rf"|\b(?P<month3>{_MONTH}) (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year3>\d{{4}})\b",
    re.IGNORECASE,
)
_UNIT_NAMES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_UNITS = {word: number for number, word in enumerate(_UNIT_NAMES.split())}
_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * number for number, word in enumerate(_TEN_NAMES.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SPELLED = "|".join((*_UNITS, *_TENS, *_SCALES))
_NUMBER = re.compile(
    r"(?<![\w.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:s|st|nd|rd|th)?(?!\w|\.\d)"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion)\b)?"
    rf"|\b(?P<words>(?:{_SPELLED})(?:(?: and |[ -])(?:{_SPELLED}))*)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[’'.&-][^\W_]+)*")
_PARTICLE_NAMES = "al bin da de del della den der di du ibn la le van von zu"
_PARTICLES = frozenset(_PARTICLE_NAMES.split())
# Words that may open a sentence and then are not part of a name.
_OPENER_NAMES = """
    a about after again all also although among an and another any around as at because before below besides
    between both but by despite during each even every few first for from half he her here his how however if in
    it its like many more most much my near no none nor not now of often on once one only or other our over
    several she since so some soon still such than that the their them then there these they this those though
    through to today together two under until up upon was we were what when where whether which while who
    whoever whose why with within without you your
"""
_OPENERS = frozenset(_OPENER_NAMES.split())
_INFLECTED = re.compile(r"(?:ing|ed|ly)$")


@dataclass(frozen=True)
class Value:
    """A name, number or date; two are equal if they have the same value, however they are written.

    Attributes:
        kind: name | number | date.
        key: case-folded words of a name, the number, or (year, month, day) of a date, whose day may be missing.
    """

    kind: Kind
    key: tuple[str, ...] | Decimal | Date

    def __str__(self) -> str:
        if isinstance(self.key, Decimal):
            return f"{self.key:f}"
        if self.kind == "date":
            return "-".join(f"{part:02}" for part in self.key if part is not None)
        return " ".join(map(str, self.key))


class _Read(NamedTuple):
    """What `Evidence` holds of one text."""

    line: str
    lower: frozenset[str]
    inner_names: frozenset[str]
    numbers: frozenset[Decimal]
    dates: frozenset[Date]


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> _Read:
    words = _words(text)
    dates = _dates(text)[0]
    inner = (word for sentence in split_sentences(text) for word in _words(sentence)[1:] if word[:1].isupper())
    parts = (Decimal(part) for year, _, day in dates for part in (year, day) if part is not None)
    return _Read(
        line=f" {' '.join(map(_folded, words))} ",
        lower=frozenset(_folded(word) for word in words if word[:1].islower()),
        inner_names=frozenset(map(_folded, inner)),
        numbers=frozenset((*parts, *_numbers(text))),
        dates=frozenset(date for year, month, day in dates for date in ((year, month, day), (year, month, None))),
    )


class Evidence:
    """Texts in which values can be looked up.

    Args:
        texts: sources, a lead or a summary.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        read = [_read(text) for text in texts]
        self._line = "\n".join(text.line for text in read)
        self.lower = frozenset[str]().union(*(text.lower for text in read))
        self.inner_names = frozenset[str]().union(*(text.inner_names for text in read))
        self._numbers = frozenset[Decimal]().union(*(text.numbers for text in read))
        self._dates = frozenset[Date]().union(*(text.dates for text in read))

    def __contains__(self, value: Value) -> bool:
        if value.kind == "date":
            return value.key in self._dates
        if isinstance(value.key, Decimal):
            return value.key in self._numbers
        words = tuple(map(str, value.key))
        if self._holds(words):
            return True
        rest = tuple(word for word in words if word not in self.lower)
        return 0 < len(rest) < len(words) and self._holds(rest)

    def _holds(self, words: tuple[str, ...]) -> bool:
        return f" {' '.join(words)} " in self._line


def find_values(text: str, context: Evidence | None = None) -> list[Value]:
    """Return the distinct values of a text in order of first occurrence; dates and numbers before names.

    Args:
        text: a summary or a lead.
        context: texts on the same subject. The capital of a word that opens a sentence is no evidence: the word belongs
            to a name if `context` or the text capitalises it within a sentence, and does not if one of them has it in
            lower case.
    """
    own = Evidence([text])
    dates, rest = _dates(text)
    result = [Value("date", date) for date in dates]
    result += [Value("number", number) for number in _numbers(rest)]
    inner = own.inner_names | (context.inner_names if context else frozenset())
    lower = own.lower | (context.lower if context else frozenset())
    for sentence in split_sentences(rest):
        result += [Value("name", words) for words in _names(sentence, inner, lower)]
    return list(dict.fromkeys(result))


def _names(sentence: str, inner: frozenset[str], lower: frozenset[str]) -> list[tuple[str, ...]]:
    """Return the runs of capitalised words, joined by spaces and particles alone."""
    names: list[tuple[str, ...]] = []
    run: list[str] = []
    end = 0
    for number, match in enumerate(_WORD.finditer(sentence)):
        word = match[0]
        folded = _folded(word)
        if sentence[end : match.start()] not in {"", " "} or not word[0].isalpha():
            _close(names, run)
        end = match.end()
        if number == 0 and _opens_only(folded, inner, lower):
            continue
        if word[0].isupper():
            run.append(folded)
            if word.endswith(("’s", "'s")):
                _close(names, run)
        elif run and folded in _PARTICLES:
            run.append(folded)
        else:
            _close(names, run)
    _close(names, run)
    return names


def _close(names: list[tuple[str, ...]], run: list[str]) -> None:
    """Add the run as a name, without an article before it and particles after it, and start a new run."""
    while run and run[-1] in _PARTICLES:
        run.pop()
    if run and run[0] in {"the", "a", "an"}:
        del run[0]
    if run and run != ["i"] and not (len(run) == 1 and run[0] in _MONTHS):
        names.append(tuple(run))
    run.clear()


def _opens_only(word: str, inner: frozenset[str], lower: frozenset[str]) -> bool:
    """Return whether the first word of a sentence has a capital only because of its position."""
    if word in _OPENERS:
        return True
    return word not in inner and (word in lower or _INFLECTED.search(word) is not None)


def _dates(text: str) -> tuple[list[Date], str]:
    """Return the dates of a text, and the text without them."""
    dates = []
    for match in _DATE.finditer(text):
        parts = {name.rstrip("123"): part for name, part in match.groupdict().items() if part is not None}
        month = parts["month"].lower()
        day = int(parts["day"]) if "day" in parts else None
        dates.append((int(parts["year"]), _MONTHS.get(month) or int(month), day))
    return dates, _DATE.sub(" ; ", text)


def _numbers(text: str) -> list[Decimal]:
    """Return the numbers of a text; a lone "one" is left out, because it is mostly not a number."""
    numbers = []
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            scale = _SCALES[match["scale"].lower()] if match["scale"] else 1
            numbers.append((Decimal(match["digits"].replace(",", "")) * scale).normalize())
        elif (number := _spelled(match["words"].lower())) is not None:
            numbers.append(Decimal(number).normalize())
    return numbers


def _spelled(words: str) -> int | None:
    """Return the number that words such as "two hundred and six thousand" spell, None for "one" and lone scales."""
    total, part, parts = 0, 0, re.split(r" and |[ -]", words)
    if parts == ["one"] or parts[0] in _SCALES:
        return None
    for word in parts:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return total + part


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _folded(word: str) -> str:
    """Return a word in the form used for comparison: case-folded, without a possessive s."""
    return word.replace("’", "'").removesuffix("'s").casefold()
