"""The content of a page: its paragraphs in order, before they are rendered as HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from tasks.engine.hashing import Dice
from tasks.sources.miniweb.chatter import DAYS, FORUM_NAMES, LINKS, MENTIONS, REMARKS
from tasks.sources.miniweb.kinds import KINDS, Line
from tasks.sources.miniweb.links import CLONE_SLOT, NEAR_CLONE_SLOT, SITES, Links
from tasks.sources.miniweb.names import somebody
from tasks.sources.miniweb.prose import Narrator, capital, text_of, write_lead
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.world import REGION_TOPICS, Topic, World

_HEADLINES = {
    "s": ("Background", "What is known", "In detail", "The facts"),
    "a": ("Did you know?", "In passing", "A closer look"),
    "r": ("In the neighbourhood", "See also", "Further afield"),
}
_SYNONYMS = (
    (" is ", " remains "),
    (" was ", " had been "),
    (" known ", " famous "),
    (" first ", " initially "),
    (" received ", " got "),
    (" built ", " erected "),
    (" founded ", " started "),
)
_MONTHS = ("January", "March", "April", "May", "June", "August", "October", "November")


@dataclass(frozen=True)
class PageContent:
    """The content of a page: blocks of main text as ("h2" or "p", text), then comments and related pages."""

    url: str
    genre: str
    title: str
    author: str
    date: str  # such as "14 May 2019"
    blocks: tuple[tuple[str, str], ...]
    caption: str
    comments: tuple[tuple[str, str], ...] = ()  # (name, text)
    related: tuple[tuple[str, str], ...] = ()  # (text, URL)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The paragraphs of the main text."""
        return tuple(text for tag, text in self.blocks if tag == "p")


@dataclass(frozen=True)
class Pages:
    """Writes every page of a world, each from its topic alone."""

    settings: MiniwebSettings
    world: World
    links: Links

    def lead(self, topic: int) -> str:
        """Return the lead of a topic's article in the settings' week."""
        return text_of(write_lead(self._current(topic), self.world))

    def revision(self, topic: int) -> int:
        """Return how many times the lead of a topic has been edited by the settings' week."""
        return self.world.revision(topic, self.settings.week, self.settings.edits)

    def page(self, topic: int, slot: int) -> PageContent:
        """Return the page in a slot of a topic. Every second page follows the edits of the lead."""
        dice = Dice(self.world.seed, "page", topic, slot)
        follows = slot >= CLONE_SLOT or dice.chance(0.5)
        subject = self._current(topic) if follows else self.world.topic(topic)
        genre, url = self.links.genre(topic, slot), self.links.page_url(topic, slot)
        title = capital(SITES[genre].headline.format(subject.name))
        author, date, caption = _signed(subject.title, dice)
        written = self._clone if slot >= CLONE_SLOT else self._blocks
        blocks = tuple(written(subject, slot, genre, dice))
        neighbours = dice.sample(sorted(set(subject.related.values())), 3)
        talked = dice.sample(MENTIONS, 2 if genre in ("gazette", "weekend", "journal", "courier") else 0)
        comments = tuple((dice.pick(FORUM_NAMES), self._filled(text, subject, genre, dice)) for text in talked)
        related = tuple((self.world.title(other), self.links.page_url(other, 0)) for other in neighbours)
        return PageContent(url, genre, title, author, date, blocks, caption, comments, related)

    def guide(self, region: int, number: int) -> PageContent:
        """Return guide `number` of a region: a paragraph on each of six topics, one of each kind."""
        dice = Dice(self.world.seed, "guide", region, number)
        start = region * REGION_TOPICS + number * len(KINDS)
        blocks: list[tuple[str, str]] = []
        for topic in dice.sample(range(start, start + len(KINDS)), len(KINDS)):
            subject = self.world.topic(topic)
            lines = self._lines(subject, salient=True, slot=dice.below(9), test=False)
            text = text_of(Narrator(subject, dice).paragraph(lines, 3, opening=True))
            blocks += [("h2", subject.title), ("p", text)]
        title = f"Six things to know about the {self.world.region(region)['region']}"
        author, date, caption = _signed(title, dice)
        return PageContent(self.links.guide_url(region, number), "visit", title, author, date, tuple(blocks), caption)

    def _current(self, topic: int) -> Topic:
        return self.world.topic(topic, self.revision(topic))

    def _blocks(self, subject: Topic, slot: int, genre: str, dice: Dice) -> Iterator[tuple[str, str]]:
        """Yield headings and paragraphs according to the genre's recipe, with each aspect of the topic once."""
        recipe = SITES[genre].recipe
        narrator = Narrator(subject, dice)
        salient_lines, aside = (
            self._lines(subject, salient=salient, slot=slot, test=self._of_test(subject)) for salient in (True, False)
        )
        mentions = self._mentions(subject, slot)
        remarks = iter(dice.sample(REMARKS, recipe.count("k")))
        neighbours = iter(dice.sample(sorted(set(subject.related.values())), recipe.count("r")))
        named = False
        for index, part in enumerate(recipe):
            marked = index > 0 and dice.chance(0.3)
            if index > 0 and part in _HEADLINES and dice.chance(0.25):
                yield "h2", dice.pick(_HEADLINES[part])
            if part in "sa":
                lines, sentences = (salient_lines, 3) if part == "s" else (aside, 2)
                yield "p", text_of(narrator.paragraph(lines, sentences, opening=not named, marked=marked))
            elif part == "r":
                yield "p", self._related(subject, next(neighbours), dice)
            else:
                yield "p", self._filled(next(mentions if part == "m" else remarks), subject, genre, dice)
            named = named or part in "sam"

    def _of_test(self, subject: Topic) -> bool:
        return self.world.split(subject.index) == "test"

    def _lines(self, subject: Topic, *, salient: bool, slot: int, test: bool) -> Iterator[Line]:
        """Yield a line on each aspect; the first aspect and the wording differ from page to page. `test` says whether
        the page is that of a test article: then every second aspect is told in a form that is held back from all
        others, and the rest in any form, as if most writers were strangers."""
        held = self.world.wording(subject.kind, test=test)
        every = subject.kind.aspects if test else held
        places = [place for place, aspect in enumerate(held) if bool(aspect.lead) == salient]
        order = Dice(self.world.seed, "told", subject.index).sample(places, len(places))
        for step in count():
            wording = every if step % 2 else held
            line = wording[order[(3 * slot + step) % len(order)]].told
            yield line[(subject.index + slot + step // len(order)) % len(line)]

    def _mentions(self, subject: Topic, slot: int) -> Iterator[str]:
        """Yield paragraphs that name the topic but state no fact, different ones on every page."""
        every = (*MENTIONS, *subject.kind.chatter)
        shuffled = Dice(self.world.seed, "mentions", subject.index).sample(every, len(every))
        return (shuffled[(4 * slot + step) % len(every)] for step in count())

    def _related(self, subject: Topic, other: int, dice: Dice) -> str:
        """Return a paragraph that mentions a related topic and then describes it."""
        neighbour = self.world.topic(other)
        bridge = capital(dice.pick(LINKS).format(T=subject.name, R=neighbour.name))
        salient, slot = dice.chance(0.7), dice.below(9)
        lines = self._lines(neighbour, salient=salient, slot=slot, test=self._of_test(subject))
        return f"{bridge}. {text_of(Narrator(neighbour, dice).paragraph(lines, 2))}"

    def _filled(self, template: str, subject: Topic, genre: str, dice: Dice) -> str:
        """Return a paragraph of the chatter with names and small numbers filled in."""
        words = {"T": subject.name, "B": subject.title, "who": somebody(dice), "n": dice.between(3, 48)}
        words |= {"price": dice.between(2, 39), "day": dice.pick(DAYS), "site": SITES[genre].site}
        return capital(template.format_map(words))

    def _clone(self, subject: Topic, slot: int, genre: str, dice: Dice) -> Iterator[tuple[str, str]]:
        """Yield a copy of the article, word for word or with a few words exchanged, and two other paragraphs."""
        lead = text_of(write_lead(subject, self.world))
        yield "p", _reworded(lead) if slot == NEAR_CLONE_SLOT else lead
        yield "p", self._related(subject, dice.pick(sorted(subject.related.values())), dice)
        yield "p", self._filled(dice.pick(MENTIONS), subject, genre, dice)


def _signed(pictured: str, dice: Dice) -> tuple[str, str, str]:
    """Return author, date and caption of a page."""
    date = f"{dice.between(1, 28)} {dice.pick(_MONTHS)} {dice.between(2006, 2025)}"
    caption = f"{pictured}. Picture: {somebody(dice)}"
    return somebody(dice), date, caption


def _reworded(text: str) -> str:
    """Return the text with at most four words replaced: a near-clone keeps over 80 % of its bigrams."""
    for old, new in [pair for pair in _SYNONYMS if pair[0] in text][:4]:
        text = text.replace(old, new, 1)
    return text
