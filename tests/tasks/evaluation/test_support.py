"""Support by values: what texts must hold for a sentence."""

from models.values import ValueIndex
from tasks.evaluation.citations import ValueSupport

SUPPORT = ValueSupport("River Nilir", ValueIndex(["Mills burned in Norvenia."]))


def test_all_values_must_stand_in_the_premises_together() -> None:
    sentence = "The Nilir drives 12 mills in Norvenia."
    assert SUPPORT(["There are 12 mills.", "Norvenia is small."], sentence)
    assert not SUPPORT(["There are 12 mills."], sentence)
    assert not SUPPORT([], sentence)


def test_no_premises_support_nothing_not_even_the_title() -> None:
    assert not SUPPORT([], "The River Nilir.")


def test_without_values_half_of_the_words_must_be_there_those_of_the_title_aside() -> None:
    assert SUPPORT(["The river floods."], "The River Nilir floods often.")
    assert not SUPPORT(["The river Nilir is long."], "The River Nilir floods often.")
    assert SUPPORT(["The river Nilir is long."], "The River Nilir.")
    assert not SUPPORT(["Anything."], "It is.")


def test_values_are_those_the_title_lacks() -> None:
    assert list(map(str, SUPPORT.values("Nilir has 12 mills in Norvenia."))) == ["12", "norvenia"]
    assert list(map(str, SUPPORT.missing([], SUPPORT.values("Nilir has 12 mills.")))) == ["12"]
