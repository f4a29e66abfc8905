"""What sources say differently, in pairs of sentences of our own writing, and what only looks like it."""

import pytest

from tasks.extractive.conflicts import differences, without_sides
from tasks.extractive.pile import PilePassage

TITLE = "Harrow Mill"


def lines(*texts: str, title: str = TITLE) -> list[str]:
    """The lines of sources, one text each."""
    return [one.line for one in differences(title, [PilePassage(text, f"s{n}") for n, text in enumerate(texts)])]


@pytest.mark.parametrize(
    ("one", "other", "line"),
    [
        (
            "Harrow Mill was built in 1874.",
            "Harrow Mill was constructed by Thomas Pell in 1875.",
            "Sources differ: Harrow Mill was built in 1874; Harrow Mill was constructed by Thomas Pell in 1875.",
        ),
        (
            "Built in 1874, Harrow Mill is a watermill.",
            "Thomas Pell erected the Harrow Mill in 1875.",
            "Sources differ: Harrow Mill was built in 1874; The Harrow Mill was erected in 1875.",
        ),
        (
            "On 3 May 1874, Harrow Mill was opened.",
            "Harrow Mill stands on the Dene. It opened on 4 May 1874.",
            "Sources differ: Harrow Mill was opened on 3 May 1874; Harrow Mill opened on 4 May 1874.",
        ),
        (
            "Harrow Mill is 31 metres tall.",
            "Harrow Mill stands on the Dene. The mill is 34 metres tall.",
            "Sources differ: Harrow Mill is 31 metres tall; Harrow Mill is 34 metres tall.",
        ),
        (
            "The wheel is of oak. Ann Molloy was born in Ostley on 2 May 1901.",
            "Ann Molloy was born on 2 May 1903.",
            "Sources differ: Ann Molloy was born in Ostley on 2 May 1901; Ann Molloy was born on 2 May 1903.",
        ),
        (
            "In 2020 Harrow Mill had 14 rooms.",
            "In 2001, Harrow Mill had 12 rooms.",
            "Over time: Harrow Mill had 12 rooms (2001); Harrow Mill had 14 rooms (2020).",
        ),
        (
            "Harrow Mill has a capacity of 300 people.",
            "Harrow Mill has a capacity of 350 people.",
            "Sources differ: Harrow Mill has a capacity of 300 people; Harrow Mill has a capacity of 350 people.",
        ),
        (
            "Harrow Mill is an old flour mill on the Dene. The mill employs 24 people.",
            "Harrow Mill, which employs 26 people, is the last of its kind.",
            "Sources differ: Harrow Mill employs 24 people; Harrow Mill, which employs 26 people.",
        ),
        (
            "Harrow Mill is a flour mill that can hold 24 sacks.",
            "Harrow Mill holds 26 sacks.",
            "Sources differ: Harrow Mill is a flour mill that can hold 24 sacks; Harrow Mill holds 26 sacks.",
        ),
        (
            "Harrow Mill can house up to 24 people.",
            "Harrow Mill houses up to 26 people.",
            "Sources differ: Harrow Mill can house up to 24 people; Harrow Mill houses up to 26 people.",
        ),
    ],
)
def test_what_differs_is_told(one: str, other: str, line: str) -> None:
    assert lines(one, other) == [line]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Harrow Mill was built in 1874.", "Harrow Mill was built in 1874."),
        ("Harrow Mill was built in 1874.", "Harrow Mill was opened in 1875."),  # two things
        ("Harrow Mill was built in 1874.", "Barrow Mill was built in 1875."),  # another subject
        ("Harrow Mill was built in 1874.", "The bridge at Harrow Mill was built in 1875."),
        ("Harrow Mill was built in 1874.", "New Harrow Mill was built in 1875."),
        ("Harrow Mill was built in 1874.", "Harrow Mill was built on 3 May 1874."),  # more exactly
        ("Harrow Mill was built in 1874.", "Harrow Mill was built before 1875."),
        ("Harrow Mill was built in 1874.", "Harrow Mill was not built in 1875."),
        ("Harrow Mill was built in 1874.", "Thomas Pell said that Harrow Mill was built in 1875 as a barn."),
        ("Harrow Mill opened in 1874 as a barn.", "Harrow Mill opened in 1875."),  # of a part of its life
        ("Harrow Mill opened in 1874. Harrow Mill opened in 1920.", "Harrow Mill opened in 1875."),  # more than once
        ("Harrow Mill is 30 metres tall.", "Harrow Mill is 30.4 metres tall."),  # rounded
        ("Harrow Mill is 30 metres tall.", "Harrow Mill is 100 feet tall."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has about 14 rooms."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms in the tower."),
        ("Harrow Mill has 12 rooms.", "In 2001, Harrow Mill has 14 rooms."),  # of one no time is known
        ("Harrow Mill cost $5 million.", "Harrow Mill cost 3 million pounds."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms and halls."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has up to 14 rooms."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has 13 rooms, 12 in summer."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill has 13 rooms and 12 in the summer."),
        ("Harrow Mill has 12 rooms.", "In summer, Harrow Mill has 14 rooms."),
        ("Harrow Mill has 12 rooms.", "The tower of Harrow Mill has 4 rooms."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill is a mill in a valley that has 14 rooms."),
        ("Harrow Mill had 12 rooms.", "Harrow Mill has 14 rooms."),
        ("Harrow Mill has 12 rooms.", "Harrow Mill II stands on the Dene. It has 14 rooms."),  # another one
        ("Harrow Mill has 12 rooms.", "Harrow Mill’s barn is old. It has 14 rooms."),
        ("It was built in 1874.", "He was built in 1875."),
        ("", "Harrow Mill was built in 1875."),
    ],
)
def test_what_only_looks_like_it_is_not(one: str, other: str) -> None:
    assert lines(one, other) == []


def test_two_ferries_are_two_and_one_is_a_ferry_where_its_source_says_so() -> None:
    skua = "Skua is a small car ferry to Ostley. The ferry carries 24 cars and 140 passengers."
    tern = "Tern is a car ferry to Ostley. The ferry carries 26 cars and 150 passengers."
    assert lines(skua, tern, f"Skua runs daily. {tern}", title="Skua") == []
    assert lines(skua, "Skua carries 26 cars and 150 passengers.", title="Skua") == [
        "Sources differ: Skua carries 24 cars; Skua carries 26 cars.",
        "Sources differ: Skua carries 140 passengers; Skua carries 150 passengers.",
    ]


def test_a_source_does_not_differ_from_itself() -> None:
    passages = [PilePassage(f"Harrow Mill was built in {year}.", "a") for year in (1874, 1875)]
    assert differences(TITLE, passages) == []
    assert differences(TITLE, []) == []


def test_three_values_are_told_once_each() -> None:
    texts = [f"Harrow Mill was built in {year}." for year in (1874, 1875, 1874, 1876)]
    (line,) = lines(*texts)
    assert line.count("built in") == 3


def test_a_title_with_signs_of_patterns_is_a_title() -> None:
    title = "C++ (1*"
    assert lines("C++ (1* was released in 1985.", "C++ (1* was released in 1986.", title=title) != []


MILL = differences(TITLE, [PilePassage(f"Harrow Mill was built in {year}.", str(year)) for year in (1874, 1875)])


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Built in 1874, Harrow Mill is a watermill.", "Harrow Mill is a watermill."),
        ("Built by Thomas Pell in 1875, the mill is a watermill.", "The mill is a watermill."),
        ("Harrow Mill, built in 1874, is a watermill.", "Harrow Mill is a watermill."),
        ("Harrow Mill (built in 1875) is a watermill.", "Harrow Mill is a watermill."),
        ("Harrow Mill is a watermill built by Thomas Pell in 1875.", "Harrow Mill is a watermill."),
        ("Harrow Mill is a watermill, constructed in 1874.", "Harrow Mill is a watermill."),
        ("Harrow Mill was built in 1874 and has a wheel.", ""),
        ("It was erected on 3 May 1875.", ""),
        ("Harrow Mill is a watermill that was built in 1874.", ""),
        ("Harrow Mill was sold in 1874.", "Harrow Mill was sold in 1874."),  # another thing
        ("Harrow Mill was built in 1920.", "Harrow Mill was built in 1920."),  # no side
        ("Ostley Bridge was built in 1874.", "Ostley Bridge was built in 1874."),  # another subject
    ],
)
def test_a_sentence_loses_the_side_that_it_tells(sentence: str, rest: str) -> None:
    assert without_sides(sentence, MILL) == rest
    assert without_sides(sentence, []) == sentence


def test_of_numbers_the_unit_tells_the_side() -> None:
    told = differences(TITLE, [PilePassage(f"Harrow Mill has {count} rooms.", str(count)) for count in (12, 14)])
    assert without_sides("The mill has 14 rooms.", told) == ""
    assert without_sides("The mill has 14 doors.", told) == "The mill has 14 doors."
    texts = ("Skua is a car ferry. It carries 24 cars.", "Skua carries 26 cars.")
    told = differences("Skua", [PilePassage(text, text) for text in texts])
    assert without_sides("The ferry carries 26 cars.", told) == ""
    assert without_sides("The tram carries 26 cars.", told) == "The tram carries 26 cars."
