"""Relations in which a sentence and a window disagree: who does what to whom, which number counts what, and what comes
first.

This works without a parser. Words that look like verbs have the content words before and after them as arguments, and
"by" with a form of "be" exchanges these. Small words such as "at least" or "may" belong to the words after them."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tasks.verification.alignment import NOWHERE, Window
from tasks.verification.words import BE, BOUND_OF, LIMITS, ParsedText, WordKind, small_words

_AUXILIARIES = BE | frozenset(small_words("auxiliaries"))
_PASTS = frozenset(small_words("pasts"))
_DETERMINERS = frozenset(small_words("before_participles")) - _AUXILIARIES
_STOPS = frozenset(small_words("prepositions"))
_THINGS = frozenset([WordKind.NAME, WordKind.WORD])
_WHO = frozenset(["who", "which", "that"])
_ARGUMENTS = 3  # content words on one side of a verb that may be its argument
BEFORE = 4  # words before a number or verb that may hold its bound
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_FORWARD = frozenset(["before", "until"])
_BACKWARD = frozenset(["after", "since", "once", "following"])
Pairs = Sequence[tuple[int, int]]  # of content words: their place in the sentence and in the passage


def relations(sentence: ParsedText, passage: ParsedText, window: Window, pairs: Pairs) -> list[float]:
    """Return the numbers from `roles_turned` to `times_turned` for a sentence and a window of a passage."""
    return [
        *_roles(sentence, passage, pairs),
        *_limits(sentence, passage, pairs),
        _maybe_lost(sentence, passage, pairs),
        _moved(sentence, passage, pairs),
        sum(n == NOWHERE and _acts(sentence, p) for p, n in zip(sentence.content, window.places, strict=True)),
        _times(sentence, passage, pairs),
    ]


def _roles(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> tuple[float, float]:
    """Return how many arguments of their common verbs have exchanged roles, and how many have kept them."""
    turned = kept = 0
    there = dict(pairs)
    for own, place in pairs:
        same = sentence.words[own].key == passage.words[place].key
        if not (same and _acts(sentence, own) and _acts(passage, place)):
            continue
        doers, done = ({there.get(p, NOWHERE) for p in side} - {NOWHERE} for side in _arguments(sentence, own))
        their_doers, their_done = _arguments(passage, place)
        turned += len(doers & their_done) + len(done & their_doers)
        kept += len(doers & their_doers) + len(done & their_done)
    return turned, kept


def _acts(text: ParsedText, place: int) -> bool:
    """Tell whether a word looks like a verb in its place."""
    word = text.words[place]
    if word.kind is not WordKind.WORD:
        return False
    before = text.words[place - 1].text if place and text.words[place - 1].sentence == word.sentence else ""
    if before in _DETERMINERS or before in _STOPS:
        return False
    if word.text.endswith("ed") or word.text in _PASTS or before in _AUXILIARIES:
        return True
    after = text.words[place + 1] if place + 1 < len(text.words) else None
    return after is not None and word.text.endswith("s") and bool(before) and (after.text in _DETERMINERS)


def _arguments(text: ParsedText, verb: int) -> tuple[set[int], set[int]]:
    """Return the content words that are the agent of a verb, and those that are its patient."""
    start, end = text.bounds[text.words[verb].sentence]
    left: list[int] = []
    for index in range(verb - 1, start - 1, -1):
        word = text.words[index]
        if len(left) == _ARGUMENTS or word.text == "to" or (text.joints[index] < text.joints[verb] and left):
            break
        if text.joints[index] < text.joints[verb] and text.words[index + 1].text not in _WHO:
            break
        if word.text in _STOPS:
            left = []  # the part before is the head, the part after belongs to it
        elif word.kind in _THINGS:
            left.append(index)
    right: list[int] = []
    by = False
    for index in range(verb + 1, end):
        word = text.words[index]
        if len(right) == _ARGUMENTS or text.joints[index] > text.joints[verb] or (word.text in _STOPS and right):
            break
        if word.text == "by" and not right:
            by = True
        elif word.text in _STOPS:
            break
        elif word.kind in _THINGS:
            right.append(index)
    if any(text.words[p].text in BE for p in range(max(verb - 3, start), verb)):
        return set(right if by else ()), set(left)
    return (set(right), set(left)) if by else (set(left), set(right))


def _limits(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> tuple[float, float, float]:
    """Return for how many numbers "at least" has become "at most" or the other way, and which limits come and go."""
    turned = added = dropped = 0
    for own, there in pairs:
        if sentence.words[own].kind is WordKind.NUMBER:
            mine, theirs = _limit(sentence, own), _limit(passage, there)
            turned += {mine, theirs} == {"over", "under"}
            added += bool(mine) and not theirs
            dropped += bool(theirs) and not mine
    return turned, added, dropped


def _limit(text: ParsedText, place: int) -> str:
    """Return the bound that the words right before a number give it: over, under, about, all or none."""
    sentence = text.words[place].sentence
    result = ""
    for before in range(place - 1, max(place - 1 - BEFORE, -1), -1):
        word = text.words[before]
        if word.sentence != sentence or word.kind is WordKind.NUMBER:
            break
        if result in {"over", "under"} and word.text in {"no", "not"}:
            return "under" if result == "over" else "over"
        limit = next((name for name, words in LIMITS.items() if word.text in words), "")
        result = result or limit
        if not result and word.kind:
            break
    return result


def _maybe_lost(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return whether the window says "may" or the like right before a word that the sentence has without any."""
    if any(BOUND_OF.get(word.text) == "maybe" for word in sentence.words):
        return 0.0
    near = (
        BOUND_OF.get(passage.words[p].text) == "maybe" and passage.words[p].sentence == passage.words[there].sentence
        for own, there in pairs
        if sentence.words[own].kind is WordKind.WORD
        for p in range(max(there - 2, 0), there)
    )
    return float(any(near))


def _moved(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return how many numbers are next to a word that is nearer to another number of their kind in the passage."""
    count = 0
    said = {passage.words[there].key for _, there in pairs}
    for item, two in pairwise(pairs):
        for (value, at), (word, beside) in ((item, two), (two, item)):
            if sentence.words[value].kind is WordKind.NUMBER and sentence.words[word].kind is WordKind.WORD:
                far = abs(at - beside)
                start, end = passage.bounds[passage.words[beside].sentence]
                near = range(max(start, beside - far + 1), min(end, beside + far))
                count += any(_like(passage, n, at) and passage.words[n].key not in said for n in near)
    return count


def _like(text: ParsedText, one: int, other: int) -> bool:
    """Tell whether two words are two years, or two other numbers."""
    a, b = text.words[one], text.words[other]
    return a.kind is b.kind and bool(_YEAR.fullmatch(a.key)) == bool(_YEAR.fullmatch(b.key))


def _times(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return how many words such as "before" the window has in another order than the claim."""
    turned = 0
    for place, forward in _time_words(sentence):
        left = [q for p, q in pairs if p < place]
        right = [q for p, q in pairs if p > place]
        if left and right:
            low, high = min(*left, *right), max(*left, *right)
            after = _following(sentence, place)
            turned += any(
                (other == forward) != (_following(passage, at) == after or sum(q < at for q in left) > len(left) / 2)
                for at, other in _time_words(passage)
                if low - 2 <= at <= high + 2
            )
    return turned


def _time_words(text: ParsedText) -> Iterator[tuple[int, bool]]:
    """Yield the places of words that put one thing before another, and whether it comes before them."""
    for index, word in enumerate(text.words):
        if word.text in _FORWARD or word.text in _BACKWARD:
            yield index, word.text in _FORWARD


def _following(text: ParsedText, place: int) -> str:
    """Return the content word after a place."""
    return next((word.key for word in text.words[place + 1 :] if word.kind), "")
