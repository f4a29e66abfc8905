"""Features that separate passages that say a sentence from others.

Each window of the passage (`alignment.py`) is measured in the same way: how much of the sentence it has, with its
values, their order and neighbours, negations and bounds. Then the two windows and the whole passage are compared.
Shares are 0-1, the others counts."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tasks.engine.data_files import read_data
from tasks.text.ngrams import lcs_length
from tasks.verification.alignment import NOWHERE, Matches, Window, matches, windows
from tasks.verification.relations import Pairs, relations
from tasks.verification.words import (
    BE,
    BOUND_OF,
    BOUNDS,
    NEGATORS,
    POINTING,
    ParsedText,
    Weigh,
    WordKind,
    may_be_derived,
    opposites,
    related,
    word_weights,
)

_SCOPE = 5  # words after a negator or bound in which its content word is searched for
_HEADS = 2  # content words that a negator may be about
_REACH = 4  # content words within which words belong together

_NAMES: dict[str, list[str]] = {
    part: words.split()
    for part, words in read_data("tasks.verification", "features.toml").items()
    if isinstance(words, str)
}
_CONTRADICTING = [_NAMES["of_a_window"].index(name) for name in _NAMES["contradicting"]]
NAMES = (*(f"{part}_{name}" for part in ("one", "two") for name in _NAMES["of_a_window"]), *_NAMES["of_both"])


def features(sentence: ParsedText, passage: ParsedText, weigh: Weigh) -> list[float]:
    """Return the numbers of `NAMES` for a sentence and a passage that may say it, both with content words. `weigh`:
    information of a word in lower case, from 0."""
    words = [sentence.words[place] for place in sentence.content]
    weights = word_weights(words, weigh)
    result = matches(sentence, passage)
    single, pair = windows(result, weights, passage)
    one = _window(sentence, passage, single, weights)
    two = one if pair is single else _window(sentence, passage, pair, weights)
    every = sum(weights)
    whole = sum(w * max(places.values(), default=0.0) for places, w in zip(result, weights, strict=True)) / every
    return [
        *one,
        *two,
        whole,
        sum(value not in passage.evidence for value in sentence.values),
        *unseen(sentence, passage, result),
        two[0] - one[0],
        *_second(passage, pair, weights),
        len(sentence.words),
        len(sentence.content),
        sum(word.kind is WordKind.NUMBER for word in words),
        sum(word.kind is WordKind.NAME for word in words),
    ]


def unseen(sentence: ParsedText, passage: ParsedText, found: Matches) -> tuple[int, int]:
    """Return how many numbers, and how many names, of a sentence its passage has in no form ("Kenyan" is "Kenya")."""
    numbers = names = 0
    for place, there in zip(sentence.content, found, strict=True):
        word = sentence.words[place]
        if there or word.kind is WordKind.WORD:
            continue
        if word.kind is WordKind.NUMBER:
            numbers += 1
        else:
            names += not any(may_be_derived(word.key, key) for key in passage.stems)
    return numbers, names


def _window(sentence: ParsedText, passage: ParsedText, window: Window, weights: Sequence[float]) -> list[float]:
    """Return the numbers of a window, in the order of their names."""
    places, pairs, every = window.places, window.pairs(sentence), sum(weights)
    covered = sum(w * q for w, q in zip(weights, window.quality, strict=True)) / every
    exact = sum(w for w, q in zip(weights, window.quality, strict=True) if q == 1) / every
    open_words = [number for number, place in enumerate(places) if place == NOWHERE]
    heaviest = [*sorted((weights[number] for number in open_words), reverse=True), 0.0, 0.0]
    opposed, negation = _opposites(sentence, passage, window), _negation(sentence, passage, window)
    measured = [
        covered,
        exact,
        len(open_words),
        heaviest[0],
        heaviest[1],
        *_order(passage, places),
        _units_changed(sentence, passage, pairs),
        *opposed,
        *negation,
        (opposed[1] + negation[0] + negation[1]) % 2,
        *_bounds(sentence, passage, window),
        *_subject(sentence, passage, window, weights),
        *_rest(passage, window),
        *_as_written(sentence, passage, window),
        _voice(sentence, passage, window),
        _joints_crossed(sentence, passage, pairs),
        _passives_changed(sentence, passage, pairs),
        *_leading(passage, window, weights),
        *relations(sentence, passage, window, pairs),
    ]
    return [*measured, sum(measured[place] > 0 for place in _CONTRADICTING)]


def _order(passage: ParsedText, places: Sequence[int]) -> list[float]:
    """Return how far neighbours stay neighbours and in order, the longest run, and the number of breaks."""
    order = passage.ordinal
    pairs = list(pairwise(places))
    both = [(a, b) for a, b in pairs if NOWHERE not in (a, b)]
    steps = [order[b] - order[a] for a, b in both]
    runs, run = [1], 1
    for a, b in pairs:
        run = run + 1 if NOWHERE not in (a, b) and 0 < order[b] - order[a] <= 2 else 1
        runs.append(run)
    total = len(pairs) or 1
    return [
        sum(0 < step <= 1 for step in steps) / total if pairs else 1.0,
        sum(abs(step) <= _REACH for step in steps) / total if pairs else 1.0,
        sum(step < 0 for step in steps) / total,
        max(runs) / (len(places) or 1),
        sum(not 0 < step <= 2 * _REACH for step in steps),
    ]


def _units_changed(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return how many numbers have another kind of word after them than in the passage."""
    numbers = [pair for pair in pairs if sentence.words[pair[0]].kind is WordKind.NUMBER]
    after = [(_after(sentence, place), _after(passage, there)) for place, there in numbers]
    return sum(own is not None and other is not None and not related(own, other) for own, other in after)


def _after(text: ParsedText, place: int) -> str | None:
    """Return the stem of the content word right after a place; None if another sentence or nothing follows."""
    for after in range(place + 1, min(place + 3, len(text.words))):
        if text.words[after].kind and text.words[after].sentence == text.words[place].sentence:
            return text.words[after].key
    return None


def _opposites(sentence: ParsedText, passage: ParsedText, window: Window) -> tuple[float, float]:
    """Return how many words have only an opposite in the window; and how many of these in their place.

    Small words such as "few" count too: they are not content words, but have opposites."""
    held: dict[str, list[int]] = {}
    for place in window.span(passage):
        held.setdefault(passage.words[place].key, []).append(place)
    taken = {place for place, quality in zip(window.places, window.quality, strict=True) if quality >= 1}
    place_of = dict(zip(sentence.content, window.places, strict=True))
    count = in_place = 0
    for own, word in enumerate(sentence.words):
        if word.kind is WordKind.NUMBER or word.key in held:
            continue
        there = [p for key in opposites(word.key) for p in held.get(key, ()) if p not in taken]
        if not there:
            continue
        count += 1
        beside = [place_of.get(own + step, NOWHERE) - step for step in (-2, -1, 1, 2) if own + step in place_of]
        in_place += any(abs(b - p) <= _REACH for b in beside if b >= -2 for p in there)
    return count, in_place


def _heads(text: ParsedText, place: int) -> list[int]:
    """Return the content words that a negator or bound is about: the first ones after it in its sentence."""
    word = text.words[place]
    results: list[int] = []
    for after in range(place + 1, min(place + 1 + _SCOPE, len(text.words))):
        if text.words[after].sentence != word.sentence or len(results) == _HEADS:
            break
        if text.words[after].kind:
            results.append(after)
    return results


def _negation(sentence: ParsedText, passage: ParsedText, window: Window) -> tuple[float, float, float]:
    """Return negators that the sentence adds and drops, and whether their number is odd on one side alone."""
    own = [place for place, word in enumerate(sentence.words) if word.text in NEGATORS]
    theirs = [place for place in window.span(passage) if passage.words[place].text in NEGATORS]
    place_of = dict(zip(sentence.content, window.places, strict=True))
    about_theirs = [set(_heads(passage, place)) for place in theirs]
    about_own = [{place_of[p] for p in _heads(sentence, place)} - {NOWHERE} for place in own]
    added = sum(not any(a & b for b in about_theirs) for a in about_own)
    said = set(window.places)
    dropped = sum(bool(b & said) and not any(a & b for a in about_own) for b in about_theirs)
    near = [b for b in about_theirs if b & said]
    return added, dropped, abs(len(own) - len(near)) % 2


def _bounds(sentence: ParsedText, passage: ParsedText, window: Window) -> list[float]:
    """Return how the words that bound a claim change: more of a class than the window has, or fewer than between its
    matched words."""
    theirs = Counter(_bound(passage, place) for place in window.span(passage))
    first, last = (max(min(window.said) - 2, 0), max(window.said)) if window.said else (0, -1)
    inside = Counter(_bound(passage, place) for place in range(first, last + 1))
    own = Counter(_bound(sentence, place) for place in range(len(sentence.words)))
    added = {name: max(0, own[name] - theirs[name]) for name in BOUNDS}
    dropped = {name: max(0, inside[name] - own[name]) for name in BOUNDS}
    return [
        sum(added.values()),
        sum(dropped.values()),
        added["only"] + dropped["only"],
        added["about"] + dropped["about"],
        dropped["maybe"],
        added["maybe"],
        added["over"] + dropped["over"] + added["under"] + dropped["under"],
        added["all"] + added["some"] + dropped["all"] + dropped["some"],
    ]


def _bound(text: ParsedText, place: int) -> str:
    """Return how the word at a place bounds a claim: "some 300" are about 300."""
    bound = BOUND_OF.get(text.words[place].text, "")
    some = bound == "some" and place + 1 < len(text.words) and text.words[place + 1].kind is WordKind.NUMBER
    return "about" if some else bound


def _as_written(sentence: ParsedText, passage: ParsedText, window: Window) -> tuple[float, float]:
    """Return the share of all words, small ones too, that follow one another in the window; and how many do not."""
    own = [word.key for word in sentence.words]
    there = [passage.words[place].key for place in window.span(passage)]
    common = lcs_length(own, there)
    return common / len(own), len(own) - common


def _is_passive(words: Sequence[str]) -> bool:
    return "by" in words and not BE.isdisjoint(words[: words.index("by")])


def _voice(sentence: ParsedText, passage: ParsedText, window: Window) -> float:
    """Return whether the sentence begins with words that come later in the window without a change of voice, or the
    other way."""
    places = window.said
    if len(places) < 2:
        return 0.0
    turned = sum(place < places[0] for place in places[1:]) > len(places[1:]) / 2
    own = _is_passive([word.text for word in sentence.words])
    low, high = max(min(places) - 1, 0), max(places)
    theirs = _is_passive([passage.words[place].text for place in range(low, high + 1)])
    return float(turned != (own != theirs))


def _joints_crossed(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return how many clauses begin in the passage between words that are neighbours in the sentence."""
    steps = (
        (passage.joints[q] - passage.joints[p], sentence.joints[b] - sentence.joints[a])
        for (a, p), (b, q) in pairwise(pairs)
    )
    return sum(max(0, abs(theirs) - own) for theirs, own in steps)


def _passives_changed(sentence: ParsedText, passage: ParsedText, pairs: Pairs) -> float:
    """Return how many words follow a form of "be" in only one of both."""
    of_words = [(own, there) for own, there in pairs if sentence.words[own].kind is WordKind.WORD]
    return sum(_after_be(sentence, own) != _after_be(passage, there) for own, there in of_words)


def _after_be(text: ParsedText, place: int) -> bool:
    return any(text.words[before].text in BE for before in range(max(place - 2, 0), place))


def _leading(passage: ParsedText, window: Window, weights: Sequence[float]) -> tuple[float, float]:
    """Return how many of the first words of the window's sentences the sentence has, and how much it has of sentences
    whose first words it lacks, if these do not refer to an earlier sentence."""
    said = set(window.places)
    shares = []
    unsaid = 0.0
    for number in window.sentences:
        leading = passage.leading[number]
        held = sum(place in said for place in leading) / (len(leading) or 1)
        shares.append(held)
        start, end = passage.bounds[number]
        if not held and start < end and passage.words[start].text not in POINTING:
            of_it = (w for w, p in zip(weights, window.places, strict=True) if p != NOWHERE and start <= p < end)
            unsaid += sum(of_it) / sum(weights)
    return min(shares), unsaid


def _subject(
    sentence: ParsedText, passage: ParsedText, window: Window, weights: Sequence[float]
) -> tuple[float, float]:
    """Return how much of the sentence's first words the window has, and how far before its other words."""
    names = [n for n, index in enumerate(sentence.content) if sentence.words[index].kind is WordKind.NAME]
    # The run of names that begins with the first one.
    first = [n for among, n in enumerate(names) if sentence.content[n] - among == sentence.content[names[0]]]
    if not names or names[0] >= 2:
        first = list(range(min(2, len(weights))))
    total = sum(weights[number] for number in first)
    held = sum(weights[number] * window.quality[number] for number in first) / total
    places = [window.places[number] for number in first if window.places[number] != NOWHERE]
    others = [p for number, p in enumerate(window.places) if p != NOWHERE and number not in first]
    if not places or not others:
        return held, 0.5
    return held, sum(places[0] < other for other in others) / len(others)


def _rest(passage: ParsedText, window: Window) -> tuple[float, float]:
    """Return the share of the window that the sentence says, and what it leaves out between its words."""
    content = sum(bool(passage.words[place].kind) for place in window.span(passage))
    places = sorted(set(window.said))
    inside = passage.ordinal[places[-1]] - passage.ordinal[places[0]] + 1 if places else 0
    return len(places) / (content or 1), inside - len(places)


def _second(passage: ParsedText, pair: Window, weights: Sequence[float]) -> tuple[float, float]:
    """Return the share of words that only the later sentence of a pair has, and whether it refers back."""
    if len(pair.sentences) < 2:
        return 0.0, 0.0
    start, end = passage.bounds[pair.sentences[1]]
    share = sum(w for w, place in zip(weights, pair.places, strict=True) if start <= place < end) / sum(weights)
    return share, float(start < end and passage.words[start].text in POINTING)
