"""Sentences of two notes of our own that give one thing two values, and what only looks like it."""

import pytest

from tasks.extractive.pile import PilePassage
from tasks.extractive.slots import contradictions


def lines(title: str, *texts: str) -> list[str]:
    """The lines of sources, one text each."""
    return [one.line for one in contradictions(title, [PilePassage(text, f"s{n}") for n, text in enumerate(texts)])]


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("School gym", "The gym costs €48,500.", "The school gym costs 52,000 euros."),
        ("Meeting", "The meeting is on 3 March.", "The meeting takes place on 10 March."),
        ("Choir", "The chair is Anna Lee.", "Chair: Tom Pell."),
        ("Choir", "Anna Lee is the treasurer.", "Our treasurer is Tom Pell."),
        ("River Dene", "Length: 214 km", "The river is 220 km long."),
        ("River Dene", "The Dene is 214 km long.", "The length of the Dene is 220 km."),
        ("Tickets", "A ticket costs 12 euros.", "Tickets cost 15 euros."),
        ("Library", "The library holds 40,000 books.", "The library has 45,000 books."),
        ("Fire", "Twelve people died in the fire.", "14 people died in the fire."),
        ("Bridge", "Repairs to the bridge took 18 months.", "The repairs of the bridge took 20 months."),
        ("Concert", "The concert begins at 7 pm.", "The concert starts at 8 pm."),
        ("Firm", "Revenue rose by 12 percent in 2020.", "In 2020 revenue rose by 15 percent."),
        ("Deadline", "The deadline for applications is 1 May.", "Applications are due by 15 May."),
        ("Garden", "The entrance fee is 5 euros.", "Entrance fee: 6 euros"),
    ],
)
def test_what_differs_is_told(title: str, one: str, other: str) -> None:
    assert lines(title, one, other) == [f"Sources differ: {one.rstrip('.')}; {other.rstrip('.')}."]


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("Bus 12", "The trip takes 35 minutes.", "The trip by bus takes 45 minutes."),
        ("Tickets", "Tickets cost 5 euros for children.", "Tickets cost 8 euros for adults."),
        ("School", "The school had 300 pupils.", "The school has 400 pupils."),
        ("School", "Last year 300 pupils came.", "400 pupils came."),
        ("Tower", "The north tower is 30 metres tall.", "The south tower is 40 metres tall."),
        ("Club", "The match on 3 March was won 2–1.", "The match on 10 March was won 3–1."),
        ("Gym", "The gym was expected to cost 48,500 euros.", "The gym cost 52,000 euros."),
        ("Gym", "The old gym cost 30,000 euros.", "The gym cost 52,000 euros."),
        ("Gym", "The gym did not cost 30,000 euros.", "The gym cost 52,000 euros."),
        ("Gym", "Did the gym cost 30,000 euros?", "The gym cost 52,000 euros."),
        ("Hall", "The hall has about 12 rooms.", "The hall has 14 rooms."),
        ("Hall", "The hall is 30 metres tall.", "The hall is 30.4 metres tall."),
        ("Hall", "The hall is 30 metres tall.", "The hall is 30 metres tall."),
        ("Hall", "The hall has 12 rooms.", "The hall has 3 floors."),
        ("Hall", "The hall has 12 rooms.", "The hall next door has 14 rooms."),
        ("Fire", "The fire killed 12 people.", "The fire injured 14 people."),
        ("Choir", "The chair is Anna Lee.", "The chair is Dr Anna Lee."),
        ("Choir", "The chair is Anna Lee.", "The chair was Tom Pell."),
        ("Choir", "The chair is Anna Lee.", "The chair of the board is Tom Pell."),
        ("Choir", "Author: Anna Lee", "Author: Tom Pell"),
        ("Meeting", "The meeting is on 3 March.", "The picnic is on 10 March."),
        ("Meeting", "The first meeting is on 3 March.", "The second meeting is on 10 March."),
        ("Minutes", "The 58th meeting was on 3 March.", "The 59th meeting was on 10 March."),
        ("Town", "The town has 4,000 inhabitants.", "The district has 9,000 inhabitants."),
        ("Firm", "Revenue rose by 12 percent.", "Costs rose by 15 percent."),
        ("Player", "He is 24 years old.", "He is 25 years old."),
        ("Phone", "The phone costs 300 euros.", "The phone with a case costs 330 euros."),
        ("Storms", "The next forecast is due on 7 May.", "The next forecast is due on 4 July."),
        ("Storms", "Issued: 13 th April 2012", "Issued: 4 th May 2012"),
        ("Page", "5 days ago", "2 days ago"),
        ("Page", "", "The gym costs 52,000 euros."),
    ],
)
def test_what_only_looks_like_it_is_not(title: str, one: str, other: str) -> None:
    assert lines(title, one, other) == []


def test_one_source_does_not_differ_from_itself() -> None:
    passages = [PilePassage(f"The gym costs {cost} euros.", "a") for cost in (48_500, 52_000)]
    assert contradictions("Gym", passages) == []
    assert contradictions("Gym", []) == []


def test_what_is_read_of_a_name_is_told_once() -> None:
    assert lines("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms.") == [
        "Sources differ: Harrow Mill has 12 rooms; Harrow Mill has 14 rooms."
    ]


def test_a_sentence_that_tells_a_side_is_left_out() -> None:
    passages = [PilePassage(f"The gym costs {cost} euros.", str(cost)) for cost in (48_500, 52_000)]
    (difference,) = contradictions("Gym", passages)
    assert difference.stated_in("The new gym costs 52,000 euros.")
    assert difference.left_out_of("The new gym costs 52,000 euros.") == ""
    assert not difference.stated_in("The new gym costs 60,000 euros.")
    assert not difference.stated_in("The gym opens in May.")
    assert difference.left_out_of("The gym opens in May.") == "The gym opens in May."


@pytest.mark.parametrize("title", ["", " "])
def test_a_title_without_a_word_hides_no_difference(title: str) -> None:
    assert lines(title, "The gym costs 48,500 euros.", "The gym costs 52,000 euros.") != []
    assert lines(title, "", "") == []
