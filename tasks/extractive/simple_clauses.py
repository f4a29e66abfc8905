"""Split a sentence into clauses with their subjects, by its marks and small words, without a parser.

"The ferry, which carries 160 passengers and 20 bicycles, was built in 1931" gives four clauses about the ferry. The
title's subject, and the nouns and pronouns that stand for it, become `SUBJECT`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tasks.engine.data_files import read_data
from tasks.text.content_words import subject_of
from tasks.text.language import has_finite_verb
from tasks.verification.words import Word, WordKind, read, small_words, stem

_DATA = read_data("tasks.extractive", "statements.toml")
LIGHT = frozenset(map(stem, _DATA["light"].split()))
TENSES = {word: tense for tense, words in _DATA["tenses"].items() for word in words.split()}
EVENTS = {stem(word): line.split()[0] for line in _DATA["once"].split("\n") for word in line.split()}
# "More than doubled" has its verb after "than".
PREPOSITIONS = frozenset([*small_words("prepositions"), *_DATA["prepositions"].split()]) - {"than"}
DETERMINERS = frozenset(["a", "an", "the", "this", "its", "their", "his", "her", "our", "all"])
POINTING = frozenset(["it", "he", "she", "they", "this", "that", "these", "those", "we", "i", "you", "there"])
SUBJECT = "@"
_VERBS = frozenset(_DATA["verbs"].split()) | frozenset(TENSES)
_NAMED_FIRST = frozenset(map(stem, _DATA["named_first"].split()))
_PRONOUNS = frozenset({"it", "he", "she", "they"})
_JOINTS = frozenset({"and", "or", "but", ","})
_CUT = re.compile(
    r"(?P<mark>[;:()—–]|,(?=\s|$))"
    rf"|(?<=\s)(?P<word>and|or|but|which|who|that|{'|'.join(_DATA['conjunctions'].split())})(?=\s)"
)
_MOST_SUBJECT = 4  # words of a subject that a pronoun may stand for


@dataclass(frozen=True)
class SimpleClause:
    """A part of a sentence with the subject that it has or inherits."""

    words: Sequence[Word]  # subject first
    open_ended: bool = False  # another counted noun follows: "14 rooms and halls"
    when: Sequence[Word] = ()  # the beginning of the sentence: "In summer, ..."


@dataclass
class Referents:
    """The referents of a passage's nouns and pronouns, sentence by sentence."""

    title: Sequence[str]  # stems of the title's subject
    _nouns: dict[str, frozenset[str]] = field(default_factory=dict)  # the referent of "the ferry"
    _last: frozenset[str] = frozenset()  # the subject of the sentence before

    @classmethod
    def of(cls, title: str) -> "Referents":
        """Return those at the beginning of a passage about a title."""
        stems = [word.key for word in read(subject_of(title)).words if word.kind]
        if LIGHT.issuperset(stems):
            return cls(())  # "Deadline" does not say what is due
        nouns = stems[-1:] + [key for key in stems[:1] if key in _NAMED_FIRST]
        return cls(stems, dict.fromkeys(nouns, frozenset({SUBJECT})))

    def resolved(self, text: str) -> list[Word]:
        """Return the words of a clause, with referents."""
        words = self._pointed(read(text).words)
        keys, size = [word.key for word in words], len(self.title)
        for start in range(len(keys) - size + 1):
            if size and keys[start : start + size] == self.title:
                return [*words[:start], _name(words[start], SUBJECT), *words[start + size :]]
        for n, word in enumerate(words[1:], 1):
            if words[n - 1].text == "the" and self._nouns.get(word.key) == frozenset({SUBJECT}):
                return [*words[: n - 1], _name(word, SUBJECT), *words[n + 1 :]]
        return words

    def _pointed(self, words: Sequence[Word]) -> list[Word]:
        """Return the words of a clause, with the referent of its first pronoun or of "the ferry"."""
        keys, rest = frozenset[str](), words
        if words and words[0].text in _PRONOUNS:
            keys, rest = self._last, words[1:]
        elif len(words) > 1 and words[0].text == "the":
            keys, rest = self._nouns.get(words[1].key, keys), words[2:]
        return [*(_name(words[0], key) for key in sorted(keys)), *rest] if keys else list(words)

    def forget(self) -> None:
        """Leave the next pronoun without a referent."""
        self._last = frozenset()

    def note(self, clause: SimpleClause) -> None:
        """Remember the subject of a sentence that begins with a clause, and its noun: "Tern is a car ferry"."""
        self.forget()
        words = clause.words
        verb = verb_of(words) or 0
        about = [word for word in words[:verb] if word.text not in DETERMINERS]
        if 0 < len(about) <= _MOST_SUBJECT and _is_plain(about):
            self._last = frozenset(word.key for word in about)
            kind = _noun_phrase(words[verb + 1 :])
            if kind and words[verb].text in {"is", "was"}:
                self._nouns[kind[-1].key] = self._last


def _name(word: Word, key: str) -> Word:
    """Return a name that replaces a word."""
    return Word(key, key, WordKind.NAME, word.sentence)


def simple_clauses(text: str, referents: Referents) -> Iterator[SimpleClause]:
    """Yield the clauses of a sentence."""
    # Some sources call a planned thing new, and others do not.
    parts = list(_parts(text.replace(" new ", " ") if " will " in text else text))
    main = before = when = list[Word]()  # the last clause with a subject of its own; the part before; how it begins
    for n, (mark, part) in enumerate(parts):
        words = referents.resolved(part)
        following = parts[n + 1] if n + 1 < len(parts) else ("", "")
        more = _is_continued(words, *following)
        if _is_relative(mark, words):
            if subject := _antecedent(before):
                yield SimpleClause([*subject, *words], more)
        elif (mark == ":" and n == 1) or (mark == "(" and words[0].key in EVENTS):
            yield SimpleClause([*before, *words], more)
        elif main and mark in _JOINTS and (size := _inherited(main, words)) is not None:
            yield SimpleClause([*main[:size], *words], more, when)
        elif words[0].key in EVENTS and not main:  # "Built in 1874, the mill ..."
            subject = referents.resolved(following[1])
            yield SimpleClause([*subject[: verb_of(subject)], *words])
        elif verb_of(words):
            main = words
            yield SimpleClause(words, more, when)
        elif n == 0 and words[0].text in PREPOSITIONS:
            when = words
        before = words


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each cut of a sentence, and the part behind it, which has a word."""
    mark, start = "", 0
    for match in _CUT.finditer(text):
        if read(part := text[start : match.start()].strip()).words:
            yield mark, part
            mark = ""
        cut = match["mark"] or match["word"]
        mark = mark if mark and cut in {",", ")"} else cut
        start = match.end()
    if read(part := text[start:].strip()).words:
        yield mark, part


def _is_relative(mark: str, words: Sequence[Word]) -> bool:
    """Tell whether a part describes the word before it: "that has 12 rooms", not "that the mill has 12 rooms"."""
    return mark in {"which", "who"} or (mark == "that" and (verb_of(words[:1]) == 0 or _is_third_person(words[0].text)))


def _inherited(main: Sequence[Word], words: Sequence[Word]) -> int | None:
    """Return how many words of the main clause a part continues; None for a part with its own subject."""
    if words[0].kind is WordKind.NUMBER:
        return next((n for n, word in enumerate(main) if word.kind is WordKind.NUMBER), len(main))
    return verb_of(main) if words[0].key in EVENTS or verb_of(words[:1]) == 0 else None


def verb_of(words: Sequence[Word]) -> int | None:
    """Return the index of the first finite verb, by its form; None without one."""
    for n, word in enumerate(words):
        before = words[n - 1].text if n else ""
        if word.kind in {WordKind.NAME, WordKind.NUMBER} or before in DETERMINERS or before in PREPOSITIONS:
            continue
        if word.text in _VERBS or has_finite_verb(word.text):
            return n
        ordinary = word.kind is WordKind.WORD and n > 0
        third_person = _is_third_person(word.text) and not _is_third_person(before)
        if ordinary and (word.text.endswith("ed") or third_person):
            return n
    return None


def _is_third_person(word: str) -> bool:
    """Tell whether a word may be a verb such as "carries"; it may be a plural too."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _is_plain(words: Sequence[Word]) -> bool:
    return all(word.text not in PREPOSITIONS and word.text not in POINTING for word in words)


def _noun_phrase(words: Sequence[Word]) -> list[Word]:
    """Return the words up to the first preposition, number or auxiliary, without articles."""
    result: list[Word] = []
    for word in words:
        if word.text in PREPOSITIONS or word.text in TENSES or word.kind is WordKind.NUMBER:
            break
        if word.text not in DETERMINERS:
            result.append(word)
    return result


def _antecedent(words: Sequence[Word]) -> Sequence[Word]:
    """Return the referent of "which" behind a part: X for "X is a mill", else the last noun phrase."""
    verb = verb_of(words)
    if verb is not None and words[verb].text in {"is", "was"} and _is_plain(words[verb + 1 :]):
        return words[:verb]
    starts = (n + 1 for n, word in enumerate(words) if word.text in PREPOSITIONS | DETERMINERS or word.text in TENSES)
    return words[max(starts, default=0) :]


def _is_continued(words: Sequence[Word], mark: str, following: str) -> bool:
    """Tell whether the part behind continues the count: "14 rooms and halls", "24 cars, 26 in summer"."""
    after = read(following).words
    if mark not in {"and", "or", ","} or not after:
        return False
    if after[0].kind is WordKind.NUMBER:
        return len(after) == 1 or after[1].kind is WordKind.FUNCTION
    ends_with_count = len(words) > 1 and words[-2].kind is WordKind.NUMBER
    return mark != "," and ends_with_count and after[0].kind is WordKind.WORD and verb_of(after) is None
