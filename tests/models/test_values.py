"""Names, numbers and dates of texts, worked out by hand."""

import pytest

from models.values import ValueIndex, find_values, is_number_word, measurable, missing


def values(text: str, *context: str) -> list[str]:
    return [f"{value.kind} {value}" for value in find_values(text, ValueIndex(context))]


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
        ("It fell to -12 or \u22125 degrees, in 1990-2000.", ["number -12", "number -5", "number 1990", "number 2000"]),
        ("It cost $12 million, or \u20ac3, or 12,5.", ["number $12000000", "number \u20ac3", "number 12.5"]),
        ("Of 10 000 people 12% and 3.5 percent went 5km.", ["number 10000", "number 12%", "number 3.5%", "number 5"]),
        (
            "Since the mid-1990s, 1,2,3 and 1 000 000.",
            ["number 1990", "number 1", "number 2", "number 3", "number 1000000"],
        ),
        ("Some 5 millions and 2 hundred thousand.", ["number 5000000", "number 200"]),
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
    assert may in ValueIndex(["It opened on 2 May 1903."])
    assert full not in ValueIndex(["It opened in May 1903."])


def test_the_parts_of_a_date_are_numbers_of_its_text() -> None:
    (year,) = find_values("in 1903")
    assert year in ValueIndex(["It opened on 2 May 1903."])
    assert year not in ValueIndex(["It opened on 2 May 1904."])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was designed by Viktor Shostaski and Anna de la Cruz.", ["name viktor shostaski", "name anna de la cruz"]),
        (
            "It crosses the River Sallisk in the Drilir Marches of Norvenia.",
            ["name river sallisk", "name drilir marches", "name norvenia"],
        ),
        ("The bridge, Sallisk Viaduct, stands.", ["name sallisk viaduct"]),
        ("Tenaley's mayor met Ludwig van Beethoven’s sister.", ["name tenaley", "name ludwig van beethoven"]),
        ("She said that I know it.", []),
        ("He left in May.", []),
        ("It rises near Saint-Orla and flows (Norvenia).", ["name saint-orla", "name norvenia"]),
        ("An iPhone, mRNA and al-Hasan of d'Orsay.", ["name iphone", "name mrna", "name al-hasan", "name d'orsay"]),
        ("It stood at 1:30, in h2o, by 3.11.7.", ["name 1:30", "name h2o", "name 3.11.7"]),
        ("It shows Le, La and Anna de.", ["name le", "name la", "name anna"]),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert values(text) == expected


def test_the_first_word_of_a_sentence_is_a_name_where_it_is_one_elsewhere() -> None:
    assert values("Starring Leon Treliski, it ran.") == ["name leon treliski"]
    assert values("Founded by Lena in 1909.") == ["number 1909", "name lena"]
    assert values("Sallisk rises here.", "the river Sallisk") == ["name sallisk"]
    assert values("Rivers meet here.", "two rivers and a lake") == []
    assert values("Browning founded it.", "the poet Browning") == ["name browning"]


@pytest.mark.parametrize("text", ["Alfred built the mills.", "Winifred left.", "Fleming came.", "Emily went."])
def test_a_name_that_ends_like_a_verb_or_adverb_is_a_name(text: str) -> None:
    assert values(text, "the mills burned") == [f"name {text.split()[0].lower()}"]


def test_what_is_missing_is_missing_in_any_context() -> None:
    evidence = ValueIndex(["The mills of Anna Berg burned in 1909 and cost 526 million."])
    assert [str(value) for value in missing("Mills of Berg. Rivers met in 1909, for 526.", evidence)] == [
        "526",
        "rivers",
    ]


@pytest.mark.parametrize(
    ("summary", "source"),
    [
        ("12", "-12"),
        ("-12", "12"),
        ("$12", "12"),
        ("12%", "12"),
        ("12", "12,5"),
        ("526", "526 million"),
        ("1:30", "1 and 30"),
        ("10 000", "10 and 000"),
    ],
)
def test_a_number_is_not_part_of_another(summary: str, source: str) -> None:
    assert missing(f"for {summary}", ValueIndex([f"for {source}"]))
    assert not missing(f"for {summary}", ValueIndex([f"for {summary}"]))


def test_a_number_with_a_unit_has_the_number() -> None:
    assert not missing("for 12 and 3", ValueIndex(["for $12 and 3%"]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\u6771\u4eac\u5854 1958 Tokyo", True),
        ("", True),
        ("12", True),
        ("\u6771\u4eac\u306e\u5854", False),
        ("Tokyo", True),
    ],
)
def test_names_cannot_be_told_in_a_script_without_capitals(text: str, told: bool) -> None:
    assert measurable(text) is told


def test_number_words() -> None:
    assert [is_number_word(word) for word in ("ten", "Twenty-five", "million", "tenth", "hundred-odd")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_value_counts_once() -> None:
    assert values("In 1909 and 1909 Lena met Lena.") == ["number 1909", "name lena"]


def held(summary: str, source: str) -> dict[str, bool]:
    evidence = ValueIndex([source])
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
    assert name not in ValueIndex(["It names Marta", "Homansson is not she"])
