"""What a kind of topic is: how its topics are named, which facts they have, and how those are put into words.

A sentence template begins in lower case and is filled from a topic's facts. These words in it stand for the topic:
`{S}` and its possessive `{S's}`, as the full name, an alias or "the river" as the narrator sees fit, and at the head of
a template also as a pronoun; `{he}`, `{his}` and `{him}`, always the pronoun; `{T}`, always the full name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.names import NameScheme

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

IT = ("it", "its", "it")
HE = ("he", "his", "him")
SHE = ("she", "her", "her")


@dataclass(frozen=True)
class Draft:
    """The facts of one topic, as a kind's `draw` finds them.

    Attributes:
        aliases: shorter names ("the Tavil").
        nouns: what the topic is ("the river"); never contain its name.
        pronouns: subject, possessive and object pronoun.
        facts: words for each fact, by the name that templates use.
        related: topics that facts name: fact -> topic index.
    """

    aliases: tuple[str, ...]
    nouns: tuple[str, ...]
    pronouns: tuple[str, str, str]
    facts: dict[str, str]
    related: dict[str, int]


@dataclass(frozen=True)
class Kind:
    """A kind of topic and its prose.

    Attributes:
        name: singular, such as "river".
        scheme: how titles are made.
        in_text: turns a title into the name that stands inside a sentence ("the River Tavil").
        draw: finds a topic's facts: (ground, lasting dice, dice of the revision) -> Draft.
        lead: sentences of the lead in order: (probability, alternative templates).
        told: salient facts as sources tell them: aspect -> alternative templates.
        aside: facts no lead states: aspect -> alternative templates.
        colour: sentences about such a topic that state no fact.
        chatter: paragraphs that name the topic and tell nothing, for this kind only.
    """

    name: str
    scheme: NameScheme
    in_text: Callable[[str], str]
    draw: Callable[["Ground", Dice, Dice], Draft]
    lead: tuple[tuple[float, tuple[str, ...]], ...]
    told: Mapping[str, tuple[str, ...]]
    aside: Mapping[str, tuple[str, ...]]
    colour: tuple[str, ...]
    chatter: tuple[str, ...]


def article(phrase: str) -> str:
    """Return the phrase with "a" or "an" before it."""
    return f"{'an' if phrase[0].lower() in 'aeio' else 'a'} {phrase}"


def thousands(number: int) -> str:
    """Return the number with commas between thousands."""
    return f"{number:,}"
