"""Read sentences of the mini web back: the inverse of its `prose`, from words to facts, with the same forms.

A sentence is matched with a form: the words between the form's own words are the values. If there are several matches,
the one with the most right values is used. For a numeric fact a value must be a number, otherwise it has a maximum
number of words; any such value is accepted, so that wrong values are read and recognised as wrong."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain

from tasks.sources.miniweb.kinds import KINDS, By, Fact, Form, Number
from tasks.sources.miniweb.pages import MARKERS
from tasks.sources.miniweb.world import Topic

SUBJECT, POSSESSIVE = "S", "his"  # slots that name the topic: "the river", "it"; "its"

_NAMES = [kind.name for kind in KINDS]
_NAME_WORDS = 7  # of the longest name ("The Last Lighthouse Without a Name")
_SLACK = 2  # words by which a wrong value may be longer than the longest right one
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_MARKER = re.compile(rf"^(?:{'|'.join(MARKERS)}) ")
_SIGNS = str.maketrans({"–": "-", "—": "-", "“": '"', "”": '"', "’": "'"})

Values = tuple[tuple[str, str], ...]  # (slot, plain value) in order


def plain(text: str) -> str:
    """Return the text as values are compared: lower case, one sort of dash and quotation mark, "a" for "an"."""
    return re.sub(r"\ban\b", "a", re.sub(r"\s+", " ", text.casefold().translate(_SIGNS)))


def plain_value(value: str) -> str:
    """Return a value as it is compared: a number without commas, anything else plain."""
    text = plain(value).strip()
    return text.replace(",", "") if _NUMBER.fullmatch(text) else text


def plain_sentence(sentence: str) -> str:
    """Return a sentence as it is matched with forms: plain, without its full stop and opening marker."""
    return _MARKER.sub("", plain(sentence).strip().rstrip(".!? "))


def fact_of(slot: str) -> str:
    """Return what a slot states: the fact, or SUBJECT or POSSESSIVE for the topic itself."""
    return SUBJECT if slot == "he" else slot.rstrip("0123456789")


def facts_of(topic: Topic) -> Iterator[tuple[str, str, int | None]]:
    """Yield the facts of a topic: (fact, value, topic that it names)."""
    for slot, value in topic.facts.items():
        yield fact_of(slot), value, topic.related.get(slot)


@cache
def forms(name: str, *, paraphrases: bool = False) -> tuple[Form, ...]:
    """Return every sentence form that leads and other pages use for topics of a kind, plain; or those that say the same
    in other words, such as a part of it."""
    kind = KINDS[_NAMES.index(name)]
    written = chain(*(aspect.lead + aspect.told for aspect in kind.aspects), kind.colour)
    every = chain.from_iterable(kind.paraphrases if paraphrases else written)
    plain_slots = ((form.start, ((fact_of(slot), plain(words)) for slot, words in form.slots)) for form in every)
    return tuple(dict.fromkeys(Form(plain(start), tuple(slots)) for start, slots in plain_slots))


@cache
def longest(name: str) -> Mapping[str, int]:
    """Return the maximum number of words in the values of each slot of a kind; 0 for numbers."""
    facts = {fact_of(slot): _longest(fact) for slot, fact in KINDS[_NAMES.index(name)].facts.items()}
    return facts | dict.fromkeys((SUBJECT, POSSESSIVE, "region", "country", "demonym"), _NAME_WORDS)


def _longest(fact: Fact) -> int:
    if isinstance(fact, By):
        return max(map(_longest, fact.table.values()))
    if isinstance(fact, str):
        return max(len(phrase.split()) for phrase in fact.split(", ")) + _SLACK
    return 0 if isinstance(fact, Number) else _NAME_WORDS + _SLACK


def read_back(kind: str, form: Form, sentence: str, right: Callable[[str, str], bool]) -> Values | None:
    """Read a plain sentence by a plain form of a kind. `right` says whether a plain value is the right one for a slot;
    it decides where values can be cut in several ways. Returns each slot and its value as it is compared, or None if
    the sentence does not have this form."""
    if not sentence.startswith(form.start) or any(words not in sentence for _, words in form.slots):
        return None
    cuts = _cuts(form.slots, sentence[len(form.start) :], longest(kind))
    return max(cuts, key=lambda values: sum(right(*value) for value in values), default=None)


def _cuts(slots: Values, text: str, limits: Mapping[str, int]) -> Iterator[Values]:
    """Yield every way to divide a text into the values of slots and the words after each of them."""
    if not slots:
        if not text:
            yield ()
        return
    (slot, words), *rest = slots
    end = text.find(words, 1) if words or rest else len(text)
    while end > 0:
        value = text[:end]
        fits = value == value.strip() and value.count(" ") < limits[slot] if limits[slot] else _NUMBER.fullmatch(value)
        if fits:
            for others in _cuts(tuple(rest), text[end + len(words) :], limits):
                yield ((slot, plain_value(value)), *others)
        end = text.find(words, end + 1) if words or rest else -1
