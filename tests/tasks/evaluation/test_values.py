"""Names, numbers and dates of texts, worked out by hand."""

import pytest

from tasks.evaluation.values import Evidence, find_values


def values(text: str, *context: str) -> list[str]:
    return [f"{value.kind} {value}" for value in find_values(text, Evidence(context))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 395 kilometres long.", ["number 395"]),
        ("A 395-kilometre-long river.", ["number 395"]),
        ("It sold 1,833,000 tickets on a budget of 7.6 million crowns.", ["number 1833000", "number 7600000"]),
        ("It covers 1.50 hectares.", ["number 1.5"]),
        ("Twenty-five people met for three days in the 1990s.", ["number 25", "number 3", "number 1990"]),
        ("two hundred and six thousand", ["number 206000"]),
        ("One of the best, and one day the best one.", []),
        ("In the 19th century a hundred died.", ["number 19"]),
        ("Version 3.11.7 and 4K and B2.", []),
    ],
)
def test_numbers(text: str, expected: list[str]) -> None:
    assert [value for value in values(text) if not value.startswith("name")] == expected


@pytest.mark.parametrize("text", ["on 12 March 1903", "on March 12, 1903", "on 12th march 1903", "on 1903-03-12"])
def test_a_date_is_one_value_however_it_is_written(text: str) -> None:
    assert values(text) == ["date 1903-03-12"]


def test_a_date_may_lack_its_day() -> None:
    assert values("in May 1903") == ["date 1903-05"]
    may, full = find_values("in May 1903")[0], find_values("on 2 May 1903")[0]
    assert may in Evidence(["It opened on 2 May 1903."])
    assert full not in Evidence(["It opened in May 1903."])


def test_the_parts_of_a_date_are_numbers_of_its_text() -> None:
    (year,) = find_values("in 1903")
    assert year in Evidence(["It opened on 2 May 1903."])
    assert year not in Evidence(["It opened on 2 May 1904."])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was designed by Viktor Shostaski and Anna de la Cruz.", ["name viktor shostaski", "name anna de la cruz"]),
        ("It crosses the River Sallisk in the Drilir Marches of Norvenia.",
         ["name river sallisk", "name drilir marches", "name norvenia"]),
        ("The bridge, Sallisk Viaduct, stands.", ["name sallisk viaduct"]),
        ("Tenaley's mayor met Ludwig van Beethoven’s sister.", ["name tenaley", "name ludwig van beethoven"]),
        ("She said that I know it.", []),
        ("He left in May.", []),
        ("It rises near Saint-Orla and flows (Norvenia).", ["name saint-orla", "name norvenia"]),
    ],
)  # fmt: skip
def test_names(text: str, expected: list[str]) -> None:
    assert values(text) == expected


def test_the_first_word_of_a_sentence_is_a_name_where_it_is_one_elsewhere() -> None:
    assert values("Starring Leon Treliski, it ran.") == ["name leon treliski"]
    assert values("Founded by Lena in 1909.") == ["number 1909", "name lena"]
    assert values("Sallisk rises here.", "the river Sallisk") == ["name sallisk"]
    assert values("Rivers meet here.", "two rivers and a lake") == []
    assert values("Browning founded it.", "the poet Browning") == ["name browning"]


def test_a_value_counts_once() -> None:
    assert values("In 1909 and 1909 Lena met Lena.") == ["number 1909", "name lena"]


def held(summary: str, source: str) -> dict[str, bool]:
    evidence = Evidence([source])
    return {str(value): value in evidence for value in find_values(summary, evidence)}


def test_names_are_looked_up_word_by_word() -> None:
    source = "Marta Homansson met Olga Thobilund at the mill."
    assert held("It is by Marta Homansson.", source) == {"marta homansson": True}
    assert held("It is by Homansson.", source) == {"homansson": True}
    assert held("It is by Marta Thobilund.", source) == {"marta thobilund": False}
    assert held("It is by Homanss.", source) == {"homanss": False}


def test_a_name_may_lack_the_words_that_the_source_has_in_lower_case() -> None:
    assert held("It joins the River Tavil.", "the Tavil is a river") == {"river tavil": True}
    assert held("It joins the Lake Tavil.", "the Tavil is a river") == {"lake tavil": False}
    assert held("It joins the River.", "a lake") == {"river": False}


def test_sources_do_not_flow_into_each_other() -> None:
    (name,) = find_values("by Marta Homansson")
    assert name not in Evidence(["It names Marta", "Homansson is not she"])
