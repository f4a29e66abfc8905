"""Statements of a text's sentences with one value each: a number of things, a day, a time, the holder of an office, and
the date of an event that happens once. `differences.py` compares them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from models.values import Value, find_values
from tasks.engine.data_files import read_data
from tasks.extractive.simple_clauses import (
    DETERMINERS,
    EVENTS,
    LIGHT,
    POINTING,
    PREPOSITIONS,
    SUBJECT,
    TENSES,
    Referents,
    SimpleClause,
    simple_clauses,
)
from tasks.verification.canonical import canonical
from tasks.verification.frames import Frame, framed
from tasks.verification.words import LIMITS, NEGATORS, Word, WordKind, read, small_words, stem

ONCE = frozenset(EVENTS.values())
OFFICE, CLOCK, DAYS = "office", "oclock", frozenset({"day", "due"})
BEFORE_DUE = frozenset({"by", "deadline", "due"})  # a day behind one of these is due
PLACED = " no"  # ends the kind of a place with a number: "room 4"
_DATA = read_data("tasks.extractive", "statements.toml")
SINGLE = frozenset(map(stem, _DATA["single"].split()))  # offices that one person holds at a time
_PLACED = frozenset(_DATA["placed"].split())
_DUE = frozenset(map(stem, _DATA["due"].split()))
_APART = frozenset(_DATA["apart"].split())
_MEASURES = {stem(word): line.split()[0] for line in _DATA["measures"].split("\n") for word in line.split()}
_BOUNDS = frozenset().union(*(words for name, words in LIMITS.items() if name != "all"))
MONTHS = frozenset(small_words("months")) | {"may, the month"}
_REFUSED = NEGATORS | {"next"}  # "the next meeting is on 3 March" means another meeting in each source
_MOST_WORDS = 40  # of a sentence; longer ones say several things
_REACH = 3  # words before a number that may hold its bound
_NAME = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?[A-Z][\w’'-]+(?: [A-Z][\w.’'-]*){0,3}"
_ROLE = r"[a-z][a-z -]{2,40}?"
_OFFICES = (
    re.compile(rf"^(?:The |Our |Its )(?P<role>{_ROLE}) (?P<verb>is|was|will) (?:be )?(?P<name>{_NAME})[.,]?$"),
    re.compile(rf"^(?P<role>[A-Za-z][a-z -]{{2,40}})(?P<verb>:) (?P<name>{_NAME})\.?$"),
    re.compile(rf"^(?P<name>{_NAME}) (?P<verb>is|was|will) (?:be )?(?:the|our|its) (?P<role>{_ROLE})\.?$"),
)
_LABEL = re.compile(r"^[A-Z][a-z -]{2,30}: (?=\S)")
_TWELVE_HOURS = re.compile(r"\b(\d{1,2})(?:[.:](\d\d))? ?([ap])\.?m\b\.?")
_AT = re.compile(
    r"\b(at|by|until|from) (\d{1,2})[.:](\d\d)(?=[.,;]? |[.,;]?$)(?! (?:oclock|[a-z]*metre|percent|million)\b)"
)
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_RATE = re.compile(rf"\b(?:an?|per|each|every) ({'|'.join(_DATA['rates'].split())})s?\b")


@dataclass(frozen=True)
class Statement:
    """A clause with its value taken out. Words are stems; the title's subject is `SUBJECT`."""

    kind: str  # the counted thing, with its rate; one of DAYS, CLOCK or OFFICE; or an event of ONCE
    value: Value  # a date for an event, a name for an office, else a number
    before: frozenset[str]  # words before the value; for an office its name
    after: frozenset[str] = frozenset()  # words behind it
    limited: frozenset[str] = frozenset()  # those of `after` that follow a preposition
    apart: frozenset[str] = frozenset()  # words that distinguish things or times
    others: frozenset[str] = frozenset()  # other numbers of the clause, except years
    bounds: frozenset[str] = frozenset()  # words such as "about" before the value
    tense: str = ""  # past | present | future; empty if only an ordinary verb shows it
    years: frozenset[int] = frozenset()  # of the whole sentence
    uncertain: bool = False  # whether the sentence plans, supposes or hopes
    label: bool = False  # whether it has the form "Chair: Ann Lee"
    jotted: bool = False  # whether it is of a line without a sentence: "deadline 28 February"
    heading: frozenset[str] = frozenset()  # words of the line that begins the note or part in which it is jotted
    sentence: str = ""  # as written, on one line
    passage: int = 0  # number of its passage

    @property
    def words(self) -> frozenset[str]:
        """The words of the clause."""
        return self.before | self.after


def of_sentence(text: str, referents: Referents) -> Iterator[Statement]:
    """Yield the statements of a sentence, or of a line with a label."""
    label = _LABEL.match(text) is not None
    clear = canonical(with_clock(text)) if label or is_sentence(text) else ""
    words = read(clear).words
    if not 0 < len(words) <= _MOST_WORDS:
        referents.forget()
        return
    clauses = list(simple_clauses(clear, referents))
    said = [*offices(text), *(item for clause in clauses for item in _of_clause(clause))]
    frames = {part.frame for part in framed(text)} if said else set()
    if not frames & {Frame.DENIED, Frame.FICTIONAL} and all(word.text not in _REFUSED for word in words):
        about = frozenset({SUBJECT}) if label and referents.title else frozenset()
        years = frozenset(int(word.key) for word in words if is_year(word))
        uncertain = Frame.UNCERTAIN in frames
        for item in said:
            before = item.before | about
            if item.kind == "due" and not item.words:  # "The deadline is 1 May."
                before |= {SUBJECT}
            if SUBJECT in before and item.kind != OFFICE:  # "the gym of the school", in a pile about the school gym
                before -= frozenset(referents.title)
            yield replace(item, before=before, years=years, uncertain=uncertain, label=label, sentence=text)
    for clause in clauses[:1]:
        referents.note(clause)


def is_sentence(text: str) -> bool:
    """Tell whether a text has the form of a sentence; it may have no verb."""
    begins = text[:1].isupper() or text[:1].isdigit()
    return begins and text.endswith(".") and not text.isupper() and "|" not in text


def with_clock(text: str) -> str:
    """Return a text with its times of day in one form: "at 18.15 oclock"."""

    def hour(match: re.Match[str]) -> str:
        value = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
        return f"{value}.{match[2] or '00'} {CLOCK}"

    return _AT.sub(rf"\1 \2.\3 {CLOCK}", _TWELVE_HOURS.sub(hour, text))


def offices(text: str) -> Iterator[Statement]:
    """Yield who holds an office: "The chair is Ann Lee", "Chair: Ann Lee"."""
    match = next((match for pattern in _OFFICES if (match := pattern.match(text))), None)
    if match is not None:
        name = Value("name", tuple(match["name"].rstrip(".").casefold().split()))
        yield Statement(OFFICE, name, stems_of(match["role"]), tense=TENSES.get(match["verb"], ""))


def _of_clause(clause: SimpleClause) -> Iterator[Statement]:
    """Yield the statement of a clause for each of its values."""
    words = clause.words
    if words[0].text in POINTING:
        return  # the referent is unknown
    if event := _event([*words, *clause.when]):
        yield event
    elif not clause.open_ended:
        tense = next((TENSES[word.text] for word in words if word.text in TENSES), "")
        for at in numbers_in(words):
            if kind := kind_of(words, at):
                yield counted(kind, words, at, clause.when, tense)


def counted(kind: str, words: Sequence[Word], at: int, when: Sequence[Word], tense: str) -> Statement:
    """Return the statement of a clause with the number at an index."""
    placed = kind.endswith(PLACED)
    before, after = words[: at - placed], words[at + 1 if placed or kind in DAYS else at + 2 :]
    return Statement(
        kind,
        Value("number", Decimal(words[at].key)),
        _stems(before) - (_DUE if kind == "due" else frozenset()),
        _stems(after),
        frozenset(after[n].key for n in range(1, len(after)) if _is_limited(after, n)),
        apart_in([*when, *before, *after]) - (MONTHS if kind in DAYS else frozenset()),
        frozenset(words[n].key for n in numbers_in(words) if n != at and not is_year(words[n])),
        _bounds(before[-_REACH:]),
        tense,
    )


def kind_of(words: Sequence[Word], at: int) -> str | None:
    """Return the thing that a number counts, or the place that has it; one of DAYS next to a month; None if it is
    unclear."""
    if not _DECIMAL.fullmatch(words[at].key) or is_year(words[at]):
        return None
    if at and words[at - 1].text in _PLACED:
        return f"{words[at - 1].key}{PLACED}"
    near = [words[n] for n in (at - 1, at + 1) if 0 <= n < len(words)]
    if len(words[at].key) < 3 and any(word.text in MONTHS for word in near):
        return "due" if {word.text for word in words[:at]} & BEFORE_DUE else "day"
    after = words[at + 1] if at + 1 < len(words) else None
    if after is None or after.kind is not WordKind.WORD:
        return None
    rate = _RATE.search(" ".join(word.text for word in words[at + 2 :]))
    return f"{after.key} per {rate[1]}" if rate else after.key


def _event(words: Sequence[Word]) -> Statement | None:
    """Return the event that happened once, and its date; None for a clause without one."""
    verbs = [word for word in words if word.kind is not WordKind.NAME and word.key in EVENTS]
    numbers = numbers_in(words)
    years = [n for n in numbers if is_year(words[n])]
    if len(verbs) != 1 or len(years) != 1 or set(numbers) - {years[0] - 1, years[0]}:
        return None
    end = years[0] + 1
    start = years[0]
    while start and (words[start - 1].text in MONTHS or start - 1 in numbers):
        start -= 1
    if not start or words[start - 1].text not in {"in", "on"} or _bounds(words[:start]):
        return None
    (value, *_) = find_values(" ".join(word.text.partition(",")[0].title() for word in words[start:end]))
    rest = [*words[:start], *words[end:]]
    asides = {word.key for n, word in enumerate(rest) if word.kind is WordKind.NAME and _is_aside(rest, n)}
    return Statement(EVENTS[verbs[0].key], value, _stems(rest) - {verbs[0].key} - asides)


def numbers_in(words: Sequence[Word]) -> list[int]:
    """Return the indices of the numbers."""
    return [n for n, word in enumerate(words) if word.kind is WordKind.NUMBER]


def is_year(word: Word) -> bool:
    """Tell whether a word is a year."""
    return word.kind is WordKind.NUMBER and _YEAR.fullmatch(word.text) is not None


def _is_limited(words: Sequence[Word], at: int) -> bool:
    """Tell whether a word is the first one with content behind a preposition."""
    before = words[at - 2 : at] if words[at - 1].text in DETERMINERS else words[at - 1 : at]
    return bool(words[at].kind and before) and before[0].text in PREPOSITIONS


def _is_aside(words: Sequence[Word], at: int) -> bool:
    """Tell whether a name says where or by whom: it follows a preposition, or is not next to the title's subject."""
    first = last = at
    while first > 0 and words[first - 1].kind is WordKind.NAME:
        first -= 1
    while last + 1 < len(words) and words[last + 1].kind is WordKind.NAME:
        last += 1
    placed = first > 0 and words[first - 1].text in PREPOSITIONS
    near = any(word.key == SUBJECT for word in words[first : last + 1])
    return not near and (placed or any(word.key == SUBJECT for word in words))


def apart_in(words: Iterable[Word]) -> frozenset[str]:
    """Return the words that distinguish things or times, in the singular."""
    texts = (text for word in words for text in (word.text, word.text.removesuffix("s")))
    return frozenset(text for text in texts if text in _APART)


def _bounds(words: Iterable[Word]) -> frozenset[str]:
    return frozenset(word.text for word in words if word.text in _BOUNDS)


def _stems(words: Iterable[Word]) -> frozenset[str]:
    kept = (word for word in words if word.kind in {WordKind.WORD, WordKind.NAME} and word.text not in MONTHS)
    telling = (word.key for word in kept if word.key not in LIGHT or word.text.endswith("ing"))  # "the opening"
    return frozenset(_MEASURES.get(key, key) for key in telling)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a text that a statement's `words` may have; for a measure its noun."""
    return _stems(read(text).words)


def event_of(text: str) -> str | None:
    """Return the event of `ONCE` in a text; None for none or several."""
    events = {EVENTS[word.key] for word in read(text).words if word.key in EVENTS}
    return events.pop() if len(events) == 1 else None
