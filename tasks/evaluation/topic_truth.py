"""The facts of a topic of the mini web, and the parser of its sentences. Parsing is the inverse of writing: from words
to facts, with the same forms.

A sentence is matched with a form: the words between the form's own words are the values. If there are several matches,
the one with the most right values is used. For a numeric fact a value must be a number, otherwise it has a maximum
number of words; any such value is accepted, so that wrong values are read and recognised as wrong."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from tasks.sources.miniweb.kinds import KINDS, By, Fact, Form, Number
from tasks.sources.miniweb.pages import MARKERS, write_lead
from tasks.sources.miniweb.world import HE, IT, SHE, Topic, World
from tasks.sources.settings import HELD_BACK, MiniwebSettings

SUBJECT, POSSESSIVE = "S", "his"  # slots that name the topic: "the river", "it"; "its"

_KINDS = {kind.name: kind for kind in KINDS}
_NAME_WORDS = 7  # of the longest name ("The Last Lighthouse Without a Name")
_SLACK = 2  # words by which a wrong value may be longer than the longest right one
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_MARKER = re.compile(rf"^(?:{'|'.join(MARKERS)}) ")
_SIGNS = str.maketrans({"–": "-", "—": "-", "“": '"', "”": '"', "’": "'"})
NAME, PRONOUN = "name", "pronoun"  # facts that a sentence states by the word it uses for its topic
_PRONOUNS = {word: words[0] for words in (HE, SHE, IT, ("he", "him")) for word in words}  # any -> he, she or it

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
    """Return every sentence form that leads and other pages use for topics of a kind, plain; or paraphrases of them,
    such as a part of one."""
    kind = _KINDS[name]
    written = chain(*(aspect.lead + aspect.told for aspect in kind.aspects), kind.colour)
    every = chain.from_iterable(kind.paraphrases if paraphrases else written)
    plain_slots = ((form.start, ((fact_of(slot), plain(words)) for slot, words in form.slots)) for form in every)
    return tuple(dict.fromkeys(Form(plain(start), tuple(slots)) for start, slots in plain_slots))


@cache
def longest(name: str) -> Mapping[str, int]:
    """Return the maximum number of words in the values of each slot of a kind; 0 for numbers."""
    facts = {fact_of(slot): _longest(fact) for slot, fact in _KINDS[name].facts.items()}
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


class Reading(NamedTuple):
    """A sentence that was read: its values, and the kind of topic it is about, which may differ from the article's."""

    kind: str
    values: Values


@dataclass(frozen=True)
class Truth:
    """The facts of a topic. All words are plain (`plain_value`)."""

    kind: str
    facts: Mapping[str, Mapping[str, str]]  # fact -> each correct form -> the value that it means
    nouns: frozenset[str]  # words that may replace its name ("the river")
    lead: frozenset[str]  # facts that its lead states

    def right(self, slot: str, value: str) -> bool:
        """Whether a value is the right one for a slot of a form of the topic's kind."""
        stated = self.stated(slot, value)
        return stated is None or stated[1] in self.facts.get(stated[0], ())

    def stated(self, slot: str, value: str) -> tuple[str, str] | None:
        """Return the fact and value that the words of a slot state, or None: "the river" for the topic states none."""
        if slot not in (SUBJECT, POSSESSIVE):
            return slot, value
        pronoun = _PRONOUNS.get(value)
        if value in self.nouns or pronoun == IT[0] in self.facts[PRONOUN]:
            return None
        return (NAME, value) if pronoun is None else (PRONOUN, pronoun)

    def read(self, sentence: str) -> Reading | None:
        """Read a sentence by a form of the topic's kind that makes it true. Else read it by the form that explains most
        of its words, first of the topic's kind, then of any; paraphrases come last. None if no form matches."""
        text = plain_sentence(sentence)
        written, reworded = (self._readings(text, [self.kind], paraphrases=each) for each in (False, True))
        for _, reading in written + reworded:
            if all(self.right(*value) for value in reading.values):
                return reading
        others = [kind.name for kind in KINDS if kind.name != self.kind]
        result = (
            written
            or self._readings(text, others, paraphrases=False)
            or reworded
            or self._readings(text, others, paraphrases=True)
        )
        return max(result, key=itemgetter(0))[1] if result else None

    def _readings(self, text: str, kinds: Iterable[str], *, paraphrases: bool) -> list[tuple[int, Reading]]:
        """Return how much of a plain sentence each form explains, and the reading, for the forms that match."""
        candidates = (
            (form, kind, read_back(kind, form, text, self.right))
            for kind in kinds
            for form in forms(kind, paraphrases=paraphrases)
        )
        return [
            (len(form.start) + sum(len(words) for _, words in form.slots), Reading(kind, values))
            for form, kind, values in candidates
            if values is not None
        ]


def truth_of(settings: MiniwebSettings, title: str) -> Truth:
    """Return the facts of the topic of an article in the settings' week. Raises ValueError: the world of the
    settings has no article of this title."""
    world = _world(settings.seed, HELD_BACK)
    index = world.find(title)
    if index is None or index >= settings.topics_now:
        raise ValueError(
            f"the mini web of seed {settings.seed} has no article {title!r} among its {settings.topics_now} topics"
        )
    topic = world.topic(index, world.revision(index, settings.week, settings.edits))
    facts: dict[str, dict[str, str]] = {}

    def add(fact: str, value: str, *shorter: str) -> None:
        facts.setdefault(fact, {}).update(dict.fromkeys(map(plain_value, (value, *shorter)), plain_value(value)))

    add(NAME, topic.name, topic.title, *topic.aliases)
    add(PRONOUN, topic.pronouns[0])
    for fact, value, other in facts_of(topic):
        add(fact, value, *(() if other is None else world.topic(other).aliases))
    truth = Truth(topic.kind.name, facts, frozenset(map(plain_value, topic.nouns)), frozenset())
    values = (value for said in write_lead(topic, world) for value in said.values)
    stated = (truth.stated(fact_of(slot), plain_value(words)) for slot, words in values)
    return replace(truth, lead=frozenset(fact for fact, _ in filter(None, stated)))


_world = cache(World)
