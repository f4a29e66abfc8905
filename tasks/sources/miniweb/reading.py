"""Reads sentences back: the inverse of `prose`, from words to facts.

Every sentence that the world can say of a topic comes from a template of its kind, so a sentence is read by laying it
along the template: the words between the template's own words are the values. Where they can be cut in several ways,
the cut with the most right values is taken. A value must have the form of those the world gives to its fact, a number
or so many words at most; which one it is does not matter, so that a wrong value is read, and seen to be wrong.

A template's facts are taken apart ("a Valdrian composer" is a demonym and a profession), so that two alternatives of
a sentence state the same facts.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from tasks.sources.miniweb.chatter import MARKERS
from tasks.sources.miniweb.kinds import KINDS, Kind
from tasks.sources.miniweb.world import KIND_INDEX, Topic, World

SUBJECT, POSSESSIVE = "S", "S's"  # slots that name the topic: "the river", "it"; "the river's", "its"
COMPOSED = {
    "settlement": {"a_type": "a {type}"},
    "species": {"what": "a species of {word}"},
    "person": {"a_profession": "a {demonym} {profession}", "life": "{birthday} – {died}"},
    "film": {"nation_genre": "a {demonym} {genre}"},
    "bridge": {"a_type": "a {type}"},
    "festival": {"a_type": "a {type}"},
}  # a slot of templates that holds several facts, or a fact behind an article -> how it is put together

# Two facts of a topic that no sentence tells apart: one fact with two values.
_ALIKE = {"tributary1": "tributary", "tributary2": "tributary", "actor1": "actor", "actor2": "actor"}
_TOPIC = {"T": SUBJECT, "S": SUBJECT, "he": SUBJECT, "him": SUBJECT, "S's": POSSESSIVE, "his": POSSESSIVE}
_SLOTS = _ALIKE | _TOPIC
# What leads call their topic; templates of sources have slots for it instead.
_NOUNS = {
    "settlement": "the town", "species": "the species", "person": "", "river": "the river", "film": "the film",
    "company": "the company", "bridge": "the bridge", "festival": "the festival",
}  # fmt: skip
_SAMPLE = 40  # topics of each kind whose values show the form of a fact
_SLACK = 2  # words that a wrong value may have beyond the longest of the sample
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SIGNS = str.maketrans({"–": "-", "—": "-", "“": '"', "”": '"', "’": "'"})

Values = tuple[tuple[str, str], ...]  # (slot, plain value) in order


@dataclass(frozen=True)
class Form:
    """A sentence of a template, in plain words.

    Attributes:
        kind: of the topics of which it can be said.
        start: words before the first slot.
        slots: each slot, and the words behind it.
    """

    kind: str
    start: str
    slots: tuple[tuple[str, str], ...]

    @property
    def own_words(self) -> int:
        """Characters that are the template's: of two forms that fit, the one with more of them is the surer."""
        return len(self.start) + sum(len(behind) for _, behind in self.slots)


@dataclass(frozen=True)
class Shape:
    """What the values of a fact look like: a number, or at most so many words."""

    number: bool
    words: int

    def fits(self, value: str) -> bool:
        """Say whether a plain value has this shape."""
        if self.number:
            return _NUMBER.fullmatch(value) is not None
        return bool(value) and value == value.strip() and value.count(" ") < self.words


def plain(text: str) -> str:
    """Return the text as values are compared: lower case, one sort of dash and quotation mark, "a" for "an"."""
    return re.sub(r"\ban\b", "a", re.sub(r"\s+", " ", text.casefold().translate(_SIGNS)))


def plain_value(value: str) -> str:
    """Return a value as it is compared: a number without commas, anything else plain."""
    text = plain(value).strip()
    return text.replace(",", "") if _NUMBER.fullmatch(text) else text


def plain_sentence(sentence: str) -> str:
    """Return a sentence as forms are laid along it: plain, without its full stop and the marker before it."""
    text = plain(sentence).strip().rstrip(".!? ")
    marker = next((marker for marker in MARKERS if text.startswith(f"{marker} ")), None)
    return text if marker is None else text[len(marker) + 1 :]


@cache
def forms(name: str) -> tuple[Form, ...]:
    """Return every sentence that leads and other pages say of topics of a kind, those without a fact included."""
    kind = KINDS[KIND_INDEX[name]]
    lead = [template for _, alternatives in kind.lead for template in alternatives]
    stores = (kind.told, kind.aside)
    told = [template for store in stores for alternatives in store.values() for template in alternatives]
    found = [form for template in lead for form in lead_forms(kind, template)]
    found += [form for template in (*told, *kind.colour) for form in _sentences(kind, template)]
    return tuple(dict.fromkeys(found))


def lead_forms(kind: Kind, template: str) -> Iterator[Form]:
    """Yield the sentences of a lead's template. Its words for the topic become slots, as other pages have them."""
    template = re.sub(r"\bits\b", "{S's}", re.sub(r"\b[Ii]t\b", "{S}", template))
    noun = _NOUNS[kind.name]
    yield from _sentences(kind, re.sub(rf"\b{noun}\b", "{S}", template) if noun else template)


def _sentences(kind: Kind, template: str) -> Iterator[Form]:
    for slot, words in COMPOSED.get(kind.name, {}).items():
        template = template.replace(f"{{{slot}}}", words)
    for sentence in template.removesuffix(".").split(". "):
        start, *rest = re.split(r"{(.+?)}", sentence)
        slots = ((_SLOTS.get(slot, slot), plain(behind)) for slot, behind in zip(rest[::2], rest[1::2], strict=True))
        yield Form(kind.name, plain(start), tuple(slots))


@cache
def shapes() -> dict[tuple[str, str], Shape]:
    """Return the shape of the values of every slot of every kind, as (kind, slot) -> shape."""
    world, found = World(0), dict[tuple[str, str], list[str]]()
    for index in range(_SAMPLE * len(KINDS)):
        topic = world.topic(index)
        for slot, value, _ in (*facts_of(topic), (SUBJECT, topic.name, None), (POSSESSIVE, topic.name, None)):
            found.setdefault((topic.kind.name, slot), []).append(plain_value(value))
    return {
        place: Shape(
            all(_NUMBER.fullmatch(value) for value in values), max(value.count(" ") for value in values) + 1 + _SLACK
        )
        for place, values in found.items()
    }


def facts_of(topic: Topic) -> Iterator[tuple[str, str, int | None]]:
    """Yield the facts of a topic, those that templates compose taken apart: (fact, value, topic that it names)."""
    for slot, value in topic.facts.items():
        if slot not in COMPOSED.get(topic.kind.name, {}):
            yield _ALIKE.get(slot, slot), value, topic.draft.related.get(slot)
    if topic.kind.name == "person":
        yield "profession", topic.draft.nouns[0].removeprefix("the "), None


def read_back(form: Form, sentence: str, right: Callable[[str, str], bool]) -> Values | None:
    """Read a plain sentence by a form.

    Args:
        form: the form.
        sentence: of `plain_sentence`.
        right: whether a plain value is the right one for a slot; decides where values can be cut in several ways.

    Returns:
        Each slot and its value as it is compared, or None where the sentence has not this form.
    """
    if not sentence.startswith(form.start) or any(behind not in sentence for _, behind in form.slots):
        return None
    if not form.slots:
        return () if sentence == form.start else None
    shape_of = shapes()

    @cache
    def best(place: int, begin: int) -> tuple[int, Values] | None:
        """Return the reading of the slots from `place` on, where the first of them begins at `begin`."""
        slot, behind = form.slots[place]
        last = place + 1 == len(form.slots)
        found: tuple[int, Values] | None = None
        for end in _ends(sentence, behind, begin, last=last):
            value = plain_value(sentence[begin:end])
            known = right(slot, value)
            if not (known or shape_of[form.kind, slot].fits(sentence[begin:end])):
                continue
            rest = (0, ()) if last else best(place + 1, end + len(behind))
            if rest is not None and (found is None or rest[0] + known > found[0]):
                found = rest[0] + known, ((slot, value), *rest[1])
        return found

    reading = best(0, len(form.start))
    return None if reading is None else reading[1]


def _ends(sentence: str, behind: str, begin: int, *, last: bool) -> Iterator[int]:
    """Yield where a value that begins at `begin` may end: before the words behind it, which may end the sentence."""
    if last:
        end = len(sentence) - len(behind)
        if end > begin and sentence.endswith(behind):
            yield end
        return
    end = sentence.find(behind, begin + 1)
    while end >= 0:
        yield end
        end = sentence.find(behind, end + 1)
