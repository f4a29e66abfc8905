"""The kinds of topics: a table of facts (`kinds.toml`) and a file of sentences each, for the renderer and the reader.

A line of the file `NAME.txt` beside this one begins with its mark: `=` a sentence of leads, `?` of most leads, `-` of
other pages, `+` of other pages, the first of an aspect that no lead mentions, `~` true of every topic, `>` a paragraph
that names the topic but states no fact, `%` a sentence that nobody here writes, but the reader understands. Lines of
one aspect follow each other, leads first. In a line `[a|b]` means either text, `{slot}` a fact, `{S}` the name that the
narrator chooses for the topic ("the River Tavil", "the river", "it"), `{he}` and `{his}` its pronoun. "a" becomes "an"
where necessary, the first letter becomes a capital, and a full stop is added."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tasks.engine.data_files import fill, read_data
from tasks.engine.hashing import Dice
from tasks.sources.miniweb.names import LISTS, NameScheme, lines, words

_ASPECT = re.compile(r"^(?:(?:[=?] .*\n)+|\+ .*\n)(?:- .*\n)*", re.MULTILINE)
_CHANCES = {"=": 1.0, "?": 0.7}  # probability that a lead mentions an aspect
_DIVISIONS = 20  # tried for one in which both parts of the lines of an aspect state its facts


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
    table: Mapping[str, "Fact"]


Fact = str | Number | Near | Of | By  # a string lists phrases with commas; one of them is drawn
_MONTHS = words("January February March April May June July August September October November December")
_DAYS = ", ".join(f"{day} {month}" for month in _MONTHS for day in range(1, 29))


def _fact(written: Any) -> Fact:
    """Return a fact as `kinds.toml` writes it."""
    if isinstance(written, str):
        return fill(written, {"DAYS": _DAYS})
    fields: dict[str, Any] = dict(written)
    if "by" in fields:
        return By(fields["by"], {value: _fact(one) for value, one in fields["table"].items()})
    if "of" in fields:
        return Of(fields["of"], fields["fact"])
    if "near" in fields:
        return Near(fields.pop("near"), **fields)
    if "year" in fields:
        return Number(*fields.pop("year"), **({"style": "{}"} | fields))
    return Number(*fields.pop("number"), **fields)


@dataclass(frozen=True)
class TopicKind:
    """A kind of topic. Facts whose names differ only by a digit at the end are one fact with two values."""

    name: str
    scheme: NameScheme
    nouns: tuple[str, ...]  # other names of the topic in texts ("the river"), with slots; they never contain its title
    facts: Mapping[str, Fact]  # slot -> how its value is found
    edited: tuple[str, ...] = ()  # facts that a revision of the article draws anew
    short: tuple[int, int] = (0, 0)  # the range of parts of the title that form a shorter name ("the Tavil")
    article: str = ""  # before title and shorter name inside a sentence

    @cached_property
    def prose(self) -> str:
        """The table of sentences."""
        return Path(__file__).with_name(f"{self.name}.txt").read_text(encoding="utf-8")

    @cached_property
    def aspects(self) -> tuple[Aspect, ...]:
        """The aspects of such a topic, in the order of the lead."""
        found: list[str] = _ASPECT.findall(self.prose)
        return tuple(Aspect(_CHANCES.get(text[0], 0.0), _forms(text, "=?"), _forms(text, "+-")) for text in found)

    def divided(self, seed: int, share: float) -> tuple[tuple[Aspect, ...], tuple[Aspect, ...]]:
        """Return the aspects with the lines that every article may use, and with the `share` that is held back."""
        parts = []
        for place, aspect in enumerate(self.aspects):
            dice = Dice(seed, "held back", self.name, place)
            lead, told = _divided(aspect.lead, share, dice), _divided(aspect.told, share, dice)
            parts.append(
                [aspect._replace(lead=of_lead, told=of_told) for of_lead, of_told in zip(lead, told, strict=True)]
            )
        shown, held = zip(*parts, strict=True)
        return shown, held

    @cached_property
    def colour(self) -> tuple[Line, ...]:
        """Sentences about such a topic that state no fact."""
        return _forms(self.prose, "~")

    @cached_property
    def paraphrases(self) -> tuple[Line, ...]:
        """Sentences on the facts of such a topic that neither its lead nor a page uses."""
        return _forms(self.prose, "%")

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


def _divided(all_lines: tuple[Line, ...], share: float, dice: Dice) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Divide lines at random into those that stay and the share held back, at least one where there are two. Of some
    divisions the one is taken whose two parts state most facts, so that an article can be told in either."""
    count = min(max(round(share * len(all_lines)), 1), len(all_lines) - 1) if share and all_lines else 0
    if not count:
        return all_lines, all_lines
    places = range(len(all_lines))

    def parts(held: Collection[int]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
        chosen = [tuple(all_lines[place] for place in places if (place in held) == side) for side in (False, True)]
        return chosen[0], chosen[1]

    def stated(held: Collection[int]) -> int:
        return sum(len({slot for line in part for form in line for slot, _ in form.slots}) for part in parts(held))

    return parts(max((dice.sample(places, count) for _ in range(_DIVISIONS)), key=stated))


def _forms(prose: str, marks: str) -> tuple[Line, ...]:
    return tuple(expand(line[2:]) for line in lines(prose) if line[0] in marks)


def _kind(name: str, written: Mapping[str, Any]) -> TopicKind:
    scheme = NameScheme(tuple(LISTS.get(part) or words(part, "|") for part in written["parts"]))
    facts = {slot: _fact(fact) for slot, fact in written["facts"].items()}
    rest = {field: value for field, value in written.items() if field not in ("parts", "facts")}
    return TopicKind(name, scheme, facts=facts, **rest)


KINDS = tuple(_kind(*item) for item in read_data("tasks.sources.miniweb.kinds", "kinds.toml").items())
