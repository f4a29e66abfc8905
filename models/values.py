"""Values of a text: its names, numbers and dates, and whether other texts contain them.

A summary is true to its sources only if its values occur there (entity-level factual consistency, Nan et al. 2021).
Numbers and dates are compared by value: "1.8 million" is 1,800,000, "ten" is 10, "12,5" is 12.5, "-12" is not 12, "$12"
and "12%" are more than 12. Names are compared word by word, with or without surrounding words that the other text
writes in lower case ("the River Tavil" matches "the Tavil" if that text also contains "the river"). A name is a run of
words with a capital anywhere ("iPhone", "al-Hasan") or in which digits are not a number ("h2o", "1:30", "3.11.7"). The
search for summaries (`models.search.source_values`) and the metrics read values by these rules alone.

A script without capitals shows no names: see `measurable`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from models.sentences import ENGLISH, split_sentences

Kind = Literal["name", "number", "date"]
Date = tuple[int, int, int | None]
Number = Decimal | str  # a number with its unit, such as "$12" or "12%", is a string
_REMEMBERED = 2048  # texts: several metrics and systems read the paragraphs of an article, which are some 600
_REMEMBERED_WORDS = 65_536  # a corpus repeats its words, and each is folded in every text

MONTHS = {name: number for number, name in enumerate(ENGLISH["numbers"]["months"].split(), start=1)}
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b(?P<year1>\d{{4}})-(?P<month1>\d\d)-(?P<day1>\d\d)\b"
    rf"|\b(?:(?P<day2>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<month2>{_MONTH}) (?P<year2>\d{{4}})\b"
    rf"|\b(?P<month3>{_MONTH}) (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year3>\d{{4}})\b",
    re.IGNORECASE,
)
_UNITS = {word: number for number, word in enumerate(ENGLISH["numbers"]["units"].split())}
_TENS = {word: 10 * number for number, word in enumerate(ENGLISH["numbers"]["tens"].split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SPELLED = "|".join((*_UNITS, *_TENS, *_SCALES))
_SPELLED_RUN = rf"(?:{'|'.join((*_UNITS, *_TENS))})(?:(?: and |[ -])(?:{_SPELLED}))*"
_CONTINUATIONS = (*_UNITS, *_TENS, *_SCALES, "and", "percent", "per", "%")  # of a number, in the next word
_SUFFIX = r"(?:s|st|nd|rd|th|k?m|cm|mm|k?g|ft|am|pm)?"  # what may be written onto a number
_DIGITS = (
    r"(?<!\d,)\d{1,3}(?:,\d{3})++(?:\.\d+)?(?!\d|,\d)"  # 10,000.5
    r"|(?<!\d[ \u00a0\u202f])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?![ ,]?\d)"  # 10 000
    r"|(?<!\d,)\d+,\d{1,2}(?!\d|,\d)"  # 12,5
    r"|\d+(?:\.\d+)?"
)
_NUMBER = re.compile(
    r"(?P<minus>(?<![\w)%])[-\u2212](?=[$€£¥₹]?\d))?(?P<currency>[$€£¥₹] ?)?"
    rf"(?<![\w.])(?<!\d:)(?P<digits>{_DIGITS}){_SUFFIX}(?!\w|\.\d|:\d)"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion)s?\b)?(?P<percent> ?%| per ?cent\b)?"
    rf"|\b(?P<words>{_SPELLED_RUN})\b",
    re.IGNORECASE,
)
_SPELLED_WORD = re.compile(rf"(?:{_SPELLED})(?:-(?:{_SPELLED}))*", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[’'.&-][^\W_]+|(?<=\d)[:,](?=\d)[^\W_]+)*")
_NUMERAL = re.compile(rf"\d+(?:,\d+)*(?:\.\d+)?{_SUFFIX}", re.IGNORECASE)  # a word, or part of one, that is a number
PARTICLES = frozenset(ENGLISH["names"]["particles"].split())
# Words that may open a sentence and then are not part of a name.
OPENERS = frozenset(" ".join(ENGLISH["openers"].values()).split())
_ARTICLES = frozenset({"the", "a", "an"})


@dataclass(frozen=True)
class Value:
    """A name, number or date; two are equal if they have the same value, however they are written."""

    kind: Kind  # name | number | date
    # case-folded words of a name, the number (a string where it has a unit: "$12", "12%"), or (year, month, day) of a
    # date, whose day may be missing
    key: tuple[str, ...] | Number | Date

    def __str__(self) -> str:
        if isinstance(self.key, Decimal):
            return f"{self.key:f}"
        if isinstance(self.key, str):
            return self.key
        if self.kind == "date":
            return "-".join(f"{part:02}" for part in self.key if part is not None)
        return " ".join(map(str, self.key))


class _Read(NamedTuple):
    """What `ValueIndex` holds of one text."""

    line: str
    lower: frozenset[str]
    inner_names: frozenset[str]
    numbers: frozenset[Number]
    dates: frozenset[Date]


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> _Read:
    words = _WORD.findall(text)
    dates = _dates(text)[0]
    inner = (word for sentence in split_sentences(text) for word in _WORD.findall(sentence)[1:] if word[:1].isupper())
    parts = (Decimal(part) for year, _, day in dates for part in (year, day) if part is not None)
    return _Read(
        line=f" {' '.join(map(_folded, words))} ",
        lower=frozenset(_folded(word) for word in words if word.islower() and not _is_name(word)),
        inner_names=frozenset(map(_folded, inner)),
        numbers=frozenset((*parts, *(reading for number in _numbers(text) for reading in _readings(number)))),
        dates=frozenset(date for year, month, day in dates for date in ((year, month, day), (year, month, None))),
    )


class ValueIndex:
    """Texts in which values can be looked up: sources, a lead or a summary."""

    def __init__(self, texts: Iterable[str]) -> None:
        read = [_read(text) for text in texts]
        self._line = "\n".join(text.line for text in read)
        self.lower = frozenset[str]().union(*(text.lower for text in read))
        self.inner_names = frozenset[str]().union(*(text.inner_names for text in read))
        self._numbers = frozenset[Number]().union(*(text.numbers for text in read))
        self._dates = frozenset[Date]().union(*(text.dates for text in read))

    def __contains__(self, value: Value) -> bool:
        if value.kind == "date":
            return value.key in self._dates
        if isinstance(value.key, Decimal | str):
            return value.key in self._numbers
        words = tuple(map(str, value.key))
        if self._holds(words):
            return True
        rest = tuple(word for word in words if word not in self.lower)
        return 0 < len(rest) < len(words) and self._holds(rest)

    def _holds(self, words: tuple[str, ...]) -> bool:
        return f" {' '.join(words)} " in self._line


def find_values(text: str, context: ValueIndex | None = None) -> list[Value]:
    """Return the distinct values of a text in order of first occurrence; dates and numbers before names. The capital of
    a word that opens a sentence does not count. The word belongs to a name if `context`, texts on the same subject, or
    the text capitalises it within a sentence, and does not if one of them has it in lower case."""
    own = ValueIndex([text])
    inner = own.inner_names | (context.inner_names if context else frozenset())
    lower = own.lower | (context.lower if context else frozenset())
    return _found(text, inner, lower)


def missing(text: str, evidence: ValueIndex) -> list[Value]:
    """Return the values of a text that the evidence lacks, by the strictest reading. A capital at the beginning of a
    sentence is that of a name unless the word may open any sentence or the evidence has it in lower case. What is not
    missing here is in the evidence whatever context the text is later read in."""
    return [value for value in _found(text, frozenset(), evidence.lower) if value not in evidence]


def measurable(text: str) -> bool:
    """Whether the names of a text can be distinguished from its other words. They cannot if most of its letters are of
    a script without capitals, such as Chinese or Arabic."""
    letters = [character for character in text if character.isalpha()]
    return 2 * sum(not (letter.islower() or letter.isupper()) for letter in letters) <= len(letters)


def is_number_word(word: str) -> bool:
    """Whether a word spells a number or part of one ("twenty-five", "million")."""
    return _SPELLED_WORD.fullmatch(word) is not None


def may_continue_number(start: str) -> bool:
    """Whether a word that begins so may belong to the number before it: "mi" may be million, "0" the end of 10 000."""
    folded = start.casefold()
    return folded[:1].isnumeric() or any(word.startswith(folded) for word in _CONTINUATIONS)


def _found(text: str, inner: frozenset[str], lower: frozenset[str]) -> list[Value]:
    dates, rest = _dates(text)
    result = [Value("date", date) for date in dates]
    result += [Value("number", number) for number in _numbers(rest)]
    for sentence in split_sentences(rest):
        runs = (tuple(_folded(word[0]) for word in run) for run in name_runs(sentence, inner, lower))
        named = (words for words in runs if words != ("i",) and not (len(words) == 1 and words[0] in MONTHS))
        result += [Value("name", words) for words in named]
    return list(dict.fromkeys(result))


def name_runs(sentence: str, inner: frozenset[str], lower: frozenset[str]) -> list[list[re.Match[str]]]:
    """Return the words of each name of a sentence with their places: runs of capitalised words, joined by spaces and
    particles alone, without an article before them. `inner` and `lower`: words that texts on the same subject have with
    a capital within a sentence, and in lower case; both decide on the word that opens the sentence."""
    runs: list[list[re.Match[str]]] = [[]]
    end = 0
    for number, match in enumerate(_WORD.finditer(sentence)):
        word = match[0]
        folded = _folded(word)
        if sentence[end : match.start()] not in {"", " "} or not word[0].isalpha():
            runs.append([])
        end = match.end()
        if number == 0 and _opens_only(folded, inner, lower):
            continue
        if _is_name(word):
            runs[-1].append(match)
            if word.endswith(("’s", "'s")):
                runs.append([])
        elif runs[-1] and folded in PARTICLES:
            runs[-1].append(match)
        else:
            runs.append([])
    for run in runs:
        while run and not _is_name(run[-1][0]):  # particles after a name
            run.pop()
        if run and _folded(run[0][0]) in _ARTICLES:
            run.pop(0)
    return [run for run in runs if run]


def _is_name(word: str) -> bool:
    """Return whether a word has a capital anywhere, or digits that are not those of a number."""
    if any(character.isupper() for character in word):
        return True
    if not any(character.isnumeric() for character in word):
        return False
    parts = (part for part in word.split("-") if any(character.isnumeric() for character in part))
    return not all(_NUMERAL.fullmatch(part) for part in parts)


def _opens_only(word: str, inner: frozenset[str], lower: frozenset[str]) -> bool:
    """Return whether the first word of a sentence has a capital only because of its position."""
    return word in OPENERS or is_number_word(word) or (word not in inner and word in lower)


def _dates(text: str) -> tuple[list[Date], str]:
    """Return the dates of a text, and the text without them."""
    dates = []
    for match in _DATE.finditer(text):
        parts = {name.rstrip("123"): part for name, part in match.groupdict().items() if part is not None}
        month = parts["month"].lower()
        day = int(parts["day"]) if "day" in parts else None
        dates.append((int(parts["year"]), MONTHS.get(month) or int(month), day))
    return dates, _DATE.sub(" ; ", text)


def _numbers(text: str) -> list[Number]:
    """Return the numbers of a text; a lone "one" is left out, because it is mostly not a number."""
    numbers: list[Number] = []
    for match in _NUMBER.finditer(text):
        if match["digits"]:
            number = _decimal(match["digits"]) * (_SCALES[match["scale"].lower()] if match["scale"] else 1)
            number = (-number if match["minus"] else number).normalize()
            currency, percent = (match["currency"] or "").strip(), "%" if match["percent"] else ""
            numbers.append(f"{currency}{number:f}{percent}" if currency or percent else number)
        elif (spelled := _spelled(match["words"].lower())) is not None:
            numbers.append(Decimal(spelled).normalize())
    return numbers


def number_places(text: str) -> list[tuple[int, int, Decimal]]:
    """Return (start, end, number) of the digits of each number of a text."""
    result = (match for match in _NUMBER.finditer(text) if match["digits"])
    return [(*match.span("digits"), _decimal(match["digits"]).normalize()) for match in result]


def _decimal(digits: str) -> Decimal:
    """Return the number that digits write with commas or spaces between thousands, or with a decimal comma."""
    whole, comma, part = re.sub(r"\s", "", digits).rpartition(",")
    if comma and "." not in part and len(part) < 3:
        return Decimal(f"{whole.replace(',', '')}.{part}")
    return Decimal(f"{whole}{part}".replace(",", ""))


def _readings(number: Number) -> tuple[Number, ...]:
    """Return what a number of a source supports: with a unit also the number alone."""
    return (number, Decimal(number.strip("$€£¥₹%"))) if isinstance(number, str) else (number,)


def _spelled(words: str) -> int | None:
    """Return the number that words such as "two hundred and six thousand" spell, None for "one"."""
    total, part, parts = 0, 0, re.split(r" and |[ -]", words)
    if parts == ["one"]:
        return None
    for word in parts:
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return total + part


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _folded(word: str) -> str:
    """Return a word in the form used for comparison: case-folded, without a possessive s."""
    return word.replace("’", "'").removesuffix("'s").casefold()
