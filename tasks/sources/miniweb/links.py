"""The URLs that an article cites and that a search for its title finds, and how each behaves when it is requested."""

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple
from unicodedata import normalize

from tasks.engine.data_files import read_data
from tasks.engine.hashing import Dice, unit_interval
from tasks.sources.miniweb.kinds import KINDS
from tasks.sources.miniweb.world import REGION_TOPICS, World
from tasks.sources.settings import MiniwebSettings

DOMAIN = "miniweb.test"
LINK_HOST, SEARCH_HOST = f"go.{DOMAIN}", f"search.{DOMAIN}"
SEARCH_RESULTS = 10


class Fate(StrEnum):
    """The behaviour of a URL."""

    OK = "ok"
    GUIDE = "guide"  # a page about six topics of a region, cited by most of them
    CLONE = "clone"  # the lead, word for word
    NEAR_CLONE = "near_clone"  # the lead with a few words exchanged
    NOT_FOUND = "not_found"  # 404
    GONE = "gone"  # 410
    FLAKY = "flaky"  # 500 for the first request, then 200
    MOVED = "moved"  # 301 to the page
    FOUND = "found"  # 302 from another host to the page
    TEMPORARY = "temporary"  # 307 to the page
    CHAIN = "chain"  # three redirects to the page
    LOOP = "loop"  # redirects that never end
    SLOW = "slow"  # answered after a wait
    CALLED_LATIN1 = "called_latin1"  # UTF-8 that is declared as ISO-8859-1
    CALLED_UTF8 = "called_utf8"  # ISO-8859-1 that is declared as UTF-8
    PDF = "pdf"
    OVERSIZED = "oversized"  # 200 with `oversized_bytes`, half of them as a small gzip body
    FORBIDDEN = "forbidden"  # disallowed by robots.txt (it would be served)
    EMPTY = "empty"  # 200 without a body


_DATA = read_data("tasks.sources.miniweb", "sites.toml")
FAULT_RATES: dict[Fate, float] = {Fate(fate): rate for fate, rate in _DATA["faults"].items()}
CLONE_RATE, NEAR_CLONE_RATE = 0.35, 0.25  # of topics whose search results hold a clone
CITED_CLONE_RATE = 0.05  # of topics whose article cites it as well
GUIDE_RATE, NEIGHBOUR_RATE = 0.6, 0.35  # of topics that cite their guide, or a page that another topic cites

DETOURS: dict[Fate, tuple[int, int]] = {Fate(fate): (status, hops) for fate, (status, hops) in _DATA["detours"].items()}


class Genre(NamedTuple):
    """The pages of a genre of hosts."""

    site: str
    section: str  # first part of a page's path
    headline: str  # of a page; {} is the topic's name
    design: str
    recipe: str  # s: salient facts, a: others, r: a related topic, m: a mention of the title, k: a remark


SITES: dict[str, Genre] = {genre: Genre(*fields) for genre, fields in _DATA["sites"].items()}
GENRES = tuple(SITES)[:12]
MIRRORS = tuple(SITES)[12:]
WITHOUT_ROBOTS = ("journal",)  # genres whose hosts have no robots.txt
_CITED_GENRES, _FOUND_GENRES = GENRES[:10], GENRES[7:]

# Slots of a topic: pages that its article cites, pages that only a search finds, clones of its lead.
FOUND_SLOT, CLONE_SLOT, NEAR_CLONE_SLOT = 20, 40, 41
CITED_PAGES, FOUND_PAGES = 9, 4  # maximum per topic


class Link(NamedTuple):
    """A cited URL, its fate, and the status and URL of the last response to a crawler with retries, or None."""

    url: str
    fate: Fate
    status: int | None
    final_url: str | None


@dataclass(frozen=True)
class Links:
    """All URLs of a world, each found from its topic alone."""

    settings: MiniwebSettings
    world: World

    def genre(self, topic: int, slot: int) -> str:
        """Return the genre of a page, the first word of its host's name."""
        if slot >= CLONE_SLOT:
            return MIRRORS[slot - CLONE_SLOT]
        genres = _CITED_GENRES if slot < FOUND_SLOT else _FOUND_GENRES
        start = Dice(self.world.seed, "genre", topic).below(len(genres))
        return genres[(start + slot * 3) % len(genres)]

    def page_url(self, topic: int, slot: int) -> str:
        """Return the URL of a page (not always the one that is cited)."""
        genre = self.genre(topic, slot)
        slug = f"{_slug(self.world.title(topic))}-{topic}-{slot}"
        fate = self.planned_fate(topic, slot)
        section = "private" if fate is Fate.FORBIDDEN else SITES[genre].section
        return f"http://{self._host(genre, topic)}/{section}/{slug}.{'pdf' if fate is Fate.PDF else 'html'}"

    def has_page(self, topic: int, slot: int) -> bool:
        """Whether a topic has a page in this slot."""
        is_search_result = FOUND_SLOT <= slot < FOUND_SLOT + FOUND_PAGES
        return slot < CITED_PAGES or is_search_result or slot in (CLONE_SLOT, NEAR_CLONE_SLOT)

    def guide_url(self, region: int, number: int) -> str:
        """Return the URL of guide `number` of a region."""
        slug = _slug(self.world.region(region)["region"])
        return f"http://{self._host('visit', region)}/regions/{slug}-g{region}-{number}.html"

    def planned_fate(self, topic: int, slot: int) -> Fate:
        """Return the fate of a page's link before it becomes a dead link."""
        if slot >= CLONE_SLOT:
            return Fate.CLONE if slot == CLONE_SLOT else Fate.NEAR_CLONE
        draw = unit_interval(self.world.seed, "fate", topic, slot)
        limits = accumulate(FAULT_RATES.values())
        fate = next((fate for fate, limit in zip(FAULT_RATES, limits, strict=True) if draw < limit), Fate.OK)
        allowed = fate is Fate.FORBIDDEN and self.genre(topic, slot) in WITHOUT_ROBOTS
        return Fate.OK if allowed else fate

    def is_dead(self, topic: int, slot: int) -> bool:
        """Whether the page has turned into a dead link by the settings' week."""
        dead = 1 - (1 - self.settings.deaths) ** self.settings.week
        return slot < CLONE_SLOT and unit_interval(self.world.seed, "death", topic, slot) < dead

    def link(self, topic: int, slot: int) -> Link:
        """Return the link to a page of a topic, as it is cited."""
        cited = url = self.page_url(topic, slot)
        fate = self.planned_fate(topic, slot)
        if fate in DETOURS:
            host = LINK_HOST if fate in (Fate.FOUND, Fate.CHAIN) else url.split("/", 3)[2]
            cited = f"http://{host}/via/{DETOURS[fate][1]}/{topic}-{slot}"
        if fate in (Fate.LOOP, Fate.FORBIDDEN):
            return Link(cited, fate, None, None)
        if fate is not Fate.GONE and self.is_dead(topic, slot):
            fate = Fate.NOT_FOUND
        return Link(cited, fate, {Fate.NOT_FOUND: 404, Fate.GONE: 410}.get(fate, 200), url)

    def references(self, topic: int) -> list[Link]:
        """Return the 4 to 12 links that a topic's article cites, in order."""
        dice = Dice(self.world.seed, "references", topic)
        links = [self.link(topic, slot) for slot in range(self._cited_pages(topic))]
        if dice.chance(GUIDE_RATE):
            guide = self.guide_url(topic // REGION_TOPICS, topic % REGION_TOPICS // len(KINDS))
            links.append(Link(guide, Fate.GUIDE, 200, guide))
        if dice.chance(NEIGHBOUR_RATE):
            links.append(self.link(self._other_topic(topic, dice), 0))
        if self._has_clone(topic) and dice.chance(CITED_CLONE_RATE / CLONE_RATE):
            links.append(self.link(topic, CLONE_SLOT))
        return dice.sample(links, len(links))

    def search_results(self, topic: int) -> list[Link]:
        """Return the ten links that a search finds: four that are cited, pages nobody cites, clones, other topics."""
        dice = Dice(self.world.seed, "search", topic)
        cited = self._cited_pages(topic)
        links = [self.link(topic, slot) for slot in dice.sample(range(cited), min(4, cited))]
        links += [self.link(topic, FOUND_SLOT + number) for number in range(dice.between(2, FOUND_PAGES))]
        if self._has_clone(topic):
            links.append(self.link(topic, CLONE_SLOT))
        if unit_interval(self.world.seed, "near clone", topic) < NEAR_CLONE_RATE:
            links.append(self.link(topic, NEAR_CLONE_SLOT))
        links = dice.sample(links, len(links))
        while len(links) < SEARCH_RESULTS:
            stranger = self.link(self._other_topic(topic, dice), dice.below(3))
            if stranger not in links:
                links.append(stranger)
        return links

    def _cited_pages(self, topic: int) -> int:
        """Return how many pages about its own topic the article cites; with the shared ones it cites 4 to 12."""
        return Dice(self.world.seed, "cited", topic).between(4, CITED_PAGES)

    def _has_clone(self, topic: int) -> bool:
        return unit_interval(self.world.seed, "clone", topic) < CLONE_RATE

    def _other_topic(self, topic: int, dice: Dice) -> int:
        """Return another topic of the same region. Only a topic of the test split gets one of the test split, so that
        other articles do not show the sentence forms of its pages."""
        start = topic - topic % REGION_TOPICS
        while True:
            other = start + (topic - start + 1 + dice.below(REGION_TOPICS - 1)) % REGION_TOPICS
            if "test" in (self.world.split(topic), "" if self.world.split(other) == "test" else "test"):
                return other

    def _host(self, genre: str, key: int) -> str:
        copies = len(range(GENRES.index(genre), self.settings.hosts, len(GENRES))) if genre in GENRES else 1
        return _host(genre, int(unit_interval(self.world.seed, "host", genre, key) * copies))


def hosts_of(settings: MiniwebSettings) -> list[str]:
    """Return the names of all hosts of the web."""
    numbered = [_host(GENRES[index % len(GENRES)], index // len(GENRES)) for index in range(settings.hosts)]
    return [*numbered, *map(_host, MIRRORS), LINK_HOST, SEARCH_HOST]


def _host(name: str, number: int = 0) -> str:
    return f"{name}{number + 1 if number else ''}.{DOMAIN}"


def _slug(title: str) -> str:
    plain = normalize("NFKD", title.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
