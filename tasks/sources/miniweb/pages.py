"""The texts of the web: a topic's facts in sentences, in the lead of its article and on other pages, and the paragraphs
of a page in order, before they are rendered as HTML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, cycle
from typing import NamedTuple

from tasks.engine.data_files import read_data
from tasks.engine.hashing import Dice
from tasks.sources.miniweb.kinds import KINDS, Form, Line, lines_in, somebody
from tasks.sources.miniweb.links import CLONE_SLOT, NEAR_CLONE_SLOT, SITES, Links
from tasks.sources.miniweb.world import REGION_TOPICS, Topic, World
from tasks.sources.settings import MiniwebSettings

# Texts of pages besides the facts: discourse markers, and paragraphs that state no fact.
_TEXTS = read_data("tasks.sources.miniweb", "chatter.toml")
MARKERS = tuple(f"{marker}," for marker in _TEXTS["markers"].split("/"))
LINKS, MENTIONS, REMARKS = (lines_in(_TEXTS[kind]) for kind in ("links", "mentions", "remarks"))
_HEADLINES, _MONTHS, _FORUM_NAMES = (_TEXTS[kind] for kind in ("headlines", "months", "forum_names"))
SHORT, LONG = 27, 66  # words of a paragraph: a shorter one gets another sentence; a longer one gets none


class RenderedSentence(NamedTuple):
    """A rendered sentence, and the values of its slots."""

    text: str
    values: tuple[tuple[str, str], ...]


def say(form: Form, topic: Topic, subject: str, marker: str = "") -> RenderedSentence:
    """Return a sentence about a topic, which it calls `subject`."""
    he, his = topic.pronouns
    words = topic.facts | {"S": subject, "he": he, "his": his}
    values = tuple((slot, words[slot]) for slot, _ in form.slots)
    text = marker + form.start + "".join(words[slot] + behind for slot, behind in form.slots)
    return RenderedSentence(capital(re.sub(r"\b([Aa]) (?=[aeioAEIO8])", r"\1n ", text)) + ".", values)


def write_lead(topic: Topic, world: World) -> list[RenderedSentence]:
    """Return the lead of a topic: a paragraph of 60 to 140 words in the manner of an encyclopedia. A revision changes
    numbers in it, not its wording."""
    dice = Dice(world.seed, "lead", topic.index)
    aspects = world.wording(topic.kind, test=world.split(topic.index) == "test")
    sentences = (aspect.lead for aspect in aspects if aspect.lead and dice.chance(aspect.chance))
    lead: list[RenderedSentence] = []
    for lead_lines in sentences:
        form = dice.pick(dice.pick(lead_lines))
        other = topic.pronouns[0] if dice.chance(0.7) else dice.pick((*topic.aliases, topic.nouns[0]))
        lead.append(say(form, topic, other if lead else topic.name))
    return lead


class Narrator:
    """Writes the paragraphs of one page about one topic. The narrator chooses a name for the topic, often not its
    title. That makes similarity with the title a weak sign of a useful paragraph."""

    def __init__(self, topic: Topic, dice: Dice) -> None:
        self.topic = topic
        self._dice = dice
        self._told: set[Form] = set()
        self._markers = cycle(dice.sample(MARKERS, len(MARKERS)))
        self._colour = dice.sample(topic.kind.colour, len(topic.kind.colour))

    def paragraph(
        self, lines: Iterator[Line], count: int, *, opening: bool = False, marked: bool = False
    ) -> list[RenderedSentence]:
        """Return a paragraph of `count` lines, of fewer where they are long and of more where they are short. An
        opening paragraph is the first to name the topic; a marked one begins with a discourse marker."""
        dice = self._dice
        said: list[RenderedSentence] = []
        words = 0
        while len(said) < count or words < SHORT:
            coloured = bool(said and self._colour) and dice.chance(0.2)
            line = self._colour.pop() if coloured else next(lines)
            form = dice.pick([form for form in line if form not in self._told] or line)
            self._told.add(form)
            first = not said
            joined = marked if first else form.slots and dice.chance(0.1)
            marker = f"{next(self._markers)} " if joined else ""
            sentence = say(form, self.topic, self._name(form, opening=opening and first, first=first), marker)
            words += sentence.text.count(" ") + 1
            if words > LONG:
                break
            said.append(sentence)
        return said

    def _name(self, form: Form, *, opening: bool, first: bool) -> str:
        topic, dice = self.topic, self._dice
        if not form.start and form.slots[0][0] == "S" and not opening and dice.chance(0.15 if first else 0.4):
            return topic.pronouns[0]
        draw = dice.below(100)
        title, alias = (55, 100) if opening else (30, 65) if first else (8, 40)
        said = {f"the {topic.facts[slot]}" for slot, _ in form.slots if slot in topic.facts}
        nouns = [noun for noun in topic.nouns if noun not in said]  # or "the hill town, a hill town, ..."
        if draw < title or not nouns:
            return topic.name
        return dice.pick((topic.aliases if draw < alias else ()) or nouns)


def text_of(paragraph: list[RenderedSentence]) -> str:
    """Return the sentences as one paragraph."""
    return " ".join(said.text for said in paragraph)


def capital(sentence: str) -> str:
    """Return the sentence with a capital at its beginning."""
    return sentence[0].upper() + sentence[1:]


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
        comments = tuple((dice.pick(_FORUM_NAMES), self._filled(text, subject, genre, dice)) for text in talked)
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
        the page is that of a test article. Then every second aspect has a form that is held back from all others, and
        the rest have any form, as if most writers were strangers."""
        held = self.world.wording(subject.kind, test=test)
        every = subject.kind.aspects if test else held
        places = [index for index, aspect in enumerate(held) if bool(aspect.lead) == salient]
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
        neighbour = self.world.topic(other)
        bridge = capital(dice.pick(LINKS).format(T=subject.name, R=neighbour.name))
        salient, slot = dice.chance(0.7), dice.below(9)
        lines = self._lines(neighbour, salient=salient, slot=slot, test=self._of_test(subject))
        return f"{bridge}. {text_of(Narrator(neighbour, dice).paragraph(lines, 2))}"

    def _filled(self, template: str, subject: Topic, genre: str, dice: Dice) -> str:
        words = {"T": subject.name, "B": subject.title, "who": somebody(dice), "n": dice.between(3, 48)}
        words |= {"price": dice.between(2, 39), "day": dice.pick(_TEXTS["days"]), "site": SITES[genre].site}
        return capital(template.format_map(words))

    def _clone(self, subject: Topic, slot: int, genre: str, dice: Dice) -> Iterator[tuple[str, str]]:
        """Yield a copy of the article, word for word or with a few words exchanged, and two other paragraphs."""
        lead = text_of(write_lead(subject, self.world))
        yield "p", _reworded(lead) if slot == NEAR_CLONE_SLOT else lead
        yield "p", self._related(subject, dice.pick(sorted(subject.related.values())), dice)
        yield "p", self._filled(dice.pick(MENTIONS), subject, genre, dice)


def _signed(pictured: str, dice: Dice) -> tuple[str, str, str]:
    date = f"{dice.between(1, 28)} {dice.pick(_TEXTS['months'])} {dice.between(2006, 2025)}"
    caption = f"{pictured}. Picture: {somebody(dice)}"
    return somebody(dice), date, caption


def _reworded(text: str) -> str:
    """Return the text with at most four words replaced: a near-clone keeps over 80 % of its bigrams."""
    for old, new in [pair for pair in _TEXTS["synonyms"] if f" {pair[0]} " in text][:4]:
        text = text.replace(f" {old} ", f" {new} ", 1)
    return text
