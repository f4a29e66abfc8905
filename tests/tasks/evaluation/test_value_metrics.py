"""Truth by values, worked out by hand."""

import pytest

from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Summary
from tasks.evaluation.value_metrics import prepare

ARTICLE = ArticleTexts(
    title="River Tavil",
    lead="The River Tavil is 395 kilometres long and rises in Norvenia. It was surveyed by Anna Berg in 1829.",
    ranked=["It is 395 kilometres long.", "Anna Berg came in 1829.", "The mill of Otto Lund burned in 1901."],
    sources=[
        "It is 395 kilometres long.",
        "Anna Berg came in 1829.",
        "The mill of Otto Lund burned in 1901.",
        "Norvenia is a country.",
    ],
)

ALL = COMPUTED["value_metrics"]


def scores(text: str, read: int | None = None) -> dict[str, float]:
    return {name: score.value for name, score in prepare(ARTICLE, ALL)(Summary(text, read)).items()}


def test_every_value_is_held_against_input_sources_and_lead() -> None:
    """Values: River Tavil, 395, Otto Lund, 1901, Norvenia, 12."""
    text = "The River Tavil is 395 kilometres long. It took Otto Lund in 1901 to Norvenia in 12 days."
    assert scores(text) == {
        "values-input": pytest.approx(4 / 6),  # not Norvenia, not 12
        "values-sources": pytest.approx(5 / 6),
        "values-right": pytest.approx(3 / 6),  # River Tavil, 395, Norvenia
        "values-recalled": pytest.approx(3 / 5),  # not Anna Berg, not 1829
        "values": pytest.approx(2 * 0.5 * 0.6 / 1.1),
        "values-none": 0.0,
    }


def test_the_input_is_what_the_system_read() -> None:
    text = "It was surveyed by Anna Berg, who was 395."
    assert scores(text, read=1)["values-input"] == 0.5
    assert scores(text, read=2)["values-input"] == 1.0


@pytest.mark.parametrize("text", ["", "It is long.", "\u6771\u4eac\u306e\u5854\u306f 395"])
def test_a_summary_that_states_nothing_or_in_a_script_without_capitals_wins_nothing(text: str) -> None:
    assert scores(text) == {
        "values-input": 0.0,
        "values-sources": 0.0,
        "values-right": 0.0,
        "values-none": 1.0,
        "values-recalled": 0.0,
        "values": 0.0,
    }


def test_a_sentence_that_repeats_another_has_only_wrong_values() -> None:
    """Once: River Tavil and 395, both right. The second time both count as wrong."""
    once = "The River Tavil is 395 kilometres long."
    assert scores(once)["values-right"] == 1.0
    assert scores(f"{once} {once}")["values-right"] == 0.5
    assert scores(f"{once} {once}")["values-input"] == 0.5
    assert scores(f"{once} {once}")["values-recalled"] == scores(once)["values-recalled"]


def test_a_list_of_values_has_only_wrong_ones() -> None:
    found = scores("River Tavil, 395, Norvenia, Anna Berg, 1829.")
    assert (found["values-right"], found["values-recalled"], found["values"]) == (0.0, 0.0, 0.0)
    assert found["values-none"] == 0.0


def test_a_lead_without_values_has_no_recall() -> None:
    article = ArticleTexts("tavil", "it is long.", [], [])
    found = prepare(article, ALL)(Summary("It is 3 miles long."))
    assert {name: score.value for name, score in found.items()} == {
        "values-input": 0.0,
        "values-sources": 0.0,
        "values-right": 0.0,
        "values-none": 0.0,
    }


def test_all_metrics_are_listed() -> None:
    assert set(COMPUTED["value_metrics"]) == set(scores("It is 3 miles long."))
