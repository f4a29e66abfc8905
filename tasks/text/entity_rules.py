"""Names in English text by rule: capitals, cue words and their place in the sentence.

It stands in for a statistical recogniser where none can be downloaded. It works on the words of one paragraph and
gives spans with the nine types of 000 app. A.2, in three steps: which words look like parts of names (sentence
openings judged apart), which of them form one name (particles, "of" after heads that take it), and what kind of name
it is (head words, titles, given names, the words around). `benchmarks/entities.py` measures it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.lang.en.stop_words import STOP_WORDS

from tasks.text import entity_cues as cues

VERSION = "1"
LONGEST_NAME = 9  # words; a longer run of capitals is a heading

_ENDS = frozenset({".", "!", "?", "...", "…", ":", ";", "\n", "•", "*"})
_BREAKS = frozenset({",", ";", "|", "(", ")"})
_ROMAN = re.compile(r"[IVXL]+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|d)?")
_OPENING_QUOTES = frozenset({'"', "“", "«", "``", "‘"})
_JOINTS = frozenset({".", "-", "–", "&"})
_OPENING_MARKS = frozenset({"(", "[", "-", "–", "—"})
_CLOSING_QUOTES = frozenset({'"', "”", "»", "''", "’"})
_NOT_OPENERS = cues.OPENERS | {word for word in STOP_WORDS if word.isalpha()}
_VERBAL_ENDINGS = ("ed", "ing", "ly", "tion", "tions", "ment", "ments", "ness", "able", "ally", "ward")
# Words that follow the subject of a sentence; any other longer one in -s or -ed is taken for its verb.
_AFTER_SUBJECT = cues.AFTER_SUBJECT | {"'s", "’s", ",", "("}


_HEADS = cues.ORG_HEADS | cues.EVENT_HEADS | cues.LAW_HEADS | cues.GPE_HEADS | cues.LOC_HEADS | cues.FAC_HEADS


@dataclass(frozen=True)
class Name:
    """A name: words `start` to `stop` (exclusive) and its type."""

    start: int
    stop: int
    label: str


def find_names(words: Sequence[str]) -> list[Name]:
    """Return the names among the words of a paragraph, in order and without overlap.

    Args:
        words: tokens in order, punctuation apart, as spaCy's English tokenizer gives them; a line break may be a
            token of its own.
    """
    openings = _sentence_openings(words)
    capital = [_is_capitalised(word) for word in words]
    if _is_heading(words, capital):
        return []
    lower = {word for word, up in zip(words, capital, strict=True) if not up}
    inside = {word for i, word in enumerate(words) if capital[i] and not openings[i]}
    works = _quoted_works(words, capital)
    taken = [False] * len(words)
    for work in works:
        taken[work.start : work.stop] = [True] * (work.stop - work.start)
    part = [
        capital[i] and not taken[i] and not _is_plain(words, i, openings, capital, lower, inside)
        for i in range(len(words))
    ]
    names = [name for start, stop in _runs(words, part) for name in _split(words, start, stop)]
    return sorted(works + _agree(words, names), key=lambda name: name.start)


def _is_capitalised(word: str) -> bool:
    first = word[0]
    return first.isupper() or (first.isdigit() and word[-1].isupper() and len(word) > 2 and word[1:].isalnum())


def _sentence_openings(words: Sequence[str]) -> list[bool]:
    """Say for each word whether it opens a sentence, so that its capital says nothing."""
    openings = []
    opening = True
    for word in words:
        openings.append(opening)
        if word in _ENDS or "\n" in word:
            opening = True
        elif word[0].isalnum() or (
            word not in _OPENING_QUOTES and word not in _CLOSING_QUOTES and word not in _OPENING_MARKS
        ):
            opening = False
    return openings


def _is_heading(words: Sequence[str], capital: Sequence[bool]) -> bool:
    """Say whether this is a line in title case or capitals, not a sentence: its capitals say nothing."""
    alphabetic = sum(word[0].isalpha() for word in words)
    breaks = sum(word in _BREAKS or word[0].isdigit() for word in words)
    return words[-1:] != ["."] and alphabetic >= 6 and sum(capital) > 0.8 * alphabetic and 8 * breaks < len(words)


def _is_plain(
    words: Sequence[str],
    i: int,
    openings: Sequence[bool],
    capital: Sequence[bool],
    lower: set[str],
    inside: set[str],
) -> bool:
    """Say whether a capitalised word is none of a name: a date, an abbreviation, the opening of a sentence."""
    word = words[i]
    if word in cues.CALENDAR and not (i + 1 < len(words) and capital[i + 1] and words[i + 1] in cues.EVENT_HEADS):
        return True
    ahead = i + 1 < len(words) and capital[i + 1] and words[i + 1] not in cues.CALENDAR
    if word in cues.NOT_NAMES:
        beside = ahead or (i > 0 and capital[i - 1] and words[i - 1] not in cues.NOT_NAMES)
        return not (beside and _ROMAN.fullmatch(word))
    small = word.lower()
    if not openings[i]:
        return small in STOP_WORDS and not word.isupper() and not (ahead and word in ("The", "A"))
    if small in _NOT_OPENERS or (small in lower and word not in inside):
        return True
    if ahead:
        return small.endswith("ly") and word not in inside
    if word in inside or (word,) in cues.PLACES or _is_people(word) or word in cues.GIVEN_NAMES:
        return False
    if small.endswith(_VERBAL_ENDINGS) or len(word) == 1:
        return True
    following = words[i + 1] if i + 1 < len(words) else ""
    if small.endswith("s") and following in ("were", "are", "have", "of"):
        return True
    return following not in _AFTER_SUBJECT and not (len(following) > 3 and following.endswith(("s", "ed")))


def _quoted_works(words: Sequence[str], capital: Sequence[bool]) -> list[Name]:
    """Titles in quotation marks: one to eight words, the first and most others capitalised, no sentence inside."""
    works: list[Name] = []
    i = 0
    while i < len(words):
        if words[i] in _OPENING_QUOTES and i + 1 < len(words) and capital[i + 1]:
            stop = next((j for j in range(i + 2, min(i + 11, len(words))) if words[j] in _CLOSING_QUOTES), None)
            if stop is not None:
                inner = range(i + 1, stop - 1 if words[stop - 1] in (",", ".") else stop)
                long = [j for j in inner if len(words[j]) > 3]
                if inner and all(words[j] != "," for j in inner) and sum(capital[j] for j in long) >= 0.8 * len(long):
                    works.append(Name(inner.start, inner.stop, "WORK_OF_ART"))
                    i = stop
        i += 1
    return works


def _runs(words: Sequence[str], part: Sequence[bool]) -> list[tuple[int, int]]:
    """Join neighbouring parts of names, over particles, initials' full stops, and "of" after heads that take it."""
    runs: list[tuple[int, int]] = []
    i = 0
    while i < len(words):
        if not part[i]:
            i += 1
            continue
        start = i
        i += 1
        while True:
            step = _reach(words, part, start, i)
            if step == i:
                break
            i = step
        runs.append((start, i))
    return runs


def _reach(words: Sequence[str], part: Sequence[bool], start: int, stop: int) -> int:
    """Return where a run that ends before `stop` goes on to, or `stop`."""
    n = len(words)
    if stop >= n:
        return stop
    if part[stop]:
        return stop + 1
    word = words[stop]
    following = stop + 1 < n and part[stop + 1]
    if word in cues.PARTICLES:
        ahead = stop
        while ahead < n and ahead < stop + 3 and words[ahead] in cues.PARTICLES | {"la", "los", "las"}:
            ahead += 1
        return ahead + 1 if ahead < n and part[ahead] else stop
    if word in ("of", "for") and any(words[j] in cues.OF_HEADS for j in range(start, stop)):
        ahead = stop + 2 if stop + 1 < n and words[stop + 1] in ("the", "The") else stop + 1
        return ahead + 1 if ahead < n and part[ahead] else stop
    if word in ("-", "–") and following:
        return stop + 2
    if word == "&" and following and (stop - start == 1 or _coordinates(words, part, start, stop)):
        return stop + 2
    if word == "," and following and words[stop + 1] == "D.C.":
        return stop + 2
    if word == "." and following and len(words[stop - 1]) == 1:
        return stop + 2
    if word in ("'s", "’s") and following and words[stop + 1] in _HEADS:
        return stop + 2
    if (
        word.isdigit()
        and stop - start >= 1
        and words[stop - 1] in ("Route", "Highway", "Interstate", "Apollo", "Boeing")
    ):
        return stop + 1
    if word == "and" and following and _coordinates(words, part, start, stop):
        return stop + 2
    return stop


def _coordinates(words: Sequence[str], part: Sequence[bool], start: int, stop: int) -> bool:
    """Say whether "and" at `stop` stands inside one name: "Department of Health and Safety", "Smith and Sons Ltd"."""
    end = stop + 1
    while end < len(words) and part[end]:
        end += 1
    over_of = "of" in words[start:stop] and words[start] in cues.ORG_HEADS
    return (over_of and end == stop + 2) or (words[end - 1] in cues.ORG_HEADS | cues.FAC_HEADS and end >= stop + 3)


def _split(words: Sequence[str], start: int, stop: int) -> list[Name]:
    """Turn a run into names: titles before it are left out, nationalities before it are names of their own."""
    names: list[Name] = []
    titled = False
    while start < stop:
        more = stop - start > 1
        if words[start].rstrip(".") in cues.TITLES and not (more and words[start + 1] == "of"):
            titled = True
        elif more and _is_people(words[start]) and not _heads_name(words, start, stop):
            names.append(Name(start, start + 1, "NORP"))
        elif not (names or titled) or words[start] not in _JOINTS:
            break
        start += 1
    # What is left may be nothing, a heading, or a common word that opens a sentence after a lost full stop.
    lone_opener = stop - start == 1 and words[start].lower() in cues.OPENERS
    if start == stop or stop - start > LONGEST_NAME or lone_opener:
        return names
    if start > 0 and words[stop - 1] in cues.UNIT_HEADS and _ORDINAL.fullmatch(words[start - 1]):
        start -= 1
    return [*names, Name(start, stop, _label(words, start, stop, titled))]


def _heads_name(words: Sequence[str], start: int, stop: int) -> bool:
    """Say whether the run after a nationality makes one name with it: "British Army", "French Open"."""
    return any(words[j] in _HEADS for j in range(start + 1, stop)) or tuple(words[start:stop]) in cues.REGIONS


def _is_people(word: str) -> bool:
    if word in cues.PEOPLES:
        return True
    return len(word) > 4 and word.endswith(cues.PEOPLE_ENDINGS) and word not in cues.NOT_PEOPLE


def _label(words: Sequence[str], start: int, stop: int, titled: bool) -> str:
    """Return the type of a name: by gazetteer, head word, title, given name, then by the words around it."""
    name = tuple(words[start:stop])
    last, first = name[-1], name[0]
    before = words[start - 1].lower() if start else ""
    definite = before == "the"
    if definite and start > 1:
        before = words[start - 2].lower()
    if titled:
        return "PERSON"
    if name in cues.PLACES:
        return "GPE"
    if name in cues.REGIONS:
        return "LOC"
    head = name[name.index("of") - 1] if "of" in name[1:] else last
    if _ROMAN.fullmatch(last) and len(name) > 2 and name[-2] in cues.EVENT_HEADS:
        head = name[-2]
    by_head = _label_by_head(head, first, len(name))
    if by_head is not None:
        return by_head
    if len(name) == 1 and _is_people(first):
        return "NORP"
    if first in cues.GIVEN_NAMES and (len(name) > 1 or before not in cues.PLACE_BEFORE):
        return "PERSON"
    if len(name) > 1 and any(len(word.rstrip(".")) == 1 and word[0].isupper() for word in name[:-1]):
        return "PERSON"
    if stop < len(words) and words[stop] in cues.PERSON_AFTER:
        return "PERSON"
    if any(sum(c.isupper() for c in word) > 1 or word[0].isdigit() for word in name):
        return "ORG"
    if definite:
        return "ORG"
    if before in cues.PLACE_BEFORE or (stop + 1 < len(words) and words[stop] == "," and _is_place(words[stop + 1])):
        return "GPE"
    if first in cues.GPE_LEADS and len(name) > 1:
        return "GPE"
    if start > 1 and words[start - 1] == "," and _is_place(words[start - 2]):
        return "GPE"
    return "ORG" if len(name) > 3 else "PERSON"


def _label_by_head(head: str, first: str, length: int) -> str | None:
    if length == 1:
        return "EVENT" if head in ("Christmas", "Easter", "Thanksgiving", "Ramadan", "Halloween") else None
    if first in cues.LOC_LEADS:
        return "LOC"
    for heads, label in (
        (cues.LAW_HEADS, "LAW"),
        (cues.EVENT_HEADS, "EVENT"),
        (cues.LOC_HEADS, "LOC"),
        (cues.GPE_HEADS, "GPE"),
        (cues.FAC_HEADS, "FAC"),
        (cues.ORG_HEADS, "ORG"),
        (cues.WORK_HEADS, "WORK_OF_ART"),
    ):
        if head in heads:
            return label
    return None


def _is_place(word: str) -> bool:
    return (word,) in cues.PLACES or (word,) in cues.REGIONS


def _agree(words: Sequence[str], names: list[Name]) -> list[Name]:
    """Give a lone word of unknown type the type that the same word has elsewhere in the paragraph, inside or alone.

    A surname follows its full name, a place named once after "in" stays a place.
    """
    known: dict[str, str] = {}
    for name in names:
        last = words[name.stop - 1]
        if name.label == "PERSON" and name.stop - name.start > 1:
            known[last] = "PERSON"
        elif name.label == "GPE" and name.stop - name.start == 1:
            known.setdefault(last, "GPE")
    agreed = []
    for name in names:
        word = words[name.start]
        unsure = name.stop - name.start == 1 and name.label in ("GPE", "ORG", "PERSON") and not _is_place(word)
        agreed.append(Name(name.start, name.stop, known.get(word, name.label)) if unsure else name)
    return agreed
