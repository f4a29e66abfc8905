"""Lies of each kind, as rules make them of one sentence."""

import pytest

from tasks.engine.hashing import Dice
from tasks.verification.lies import KINDS, Others, lies

SENTENCE = "In 1901, the tower at Cape Moren was designed by Anna Berg because about 300 ships had sunk."
OTHERS = Others(
    near=["Otto Lund was paid 45 crowns in 1950.", "The lamp burned oil."],
    far=["Leeds United beat Paris Town.", "The brass bell was rung by monks."],
)


@pytest.mark.parametrize(
    ("kind", "sentence", "lie"),
    [
        ("name", SENTENCE, "In 1901, the tower at Cape Moren was designed by Leeds United because about 300 ships"),
        ("name, near", SENTENCE, "In 1901, the tower at Cape Moren was designed by Otto Lund because about 300 ships"),
        ("number, near", SENTENCE, "In 1901, the tower at Cape Moren was designed by Anna Berg because about 45 ships"),
        ("number, near", SENTENCE, "In 1950, the tower at Cape Moren was designed"),
        ("negated", SENTENCE, "In 1901, the tower at Cape Moren was not designed by Anna Berg"),
        ("affirmed", "It did not open before 1950.", "It did open before 1950."),
        ("antonym", "The tallest tower opened early.", "The lowest tower opened early."),
        ("antonym", "The tallest tower opened early.", "The tallest tower closed early."),
        ("role", "Anna Berg taught Otto Lund and Eva Sand.", "Otto Lund taught Anna Berg and Eva Sand."),
        ("voice", "Berg designed the tower.", "Berg was designed by the tower."),
        ("voice", SENTENCE, "In 1901, the tower at Cape Moren designed Anna Berg"),
        ("unit", "It is 45 metres tall.", "It is 45 kilometres tall."),
        (
            "bound dropped",
            SENTENCE,
            "In 1901, the tower at Cape Moren was designed by Anna Berg because 300 ships had sunk.",
        ),
        ("bound turned", "At least 4 of over 30 ships sank.", "At least 4 of under 30 ships sank."),
        ("bound turned", "It has up to 300 rooms.", "It has at least 300 rooms."),
        ("exchanged", "It has 300 rooms on nine floors.", "It has nine rooms on 300 floors."),
        ("bound added", SENTENCE, "In 1901, the tower at Cape Moren was only designed by Anna Berg"),
        (
            "order",
            SENTENCE,
            "About 300 ships had sunk because in 1901, the tower at Cape Moren was designed by Anna Berg.",
        ),
        ("joined", "Berg came.", "Berg came, and the brass bell was rung by monks."),
        ("splice", SENTENCE, "The brass bell by Anna Berg because about 300 ships had sunk."),
    ],
)
def test_a_kind_of_lie(kind: str, sentence: str, lie: str) -> None:
    assert any(made.startswith(lie) for made in KINDS[kind](sentence, OTHERS, Dice(1)))


def test_a_year_never_stands_for_a_count() -> None:
    assert list(KINDS["exchanged"]("It got 300 rooms in 1901.", OTHERS, Dice(1))) == []


def test_names_that_are_only_listed_keep_their_places() -> None:
    assert list(KINDS["role"]("Anna Berg and Otto Lund came.", OTHERS, Dice(1))) == []


def test_sentences_about_one_subject_are_not_spliced_for_their_sum_is_true() -> None:
    near = Others(["The tower was painted by Otto Lund."], [])
    assert list(KINDS["splice, near"]("The tower was designed by Anna Berg.", near, Dice(1))) == []
    near = Others(["The bridge was painted by Otto Lund."], [])
    assert list(KINDS["splice, near"]("It was designed by Anna Berg.", near, Dice(1))) == []
    assert list(KINDS["splice, near"]("The tower was designed by Anna Berg.", near, Dice(1)))


def test_the_subject_of_another_sentence_is_taken_and_never_a_pronoun() -> None:
    made = list(KINDS["subject"]("The tower was red.", Others(["The bridge was long.", "It was old."], []), Dice(1)))
    assert made == ["The bridge was red."]


def test_no_lie_repeats_its_sentence_or_one_beside_it() -> None:
    for seed in range(20):
        for kind, lie in lies(SENTENCE, Others([*OTHERS.near, "The lamp burned no oil."], OTHERS.far), Dice(seed)):
            assert lie not in (SENTENCE, *OTHERS.near), kind


def test_one_lie_of_each_kind_that_a_sentence_allows() -> None:
    kinds = [kind for kind, _ in lies(SENTENCE, OTHERS, Dice(3))]
    assert len(kinds) == len(set(kinds))
    assert {"name", "number", "date", "negated", "antonym", "role", "order", "word"} <= set(kinds)
    assert "unit" not in kinds
