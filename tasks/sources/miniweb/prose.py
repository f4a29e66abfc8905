"""The renderer: states a topic's facts in sentences, in the lead of its article and on other pages."""

import re
from collections.abc import Iterator
from itertools import cycle
from typing import NamedTuple

from tasks.engine.hashing import Dice
from tasks.sources.miniweb.chatter import MARKERS
from tasks.sources.miniweb.kinds import Form, Line
from tasks.sources.miniweb.world import Topic, World

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
    for lines in sentences:
        form = dice.pick(dice.pick(lines))
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
        """Choose what to call the topic."""
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
