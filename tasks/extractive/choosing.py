"""Choose sentences that together say most of what a lead would, make sense alone, and have a readable order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tasks.extractive.differences import Difference, without_sides
from tasks.extractive.pile import KINDS, Floats, Pile, PilePassage, PileSentence
from tasks.extractive.weights import Weights, Worth, shipped
from tasks.text.content_words import names_subject, subject_of, words_of
from tasks.text.language import has_finite_verb, language_probability
from tasks.text.standalone import is_list

_DEFINES = re.compile(
    r"\b(?:is|was|are|were) (?:an?|the|one of|[a-z]+ (?:that|which|made))\b"
    r"|\b(?:ist|sind|war|waren) (?:eine?|der|die|das)\b|\b(?:est|sont|était) (?:une?|les?|la|des)\b"
    r"|\b(?:es|son|era|fue) (?:una?|el|la|los|las)\b"
)
_DEFINED_WITHIN = 12  # words before the verb of a definition
# "The penalty was given": a thing that a sentence before it told of, unless the title names it.
_UNTOLD = re.compile(
    r"The ((?:[a-z-]+ ){1,3})"
    r"(?:never|also|only|is|was|are|were|has|had|made|will|would|can|could|may|did|does|said|left|gave|took|[a-z]+ed)\b"
)
_PRONOUN = re.compile(r"(?:It|He|She|They) ")  # first words of a sentence that may follow the one it refers to
_SENTENCE = re.compile(r"[A-Z]\S*(?: \S+){2,}[.!?]")
_UNSHARED = 0.05  # is added to a likeness with other sources, so that none makes a sentence worthless
_PER_UNTOLD = 0.5  # worth of such a sentence, as a share of another's
_YEAR = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})\b")
# Below which probability of a language a sentence is in another one; of 463 sentences of wikigraph that show it by few
# of the commonest English words, none is.
_OTHER = 0.01
_LEAST_DATED = 0.5  # share of sentences with a year from which years decide the order


@dataclass(frozen=True)
class Rules:
    """How sentences are chosen; the defaults were chosen on topics of other articles (`benchmarks/extractors.py`)."""

    # Weight of a covered concept of each kind
    word: float = 1.0
    bigram: float = 2.0
    value: float = 3.0
    unlikely: float = 0.15  # a value less probable than this counts against its sentence, as it costs precision
    # Powers of a sentence's expected shares, which its gain is multiplied by
    by_bigrams: float = 0.5
    by_values: float = 0.5
    by_shared: float = 1.0  # of its likeness with the other sources: what only one of them is about is rarely the topic
    by_length: float = 0.4  # power of its length, which the gain is divided by
    again: float = 0.8  # factor of a sentence for each earlier one from its source
    floor: float = 0.15  # least worth of a sentence, as a share of the mean of the best ones


RULES = Rules()
_BEST = 5  # sentences of a pile, whose mean the floor is a share of


def choose(
    title: str,
    passages: Sequence[PilePassage],
    length: int,
    *,
    language: str | None = None,
    weights: Weights | None = None,
    rules: Rules = RULES,
    told: Sequence[Difference] = (),
) -> list[PileSentence]:
    """Return sentences of the passages, best first, in the order in which they are to be read; none if none is one.
    They have `length` words at most together. Sentences surely in another `language` (ISO 639-1 code; None = any) are
    refused, unless all are, and none states a side of what is `told` elsewhere: what sources say differently. `weights`
    is what was learned; None = the shipped ones."""
    pile = Pile(title, passages, lambda sentence: without_sides(sentence, told))
    if not pile.sentences:
        return []
    return of_pile(pile, (weights or shipped()).worth(pile), length, rules, language)


def of_pile(
    pile: Pile, worth: Worth, length: int, rules: Rules = RULES, language: str | None = None
) -> list[PileSentence]:
    """Return the chosen sentences of a pile whose concepts and sentences have a known worth."""
    whole = np.array([each.whole for each in pile.sentences])
    asked = np.ones(len(whole), np.bool_)
    if language is not None:
        likely = (language_probability(each.text, language) for each in pile.sentences)
        asked = np.array([probability is None or probability >= _OTHER for probability in likely])
    if not (whole & asked).any():
        asked[:] = True
    whole &= asked
    words = np.array([len(each.words) for each in pile.sentences])
    alone = np.array([not each.defects for each in pile.sentences])
    able = whole & alone
    fits = words[able].sum() <= length  # then no sentence is left out for its worth
    if words.sum() <= length or not able.any():  # nor for its length, unless it would bring labels of the page
        able |= asked & alone & [_is_sentence(each) for each in pile.sentences]
    if not (able & (words <= length)).any():  # a sentence that needs its page is better than none
        able = whole
    merit = _merit(pile, worth, rules)
    if able.any() and words[able].sum() > length:
        able &= merit >= rules.floor * np.sort(merit[able])[-_BEST:].mean()
    first = _definition(pile, able & (words <= length), merit)
    chosen = _greedy(pile, worth, able, words, length, merit, first, rules)
    ordered = _in_order(pile, [pile.sentences[number] for number in chosen], first is not None)
    return _continued(pile, ordered, length) if fits else ordered


def _continued(pile: Pile, chosen: Sequence[PileSentence], length: int) -> list[PileSentence]:
    """Return the sentences, each with its followers in the passage while words are left. A follower begins with a
    pronoun, needs nothing else and has a name, number or date."""
    left = length - sum(len(item.words) for item in chosen)
    known = {(item.passage, item.place) for item in chosen}
    behind: dict[tuple[int, int], list[PileSentence]] = {place: [] for place in known}
    head = last = (-1, -1)
    telling = set(pile.concepts[KINDS.index("value")].sentence.tolist())
    for number, one in enumerate(pile.sentences):
        place = one.passage, one.place
        follows = one.defects == 1 and _PRONOUN.match(one.text) and _is_sentence(one)  # all others are alone
        if place in known:
            head = last = place
        elif follows and last == (one.passage, one.place - 1) and number in telling and len(one.words) <= left:
            behind[head].append(one)
            last, left = place, left - len(one.words)
    return [each for item in chosen for each in (item, *behind[item.passage, item.place])]


def _is_sentence(sentence: PileSentence) -> bool:
    return _SENTENCE.fullmatch(sentence.text) is not None and not is_list(sentence.text)


def _merit(pile: Pile, worth: Worth, rules: Rules) -> Floats:
    """Return [N] by which gains are multiplied: less for a thing that only a sentence before, or the title, tells."""
    things = (_UNTOLD.match(each.text) for each in pile.sentences)
    untold = [thing is not None and pile.topic.isdisjoint(thing[1].split()) for thing in things]
    bigrams, values = worth.sentences.T
    merit = np.maximum(bigrams, 1e-3) ** rules.by_bigrams * (np.maximum(values, 0) + 0.02) ** rules.by_values
    merit *= (worth.shared + _UNSHARED) ** rules.by_shared
    return np.asarray(merit * np.where(untold, _PER_UNTOLD, 1.0))


def _greedy(
    pile: Pile,
    worth: Worth,
    able: NDArray[np.bool_],
    words: NDArray[np.int64],
    length: int,
    merit: Floats,
    first: int | None,
    rules: Rules,
) -> list[int]:
    """Return the numbers of sentences: each time the one that adds most for its length (Lin & Bilmes 2010, sec. 4)."""
    rates = (rules.word, rules.bigram, rules.value)
    costs = (0.0, 0.0, rules.unlikely)
    adds = np.concatenate([rate * (p - cost) for rate, p, cost in zip(rates, worth.concepts, costs, strict=True)])
    occurrences = np.concatenate([concept.sentence for concept in pile.concepts])
    starts = np.cumsum([0, *(len(concept.names) for concept in pile.concepts)])
    columns = np.concatenate([item.concept + start for item, start in zip(pile.concepts, starts[:-1], strict=True)])
    # [N, C] which sentence holds which concept, the kinds one after another
    holds = sparse.csr_array((np.ones(len(columns)), (occurrences, columns)), shape=(len(able), starts[-1]))
    names: dict[str, int] = {}
    source = np.array(
        [names.setdefault(pile.passages[each.passage].source, len(names)) for each in pile.sentences], np.int64
    )
    turn = np.ones(len(names))
    factor = merit / words**rules.by_length
    chosen: list[int] = []
    able = able.copy()
    while True:
        able &= words <= length
        gains = np.where(able, (holds @ adds) * factor * turn[source], -1.0)
        number = first if first is not None and not chosen else int(gains.argmax())
        if gains[number] <= 0 and (chosen or first is None):
            return chosen
        chosen.append(number)
        able[number] = False
        length -= int(words[number])
        turn[source[number]] *= rules.again
        adds[holds.indices[holds.indptr[number] : holds.indptr[number + 1]]] = 0.0


def _definition(pile: Pile, able: NDArray[np.bool_], merit: Floats) -> int | None:
    """Return the sentence that says what the subject is, or else the best one that names it; None without any."""
    subject = _spaced(subject_of(pile.title))
    naming = [n for n, item in enumerate(pile.sentences) if able[n] and names_subject(item.text, pile.title)]
    defining = []
    for number in naming:
        text = pile.sentences[number].text
        if subject and (verb := _DEFINES.search(text)):
            before = _spaced(text[: verb.start()])
            begins = (before[start : start + len(subject)] for start in (0, 1))  # "The" may come first
            is_clause = has_finite_verb(text[: verb.start()])  # "Pell ferry has a bell: it is a gift"
            if len(before) <= _DEFINED_WITHIN and subject in begins and not is_clause:
                defining.append(number)
    return max(defining or naming, key=lambda number: (merit[number], -number), default=None)


def _spaced(text: str) -> list[str]:
    """Return the words between spaces, as they are compared: "the Pell-ferry song" does not name the ferry Pell."""
    return [" ".join(words_of(word)) for word in text.split()]


def _in_order(pile: Pile, chosen: Sequence[PileSentence], defined: bool) -> list[PileSentence]:
    """Return the sentences with the definition first, the others by year, and by source and place where few have one.

    A sentence without a year stays with the one before it in its source. If its source has none, it precedes history.
    """
    first, others = list(chosen[:1] if defined else ()), list(chosen[1:] if defined else chosen)
    rank: dict[str, int] = {}
    for each in chosen:  # the source of the sentence that was chosen first comes first
        rank.setdefault(pile.passages[each.passage].source, len(rank))

    def place(each: PileSentence) -> tuple[int, int, int]:
        passage = pile.passages[each.passage]
        return rank[passage.source], passage.position, each.place

    others.sort(key=place)
    years = [_YEAR.search(each.text) for each in others]
    if sum(year is not None for year in years) < _LEAST_DATED * len(others):
        return first + others
    last: dict[str, int] = {}
    dated = []
    for each, year in zip(others, years, strict=True):
        source = pile.passages[each.passage].source
        if year is not None:
            last[source] = int(year[1])
        dated.append((last.get(source, 0), *place(each)))
    return first + [others[number] for number in sorted(range(len(others)), key=dated.__getitem__)]
