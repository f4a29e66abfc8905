"""Puts a topic's facts into words: the lead of its article, and paragraphs as other people's pages tell them."""

from collections.abc import Sequence

from tasks.sources.miniweb.chatter import MARKERS
from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.world import Topic

SHORT, LONG = 27, 66  # words of a paragraph: below, a sentence is added; above, none is


def write_lead(topic: Topic, seed: int) -> str:
    """Return the lead of a topic: one paragraph of 60 to 140 words in the manner of an encyclopedia.

    A revision changes numbers in it, not its wording.
    """
    he, his, him = topic.draft.pronouns
    words = dict(topic.facts, T=topic.name, he=he, his=his, him=him)
    return " ".join(capital(template.format_map(words)) for template in lead_templates(topic, seed))


def lead_templates(topic: Topic, seed: int) -> list[str]:
    """Return the templates that the lead of a topic is written from, in order; every revision has the same."""
    dice = Dice(seed, "lead", topic.index)
    return [dice.pick(alternatives) for probability, alternatives in topic.kind.lead if dice.chance(probability)]


class Narrator:
    """Tells about one topic, paragraph after paragraph of one page, and never twice in the same words.

    How the topic is named is the narrator's choice: often not by its title. That is what makes the title a poor guide
    to the paragraphs that matter.
    """

    def __init__(self, topic: Topic, dice: Dice) -> None:
        self.topic = topic
        self._dice = dice
        draft = topic.draft
        self._he, self._his, self._him = draft.pronouns
        self._words = dict(topic.facts, T=topic.name, he=self._he, his=self._his, him=self._him)
        self._aliases = draft.aliases or draft.nouns
        self._colour = dice.sample(topic.kind.colour, len(topic.kind.colour))

    def paragraph(self, templates: Sequence[str], *, opening: bool = False, marked: bool = False) -> str:
        """Return a paragraph of the templates' sentences, with some colour where it would be short.

        Args:
            templates: what to tell, in order; those past the length of a paragraph are left out.
            opening: the topic has not been named on this page.
            marked: join it to the paragraph before it with a discourse marker.
        """
        dice = self._dice
        sentences: list[str] = []
        words = 0
        for template in templates:
            sentence = self._sentence(template, opening=opening and not sentences, first=not sentences)
            if (marked and not sentences) or (sentences and dice.chance(0.15)):
                sentence = f"{dice.pick(MARKERS)} {sentence}"
            length = sentence.count(" ") + 1
            if sentences and words + length > LONG:
                break
            sentences.append(capital(sentence))
            words += length
        while self._colour and (words < SHORT or dice.chance(0.2)) and words < LONG - 14:
            sentence = self._colour.pop()
            sentences.append(capital(sentence))
            words += sentence.count(" ") + 1
        return " ".join(sentences)

    def _sentence(self, template: str, *, opening: bool, first: bool) -> str:
        words = self._words
        words["S"] = name = self._name(opening=opening, first=first)
        words["S's"] = f"{name}'s"
        if template.startswith("{S") and not opening and self._dice.chance(0.15 if first else 0.4):
            words["S"], words["S's"] = self._he, self._his
        return template.format_map(words)

    def _name(self, *, opening: bool, first: bool) -> str:
        """Choose how to name the topic, other than by a pronoun."""
        draw = self._dice.below(100)
        title, alias = (55, 100) if opening else (30, 65) if first else (8, 40)
        if draw < title:
            return self.topic.name
        return self._dice.pick(self._aliases if draw < alias else self.topic.draft.nouns)


def capital(sentence: str) -> str:
    """Return the sentence with a capital at its beginning, also behind an opening quotation mark."""
    if sentence[0] == "“":
        return sentence[0] + sentence[1].upper() + sentence[2:]
    return sentence[0].upper() + sentence[1:]
