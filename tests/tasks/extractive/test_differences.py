"""What sources say differently, in sentences of our own writing, and what only looks like it."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.extractive.differences import Difference, find_differences, without_sides
from tasks.extractive.pile import PilePassage

TITLE = "Harrow Mill"


def found(title: str, *texts: str) -> list[Difference]:
    """The differences of sources, one text each."""
    return find_differences(title, [PilePassage(text, f"s{n}") for n, text in enumerate(texts)])


def lines(title: str, *texts: str) -> list[str]:
    return [item.line for item in found(title, *texts)]


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was constructed by Thomas Pell in 1875."),
        ("Harrow Mill", "Built in 1874, Harrow Mill is a watermill.", "Thomas Pell erected the Harrow Mill in 1875."),
        (
            "Harrow Mill",
            "On 3 May 1874, Harrow Mill was opened.",
            "Harrow Mill stands on the Dene. It opened on 4 May 1874.",
        ),
        (
            "Harrow Mill",
            "Harrow Mill is 31 metres tall.",
            "Harrow Mill stands on the Dene. The mill is 34 metres tall.",
        ),
        (
            "Harrow Mill",
            "The wheel is of oak. Ann Molloy was born in Ostley on 2 May 1901.",
            "Ann Molloy was born on 2 May 1903.",
        ),
        ("Harrow Mill", "Harrow Mill has a capacity of 300 people.", "Harrow Mill has a capacity of 350 people."),
        (
            "Harrow Mill",
            "Harrow Mill is an old flour mill on the Dene. The mill employs 24 people.",
            "Harrow Mill, which employs 26 people, is the last of its kind.",
        ),
        ("Harrow Mill", "Harrow Mill is a flour mill that can hold 24 sacks.", "Harrow Mill holds 26 sacks."),
        ("Harrow Mill", "Harrow Mill can house up to 24 people.", "Harrow Mill houses up to 26 people."),
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
        (
            "Sports hall",
            "It was agreed that the new sports hall will cost 310,000 pounds.",
            "Residents were told that the sports hall will cost 340,000 pounds.",
        ),
        ("Harbour ferry", "The ferry can carry 140 passengers.", "The ferry carries 160 passengers and 20 bicycles."),
        (
            "Bakery strike",
            "The strike lasted nine days.",
            "After the strike, which lasted 12 days, wages rose by 4 percent.",
        ),
        (
            "Vera Nilsen",
            "Vera Nilsen was born in 1931 in Bergen.",
            "Vera Nilsen, who was born in 1933, studied in Oslo.",
        ),
        ("School trip", "The bus leaves at 7.30.", "The bus leaves at 8.15 am."),
        ("Ellis Tower", "Construction of Ellis Tower was finished in 2004.", "Ellis Tower was completed in 2006."),
        ("Grant", "The application must be sent by 30 September.", "The deadline for the application is 15 October."),
        ("School gym", "The new gym will cost 48,500 euros.", "The gym of the school will cost 52,000 euros, he said."),
        ("School gym", "The opening is on 3 March.", "The opening of the gym takes place on 10 March."),
        ("Mayor", "The mayor is Ann Ray.", "Mayor: Tom Hill"),
        (
            "Kestrel 3",
            "Kestrel 3 is a small satellite. It weighs 85 kg and carries two cameras.",
            "Kestrel 3 weighs 92 kg.",
        ),
    ],
)
def test_what_differs_is_told(title: str, one: str, other: str) -> None:
    (difference,) = found(title, one, other)
    assert [side.passage for side in difference.statements] == [0, 1]
    assert all(side.sentence in text for side, text in zip(difference.statements, (one, other), strict=True))
    assert len(found(title, other, one)) == 1


@pytest.mark.parametrize(
    ("title", "one", "other"),
    [
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was built in 1874."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was opened in 1875."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Barrow Mill was built in 1875."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "The bridge at Harrow Mill was built in 1875."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "New Harrow Mill was built in 1875."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was built on 3 May 1874."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was built before 1875."),
        ("Harrow Mill", "Harrow Mill was built in 1874.", "Harrow Mill was not built in 1875."),
        (
            "Harrow Mill",
            "Harrow Mill was built in 1874.",
            "Thomas Pell said that Harrow Mill was built in 1875 as a barn.",
        ),
        ("Harrow Mill", "Harrow Mill opened in 1874 as a barn.", "Harrow Mill opened in 1875."),
        ("Harrow Mill", "Harrow Mill opened in 1874. Harrow Mill opened in 1920.", "Harrow Mill opened in 1875."),
        ("Harrow Mill", "Harrow Mill is 30 metres tall.", "Harrow Mill is 30.4 metres tall."),
        ("Harrow Mill", "Harrow Mill is 30 metres tall.", "Harrow Mill is 100 feet tall."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has about 14 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms in the tower."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "In 2001, Harrow Mill has 14 rooms."),
        ("Harrow Mill", "Harrow Mill cost $5 million.", "Harrow Mill cost 3 million pounds."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms and halls."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has up to 14 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has 13 rooms, 12 in summer."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill has 13 rooms and 12 in the summer."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "In summer, Harrow Mill has 14 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "The tower of Harrow Mill has 4 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill is a mill in a valley that has 14 rooms."),
        ("Harrow Mill", "Harrow Mill had 12 rooms.", "Harrow Mill has 14 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill II stands on the Dene. It has 14 rooms."),
        ("Harrow Mill", "Harrow Mill has 12 rooms.", "Harrow Mill’s barn is old. It has 14 rooms."),
        ("Harrow Mill", "It was built in 1874.", "He was built in 1875."),
        ("Harrow Mill", "", "Harrow Mill was built in 1875."),
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
        ("Bakery strike", "The strike lasted nine days.", "The earlier strike lasted two days."),
        ("Parking fees", "A day ticket costs 6 euros.", "A month ticket costs 45 euros."),
        ("Dairy farm", "A cow gives 25 litres of milk a day.", "A cow gives 9,000 litres of milk a year."),
        ("Line 4", "The journey takes 22 minutes.", "On Sundays the journey takes 27 minutes."),
        ("School trip", "The bus leaves at 7.30.", "The bus returns at 18.15."),
        ("School trip", "The bus leaves at 7.30 pm.", "The bus leaves at 19.30."),
        (
            "Sports hall",
            "The sports hall cost 310,000 pounds.",
            "The sports hall cost 310,000 pounds, and the car park 40,000 pounds.",
        ),
    ],
)
def test_what_only_looks_like_it_is_not(title: str, one: str, other: str) -> None:
    assert lines(title, one, other) == lines(title, other, one) == []


def test_a_line_quotes_the_sides() -> None:
    assert lines(TITLE, "Harrow Mill was built in 1874.", "Ann Pell built Harrow Mill in 1875. It is red.") == [
        "Sources differ: Harrow Mill was built in 1874; Ann Pell built Harrow Mill in 1875."
    ]


def test_values_of_different_years_have_changed() -> None:
    texts = ("In 2020 Harrow Mill had 14 rooms.", "In 2001, Harrow Mill had 12 rooms.")
    assert lines(TITLE, *texts) == ["Over time: In 2001, Harrow Mill had 12 rooms; In 2020 Harrow Mill had 14 rooms."]
    assert lines(TITLE, texts[0], "Harrow Mill had 12 rooms.") == []


def test_two_ferries_are_two_and_one_is_a_ferry_where_its_source_says_so() -> None:
    skua = "Skua is a small car ferry to Ostley. The ferry carries 24 cars and 140 passengers."
    tern = "Tern is a car ferry to Ostley. The ferry carries 26 cars and 150 passengers."
    assert lines("Skua", skua, tern, f"Skua runs daily. {tern}") == []
    assert lines("Skua", skua, "Skua carries 26 cars and 150 passengers.") == [
        "Sources differ: The ferry carries 24 cars and 140 passengers; Skua carries 26 cars and 150 passengers."
    ]


def test_a_source_does_not_differ_from_itself() -> None:
    passages = [PilePassage(f"Harrow Mill was built in {year}.", "a") for year in (1874, 1875)]
    assert find_differences(TITLE, passages) == []
    assert find_differences(TITLE, []) == []
    other = PilePassage("Harrow Mill was built in 1876.", "b")
    assert find_differences(TITLE, [*passages, other]) == []


def test_three_values_are_told_once_each() -> None:
    (line,) = lines(TITLE, *(f"Harrow Mill was built in {year}." for year in (1874, 1875, 1874, 1876)))
    assert line.count("built in") == 3


@pytest.mark.parametrize("title", ["", " ", "C++ (1*", "The"])
def test_a_title_without_a_word_hides_no_difference(title: str) -> None:
    assert len(lines(title, "The gym costs 48,500 euros.", "The gym costs 52,000 euros.")) == 1
    assert lines(title, "", "") == []


WORDS = """
The mill It was built opened in on at 3 May 1874 12 rooms , and which ( ) : ; Harrow has costs euros a day .
that 7.30 pm
"""


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14))
def test_any_words_are_read_and_do_not_differ_from_themselves(words: list[str]) -> None:
    text = " ".join(words)
    assert lines(TITLE, text, text) == []


@pytest.mark.parametrize("date", ["May", "3 May", "12"])
def test_the_words_of_a_date_are_read_in_any_order(date: str) -> None:
    for order in permutations(("1874", "was", "built", "in", *date.split())):
        text = f"{' '.join(order)}."
        assert lines(TITLE, text, text) == []


MILL = found(TITLE, "Harrow Mill was built in 1874.", "Harrow Mill was built in 1875.")


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("Built in 1874, Harrow Mill is a watermill.", "Harrow Mill is a watermill."),
        ("Built by Thomas Pell in 1875, the mill is a watermill.", "The mill is a watermill."),
        ("Harrow Mill, built in 1874, is a watermill.", "Harrow Mill is a watermill."),
        ("Harrow Mill (built in 1875) is a watermill.", "Harrow Mill is a watermill."),
        ("Harrow Mill is a watermill built by Thomas Pell in 1875.", ""),
        ("Harrow Mill is a watermill, constructed in 1874.", "Harrow Mill is a watermill."),
        ("Harrow Mill, which was built in 1874, is a watermill.", "Harrow Mill is a watermill."),
        ("Harrow Mill was built in 1874, says a plaque at its door.", ""),
        ("Harrow Mill was built in 1875 by Thomas Ridley, after two ships were lost there.", ""),
        ("Harrow Mill was built in 1874 and has a wheel.", ""),
        ("It was erected on 3 May 1875.", ""),
        ("Harrow Mill is a watermill that was built in 1874.", ""),
        ("Harrow Mill was sold in 1874.", "Harrow Mill was sold in 1874."),
        ("Harrow Mill was built in 1920.", "Harrow Mill was built in 1920."),
        ("Ostley Bridge was built in 1874.", "Ostley Bridge was built in 1874."),
    ],
)
def test_a_sentence_loses_the_side_that_it_tells(sentence: str, rest: str) -> None:
    assert without_sides(sentence, MILL) == rest
    assert without_sides(sentence, []) == sentence


def test_of_numbers_the_unit_tells_the_side() -> None:
    rooms = found(TITLE, "Harrow Mill has 12 rooms.", "Harrow Mill has 14 rooms.")
    assert without_sides("The mill has 14 rooms.", rooms) == ""
    assert without_sides("The mill has 14 doors.", rooms) == "The mill has 14 doors."
    (cost,) = found("Gym", "The gym costs 48,500 euros.", "The gym costs 52,000 euros.")
    assert cost.stated_in("The new gym costs 52,000 euros.")
    assert not cost.stated_in("The new gym costs 60,000 euros.")
    assert not cost.stated_in("The gym opens in May.")
