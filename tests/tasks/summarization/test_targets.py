"""What is learned of a lead, worked out by hand."""

import pytest

from tasks.summarization.examples import name_subject, supported_sentences


@pytest.mark.parametrize(
    ("sentence", "title", "definition", "expected"),
    [
        ("He was born in Lund.", "Per Berg", "Per Berg was a poet.", "Per Berg was born in Lund."),
        ("It rises in Norvenia.", "River Tavil", "The River Tavil is a river.", "The River Tavil rises in Norvenia."),
        ("Founded in 1901, it grew.", "Gasomm", "Gasomm is a firm.", "Founded in 1901, Gasomm grew."),
        (
            "Opened in 1901, it grew.",
            "Tavil Bridge",
            "The Tavil Bridge is a bridge.",
            "Opened in 1901, the Tavil Bridge grew.",
        ),
        ("Berg began in Lund.", "Per Berg", "Per Berg was a poet.", "Per Berg began in Lund."),
        (
            "Starring Ann Lee, The Last Mill runs long.",
            "The Last Mill in Spring",
            "The Last Mill in Spring is a film.",
            "Starring Ann Lee, The Last Mill in Spring runs long.",
        ),
        ("The poet began in Lund.", "Per Berg", "Per Berg was a poet.", "Per Berg began in Lund."),
        ("In 1901, the company grew.", "Gasomm (firm)", "Gasomm makes cables.", "In 1901, Gasomm grew."),
        # It is named, or nothing stands there for it.
        ("In Lund, Per Berg was born.", "Per Berg", "Per Berg was a poet.", "In Lund, Per Berg was born."),
        ("The population was 5.", "Lund", "Lund is a town.", "The population was 5."),
        ("It is said that many came.", "Lund", "Lund is a town.", "It is said that many came."),
        ("Anna Berg founded it.", "Per Berg", "Per Berg was a poet.", "Anna Berg founded it."),
        ("Its basin is wide.", "River Tavil", "The River Tavil is a river.", "Its basin is wide."),
        ("", "Lund", "", ""),
    ],
)
def test_the_subject_is_named_where_another_word_stands_for_it(
    sentence: str, title: str, definition: str, expected: str
) -> None:
    assert name_subject(sentence, title, definition) == expected


def test_the_first_sentence_that_is_learned_names_the_subject() -> None:
    lead = "Per Berg (1874 \u2013 1950) was a poet. He was born in Lund. He wrote on mills."
    assert supported_sentences("Per Berg", lead, ["a poet of Lund"]) == [
        "Per Berg was born in Lund.",
        "He wrote on mills.",
    ]
    assert supported_sentences("Per Berg", lead, ["1874, 1950, Lund"])[:2] == [
        "Per Berg (1874 \u2013 1950) was a poet.",
        "He was born in Lund.",
    ]
    assert supported_sentences("Per Berg", "Seen by Ann.", ["a mill"]) == []
