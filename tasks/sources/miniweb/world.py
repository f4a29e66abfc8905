"""The generated world: topic i and its facts, computed from the seed and i alone. The world has no end; a source takes
its first N topics. Sixty topics in a row, ten of each kind, are a region, and a topic's relations are in its region
(people in its country), so that every topic is found in constant time and memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tasks.engine.data_files import read_data
from tasks.engine.hashing import Dice, stable_hash, unit_interval
from tasks.sources.miniweb.kinds import HEADS, KINDS, MIDDLES, WOMEN, Aspect, By, Fact, Near, Of, TopicKind, words

WORLD_VERSION = 5  # rises with every change of a fact, a sentence or a page; it is part of every partition's digest

REGION_RANKS = 10  # topics of each kind in a region
REGION_TOPICS = REGION_RANKS * len(KINDS)
IT, HE, SHE = ("it", "its"), ("he", "his"), ("she", "her")

_COUNTRY_REGIONS = 8
_COUNTRY_TOPICS = _COUNTRY_REGIONS * REGION_TOPICS
_KIND_INDEX = {kind.name: place for place, kind in enumerate(KINDS)}
# One of each in every region, in this order.
PROFESSIONS = list(read_data("tasks.sources.miniweb.kinds", "kinds.toml")["person"]["facts"]["work"]["table"])
_COUNTRIES = words("Valdria Norvenia Kestria Almoria Torvania Belisia Meravia Sorlandia Istrovia Carvonia Lethonia")
_LANDS = words("Marches Highlands Vale Lowlands Dales Uplands Wolds Lakes Foothills Fens")
_LAST_YEAR = 2024
_TRAIN, _VALID = 0.8, 0.1  # shares of the splits; the rest is for tests


@dataclass(frozen=True)
class Topic:
    """One topic with everything that sentences about it need."""

    index: int
    kind: TopicKind
    title: str
    name: str  # as written inside a sentence ("the River Tavil")
    aliases: tuple[str, ...]  # shorter names ("the Tavil")
    nouns: tuple[str, ...]  # what it is ("the river")
    pronouns: tuple[str, str]  # subject and possessive
    facts: dict[str, str]  # the words of each fact, those of its region among them
    related: dict[str, int]  # fact -> index of the topic that it names


class World:
    """The world of one seed, in which a share of the forms of sentences is held back for test articles."""

    def __init__(self, seed: int, held_back: float = 0.0) -> None:
        self.seed = seed
        self.held_back = held_back
        self._wordings = {kind.name: kind.divided(seed, held_back) for kind in KINDS}
        self.topic = lru_cache(maxsize=4096)(self._topic)
        self.region = lru_cache(maxsize=256)(self._region)

    def kind(self, index: int) -> TopicKind:
        """Return the kind of topic `index`."""
        return KINDS[index % len(KINDS)]

    def title(self, index: int) -> str:
        """Return the title of topic `index`; no two topics share one."""
        return "".join(self._parts(index))

    def name(self, index: int) -> str:
        """Return the name of topic `index` as written inside a sentence ("the River Tavil")."""
        return self.kind(index).article + self.title(index)

    def find(self, title: str) -> int | None:
        """Return the topic with this title, or None."""
        ordinals = ((index, kind.scheme.ordinal(self.seed, title)) for index, kind in enumerate(KINDS))
        return next((ordinal * len(KINDS) + index for index, ordinal in ordinals if ordinal is not None), None)

    def revision(self, index: int, week: int, share: float) -> int:
        """Return how often the lead of topic `index` has been edited up to `week`, at `share` edits per week."""
        limit = share * (1 << 64)
        return sum(stable_hash(self.seed, "edit", index, past) < limit for past in range(1, week + 1))

    def split(self, index: int) -> str:
        """Return the split of the article on topic `index`: train | valid | test."""
        draw = unit_interval(self.seed, "split", index)
        return "train" if draw < _TRAIN else "valid" if draw < _TRAIN + _VALID else "test"

    def wording(self, kind: TopicKind, *, test: bool) -> tuple[Aspect, ...]:
        """Return the sentence forms for a kind of topic in the texts of test articles, or of all others. If a share is
        held back, no form is in both."""
        return self._wordings[kind.name][test]

    def _parts(self, index: int) -> tuple[str, ...]:
        return self.kind(index).scheme.name_parts(self.seed, index // len(KINDS))

    def _region(self, number: int) -> dict[str, str]:
        """Return the facts that the topics of a region share: its name, its country, and the country's adjective."""
        dice = Dice(self.seed, "region", number)
        country = _COUNTRIES[number // _COUNTRY_REGIONS % len(_COUNTRIES)]
        stem = dice.pick(HEADS) + dice.pick(MIDDLES) + dice.pick(("l", "n", "r", "m"))
        return {"region": f"{stem} {dice.pick(_LANDS)}", "country": country, "demonym": f"{country}n"}

    def _topic(self, index: int, revision: int = 0) -> Topic:
        kind, parts = self.kind(index), self._parts(index)
        # Two facts for By alone come first.
        drawn: dict[str, str | int] = {"rank": str(index // len(KINDS) % REGION_RANKS), "title": parts[-1].strip()}
        for role, fact in kind.facts.items():
            dice = Dice(self.seed, "fact", index, role, revision if role in kind.edited else 0)
            drawn[role] = self._draw(fact, dice, index, drawn)
        related = {role: other for role, other in drawn.items() if isinstance(other, int)}
        facts = {role: self.name(related[role]) if role in related else str(drawn[role]) for role in kind.facts}
        facts |= self.region(index // REGION_TOPICS)
        short = "".join(parts[slice(*kind.short)]).strip()
        return Topic(
            index,
            kind,
            "".join(parts),
            self.name(index),
            (kind.article + short,) if short else (),
            nouns=tuple(noun.format_map(facts) for noun in kind.nouns),
            pronouns=IT if kind.name != "person" else SHE if parts[0].strip() in WOMEN else HE,
            facts=facts,
            related=related,
        )

    def _draw(self, fact: Fact, dice: Dice, index: int, drawn: Mapping[str, str | int]) -> str | int:
        """Draw a fact of a topic, words or another topic, after those that were `drawn` before."""
        match fact:
            case str():
                return dice.pick(fact.split(", "))
            case By():
                return self._draw(fact.table[str(drawn[fact.fact])], dice, index, drawn)
            case Of():
                return self.topic(int(drawn[fact.role])).related[fact.fact]
            case Near():
                return next(other for other in self._around(fact, dice, index) if other not in {index, *drawn.values()})
        number = dice.between(fact.low, fact.high, fact.step)
        if fact.since:
            base = drawn[fact.since]
            number += int(base.replace(",", "") if isinstance(base, str) else self.topic(base).facts["born"])
        return fact.style.format(min(number, _LAST_YEAR) if fact.style == "{}" else number)

    def _around(self, fact: Near, dice: Dice, index: int) -> list[int]:
        """Return the topics that may be used as a related one, best first."""
        if fact.profession:  # of the same country
            rank, first = PROFESSIONS.index(fact.profession), index - index % _COUNTRY_TOPICS
            result = range(first + rank * len(KINDS), first + _COUNTRY_TOPICS, REGION_TOPICS)
        else:
            first = index - index % REGION_TOPICS
            result = range(first, first + REGION_TOPICS, len(KINDS))
        topics = [first + _KIND_INDEX[fact.kind] for first in dice.sample(result, len(result))]
        wanted = fact.last_parts
        return sorted(topics, key=lambda topic: bool(wanted) and self._parts(topic)[-1].strip() not in wanted)
