"""Which words of a passage a sentence's words may come from, and the windows of it that could say the sentence.

A window is one sentence of the passage, or two: neighbours, or the first one, which mostly names the subject, and a
later one. Every content word of the sentence gets one place in a window, near those of its neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from tasks.verification.words import ParsedText

_CLOSE = 0.3  # weight of the share of neighbours that stay neighbours, against the share of words, to choose a window
_TRIED = 3  # sentences of a passage with most of the words, from which the window is chosen
NOWHERE = -1
Matches = list[dict[int, float]]


@dataclass(frozen=True)
class Window:
    """Sentences of a passage, and where in them a sentence's content words are."""

    sentences: tuple[int, ...]  # their numbers, one or two
    places: list[int]  # place in the passage of each content word of the sentence, or NOWHERE
    quality: list[float]  # how surely each is the same word, 0-1

    @cached_property
    def said(self) -> list[int]:
        """The places of the passage that hold words of the sentence, in the order of these."""
        return [place for place in self.places if place != NOWHERE]

    def pairs(self, sentence: ParsedText) -> list[tuple[int, int]]:
        """Return the places, in sentence and passage, of the content words that the passage has."""
        return [(own, there) for own, there in zip(sentence.content, self.places, strict=True) if there != NOWHERE]

    def span(self, passage: ParsedText) -> list[int]:
        """Return all places of its sentences."""
        return [index for number in self.sentences for index in range(*passage.bounds[number])]


def matches(sentence: ParsedText, passage: ParsedText) -> Matches:
    """Return for each content word of a sentence the places of the passage that hold it, with how surely they do."""
    results: Matches = []
    for place in sentence.content:
        here: dict[int, float] = {}
        for sign, quality in sentence.words[place].signs.items():
            for other in passage.index.get(sign, ()):
                here.setdefault(other, quality)
        results.append(here)
    return results


def longest_gap(found: Matches) -> int:
    """Return the longest run of content words of a sentence that its passage has in no form."""
    return max((len(list(run)) for held, run in groupby(map(bool, found)) if not held), default=0)


def windows(found: Matches, weights: Sequence[float], passage: ParsedText) -> tuple[Window, Window]:
    """Return the sentence and the pair of sentences of a passage that match a sentence best. `found`: as `matches`
    returns it; `weights`: information of each content word; `passage`: the searched passage, with at least one
    sentence."""
    held: list[dict[int, float]] = []  # of each word, the best quality in each sentence
    total = [0.0] * len(passage.sentences)
    for places, weight in zip(found, weights, strict=True):
        best: dict[int, float] = {}
        for place, quality in places.items():
            number = passage.words[place].sentence
            if quality > best.get(number, 0.0):
                best[number] = quality
        held.append(best)
        for number, quality in best.items():
            total[number] += weight * quality
    order = sorted(range(len(total)), key=lambda number: (-total[number], number))[:_TRIED]
    singles = [align(found, (number,), passage) for number in order]
    every = sum(weights) or 1.0
    single = max(singles, key=lambda window: total[window.sentences[0]] / every + _CLOSE * _neighbours(window, passage))
    return single, _pair(found, held, weights, passage, single)


def _pair(
    found: Matches, held: Sequence[dict[int, float]], weights: Sequence[float], passage: ParsedText, single: Window
) -> Window:
    """Return the window of two sentences; one of them is the sentence of the single window unless another pair is
    better."""
    (own,) = single.sentences
    last = len(passage.sentences) - 1
    # A second sentence near the first, or the first one of the passage.
    others = {own - 2, own - 1, own + 1, own + 2, 0} - {own}
    pairs = [(min(own, other), max(own, other)) for other in sorted(others) if 0 <= other <= last]
    if not pairs:
        return single

    def covered(pair: tuple[int, ...]) -> float:
        a, b = pair
        return sum(w * max(h.get(a, 0.0), h.get(b, 0.0)) for h, w in zip(held, weights, strict=True))

    return align(found, max(pairs, key=lambda pair: (covered(pair), -pair[1])), passage)


def align(found: Matches, sentences: tuple[int, ...], passage: ParsedText) -> Window:
    """Return a window with one place for each word: first the likeliest after the word before, then between both."""
    chosen = set(sentences)
    inside = [
        [(place, quality) for place, quality in here.items() if passage.words[place].sentence in chosen]
        for here in found
    ]
    places = [NOWHERE] * len(found)
    for _ in range(2):
        before = NOWHERE
        for number, candidates in enumerate(inside):
            if not candidates:
                continue
            after = next((place for place in places[number + 1 :] if place != NOWHERE), NOWHERE)
            if len(candidates) == 1:
                places[number] = candidates[0][0]
            else:
                places[number] = min(candidates, key=lambda one: _cost(one, before, after))[0]
            before = places[number]
    quality = [here[place] if place != NOWHERE else 0.0 for here, place in zip(found, places, strict=True)]
    return Window(sentences, places, quality)


def _cost(candidate: tuple[int, float], before: int, after: int) -> float:
    place, quality = candidate
    cost = 20 * (1 - quality)
    if before != NOWHERE:
        cost += abs(place - before - 1) + (5 if place <= before else 0)
    if after != NOWHERE:
        cost += abs(after - place - 1) + (5 if place >= after else 0)
    return cost + place * 1e-6


def _neighbours(window: Window, passage: ParsedText) -> float:
    """Return the share of neighbouring words that are neighbours in the passage too."""
    order = passage.ordinal
    pairs = list(zip(window.places, window.places[1:], strict=False))
    close = sum(a != NOWHERE and b != NOWHERE and 0 < order[b] - order[a] <= 2 for a, b in pairs)
    return close / len(pairs) if pairs else 0.0
