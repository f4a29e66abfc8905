"""Which sentences are chosen of piles of our own writing, and in which order."""

from dataclasses import replace

import numpy as np
import pytest

from models.sentences import split_sentences
from tasks.extractive.choosing import RULES, choose, of_pile
from tasks.extractive.differences import find_differences
from tasks.extractive.pile import Pile, PilePassage
from tasks.extractive.weights import Worth, shipped

TITLE = "Harrow Mill"
PILE = [
    PilePassage("In 1921 a fire destroyed the roof of Harrow Mill. It was a sad day.", "a", 3),
    PilePassage("The owner Jane Pell sold Harrow Mill to the town of Ostley in 1960.", "b", 1),
    PilePassage("Harrow Mill is a watermill on the River Dene in Ostley. See Fig. 3 for the wheel.", "c", 0),
    PilePassage("Thomas Pell built the mill on the River Dene in 1874. We visited Harrow Mill last week.", "a", 1),
    PilePassage("The bakery in Ostley opens at five.", "d", 0),
]


def texts(passages: list[PilePassage], length: int, title: str = TITLE) -> list[str]:
    return [one.text for one in choose(title, passages, length)]


def test_the_definition_comes_first_and_the_rest_by_year() -> None:
    assert texts(PILE[:4], 60) == [
        "Harrow Mill is a watermill on the River Dene in Ostley.",
        "Thomas Pell built the mill on the River Dene in 1874.",
        "In 1921 a fire destroyed the roof of Harrow Mill.",
        "The owner Jane Pell sold Harrow Mill to the town of Ostley in 1960.",
    ]


def test_what_needs_its_page_is_not_chosen() -> None:
    assert not {"It was a sad day.", "See Fig. 3 for the wheel.", "We visited Harrow Mill last week."} & set(
        texts(PILE, 100)
    )


def test_names_with_a_small_first_letter_begin_a_sentence() -> None:
    pile = [
        PilePassage("pello is a library that counts the wheels of mills."),
        PilePassage("wheels of mills are counted by the owners of Ostley in 1960."),
        PilePassage("eMill sold the library pello to the town of Ostley in 1960."),
    ]
    assert texts(pile, 60, "pello") == [
        "pello is a library that counts the wheels of mills.",
        "eMill sold the library pello to the town of Ostley in 1960.",
    ]


def test_rather_a_sentence_that_needs_its_page_than_none() -> None:
    assert texts([PilePassage("It was built by Thomas Pell in the year 1874.")], 20) == [
        "It was built by Thomas Pell in the year 1874."
    ]
    assert texts([PilePassage("A heading of the page")], 20) == []
    assert texts([], 20) == []


@pytest.mark.parametrize("length", [0, 5, 12, 25, 60])
def test_no_more_words_than_asked_for(length: int) -> None:
    assert sum(len(one.split()) for one in texts(PILE, length)) <= length


def test_the_same_again_whatever_is_asked_before() -> None:
    first = texts(PILE, 40)
    choose("Another", PILE[::-1], 30)
    assert texts(PILE, 40) == first


def worth(pile: Pile, sentences: list[float], shared: list[float] | None = None) -> Worth:
    """Concepts that are all equally likely; sentences, and their likeness with the other sources, as given."""
    likely = [np.full(len(one.names), 0.5) for one in pile.concepts]
    return Worth(likely, np.array([[each, each] for each in sentences]), np.array(shared or [1.0] * len(sentences)))


def test_what_other_sources_are_about_is_preferred() -> None:
    first, second = "Thomas Pell built the stone wall in 1874.", "Anna Bree dug the short ditch in 1960."
    pile = Pile("Ostley", [PilePassage(first), PilePassage(second)])
    for shared, expected in (([0.4, 0.1], first), ([0.1, 0.4], second)):
        assert [one.text for one in of_pile(pile, worth(pile, [0.5, 0.5], shared), 8)] == [expected]


def test_a_sentence_below_the_floor_is_refused_unless_all_fit() -> None:
    first, second = "Thomas Pell built the stone wall in 1874.", "Anna Bree sang in Ostley in 1960."
    pile = Pile(
        TITLE, [PilePassage(first), PilePassage(second), PilePassage("Many boats passed the long quay in 1903.")]
    )
    assert len(of_pile(pile, worth(pile, [0.5, 0.5, 0.5]), 16)) == 2
    assert [one.text for one in of_pile(pile, worth(pile, [0.9, 0.01, 0.01]), 16)] == [first]
    small = Pile(TITLE, [PilePassage(first), PilePassage(second)])
    assert [one.text for one in of_pile(small, worth(small, [0.9, 0.01]), 16)] == [first, second]


def test_each_source_speaks_before_one_speaks_again() -> None:
    passages = [
        PilePassage("Thomas Pell built the stone wall in 1874. Anna Bree sang in Ostley in 1960.", "a"),
        PilePassage("Otto Lind swam the Dene in 1982.", "b"),
    ]
    pile = Pile(TITLE, passages)
    known = worth(pile, [0.5, 0.5, 0.45])
    sources = [passages[one.passage].source for one in of_pile(pile, known, 15, replace(RULES, again=0.5))]
    assert sorted(sources) == ["a", "b"]
    sources = [passages[one.passage].source for one in of_pile(pile, known, 15, replace(RULES, again=1.0))]
    assert sources == ["a", "a"]


def test_what_is_said_already_counts_no_more() -> None:
    same = "Thomas Pell built the stone wall in 1874."
    pile = Pile(
        TITLE,
        [PilePassage(same, "a"), PilePassage(same, "b"), PilePassage("Anna Bree sang in Ostley once in 1960.", "c")],
    )
    chosen = of_pile(pile, worth(pile, [0.5, 0.5, 0.2]), 17, replace(RULES, floor=0.0))
    assert [one.text for one in chosen] == [same, pile.sentences[2].text]


def test_without_years_sources_stand_together() -> None:
    pile = Pile(
        TITLE,
        [
            PilePassage("Thomas Pell built the tall stone wall.", "a", 4),
            PilePassage("Anna Bree sang to the people in Ostley.", "b", 0),
            PilePassage("Otto Lind swam down the River Dene.", "a", 2),
        ],
    )
    chosen = of_pile(pile, worth(pile, [0.9, 0.8, 0.7]), 60)
    assert [one.text for one in chosen] == [pile.sentences[n].text for n in (2, 0, 1)]


def test_the_shipped_weights_prefer_what_is_about_the_title() -> None:
    pile = Pile(TITLE, PILE)
    values = shipped().worth(pile).sentences[:, 1]
    about, not_about = (
        next(n for n, one in enumerate(pile.sentences) if one.text.startswith(start))
        for start in ("Harrow", "The bakery")
    )
    assert values[about] > values[not_about]


def test_sentences_in_another_language_are_refused_unless_there_are_no_others() -> None:
    german = "Thomas Pell erbaute Harrow Mill im Jahr 1874 am Fluss Dene in der Stadt Ostley."
    passages = [PilePassage(f"{german} {PILE[2].text}", "a"), PilePassage(PILE[1].text, "b")]

    def said(passages: list[PilePassage], language: str | None) -> set[str]:
        return {one.text for one in choose(TITLE, passages, 60, language=language)}

    assert said(passages, None) == {german, *said(passages, "en")}
    assert german not in said(passages, "en")
    assert german in said(passages, "de")
    assert said([PilePassage(german)], "en") == {german}


def test_no_sentence_states_a_side_of_what_is_told_elsewhere() -> None:
    passages = [
        PilePassage("Built in 1874, Harrow Mill is a watermill on the Dene. The mill has a wheel of oak.", "a"),
        PilePassage("Harrow Mill was built in 1875. Jane Pell sold Harrow Mill to the town in 1960.", "b"),
    ]
    told = find_differences(TITLE, passages)
    assert len(told) == 1
    assert [one.text for one in choose(TITLE, passages, 60, told=told)] == [
        "Harrow Mill is a watermill on the Dene.",
        "The mill has a wheel of oak.",
        "Jane Pell sold Harrow Mill to the town in 1960.",
    ]
    assert choose(TITLE, [PilePassage("Harrow Mill was built in 1874.")], 60, told=told) == []


def test_of_a_pile_that_fits_nothing_is_left_out_for_its_shortness_or_its_pronoun() -> None:
    first = "Pell ferry opened in 1974. It was built in Leith. It carries 24 cars. Photo by Ann Lee. It was new in 1975"
    second = "The ferry sails hourly. Ann Molloy runs it. They say it is slow. It closed in 1998.Timetable 2024"
    passages = [PilePassage(first, "a"), PilePassage(second, "b")]
    assert texts(passages, 150, "Pell ferry") == [
        "Pell ferry opened in 1974.",
        "It was built in Leith.",
        "It carries 24 cars.",
        "The ferry sails hourly.",
        "Ann Molloy runs it.",
    ]
    assert texts(passages, 19, "Pell ferry") == [  # the words of "It carries 24 cars." are not left
        "Pell ferry opened in 1974.",
        "It was built in Leith.",
        "The ferry sails hourly.",
        "Ann Molloy runs it.",
    ]
    long = PilePassage("Pell ferry is a small car ferry to Ostley. It was built in Leith. It carries 24 cars.", "c")
    assert texts([long, PILE[0], PILE[1]], 15, "Pell ferry") == ["Pell ferry is a small car ferry to Ostley."]


def test_a_definition_may_have_no_article() -> None:
    passages = [
        PilePassage("The bakery in Ostley sells 300 loaves of sourdough a day.", "a"),
        PilePassage("Sourdough is bread that rises by wild yeast in place of bought yeast.", "b"),
    ]
    assert texts(passages, 60, "Sourdough")[0] == passages[1].text


def test_a_definition_names_the_subject_itself_in_other_languages_too() -> None:
    passages = [
        PilePassage(
            "Das Pell-Fähre-Heft ist ein Heft über Ostley, Leith und 300 Fahrten der Pell Fähre von 1950.", "a"
        ),
        PilePassage("Pell Fähre alias Alte Rike ist eine Fähre, die auf dem Fluss Autos hin und her bringt.", "b"),
    ]
    assert texts(passages, 60, "Pell Fähre")[0] == passages[1].text


def test_a_definition_of_something_else_that_the_subject_has_is_none() -> None:
    passages = [
        PilePassage("Sourdough has a crust of Ostley and Leith: the crust is a layer of 1874 and 1903.", "a"),
        PilePassage("Sourdough is bread that rises by wild yeast in place of bought yeast.", "b"),
        PilePassage("The crust of 1874 came to Ostley and Leith in 1903, and the layer stayed.", "c"),
        PilePassage("The crust of Ostley was a layer of 1874, and that of Leith one of 1903.", "d"),
    ]
    assert texts(passages, 60, "Sourdough")[0] == passages[1].text


def test_no_sentence_of_a_reference_is_chosen() -> None:
    entry = PilePassage("[3] R. G. Pell. The ferry of Ostley was built in 1874 and sold in 1903. Leith, 1931.", "a")
    assert texts([entry, PILE[0]], 60) == texts([PILE[0]], 60)


@pytest.mark.parametrize(
    ("language", "text", "length", "first"),
    [
        ("zh", "这座桥长3.5公里。它连接两座城市。", 13, 7),
        ("hi", "यह पुल 3.5 किमी लंबा है। इसे 1900 में महापौर ने खोला था।", 12, 6),
    ],
)
def test_sentences_of_scripts_without_capitals_are_chosen(language: str, text: str, length: int, first: int) -> None:
    passages = [PilePassage(text)]
    assert [one.text for one in choose("x", passages, 60, language=language)] == split_sentences(text)
    assert [len(one.words) for one in Pile("x", passages).sentences] == [first, 7]
    assert len(choose("x", passages, length, language=language)) == 1  # both have a word more
