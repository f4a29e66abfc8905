"""The generated world: topic i and its facts, computed from the seed and i alone.

The world has no end; a source takes its first N topics. Eighty topics in a row, ten of each kind, are a region, and a
topic's relations lie in its region (people in its country), so that every topic is found in constant time and memory.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from tasks.engine.hashing import stable_hash
from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds import KINDS, Draft, Kind
from tasks.sources.miniweb.kinds.person import MEN, PROFESSIONS, TAILS, WOMEN
from tasks.sources.miniweb.names import HEADS, MIDDLES, words

WORLD_VERSION = 1  # rises with every change of a fact, a sentence or a page; it is part of every partition's digest

KIND_INDEX = {kind.name: place for place, kind in enumerate(KINDS)}
REGION_RANKS = 10  # topics of each kind in a region
REGION_TOPICS = REGION_RANKS * len(KINDS)
COUNTRY_REGIONS = 8

_COUNTRIES = tuple(
    (name, f"{name}n")
    for name in words(
        "Valdria Norvenia Kestria Almoria Torvania Belisia Meravia Sorlandia Istrovia Carvonia Lethonia Quenaria"
    )
)
_LANDS = ("Marches", "Highlands", "Vale", "Lowlands", "Dales", "Uplands", "Wolds", "Lakes", "Foothills", "Fens")

# Years of birth by profession. Film people are contemporaries; makers come before what they made.
_BIRTHS = {
    "film director": (1890, 1904), "novelist": (1882, 1904), "composer": (1880, 1904), "actor": (1888, 1905),
    "engineer": (1850, 1905), "industrialist": (1835, 1882), "cartographer": (1848, 1895), "naturalist": (1840, 1925),
    "painter": (1850, 1920), "architect": (1850, 1915),
}  # fmt: skip


@dataclass(frozen=True)
class Region:
    """Where a topic lies.

    Attributes:
        name: such as "Tavel Highlands".
        country: its country.
        demonym: adjective of the country.
    """

    name: str
    country: str
    demonym: str


@dataclass(frozen=True)
class Topic:
    """One topic with everything that sentences about it need.

    Attributes:
        index: number of the topic.
        revision: how often its lead has been edited.
        kind: what it is.
        title: title of its article.
        name: the title as it stands inside a sentence.
        draft: names and facts as its kind found them.
        facts: every word that templates of the kind may ask for, but those that stand for the topic itself.
    """

    index: int
    revision: int
    kind: Kind
    title: str
    name: str
    draft: Draft
    facts: dict[str, str]


class Ground:
    """What a kind's `draw` may know of the world around a topic. It never gives the same neighbour twice."""

    def __init__(self, world: "World", index: int) -> None:
        self._world = world
        self._taken = {index}
        self.index = index
        self.title = world.title(index)
        self.digits = world.digits(index)
        self.region = world.region(index // REGION_TOPICS)
        self.rank = index // len(KINDS) % REGION_RANKS

    def near(self, kind: str, role: str, *, last_part: Collection[int] = ()) -> int:
        """Return the topic of a kind in the same region that has a role for this topic.

        With `last_part` it is, where the region has one, a topic whose title ends in one of these parts of its name
        scheme: a shipyard rather than a brewery to build a bridge.
        """
        first = Dice(self._world.seed, "near", self.index, role).below(REGION_RANKS)
        start = self.index - self.index % REGION_TOPICS + KIND_INDEX[kind]
        around = [start + (first + step) % REGION_RANKS * len(KINDS) for step in range(REGION_RANKS)]
        fitting = (index for index in around if last_part and self._world.digits(index)[-1] in last_part)
        return self._take(chain(fitting, around))

    def person(self, profession: str, role: str) -> int:
        """Return the person of a profession in the same country who has a role for this topic."""
        first = Dice(self._world.seed, "person", self.index, role).below(COUNTRY_REGIONS)
        region = self.index // REGION_TOPICS
        country = region - region % COUNTRY_REGIONS
        place = PROFESSIONS.index(profession) * len(KINDS) + KIND_INDEX["person"]
        return self._take(
            (country + (first + step) % COUNTRY_REGIONS) * REGION_TOPICS + place for step in range(COUNTRY_REGIONS)
        )

    def river_of(self, town: int) -> int:
        """Return the river on which a town lies."""
        rank = Dice(self._world.seed, "river of", town).below(REGION_RANKS)
        return town - town % REGION_TOPICS + rank * len(KINDS) + KIND_INDEX["river"]

    def birth(self, person: int) -> int:
        """Return the year in which a person was born."""
        low, high = _BIRTHS[PROFESSIONS[person // len(KINDS) % REGION_RANKS]]
        return Dice(self._world.seed, "birth", person).between(low, high)

    def passer_by(self, dice: Dice) -> str:
        """Return the name of somebody who is no topic."""
        return f"{dice.pick(WOMEN + MEN)} {dice.pick(HEADS)}{dice.pick(MIDDLES)}{dice.pick(TAILS)}"

    def regional_town(self, dice: Dice) -> str:
        """Return the name of some town of the region."""
        start = self.index - self.index % REGION_TOPICS + KIND_INDEX["settlement"]
        return self._world.title(start + dice.below(REGION_RANKS) * len(KINDS))

    def _take(self, candidates: Iterable[int]) -> int:
        for candidate in candidates:
            if candidate not in self._taken:
                self._taken.add(candidate)
                return candidate
        raise AssertionError(f"topic {self.index} has asked for more neighbours than there are")


class World:
    """The world of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.topic = lru_cache(maxsize=4096)(self._topic)
        self.region = lru_cache(maxsize=256)(self._region)

    def kind(self, index: int) -> Kind:
        """Return the kind of topic `index`."""
        return KINDS[index % len(KINDS)]

    def digits(self, index: int) -> tuple[int, ...]:
        """Return the parts of the topic's title, as digits of its kind's name scheme."""
        return self.kind(index).scheme.digits(self.seed, index // len(KINDS))

    def title(self, index: int) -> str:
        """Return the title of topic `index`; no two topics share one."""
        return self.kind(index).scheme.join(self.digits(index))

    def name(self, index: int) -> str:
        """Return the name of topic `index` as it stands inside a sentence ("the River Tavil")."""
        return self.kind(index).in_text(self.title(index))

    def find(self, title: str) -> int | None:
        """Return the topic with this title, or None."""
        for place, kind in enumerate(KINDS):
            ordinal = kind.scheme.ordinal(self.seed, title)
            if ordinal is not None:
                return ordinal * len(KINDS) + place
        return None

    def revision(self, index: int, week: int, share: float) -> int:
        """Return how often the lead of topic `index` has been edited up to `week`, at `share` edits a week."""
        limit = share * (1 << 64)
        return sum(stable_hash(self.seed, "edit", index, past) < limit for past in range(1, week + 1))

    def _region(self, number: int) -> Region:
        dice = Dice(self.seed, "region", number)
        country, demonym = _COUNTRIES[number // COUNTRY_REGIONS % len(_COUNTRIES)]
        stem = dice.pick(HEADS) + dice.pick(MIDDLES) + dice.pick(("l", "n", "r", "m"))
        return Region(f"{stem} {dice.pick(_LANDS)}", country, demonym)

    def _topic(self, index: int, revision: int = 0) -> Topic:
        kind = self.kind(index)
        ground = Ground(self, index)
        draft = kind.draw(ground, Dice(self.seed, "facts", index), Dice(self.seed, "fresh", index, revision))
        region = ground.region
        facts = {role: self.name(other) for role, other in draft.related.items()}
        facts.update(draft.facts, region=region.name, country=region.country, demonym=region.demonym)
        return Topic(index, revision, kind, ground.title, self.name(index), draft, facts)
