"""What lines of notes without a sentence say differently, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extractive.differences import Difference, find_differences, without_sides
from tasks.extractive.notes import is_jotted
from tasks.extractive.pile import PilePassage


def found(title: str, *notes: str) -> list[Difference]:
    """The differences of notes."""
    return find_differences(title, [PilePassage(text, f"s{n}", note=True) for n, text in enumerate(notes)])


def lines(title: str, *notes: str) -> list[str]:
    return [item.line for item in found(title, *notes)]


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("Choir trip", "deadline 28 February", "trip of the choir\ndeadline: 15 March"),
        ("Choir trip", "Deadline: 28 February", "The deadline is 15 March."),
        ("Choir trip", "price 20 euros", "Price: 25 euros"),
        ("Choir trip", "trip price 20 euros", "The price is 25 euros."),
        ("Board meeting", "meeting in room 4", "Meeting: room 6"),
        ("Board meeting", "The meeting is in room 4.", "The meeting takes place in room 6."),
        ("Board meeting", "3 March, room 4", "3 March, room 6"),
        ("Village band", "chair: Anna", "Chair: Ben"),
        ("Village band", "Chair: Anna Lee", "The chair is Ben Orr."),
        ("Garden day", "Start: 10:00", "start 9:30"),
        ("Garden day", "bus leaves 7.30", "bus leaves at 8.15"),
        ("Garden day", "opens 7 am", "Opens: 6.30 am"),
        ("Chess", "rounds: 7", "9 rounds in all, rounds: 9"),
        ("Cabin", "sleeps 6", "sleeps 8"),
        ("Cabin", "90 euros a night", "95 euros a night"),
        ("Course", "max 12 people", "max 15 people"),
        ("School events", "Choir trip\nprice 20 euros", "Choir trip in May\nprice 25 euros"),
        ("School events", "Choir trip\nprice 20 euros", "Choir trip: price 25 euros"),
        ("School events", "Choir trip\nbring a coat\nprice 20 euros", "Choir trip\nprice 25 euros"),
    ],
)
def test_what_notes_say_differently_is_listed(title: str, one: str, other: str) -> None:
    (difference,) = found(title, one, other)
    assert [side.sentence for side in difference.statements] == [one.split("\n")[-1], other.split("\n")[-1]]
    assert len(found(title, other, one)) == 1


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("School events", "Choir trip\nprice 20 euros", "Museum visit\nprice 25 euros"),
        ("School events", "price 20 euros", "Museum visit\nprice 25 euros"),
        ("School events", "Trips:\nprice 20 euros", "Books:\nprice 25 euros"),
        ("School events", "Trip in May\nprice 20 euros", "Trip in June\nprice 25 euros"),
        ("Board", "Tuesday: meeting in room 4", "Thursday: meeting in room 6"),
        ("Board", "3 March, room 4", "10 March, room 6"),
        ("Board", "Date: 3 March\nroom 4", "Date: 10 March\nroom 6"),
        ("Board", "3 March\nroom 4", "10 March\nroom 6"),
        ("Board", "Tuesday 3 March\nroom 4", "Tuesday 10 March\nroom 6"),
        ("Board", "Date: 3 March", "Date: 10 March"),
        ("Board", "Author: Anna", "Author: Ben"),
        ("Board", "Minutes: Anna", "Minutes: Ben"),
        ("Trip", "deadline 28 February", "new deadline: 15 March"),
        ("Trip", "deadline 28 February", "UPDATE\ndeadline 15 March"),
        ("Trip", "deadline 28 February", "deadline 15 March?"),
        ("Trip", "deadline 28 February", "no deadline 15 March"),
        ("Trip", "price 20 euros", "price now 25 euros"),
        ("Trip", "bus 7.30", "bus 8.15"),
        ("Party", "20 chairs", "25 chairs"),
        ("Party", "20 euros", "25 euros"),
        ("Party", "10:00", "11:00"),
        ("Party", "food 300 euros\ndrinks 120 euros", "food and drinks 420 euros"),
        ("Party", "price 20 euros", "price 25 euros with lunch"),
        ("Party", "price 20 euros", "price about 25 euros"),
        ("Party", "price 20 euros, children", "price 25 euros, adults"),
        ("Cabin", "sleeps 6", "sleeps 6 (8 with the sofa)"),
    ],
)
def test_notes_that_only_seem_to_differ_are_not_listed(title: str, one: str, other: str) -> None:
    assert lines(title, one, other) == lines(title, other, one) == []


def test_the_title_of_a_source_is_a_heading_too() -> None:
    one, other, third = (
        PilePassage(f"price {price} euros", str(price), 0, title, note=True)
        for price, title in ((20, "Choir trip"), (25, "Museum"), (25, "Choir trip"))
    )
    assert find_differences("School events", [one, other]) == []
    assert len(find_differences("School events", [one, third])) == 1


def test_a_word_for_notes_in_the_title_of_a_source_distinguishes_nothing() -> None:
    one, other = (
        PilePassage(f"price {price} euros", str(price), 0, title, note=True)
        for price, title in ((20, "Notes"), (25, "Minutes"))
    )
    assert len(find_differences("Choir trip", [one, other])) == 1


def test_lines_of_pages_are_no_notes() -> None:
    pages = [PilePassage(f"Mon, 21st Nov {hour}:00 (local time)", str(hour)) for hour in (19, 22)]
    assert find_differences("World Cup", pages) == []


def test_a_sentence_about_another_day_states_no_deadline() -> None:
    told = found("Choir trip", "deadline 28 February", "deadline 15 March")
    assert without_sides("The deadline is 15 March.", told) == ""
    assert without_sides("The choir sings in Lund on 15 March.", told) == "The choir sings in Lund on 15 March."


@pytest.mark.parametrize(
    ("line", "jotted"),
    [
        ("deadline 28 February", True),
        ("Price 20 euros.", True),
        ("The price is 20 euros.", False),
        ("Room 4 opens at noon.", False),
        ("The tower leans.", False),
        ("Home | News", False),
        ("one two three four five six seven eight nine ten eleven", False),
    ],
)
def test_a_jotted_line_is_short_and_no_sentence(line: str, jotted: bool) -> None:
    assert is_jotted(line) is jotted


WORDS = (
    "deadline price room 4 20 euros 3 March 10:00 at 7.30 : , ; ( ) chair Anna max sleeps Date trip 2026 , per night"
)


@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=14))
def test_any_notes_are_read_and_do_not_differ_from_themselves(words: list[str]) -> None:
    text = " ".join(words).replace(" :", ":").replace(" ,", ",")
    assert lines("Choir trip", text, text) == []
