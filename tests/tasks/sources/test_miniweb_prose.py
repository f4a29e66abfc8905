"""The renderer of the mini web: forms filled, leads written, paragraphs told."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, cycle

import pytest

from tasks.engine.hashing import Dice
from tasks.sources.miniweb.kinds import Line, expand
from tasks.sources.miniweb.pages import LONG, MARKERS, SHORT, Narrator, say, text_of, write_lead
from tasks.sources.miniweb.world import World

WORLD = World(1)


@pytest.mark.parametrize(
    ("line", "facts", "text"),
    [
        ("{S} is a {type}", {"type": "abbey town"}, "The place is an abbey town."),
        ("a {length}-kilometre path", {"length": "84"}, "An 84-kilometre path."),
        ("a {length}-kilometre path", {"length": "184"}, "A 184-kilometre path."),
        ("{he} and {his} {type}", {"type": "oven"}, "It and its oven."),
        ("built of {stone}", {"stone": "brick"}, "Built of brick."),
    ],
)
def test_a_form_is_filled(line: str, facts: dict[str, str], text: str) -> None:
    said = say(expand(line)[0], replace(WORLD.topic(0), facts=facts), "the place")
    assert said.text == text
    assert {slot: words for slot, words in said.values if slot in facts} == facts


def test_a_marker_comes_first() -> None:
    said = say(expand("{S} is old")[0], WORLD.topic(0), "the place", "in fact, ")
    assert said.text == "In fact, the place is old."
    assert said.values == (("S", "the place"),)


def test_a_lead_names_its_topic_once_in_full_and_in_the_first_sentence() -> None:
    for index in range(120):
        topic = WORLD.topic(index)
        lead = write_lead(topic, WORLD)
        assert ("S", topic.name) in lead[0].values
        assert not any(("S", topic.name) in said.values for said in lead[1:])


def test_a_revision_changes_the_numbers_of_a_lead_and_not_its_words() -> None:
    changed = 0
    for index in range(60):
        old, new = write_lead(WORLD.topic(index), WORLD), write_lead(WORLD.topic(index, 1), WORLD)
        edited = WORLD.kind(index).edited
        assert len(old) == len(new)
        for before, after in zip(old, new, strict=True):
            pairs = zip(before.values, after.values, strict=True)
            assert {slot for (slot, words), (_, other) in pairs if words != other} <= set(edited)
            changed += before.text != after.text
    assert changed > 40


def lines_of(index: int) -> Iterator[Line]:
    return cycle(chain.from_iterable(aspect.told for aspect in WORLD.kind(index).aspects))


def test_paragraphs_are_neither_short_nor_long_and_repeat_nothing() -> None:
    for index in range(60):
        narrator, lines = Narrator(WORLD.topic(index), Dice("page", index)), lines_of(index)
        paragraphs = [narrator.paragraph(lines, 3, opening=not number, marked=number == 1) for number in range(4)]
        assert all(len(text_of(paragraph).split()) <= LONG for paragraph in paragraphs)
        assert sum(len(text_of(paragraph).split()) >= SHORT for paragraph in paragraphs) > 2
        texts = [said.text for said in chain.from_iterable(paragraphs)]
        assert len(set(texts)) == len(texts)
        assert paragraphs[1][0].text.lower().startswith(MARKERS)


def test_a_topic_is_not_called_what_the_sentence_says_it_is() -> None:
    """As in: the River Tavil and the mill town, a mill town."""
    line = expand("{S}, a {type}, is small")
    for number in range(200):
        (first, *_) = Narrator(WORLD.topic(0), Dice("noun", number)).paragraph(iter([line] * 9), 1)
        assert not first.text.lower().startswith(f"the {WORLD.topic(0).facts['type']}")
