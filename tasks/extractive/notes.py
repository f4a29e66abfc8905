"""Statements of a text: of its sentences, and of lines of notes without a sentence: "deadline 28 February", "Chair:
Ann", "meeting in room 4". Such a line is about the title's subject, and about what the heading of its note says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from models.sentences import split_sentences
from tasks.engine.data_files import read_data
from tasks.extractive.pile import PilePassage
from tasks.extractive.simple_clauses import SUBJECT, Referents, verb_of
from tasks.extractive.statements import (
    CLOCK,
    DAYS,
    MONTHS,
    OFFICE,
    Statement,
    apart_in,
    counted,
    is_sentence,
    is_year,
    kind_of,
    numbers_in,
    of_sentence,
    offices,
    stems_of,
    with_clock,
)
from tasks.verification.canonical import canonical
from tasks.verification.words import NEGATORS, Word, WordKind, read, stem

_DATA = read_data("tasks.extractive", "statements.toml")
_MOST_WORDS = 10  # of a line without a sentence
_PART = re.compile(r"[;,] ")
_LABELLED = re.compile(r"[^\W\d][^:]{1,30}: (?=\S)")
_VALUE = re.compile(r": \d[\d.,]*$")  # behind a label that says what is counted: "rounds: 7"
_COLON_TIME = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:]| ?[ap]\.?m\b)")
_DOT_TIME = re.compile(
    rf"\b((?:{'|'.join(_DATA['timed'].split())}):?) ([01]?\d|2[0-3])\.([0-5]\d)(?=[,;)]|\.?$| [a-z]+ [a-z])",
    re.IGNORECASE,
)
_UPDATES = frozenset(_DATA["updates"].split()) | NEGATORS
_HOLD = frozenset(map(stem, _DATA["verbs"].split()))  # before a number alone: "sleeps 6"
_WEEKDAYS = frozenset(_DATA["weekdays"].split())
_OF_NOTE = frozenset(map(stem, _DATA["of_note"].split()))


@dataclass
class _Heading:
    """What a note says of all its lines."""

    words: frozenset[str]  # stems
    source: frozenset[str] = field(init=False)  # those of the title of its source
    apart: frozenset[str] = frozenset()  # words and dates that distinguish things or times
    updates: bool = False  # whether the note changes what was noted before
    first: bool = True  # whether no line was read yet

    def __post_init__(self) -> None:
        self.words -= _OF_NOTE
        self.source = self.words

    def note(self, line: str) -> None:
        """Read a line that states nothing: the first one, one before a list, or one with a date alone."""
        words = read(canonical(line)).words
        if dates := _dates(words):
            self.apart |= dates if _names_nothing(words) else frozenset()
        elif self.first or line.endswith(":"):
            self.words = self.source | (stems_of(line) - _OF_NOTE)
            self.apart |= apart_in(words)
            self.updates |= any(word.text in _UPDATES for word in words)


def statements(title: str, passage: PilePassage, number: int = 0) -> Iterator[Statement]:
    """Yield the statements of a passage. `title`: of the sources; `number`: of the passage."""
    referents, heading = Referents.of(title), _Heading(stems_of(passage.title))
    for line in passage.text.split("\n"):
        for sentence in split_sentences(line):
            piece = " ".join(sentence.split())
            if passage.note and is_jotted(piece):
                items = list(_of_jotted(piece, referents, heading))
                if not items:
                    heading.note(piece)
            else:
                items = list(of_sentence(piece, referents))
            heading.first = False
            for item in items:
                yield replace(item, passage=number)


def is_jotted(line: str) -> bool:
    """Tell whether a line is a short one without a sentence."""
    if line.count(" ") >= _MOST_WORDS or "|" in line:
        return False
    words = read(canonical(line)).words
    verb = verb_of(words)
    counted_last = verb is not None and verb == len(words) - 1 and words[verb - 1].kind is WordKind.NUMBER  # "20 euros"
    return not is_sentence(line) or verb is None or counted_last


def _of_jotted(line: str, referents: Referents, heading: _Heading) -> Iterator[Statement]:
    clear = canonical(with_clock(_COLON_TIME.sub(rf"\1.\2 {CLOCK}", _DOT_TIME.sub(rf"\1 \2.\3 {CLOCK}", line))))
    words = read(clear).words
    if heading.updates or line.endswith("?") or any(word.text in _UPDATES for word in words):
        return
    label = _LABELLED.match(line) is not None
    apart, dates = apart_in(words) | heading.apart, _dates(words)
    years = frozenset(int(word.key) for word in words if is_year(word))
    for item in [*offices(line), *(item for part in _PART.split(clear) for item in _of_part(part, referents))]:
        before, when = item.before, item.apart | apart
        if item.kind != OFFICE:
            before = (before | {SUBJECT}) - frozenset(referents.title)
            when = when - MONTHS if item.kind in DAYS else when | dates
        yield replace(
            item, before=before, apart=when, years=years, label=label, jotted=True, heading=heading.words, sentence=line
        )


def _of_part(part: str, referents: Referents) -> Iterator[Statement]:
    """Yield the statements of the part of a line between two commas."""
    words = referents.resolved(part)
    labelled = _VALUE.search(part) is not None  # or "sleeps 6"
    for at in numbers_in(words):
        kind = kind_of(words, at)
        if kind is None and 0 < at == len(words) - 1 and (labelled or words[at - 1].key in _HOLD):
            labelled = True
            at, words = at - 1, [*words[: at - 1], words[at], words[at - 1]]  # "rounds: 7" says "7 rounds"
            kind = kind_of(words, at)
        if kind is None or (kind in {CLOCK, *DAYS} and _names_nothing(words)):
            continue
        item = counted(kind, words, at, (), "")
        # "20 euros", or "4 chairs", does not say of what
        if labelled or kind in {CLOCK, *DAYS} or " " in kind or item.bounds or item.words - {SUBJECT}:
            yield item


def _dates(words: Sequence[Word]) -> frozenset[str]:
    """Return the days of a line, such as "march 3"."""
    pairs = [(words[n + side], words[n]) for n in numbers_in(words) for side in (-1, 1) if 0 <= n + side < len(words)]
    return frozenset(f"{month.text} {day.key}" for month, day in pairs if month.text in MONTHS)


def _names_nothing(words: Sequence[Word]) -> bool:
    """Tell whether words are those of a date or a time alone, or of the date of a note."""
    named = (word for word in words if word.kind in {WordKind.WORD, WordKind.NAME} and word.text not in MONTHS)
    return all(word.text == CLOCK or word.key in _OF_NOTE or word.text in _WEEKDAYS for word in named)
