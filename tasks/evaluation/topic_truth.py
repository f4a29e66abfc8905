"""What is true of a topic of the mini web: its facts, the forms in which each may be written, and those in its lead."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from tasks.evaluation.fact_reading import (
    POSSESSIVE,
    SUBJECT,
    Values,
    fact_of,
    facts_of,
    forms,
    plain_sentence,
    plain_value,
    read_back,
)
from tasks.sources.miniweb.kinds import KINDS
from tasks.sources.miniweb.pages import write_lead
from tasks.sources.miniweb.world import HE, IT, SHE, World
from tasks.sources.settings import MiniwebSettings

NAME, PRONOUN = "name", "pronoun"  # facts that a sentence states by the word it uses for its topic
_PRONOUNS = {word: words[0] for words in (HE, SHE, IT, ("he", "him")) for word in words}  # any -> he, she or it


class Reading(NamedTuple):
    """A sentence that was read: its values, and the kind of topic it is about, which may differ from the article's."""

    kind: str
    values: Values


@dataclass(frozen=True)
class Truth:
    """What is true of a topic. All words are plain (`fact_reading.plain_value`)."""

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
        """Read a sentence by a form of the topic's kind that makes it true, or else by the one that explains most of
        its words: of the topic's kind, or else of any; paraphrases come last. None if no form matches."""
        text = plain_sentence(sentence)
        written, reworded = (self._readings(text, [self.kind], paraphrases=each) for each in (False, True))
        for _, reading in written + reworded:
            if all(self.right(*value) for value in reading.values):
                return reading
        others = [kind.name for kind in KINDS if kind.name != self.kind]
        found = (
            written
            or self._readings(text, others, paraphrases=False)
            or reworded
            or self._readings(text, others, paraphrases=True)
        )
        return max(found, key=itemgetter(0))[1] if found else None

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
    """Return what is true of the topic of an article in the settings' week. Raises ValueError: the world of the
    settings has no article of this title."""
    world = _world(settings.seed, settings.held_back)
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
