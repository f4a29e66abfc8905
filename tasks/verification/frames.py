"""Frames of clauses: who says what, and whether it is denied, uncertain or part of a fiction.

"The jury rejected the claim that he stole the ring" does not say that he stole the ring. A clause in a frame is said by
its passage only together with its frame. The rules here read words from left to right; they need no parser."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise

from tasks.engine.data_files import read_data
from tasks.verification.words import BE, NEGATORS, stem

_TOKEN = re.compile(r"n['’]t\b|[^\W_]+?(?=n['’]t\b)|[^\W_]+|[,;:()\"“”]")
_QUOTES = frozenset('"“”')
_PAUSES = frozenset(',;:()"“”')
_REACH = 6  # tokens between a verb and its "that": "announced on Monday that"
_SPEAKER = 9  # tokens of "..., the head of the council said" at the end of a sentence
_OPENING = 12  # tokens before the comma that ends "In the novel of 1950, ..."
_OBJECT = 4  # tokens of an object between a verb and its "to" or "of": "urged the whole Parliament to"
_DATA = read_data("tasks.verification", "frames.toml")
_SMALL = {name: frozenset(words.split()) for name, words in _DATA["small"].items()}
_OF_OTHERS, _ACCUSING = (frozenset(map(stem, _SMALL[name])) for name in ("of_others", "accusing"))
_REMEMBERED = 8192


class Frame(StrEnum):
    """Why a clause is not asserted."""

    REPORTED = "reported"  # somebody says it
    DENIED = "denied"  # it is called untrue
    UNCERTAIN = "uncertain"  # it is planned, possible or conditional
    FICTIONAL = "fictional"  # it happens in a story


@dataclass(frozen=True)
class Framed:
    """A part of a sentence in a frame: characters `start` to `end`."""

    frame: Frame
    start: int
    end: int


@lru_cache(maxsize=_REMEMBERED)
def framed(sentence: str) -> tuple[Framed, ...]:
    """Return the parts of an English sentence that have a frame."""
    tokens = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(sentence)]
    words = [word if word == "May" else word.lower().replace("’", "'") for word, _, _ in tokens]  # the month
    results = []
    for frame, first, last in _spans(words):
        if first < last <= len(tokens):
            results.append(Framed(frame, tokens[first][1], tokens[last - 1][2]))
    return tuple(dict.fromkeys(results))


def frames_named(sentence: str) -> frozenset[Frame]:
    """Return the frames for which a sentence has a word, whatever that word governs: "parents complained about it"."""
    words = [match[0].lower() for match in _TOKEN.finditer(sentence) if match[0] != "May"]
    parts = [_table()[part] for part in ("verbs", "nouns", "adjectives", "adverbs", "modals", "fiction")]
    return frozenset(part[key] for word in words for part in parts for key in (word, stem(word)) if key in part)


def _spans(words: Sequence[str]) -> Iterator[tuple[Frame, int, int]]:
    """Yield frames with the first token that they hold, and the one after the last."""
    end = len(words)
    for index, word in enumerate(words):
        key = stem(word)
        if word in _table()["adverbs"]:
            yield _table()["adverbs"][word], 0, end
        if word in _table()["modals"] and words[index + 1 : index + 2] not in ([], ["not"], ["n't"]):
            yield _table()["modals"][word], *_clause(words, index)
        if word in _table()["conditions"] and not _is_quoted_question(words, index):
            yield _table()["conditions"][word], 0 if index == 0 or word != "whether" else index + 1, end
        yield from _governed(words, index, key)
    yield from _speakers(words)
    yield from _openings(words)
    yield from _around_all(words)


def _governed(words: Sequence[str], place: int, key: str) -> Iterator[tuple[Frame, int, int]]:
    """Yield the frames of the clause that a verb, noun or adjective governs."""
    end, table = len(words), _table()
    that = _that(words, place)
    is_noun = (place > 0 and words[place - 1] in _SMALL["before_noun"]) or (place == 0 and that == 1)
    if is_noun and key in table["nouns"] and that is not None:
        yield table["nouns"][key], that + place, end
        if any(stem(word) in table["adjectives"] or stem(word) in _denials() for word in words[place + that :]):
            yield Frame.DENIED, place + that, end
    if key in table["adjectives"] and that is not None:
        yield table["adjectives"][key], place + that, end
    if key in table["verbs"] and not is_noun:
        yield from _of_verb(words, place, table["verbs"][key], that)
    negated = place > 1 and words[place - 1] in {"not", "n't"} and words[place] in {"true", "correct", "clear", "known"}
    if negated and that is not None:
        yield Frame.DENIED if words[place] in {"true", "correct"} else Frame.UNCERTAIN, place + that, end
    if words[place + 1 : place + 2] == ["to"] and (
        key in _SMALL["before_infinitive"] or (is_noun and table["nouns"].get(key) is Frame.UNCERTAIN)
    ):
        yield Frame.UNCERTAIN, place + 2, end
    yield from _gerunds(words, place, key)
    if _with_next(words, place) in {("no", "evidence"), ("no", "proof"), ("no", "sign"), ("not", "case")}:
        yield Frame.DENIED, place + 2, end


def _of_verb(words: Sequence[str], place: int, frame: Frame, that: int | None) -> Iterator[tuple[Frame, int, int]]:
    end = len(words)
    after = words[place + 1] if place + 1 < end else ""
    passive = place > 0 and (words[place - 1] in BE or (words[place - 2 : place - 1] and words[place - 2] in BE))
    negated = any(word in NEGATORS for word in words[max(place - 2, 0) : place])
    if negated and frame is not Frame.DENIED:
        open_question = that is not None and words[place + that] != "that"
        frame = Frame.DENIED if frame is Frame.REPORTED and not open_question else Frame.UNCERTAIN
    if that is not None:
        yield frame, place + that, end
    elif after == "to" and (passive or frame is not Frame.REPORTED):
        yield frame, place + 2, end
    elif stem(words[place]) in _OF_OTHERS and "to" in words[place + 2 : place + 2 + _OBJECT]:
        yield frame, words.index("to", place + 2) + 1, end  # "urged Parliament to cut tariffs"
    elif words[place] in _table()["bare"] and not passive and (after in _SMALL["begins_clause"] or after in _QUOTES):
        yield frame, place + 1, end
    elif frame is Frame.DENIED and not passive and after not in {"by", "", *_PAUSES}:
        yield frame, place + 1, _clause(words, place)[1]  # "denied stealing it", "rejected reports of a merger"


def _gerunds(words: Sequence[str], place: int, key: str) -> Iterator[tuple[Frame, int, int]]:
    """Yield what "accused of", "considered" or "close to" have after them as a gerund: "close to signing"."""
    after = [*words[place + 1 : place + 1 + _OBJECT], ""]
    gerund = next((n for n, word in enumerate(after) if word.endswith("ing") or word == "having"), None)
    if gerund is None:
        return
    if key in _ACCUSING and gerund and after[gerund - 1] in {"of", "with"}:
        yield Frame.REPORTED, place + 1 + gerund, len(words)
    elif gerund == 0 and _table()["verbs"].get(key) is Frame.UNCERTAIN:
        yield Frame.UNCERTAIN, place + 1, len(words)
    elif gerund == 1 and (words[place], after[0]) in {("close", "to"), ("far", "from"), ("instead", "of")}:
        yield Frame.UNCERTAIN if words[place] == "close" else Frame.DENIED, place + 2, _clause(words, place)[1]


def _around_all(words: Sequence[str]) -> Iterator[tuple[Frame, int, int]]:
    """Yield the frame of a whole sentence: "Had the dam failed, ...", "Neither he nor ...", "was to have sailed"."""
    end = len(words)
    if words[:1] and words[0] in {"should", "had", "were"} and "," in words:
        yield Frame.UNCERTAIN, 0, end
    for index, pair in enumerate(pairwise(words)):
        if pair[0] in {"was", "were"} and pair[1] == "to":
            yield Frame.UNCERTAIN, index + 2, end
        elif pair[0] == "neither":
            yield Frame.DENIED, index + 1, end
        elif pair == ("has", "it") and words[index + 2 : index + 3] == ["that"]:
            yield Frame.REPORTED, index + 3, end
        elif pair[0] in {"nearly", "almost"} and pair[1].endswith("ed"):
            yield Frame.UNCERTAIN, index + 1, _clause(words, index)[1]


def _speakers(words: Sequence[str]) -> Iterator[tuple[Frame, int, int]]:
    """Yield what comes before "..., he said" or "..., according to her", and after "According to her, ..."."""
    end = len(words)
    for index in range(end - 1):
        if words[index] == "according" and words[index + 1] == "to":
            comma = next((n for n in range(index, min(index + _OPENING, end)) if words[n] == ","), end)
            yield (Frame.REPORTED, comma + 1, end) if index == 0 and comma < end else (Frame.REPORTED, 0, index)
    last = max((n for n in range(end) if words[n] in {",", *_QUOTES}), default=-1)
    tail = words[last + 1 :]
    speaks = [word for word in tail if _table()["verbs"].get(stem(word)) is Frame.REPORTED]
    if last > 0 and 2 <= len(tail) <= _SPEAKER and speaks and (tail[-1] == speaks[-1] or tail[0] == speaks[0]):
        yield Frame.REPORTED, 0, last


def _openings(words: Sequence[str]) -> Iterator[tuple[Frame, int, int]]:
    """Yield what follows "In the novel, ...", and all of what ends with "in the novel"."""
    table = _table()["fiction"]
    for index, word in enumerate(words):
        if word in table and index > 1 and "in" in words[max(index - 4, 0) : index]:
            inside = words[max(index - 4, 0) : index]
            if not _SMALL["before_fiction"].isdisjoint(inside):
                opening = max(index - 4, 0) == 0 and words[0] == "in"
                yield (Frame.FICTIONAL, index + 1, len(words)) if opening else (Frame.FICTIONAL, 0, index)


def _clause(words: Sequence[str], place: int) -> tuple[int, int]:
    """Return the tokens from the pause or the governing verb before a place to the pause after it."""
    ends = _PAUSES | _SMALL["ends_clause"]
    first = next((n + 1 for n in range(place - 1, -1, -1) if words[n] in ends or words[n] in _table()["bare"]), 0)
    last = next((n for n in range(place + 1, len(words)) if words[n] in ends), len(words))
    return first, last


def _that(words: Sequence[str], place: int) -> int | None:
    """Return how many tokens after a place its clause begins, after "that", "whether" or "if"; None without one."""
    for ahead in range(1, _REACH + 1):
        if place + ahead >= len(words) or words[place + ahead] in {";", ":", "(", ")"}:
            return None
        if words[place + ahead] in {"that", "whether", "if"}:
            return ahead
    return None


def _with_next(words: Sequence[str], place: int) -> tuple[str, str]:
    """Return a token and the one after it; "the" between them does not count."""
    after = [word for word in words[place + 1 : place + 3] if word != "the"]
    return words[place], after[0] if after else ""


def _is_quoted_question(words: Sequence[str], place: int) -> bool:
    """Tell whether "if" belongs to "as if" or "even if", or "whether" to a choice that changes nothing."""
    return place > 0 and words[place - 1] in {"as", "even", "only"}


@cache
def _denials() -> frozenset[str]:
    return frozenset(key for key, frame in _table()["verbs"].items() if frame is Frame.DENIED)


@cache
def _table() -> Mapping[str, Mapping[str, Frame]]:
    """Return for each part of speech the frame of each stem; of adverbs, modals and conditions that of each word."""
    as_written = {"adverbs", "modals", "conditions", "fiction", "bare"}
    return {
        part: {
            (word if part in as_written else stem(word)): Frame(frame)
            for frame, words in frames.items()
            for word in words.split()
        }
        for part, frames in _DATA.items()
        if part != "small"
    }
