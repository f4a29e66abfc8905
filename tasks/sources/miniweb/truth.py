"""What is true of a topic: its facts in every form that may stand for them, and which of them its lead states."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import itemgetter

from tasks.sources.miniweb.kinds import KINDS
from tasks.sources.miniweb.kinds.kind import HE, IT, SHE
from tasks.sources.miniweb.prose import lead_templates
from tasks.sources.miniweb.reading import (
    POSSESSIVE,
    SUBJECT,
    Form,
    Values,
    facts_of,
    forms,
    lead_forms,
    plain_sentence,
    plain_value,
    read_back,
)
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.world import Topic, World

NAME, PRONOUN = "name", "pronoun"  # facts that a sentence states by what it calls its topic
_PRONOUNS = {form: forms[0] for forms in (HE, SHE, IT) for form in forms}  # every form -> he, she or it


@dataclass(frozen=True)
class Reading:
    """A sentence that was read.

    Attributes:
        kind: of the topics of which it can be said; not always the article's.
        values: (slot, value) in order, the topic's own slots included.
    """

    kind: str
    values: Values


@dataclass(frozen=True)
class Truth:
    """What is true of a topic. All words are plain (`reading.plain_value`).

    Attributes:
        kind: of the topic.
        facts: fact -> each form that is right -> the value that it stands for, a shorter name for the full one.
        nouns: what may stand for its name ("the river").
        lead: facts that its lead states.
    """

    kind: str
    facts: Mapping[str, Mapping[str, str]]
    nouns: frozenset[str]
    lead: frozenset[str]

    @property
    def has_gender(self) -> bool:
        """Whether the topic's pronoun says something."""
        return IT[0] not in self.facts[PRONOUN]

    def right(self, slot: str, value: str) -> bool:
        """Say whether a value is the right one for a slot of a template of the topic's kind."""
        if slot in (SUBJECT, POSSESSIVE):
            stated = self.subject(value)
            return stated is None or stated[1] in self.facts[stated[0]]
        return value in self.facts.get(slot, ())

    def subject(self, words: str) -> tuple[str, str] | None:
        """Return the fact, NAME or PRONOUN, and value that words for the topic state; "the river" states none."""
        owner = words.removesuffix("'s")
        pronoun = _PRONOUNS.get(owner)
        if owner in self.nouns or (pronoun in self.facts[PRONOUN] and not self.has_gender):
            return None
        return (NAME, owner) if pronoun is None else (PRONOUN, pronoun)

    def read(self, sentence: str) -> Reading | None:
        """Read a sentence as one of the topic's kind, or else of any kind; None where no template reads it."""
        text = plain_sentence(sentence)
        others = chain.from_iterable(forms(kind.name) for kind in KINDS if kind.name != self.kind)
        return self._read(text, forms(self.kind)) or self._read(text, others)

    def _read(self, text: str, candidates: Iterable[Form]) -> Reading | None:
        """Read a plain sentence by the form that explains most of its words."""
        read = ((form, read_back(form, text, self.right)) for form in candidates)
        fitting = [(form.own_words, Reading(form.kind, values)) for form, values in read if values is not None]
        return max(fitting, key=itemgetter(0))[1] if fitting else None


def truth_of(settings: MiniwebSettings, title: str) -> Truth:
    """Return what is true of the topic of an article in the settings' week.

    Raises:
        ValueError: the world of the settings has no article of this title.
    """
    world = _world(settings.seed)
    index = world.find(title)
    if index is None or index >= settings.topics_now:
        raise ValueError(
            f"the mini web of seed {settings.seed} has no article {title!r} among its {settings.topics_now} topics"
        )
    return _truth(world, world.topic(index, world.revision(index, settings.week, settings.edits)))


@cache
def _world(seed: int) -> World:
    return World(seed)


def _truth(world: World, topic: Topic) -> Truth:
    facts: dict[str, dict[str, str]] = {}

    def add(fact: str, value: str, *shorter: str) -> None:
        facts.setdefault(fact, {}).update(dict.fromkeys(map(plain_value, (value, *shorter)), plain_value(value)))

    add(NAME, topic.name, topic.title, *topic.draft.aliases)
    add(PRONOUN, topic.draft.pronouns[0])
    for fact, value, other in facts_of(topic):
        add(fact, value, *(() if other is None else world.topic(other).draft.aliases))
    return Truth(
        kind=topic.kind.name,
        facts=facts,
        nouns=frozenset(map(plain_value, topic.draft.nouns)),
        lead=frozenset(_stated(topic, world.seed)),
    )


def _stated(topic: Topic, seed: int) -> Iterator[str]:
    """Yield the facts that a topic's lead states."""
    for template in lead_templates(topic, seed):
        if "{T}" in template:
            yield NAME
        if "{he}" in template or "{his}" in template:
            yield PRONOUN
        for form in lead_forms(topic.kind, template):
            yield from (slot for slot, _ in form.slots if slot not in (SUBJECT, POSSESSIVE))
