"""Objections: what a sentence claims beyond its evidence although it has the evidence's words.

Each rule compares one thing that words alone do not show: who says it, its rank among others, whether it still holds,
its unit, its bound. An objection refuses a sentence whatever its probability is."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum

from tasks.engine.data_files import read_data
from tasks.verification.clauses import dropped_frame
from tasks.verification.frames import Frame, framed, frames_named
from tasks.verification.parser import english
from tasks.verification.words import LIMITS, NEGATORS, ParsedText, Word, WordKind, read, related, small_words

_WORDS = {name: frozenset(words.split()) for name, words in read_data("tasks.verification", "objections.toml").items()}
_INSIDE = 0.6  # share of the words common with the evidence from which the frame is around the sentence
_PART = 0.4  # share of the sentence's content words, so that the frame is around its statement, not around a detail
_BEFORE_RANK = 4  # words before "largest" that may say "second" or "one of"
_OWNED = 3  # words after "Skerry Point's" among which its verb may be: "old brass lamp burned"
_SCOPE = 7  # words after "largest" in which its scope begins: "largest stone bridge in Wales"
_AUXILIARIES = frozenset(small_words("auxiliaries"))
_ADVERBS = frozenset({"first", "last", "only"})
_PAST_OF = {"is": "was", "are": "were", "has": "had", "have": "had"}


class Objection(StrEnum):
    """Why evidence that has the words of a sentence does not say it."""

    REPORTED = "a source reports it, and does not say it itself"
    FRAMED = "the source calls it untrue, uncertain, planned or fiction"
    RANK = "the source gives another rank, or a rank within something smaller"
    TIME = "the source says it of another time"
    UNIT = "the source has another unit"
    BOUND = "the source has another bound, such as about or at least"
    SUBJECT = "the source says it of something else, such as a part"


def objection(sentence: str, evidence: Sequence[str], *, close: bool = True) -> Objection | None:
    """Return why the evidence does not say a sentence, or None. `evidence`: the sentences that hold its words; `close`:
    one of them has nearly all of them, so that a small difference is meant. If it is False, the sentence has other
    words: small words differ freely, and only frames and units are compared."""
    claim = read(sentence)
    source = read("\n".join(evidence))
    if (frame := _dropped_frame(claim, evidence)) is not None:
        return Objection.REPORTED if frame is Frame.REPORTED else Objection.FRAMED
    rules = _RULES if close else {Objection.UNIT: _other_unit}
    return next((name for name, differs in rules.items() if differs(claim, source)), None)


def _dropped_frame(claim: ParsedText, evidence: Iterable[str]) -> Frame | None:
    """Return a frame that the evidence has around the words of a claim, and the claim has not."""
    own = {part.frame for part in framed(claim.raw)} | frames_named(claim.raw)
    negated = any(word.text in NEGATORS for word in claim.words)
    if english() is not None:
        return dropped_frame(claim.raw, evidence, frozenset(own | ({Frame.DENIED} if negated else set())))
    dropped = set()
    for sentence in evidence:
        shared = _shared(claim, sentence)
        for part in framed(sentence):
            inside = _shared(claim, sentence[part.start : part.end])
            kept = part.frame in own or (part.frame is Frame.DENIED and negated)
            if inside >= max(_INSIDE * shared, _PART * len(claim.content)) and not kept:
                dropped.add(part.frame)
    return next((frame for frame in reversed(Frame) if frame in dropped), None)


def _shared(claim: ParsedText, text: str) -> int:
    index = read(text).index
    return sum(any(sign in index for sign in claim.words[place].signs) for place in claim.content)


def _superlatives(words: Sequence[str]) -> list[int]:
    return [
        index
        for index, word in enumerate(words)
        if word in _WORDS["first_ranks"]
        or (len(word) > 4 and word.endswith("est") and word not in _WORDS["no_superlatives"])
    ]


def _other_rank(claim: ParsedText, source: ParsedText) -> bool:
    """Tell whether a superlative is not in the source, or has another rank or a smaller scope there."""
    own, theirs = claim.texts, source.texts
    if _one_of(theirs) & _the(own) - _the(theirs):
        return True
    ranked = (place for place in _superlatives(theirs) if _in_scope(theirs, place, claim))
    ranks = Counter((theirs[place], _rank(theirs, place)) for place in ranked)
    ours = Counter((own[place], _rank(own, place)) for place in _superlatives(own))
    # If the source lacks "first", "last" or "only", they may be adverbs of another meaning.
    return any(count > ranks[key] for key, count in ours.items() if key[0] not in _ADVERBS or key[0] in theirs)


def _one_of(words: Sequence[str]) -> set[str]:
    """Return the words after "one of the"."""
    return {words[n + 3] for n in range(len(words) - 3) if list(words[n : n + 3]) == ["one", "of", "the"]}


def _the(words: Sequence[str]) -> set[str]:
    """Return the words after a "the" that does not follow "of"."""
    return {words[n + 1] for n in range(len(words) - 1) if words[n] == "the" and (not n or words[n - 1] != "of")}


def _in_scope(words: Sequence[str], place: int, claim: ParsedText) -> bool:
    """Tell whether a claim keeps the scope of a superlative of its source, if it has one."""
    held = {word.key for word in claim.words} | {word.text for word in claim.words}
    return all(word in held or read(word).stems <= held for word in _scope(words, place))


def _rank(words: Sequence[str], place: int) -> frozenset[str]:
    before = words[max(place - _BEFORE_RANK, 0) : place]
    ranks = {word for word in before if word in _WORDS["ranked_before"] or word in _WORDS["shared"]}
    return frozenset(ranks | ({"one of"} if "one" in before and "of" in before else set()))


def _scope(words: Sequence[str], place: int) -> list[str]:
    """Return the word right after the "in" or "of" that limits a superlative, such as "wales"; empty without one."""
    if words[place] in {"first", "last", "only"}:
        return []
    after = words[place + 1 : place + _SCOPE]
    begin = next((n for n, word in enumerate(after) if word in _WORDS["places"]), None)
    if begin is None:
        return []
    return [word for word in after[begin + 1 : begin + 4] if word not in {"the", "a", "its", "his", "her", "all"}][:1]


def _other_time(claim: ParsedText, source: ParsedText) -> bool:
    """Tell whether a sentence moves a statement of the source from past to present, or adds or drops an end."""
    own, theirs = set(claim.texts), set(source.texts)
    if own & _WORDS["ongoing"] - theirs and not theirs & _WORDS["ongoing"]:
        return True
    if own & (_WORDS["ended"] - {"once", "until"}) and not theirs & (_WORDS["ended"] | {"no", "then", "late"}):
        return True
    if {"no", "longer"} <= theirs and not {"no", "longer"} <= own and not own & (_WORDS["ended"] | NEGATORS):
        return True
    if {"no", "longer"} <= own and not theirs & (_WORDS["over"] | _WORDS["ended"]):
        return True
    is_present = own & {"is", "are", "has"} and not own & _WORDS["past"]
    if is_present and theirs & _WORDS["past"] and not theirs & _WORDS["present"]:
        return True
    return _moved_to_present(claim.texts, source.texts)


def _moved_to_present(own: Sequence[str], theirs: Sequence[str]) -> bool:
    """Tell whether an "is" has the same neighbours as a "was" of the source, where no "is" has them."""
    for index, word in enumerate(own):
        if word in _PAST_OF and 0 < index < len(own) - 1:
            beside = (own[index - 1], own[index + 1])
            here = {theirs[n] for n in range(1, len(theirs) - 1) if (theirs[n - 1], theirs[n + 1]) == beside}
            if _PAST_OF[word] in here and word not in here:
                return True
    return False


def _numbers(text: ParsedText) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index, word in enumerate(text.words):
        if word.kind is WordKind.NUMBER:
            places.setdefault(word.key, []).append(index)
    return places


def _other_unit(claim: ParsedText, source: ParsedText) -> bool:
    """Tell whether a number is followed by percent in one text and points in the other, or by the unit that follows
    another number of the source."""
    own, theirs = _numbers(claim), _numbers(source)
    of_others = {unit: key for key, places in theirs.items() for place in places if (unit := _unit(source, place))}
    for key in own.keys() & theirs.keys():
        ours = {unit for place in own[key] if (unit := _unit(claim, place))}
        others = {unit for place in theirs[key] if (unit := _unit(source, place))}
        if not ours or not others or not ours.isdisjoint(others):
            continue
        if ours | others == {"percent", "point"} or any(of_others.get(unit, key) != key for unit in ours):
            return True
    return False


def _unit(text: ParsedText, place: int) -> str | None:
    """Return the stem of the ordinary word right after a number."""
    after = text.words[place + 1 : place + 2]
    return after[0].key if after and after[0].kind is WordKind.WORD else None


def _other_bound(claim: ParsedText, source: ParsedText) -> bool:
    """Tell whether the source has a bound such as "about" right before a number, and the sentence has not the same."""
    own, theirs = _numbers(claim), _numbers(source)
    for key in own.keys() & theirs.keys():
        bounds = {_limit(source.texts, place) for place in theirs[key]}
        if not bounds & {_limit(claim.texts, place) for place in own[key]}:
            return True
    return False


def _limit(words: Sequence[str], place: int) -> str | None:
    if words[place + 1 : place + 2] and words[place + 1] in _WORDS["durations"]:
        return None  # "over four years" and "in four years" are one
    before = [word for word in words[max(place - 2, 0) : place] if word not in {"than", "a", "the"}]
    if before and before[-1] in {"up", "to"} and "up" in words[max(place - 2, 0) : place]:
        return "under"
    return next((name for name, limits in LIMITS.items() if name != "all" and before and before[-1] in limits), None)


def _other_subject(claim: ParsedText, source: ParsedText) -> bool:
    """Tell whether the source says of a part what a claim says of the whole: "the lamp of Skerry Point burned oil"."""
    end = next((n for n, word in enumerate(claim.words) if n and word.kind is not WordKind.NAME), 0)
    begin = int(claim.texts[:1] == ["the"])
    verb = next((word for word in claim.words[end:] if word.text not in _AUXILIARIES), None)
    if verb is None or verb.kind is not WordKind.WORD or end <= begin:
        return False
    name = claim.texts[begin:end]
    places = [n for n in range(len(source.words)) if source.texts[n : n + len(name)] == name]
    said_of_part = [
        part for n in places if (part := _said_of_part(claim, source, (n, n + len(name)), verb)) is not None
    ]
    return bool(said_of_part) and all(said_of_part)


def _said_of_part(claim: ParsedText, source: ParsedText, name: tuple[int, int], verb: Word) -> bool | None:
    """Tell whether a verb after a name of the source has a part of it as its subject; None if no such verb follows.
    `name`: its first place and the one after its last."""
    start, end = name
    after = [n for n in range(end, len(source.words)) if source.texts[n] not in _AUXILIARIES]
    if source.texts[end : end + 1] == ["s"]:
        return any(related(source.words[n].key, verb.key) for n in after[2 : 2 + _OWNED]) or None
    if not after or not related(source.words[after[0]].key, verb.key):
        return None
    before = [word for word in source.words[max(start - 3, 0) : start] if word.text != "the"][-2:]
    if len(before) < 2 or before[1].text not in _WORDS["of_a_part"]:
        return False
    held = {word.key for word in claim.words}
    return (
        before[0].kind is WordKind.WORD and before[0].key not in held and before[0].text not in _WORDS["same_as_name"]
    )


_RULES: dict[Objection, Callable[[ParsedText, ParsedText], bool]] = {
    Objection.RANK: _other_rank,
    Objection.TIME: _other_time,
    Objection.UNIT: _other_unit,
    Objection.BOUND: _other_bound,
    Objection.SUBJECT: _other_subject,
}
