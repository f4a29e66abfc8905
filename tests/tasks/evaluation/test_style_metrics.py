"""How a summary is written, worked out by hand."""

import pytest

from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Summary
from tasks.evaluation.style_metrics import extractive_fragments, prepare

ARTICLE = ArticleTexts("Tavil", "the tavil is a long river", ["the river runs south", "a mill stands here"], [])

ALL = COMPUTED["style_metrics"]


def scores(text: str, read: int | None = None) -> dict[str, float]:
    return {name: score.value for name, score in prepare(ARTICLE, ALL)(Summary(text, read)).items()}


def test_fragments_are_the_longest_from_the_left() -> None:
    source = ["a", "b", "c", "d", "a", "b", "x"]
    assert extractive_fragments(source, ["a", "b", "x", "y", "c", "d"]) == [3, 2]
    assert extractive_fragments(source, ["y", "z"]) == []
    assert extractive_fragments([], ["a"]) == []


def test_measures_of_a_summary() -> None:
    """Input: tavil the river runs south a mill stands here (9 words). Fragments: "the river" and "a mill"."""
    assert scores("the river has a mill") == {
        "subject-named": 0.0,
        "coverage": pytest.approx(4 / 5),
        "density": pytest.approx((4 + 4) / 5),
        "compression": pytest.approx(9 / 5),
        "novel-bigrams": pytest.approx(2 / 4),
        "repeated-trigrams": 0.0,
        "length": pytest.approx(5 / 6),
    }


def test_the_input_is_what_the_system_read() -> None:
    assert scores("a mill", read=1)["coverage"] == 0.0
    assert scores("a mill", read=2)["coverage"] == 1.0


def test_repetition() -> None:
    assert scores("a b c a b c")["repeated-trigrams"] == pytest.approx(1 / 4)


def test_an_empty_summary_has_no_length_and_names_nothing() -> None:
    assert scores("") == {"subject-named": 0.0, "length": 0.0}


@pytest.mark.parametrize(
    ("title", "text", "named"),
    [
        ("River Tavil", "Long and slow, the river Tavil flows. It is long.", 1.0),
        ("River Tavil", "It is a river. The River Tavil is long.", 0.0),  # the second sentence
        ("River Tavil", "The Tavil is long.", 0.0),
        ("Mercury (planet)", "Mercury is the first planet.", 1.0),
        ("The Last Mill", "A film, Last Mill was shot in 1950.", 1.0),
    ],
)
def test_the_first_sentence_names_the_subject_with_every_word(title: str, text: str, named: float) -> None:
    article = ArticleTexts(title, "lead", [], [])
    assert prepare(article, ALL)(Summary(text))["subject-named"].value == named


def test_all_metrics_are_listed() -> None:
    assert set(COMPUTED["style_metrics"]) == set(scores("the river has a mill"))
