"""What stands on a page: its paragraphs in order, before they are dressed in HTML."""

from collections.abc import Iterator
from dataclasses import dataclass

from tasks.sources.miniweb.chatter import DAYS, FORUM_NAMES, LINKS, MARKERS, MENTIONS, REMARKS
from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds import KINDS
from tasks.sources.miniweb.kinds.person import MEN, TAILS, WOMEN
from tasks.sources.miniweb.links import CLONE_SLOT, NEAR_CLONE_SLOT, Links
from tasks.sources.miniweb.names import HEADS, MIDDLES
from tasks.sources.miniweb.prose import Narrator, capital, write_lead
from tasks.sources.miniweb.settings import MiniwebSettings
from tasks.sources.miniweb.world import REGION_TOPICS, Topic, World

SITES = {
    "atlas": "The Open Atlas", "gazette": "The Morning Gazette", "archive": "Archive of the Historical Society",
    "weekend": "Weekend Magazine", "academy": "Bulletin of the Academy", "courier": "Evening Courier",
    "almanac": "Almanac of Facts", "journal": "A Notebook", "visit": "Visit Us", "forum": "The Long Table",
    "reviews": "Honest Reviews", "tickets": "Box Office", "mirror": "Free Mirror", "wikicopy": "Knowledge Copy",
}  # fmt: skip

# What a page of each genre consists of: s = salient facts, a = facts no lead states, r = a related topic,
# m = a mention of the title that tells nothing, k = a remark about nothing in particular.
RECIPES = {
    "atlas": "ssras", "almanac": "sasrm", "gazette": "smsar", "courier": "smsrk", "archive": "srasa",
    "weekend": "smaskr", "academy": "ssara", "journal": "ksmam", "visit": "msmram", "forum": "mksmm",
    "reviews": "mmsmm", "tickets": "mmkmm",
}  # fmt: skip

_HEADLINES = {
    "s": ("Background", "What is known", "In detail", "The facts"),
    "a": ("Did you know?", "On the margin", "A closer look"),
    "r": ("In the neighbourhood", "See also", "Further afield"),
}
_TITLES = {
    "atlas": "{title}", "gazette": "Report: {title} in the news", "archive": "Papers concerning {title}",
    "weekend": "A long look at {title}", "academy": "Notes on {title}", "courier": "Local desk: {title}",
    "almanac": "{title}: facts and figures", "journal": "On {title}, and other things", "visit": "Discover {title}",
    "forum": "Thread: {title}", "reviews": "{title}: all reviews", "tickets": "{title}: tickets and merchandise",
}  # fmt: skip
_SYNONYMS = ((" is ", " was "), (" known ", " famous "), (" people", " persons"), (" first ", " initially "),
             (" received ", " got "), (" built ", " erected "), (" founded ", " started "))  # fmt: skip


@dataclass(frozen=True)
class Page:
    """The content of a page.

    Attributes:
        url: where it lies.
        genre: first word of its host's name.
        title: headline.
        author: who wrote it.
        date: when, such as "14 May 2019".
        blocks: main text: ("h2" | "p", text) in order.
        caption: caption of its picture.
        comments: (name, text) of the readers' comments below the text.
        related: (text, URL) of further pages.
    """

    url: str
    genre: str
    title: str
    author: str
    date: str
    blocks: tuple[tuple[str, str], ...]
    caption: str
    comments: tuple[tuple[str, str], ...] = ()
    related: tuple[tuple[str, str], ...] = ()

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The paragraphs of the main text."""
        return tuple(text for tag, text in self.blocks if tag == "p")


class Pages:
    """Writes every page of a world, each from its topic alone."""

    def __init__(self, settings: MiniwebSettings, world: World, links: Links) -> None:
        self._settings = settings
        self._world = world
        self._links = links

    def lead(self, topic: int) -> str:
        """Return the lead of a topic's article in the settings' week."""
        return write_lead(self._current(topic), self._world.seed)

    def revision(self, topic: int) -> int:
        """Return how often the lead of a topic has been edited by the settings' week."""
        return self._world.revision(topic, self._settings.week, self._settings.edits)

    def page(self, topic: int, slot: int) -> Page:
        """Return the page in a slot of a topic. Every second page follows the edits of the lead."""
        if slot >= CLONE_SLOT:
            return self._clone(topic, slot)
        dice = Dice(self._world.seed, "page", topic, slot)
        subject = self._current(topic) if dice.chance(0.5) else self._world.topic(topic)
        genre = self._links.genre(topic, slot)
        blocks = tuple(self._blocks(subject, slot, RECIPES[genre], dice))
        neighbours = dice.sample(sorted(set(subject.draft.related.values())), 3)
        comments: tuple[tuple[str, str], ...] = ()
        if genre in ("gazette", "weekend", "journal", "courier"):
            comments = tuple(
                (dice.pick(FORUM_NAMES), capital(self._filled(text, subject, dice)))
                for text in dice.sample(MENTIONS, 2)
            )
        return Page(
            url=self._links.page_url(topic, slot),
            genre=genre,
            title=_TITLES[genre].format(title=subject.title),
            author=_somebody(dice),
            date=_date(dice),
            blocks=blocks,
            caption=f"{subject.title}. Picture: {_somebody(dice)}",
            comments=comments,
            related=tuple((self._world.title(other), self._links.page_url(other, 0)) for other in neighbours),
        )

    def guide(self, region: int, number: int) -> Page:
        """Return guide `number` of a region: a paragraph on each of eight topics, one of each kind."""
        dice = Dice(self._world.seed, "guide", region, number)
        start = region * REGION_TOPICS + number * len(KINDS)
        blocks: list[tuple[str, str]] = []
        for topic in dice.sample(range(start, start + len(KINDS)), len(KINDS)):
            subject = self._world.topic(topic)
            templates = [dice.pick(told) for told in dice.sample(list(subject.kind.told.values()), 3)]
            blocks.append(("h2", subject.title))
            blocks.append(("p", Narrator(subject, dice).paragraph(templates, opening=True)))
        place = self._world.region(region)
        return Page(
            url=self._links.guide_url(region, number),
            genre="visit",
            title=f"Eight things to know about the {place.name}",
            author=_somebody(dice),
            date=_date(dice),
            blocks=tuple(blocks),
            caption=f"In the {place.name}. Picture: {_somebody(dice)}",
        )

    def _current(self, topic: int) -> Topic:
        return self._world.topic(topic, self.revision(topic))

    def _blocks(self, subject: Topic, slot: int, recipe: str, dice: Dice) -> Iterator[tuple[str, str]]:
        """Yield headings and paragraphs as the recipe asks, telling each aspect of the topic once."""
        narrator = Narrator(subject, dice)
        told = self._templates(subject, "told", slot)
        aside = self._templates(subject, "aside", slot)
        mentions = self._mentions(subject, slot)
        remarks = iter(dice.sample(REMARKS, recipe.count("k")))
        neighbours = iter(dice.sample(sorted(set(subject.draft.related.values())), recipe.count("r")))
        named = False
        for place, part in enumerate(recipe):
            marked = place > 0 and dice.chance(0.3)
            if place > 0 and part in _HEADLINES and dice.chance(0.25):
                yield "h2", dice.pick(_HEADLINES[part])
            if part in "sa":
                templates = [next(told if part == "s" else aside) for _ in range(3 if part == "s" else 2)]
                yield "p", narrator.paragraph(templates, opening=not named, marked=marked)
                named = True
            elif part == "r":
                yield "p", self._related(subject, next(neighbours), dice)
            else:
                text = self._filled(next(mentions if part == "m" else remarks), subject, dice)
                yield "p", capital(f"{dice.pick(MARKERS)} {text}" if marked and part == "k" else text)
                named = named or part == "m"

    def _templates(self, subject: Topic, store: str, slot: int) -> Iterator[str]:
        """Yield a template of each aspect: aspects start elsewhere on every page, and pages differ in their words."""
        aspects = subject.kind.told if store == "told" else subject.kind.aside
        names = Dice(self._world.seed, store, subject.index).sample(list(aspects), len(aspects))
        for step in range(3 * len(names)):
            alternatives = aspects[names[(3 * slot + step) % len(names)]]
            yield alternatives[(subject.index + slot + step // len(names)) % len(alternatives)]

    def _mentions(self, subject: Topic, slot: int) -> Iterator[str]:
        """Yield paragraphs that name the topic and tell nothing, others on every page."""
        every = (*MENTIONS, *subject.kind.chatter)
        shuffled = Dice(self._world.seed, "mentions", subject.index).sample(every, len(every))
        for step in range(len(every)):
            yield shuffled[(5 * slot + step) % len(every)]

    def _related(self, subject: Topic, other: int, dice: Dice) -> str:
        """Return a paragraph that leads over to a related topic and then speaks of that."""
        neighbour = self._world.topic(other)
        bridge = dice.pick(LINKS).replace("{T}", subject.name).replace("{R}", neighbour.name)
        stores = (neighbour.kind.told, neighbour.kind.told, neighbour.kind.aside)
        templates = [dice.pick(dice.pick(list(store.values()))) for store in stores]
        return f"{capital(bridge)} {Narrator(neighbour, dice).paragraph(list(dict.fromkeys(templates))[:2])}"

    def _filled(self, template: str, subject: Topic, dice: Dice) -> str:
        """Return a template of the chatter with names and small numbers filled in; it begins as the template does."""
        words = {"T": subject.name, "B": subject.title, "who": _somebody(dice), "n": dice.between(3, 48)}
        words |= {"price": dice.between(2, 39), "day": dice.pick(DAYS), "site": dice.pick(tuple(SITES.values()))}
        return template.format_map(words)

    def _clone(self, topic: int, slot: int) -> Page:
        """Return a copy of the article: word for word, or with a few words exchanged."""
        dice = Dice(self._world.seed, "clone of", topic, slot)
        subject = self._current(topic)
        lead = write_lead(subject, self._world.seed)
        if slot == NEAR_CLONE_SLOT:
            lead = _reworded(lead)
        genre = self._links.genre(topic, slot)
        other = dice.pick(sorted(subject.draft.related.values()))
        mention = capital(self._filled(dice.pick(MENTIONS), subject, dice))
        return Page(
            url=self._links.page_url(topic, slot),
            genre=genre,
            title=subject.title,
            author=SITES[genre],
            date=_date(dice),
            blocks=(("p", lead), ("p", self._related(subject, other, dice)), ("p", mention)),
            caption=f"{subject.title}. Picture: {_somebody(dice)}",
        )


def _reworded(text: str) -> str:
    """Return the text with at most four words exchanged: a near-clone keeps over 80 % of its bigrams."""
    changes = 0
    for old, new in _SYNONYMS:
        if changes < 4 and old in text:
            text = text.replace(old, new, 1)
            changes += 1
    return text


def _somebody(dice: Dice) -> str:
    return f"{dice.pick(WOMEN + MEN)} {dice.pick(HEADS)}{dice.pick(MIDDLES)}{dice.pick(TAILS)}"


def _date(dice: Dice) -> str:
    months = ("January", "March", "April", "May", "June", "August", "October", "November")
    return f"{dice.between(1, 28)} {dice.pick(months)} {dice.between(2006, 2025)}"
