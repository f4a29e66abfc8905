"""The kinds of topics: a table of facts (`kinds.toml`) and a file of sentences each, for the renderer and the reader.

A line of the file `NAME.txt` in this folder begins with its mark. `=` marks a sentence of leads, `?` of most leads, `-`
of other pages. `+` marks a sentence of other pages that begins an aspect which no lead mentions, `~` one that is true
of every topic. `>` marks a paragraph that names the topic but states no fact, `%` a sentence that nobody here writes,
but the reader understands. Lines of one aspect follow each other, leads first. In a line `[a|b]` means either text,
`{slot}` a fact, `{S}` the name that the narrator chooses for the topic ("the River Tavil", "the river", "it"), `{he}`
and `{his}` its pronoun. "a" becomes "an" where necessary, the first letter becomes a capital, and a full stop is added.

Names of topics are combined from a compact set of syllables and words, unique, and invertible. An affine permutation
maps a topic's ordinal within its kind to a combination of name parts. So names are unique without a table, and a title
can be mapped back to its topic without an index."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import gcd, prod
from pathlib import Path
from typing import Any, NamedTuple

from tasks.engine.data_files import fill, read_data
from tasks.engine.hashing import Dice, stable_hash


def words(text: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the words of a list written as one string, which is easier to read."""
    return tuple(text.split(separator))


def lines_in(text: str) -> tuple[str, ...]:
    """Return the lines of a text; a line that begins with two spaces continues the one before it."""
    return tuple(text.strip().replace("\n  ", " ").split("\n"))


# A name stem is HEAD + MIDDLE + tail. Head and middle end in their only vowel, so a stem can be split in only one way.
_ONSETS = words("b br c d dr f fl g gr h k l m n p r s st t tr v w th sh")
_ACCENTED = words("Bré Mé Lö Sö Té Vé Kö Ré")
HEADS = (*((onset + vowel).capitalize() for onset in _ONSETS for vowel in "aeiou"), *_ACCENTED)
MIDDLES = tuple(onset + vowel for onset in words("b d l m n r v s t k nd rn lm ll rr st") for vowel in "aeio")

_WOMEN = "Anna Berta Clara Dora Elsa Frida Greta Hanna Ida Johanna Karin Lena Marta Nora Olga Paula Rosa Sofia Tilda"
_MEN = "Anton Bruno Carl Daniel Emil Felix Georg Henrik Ivan Jonas Kaspar Leon Martin Niels Oskar Peter Rolf Stefan"
WOMEN, MEN = words(f"{_WOMEN} Ursula Vera Wilma Yvonne Zora"), words(f"{_MEN} Theo Ulrich Viktor Walter Xaver Zoltan")
FIRST_NAMES = WOMEN + MEN
LAST_TAILS = words("n r ll sen rt ck nt ler mann ski vic rd nsson tt berg lund")

# The lists of parts that `kinds/kinds.toml` calls by their names.
LISTS: Mapping[str, tuple[str, ...]] = {
    "HEADS": HEADS,
    "MIDDLES": MIDDLES,
    "FIRST_NAMES": tuple(f"{name} " for name in FIRST_NAMES),
    "LAST_TAILS": LAST_TAILS,
}


def somebody(dice: Dice) -> str:
    """Return the name of a person who is not a topic."""
    return f"{dice.pick(FIRST_NAMES)} {dice.pick(HEADS)}{dice.pick(MIDDLES)}{dice.pick(LAST_TAILS)}"


@dataclass(frozen=True)
class NameScheme:
    """How names of a kind are composed."""

    parts: tuple[tuple[str, ...], ...]  # for each position in a name the possible strings

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        groups = ("|".join(re.escape(text) for text in sorted(part, key=len, reverse=True)) for part in self.parts)
        return re.compile("".join(f"({group})" for group in groups))

    @cached_property
    def size(self) -> int:
        """Number of different names."""
        return prod(len(part) for part in self.parts)

    def name_parts(self, seed: int, ordinal: int) -> tuple[str, ...]:
        """Return the parts of the name of a kind's topic number `ordinal`."""
        factor, shift = _permutation(seed, self.size)
        rest = (factor * ordinal + shift) % self.size
        parts = []
        for part in reversed(self.parts):
            rest, index = divmod(rest, len(part))
            parts.append(part[index])
        return tuple(reversed(parts))

    def ordinal(self, seed: int, name: str) -> int | None:
        """Return the ordinal of a name, or None if it is not a name of this scheme."""
        match = self._pattern.fullmatch(name)
        if match is None:
            return None
        number = 0
        for part, text in zip(self.parts, match.groups(), strict=True):
            number = number * len(part) + part.index(text)
        factor, shift = _permutation(seed, self.size)
        return (number - shift) * pow(factor, -1, self.size) % self.size


@cache
def _permutation(seed: int, size: int) -> tuple[int, int]:
    """Return factor and shift of the permutation x -> factor * x + shift (mod size)."""
    factor = stable_hash(seed, "factor", size) % size | 1
    while gcd(factor, size) != 1:
        factor += 2
    return factor, stable_hash(seed, "shift", size) % size


_ASPECT = re.compile(r"^(?:(?:[=?] .*\n)+|\+ .*\n)(?:- .*\n)*", re.MULTILINE)
_CHANCES = {"=": 1.0, "?": 0.7}  # probability that a lead mentions an aspect
_DIVISIONS = 20  # attempts to find a division in which both parts of an aspect's lines state its facts


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
    if isinstance(written, str):
        return fill(written, {"DAYS": _DAYS})
    fields: dict[str, Any] = dict(written)
    if "by" in fields:
        return By(fields["by"], {value: _fact(item) for value, item in fields["table"].items()})
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
        result: list[str] = _ASPECT.findall(self.prose)
        return tuple(Aspect(_CHANCES.get(text[0], 0.0), _forms(text, "=?"), _forms(text, "+-")) for text in result)

    def divided(self, seed: int, share: float) -> tuple[tuple[Aspect, ...], tuple[Aspect, ...]]:
        """Return the aspects with the lines that every article may use, and with the `share` that is held back."""
        parts = []
        for index, aspect in enumerate(self.aspects):
            dice = Dice(seed, "held back", self.name, index)
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
        return tuple(line[2:] for line in lines_in(self.prose) if line[0] == ">")


def expand(line: str) -> Line:
    """Return all sentences of a line of the prose table."""
    if choice := re.search(r"\[([^][]*)\]", line):
        before, after = line[: choice.start()], line[choice.end() :]
        return tuple(form for option in choice[1].split("|") for form in expand(before + option + after))
    start, *rest = re.split(r"{([^{}]+)}", line)
    return (Form(start, tuple(zip(rest[::2], rest[1::2], strict=True))),)


def _divided(all_lines: tuple[Line, ...], share: float, dice: Dice) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Divide lines at random into those that stay and the share held back, at least one where there are two. Out of
    several divisions this takes the one whose parts both state most facts, so that either can describe an article."""
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
    return tuple(expand(line[2:]) for line in lines_in(prose) if line[0] in marks)


def _kind(name: str, written: Mapping[str, Any]) -> TopicKind:
    scheme = NameScheme(tuple(LISTS.get(part) or words(part, "|") for part in written["parts"]))
    facts = {slot: _fact(fact) for slot, fact in written["facts"].items()}
    rest = {field: value for field, value in written.items() if field not in ("parts", "facts")}
    return TopicKind(name, scheme, facts=facts, **rest)


KINDS = tuple(_kind(*item) for item in read_data("tasks.sources.miniweb.kinds", "kinds.toml").items())
