"""The interface of a kind of topic: a table of facts and a table of sentences, used by the renderer and the reader.

A line of the prose table begins with its mark: `=` a sentence of leads, `?` of most leads, `-` of other pages, `+` of
other pages, the first of an aspect that no lead mentions, `~` true of every topic, `>` a paragraph that names the topic
but states no fact. Lines of one aspect follow each other, leads first. In a line `[a|b]` means either text, `{slot}` a
fact, `{S}` the name that the narrator chooses for the topic ("the River Tavil", "the river", "it"), `{he}` and `{his}`
its pronoun. "a" becomes "an" where necessary, the first letter becomes a capital, and a full stop is added.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tasks.sources.miniweb.names import NameScheme, lines

_ASPECT = re.compile(r"^(?:(?:[=?] .*\n)+|\+ .*\n)(?:- .*\n)*", re.MULTILINE)
_CHANCES = {"=": 1.0, "?": 0.7}  # probability that a lead mentions an aspect


class Form(NamedTuple):
    """A sentence without its full stop: the words before the first slot, then each slot and the words behind it."""

    start: str
    slots: tuple[tuple[str, str], ...]


Line = tuple[Form, ...]  # all sentences of a line of the prose table


class Aspect(NamedTuple):
    """An aspect of a topic: the probability that a lead mentions it, the leads' lines, and the other pages' lines."""

    chance: float
    lead: tuple[Line, ...]
    told: tuple[Line, ...]


class Number(NamedTuple):
    """A number from low to high, added to another number, or to a person's year of birth, where `since` names one."""

    low: int
    high: int
    step: int = 1
    since: str = ""
    style: str = "{:,}"


def year(low: int, high: int, since: str = "") -> Number:
    """Return a fact that is a year: a number without a comma."""
    return Number(low, high, since=since, style="{}")


class Near(NamedTuple):
    """A topic of a kind in the same region: a person of a profession, or with a title that ends in certain parts."""

    kind: str
    profession: str = ""
    last_parts: Collection[str] = ()


class Of(NamedTuple):
    """A topic named by a fact of a related topic: the river of the bridge's town."""

    role: str
    fact: str


class By(NamedTuple):
    """A fact that depends on another's value, on the "rank" of the topic in its region, or the end of its "title"."""

    fact: str
    table: Mapping[str, str | Number | Near]


Fact = str | Number | Near | Of | By  # a string lists phrases with commas; one of them is drawn


@dataclass(frozen=True)
class Kind:
    """A kind of topic. Facts whose names differ only by a digit at the end are one fact with two values."""

    name: str
    scheme: NameScheme
    nouns: tuple[str, ...]  # other names of the topic in texts ("the river"), with slots; they never contain its title
    facts: Mapping[str, Fact]  # slot -> how its value is found
    prose: str  # the table of sentences
    edited: tuple[str, ...] = ()  # facts that a revision of the article draws anew
    short: tuple[int, int] = (0, 0)  # the range of parts of the title that form a shorter name ("the Tavil")
    article: str = ""  # before title and shorter name inside a sentence

    @cached_property
    def aspects(self) -> tuple[Aspect, ...]:
        """The aspects of such a topic, in the order of the lead."""
        found: list[str] = _ASPECT.findall(self.prose)
        return tuple(Aspect(_CHANCES.get(text[0], 0.0), _forms(text, "=?"), _forms(text, "+-")) for text in found)

    @cached_property
    def colour(self) -> tuple[Line, ...]:
        """Sentences about such a topic that state no fact."""
        return _forms(self.prose, "~")

    @cached_property
    def chatter(self) -> tuple[str, ...]:
        """Paragraphs that name the topic `{T}` but state no fact."""
        return tuple(line[2:] for line in lines(self.prose) if line[0] == ">")


def expand(line: str) -> Line:
    """Return all sentences of a line of the prose table."""
    if choice := re.search(r"\[([^][]*)\]", line):
        before, after = line[: choice.start()], line[choice.end() :]
        return tuple(form for option in choice[1].split("|") for form in expand(before + option + after))
    start, *rest = re.split(r"{([^{}]+)}", line)
    return (Form(start, tuple(zip(rest[::2], rest[1::2], strict=True))),)


def _forms(prose: str, marks: str) -> tuple[Line, ...]:
    return tuple(expand(line[2:]) for line in lines(prose) if line[0] in marks)
