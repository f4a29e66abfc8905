"""Whom a passage is about where it does not say the name."""

import pytest

from tasks.verification.references import in_context


@pytest.mark.parametrize(
    ("passage", "sentence", "resolved"),
    [
        (
            "Anna Lee was born in Leeds. She won in 1990.",
            "Anna Lee won.",
            "Anna Lee was born in Leeds.\nAnna Lee won in 1990.",
        ),
        (
            "Anna Lee was born in Leeds. Her book sold well.",
            "Anna Lee's book sold well.",
            "Anna Lee was born in Leeds.\nAnna Lee's book sold well.",
        ),
    ],
)
def test_a_pronoun_after_a_sentence_that_names_one_person_is_that_person(
    passage: str, sentence: str, resolved: str
) -> None:
    assert in_context(passage, "", sentence) == resolved


@pytest.mark.parametrize(
    ("passage", "sentence"),
    [
        ("Anna Lee met Joan Baez. She won in 1990.", "Anna Lee won."),  # either
        ("Anna Lee was born in Leeds. She won in 1990.", "She won."),  # the sentence names nobody
        ("Anna Lee was born in Leeds. They won in 1990.", "Anna Lee won."),
        ("The town grew. It won in 1990.", "Anna Lee won."),
        ("", "Anna Lee won."),
    ],
)
def test_what_is_not_certain_stays(passage: str, sentence: str) -> None:
    assert in_context(passage, "", sentence) == passage


def test_the_subject_of_the_article_is_named_where_a_passage_does_not() -> None:
    passage = "It was built in 1874. The tower leans."
    assert in_context(passage, "Skerry Point", "Skerry Point leans.") == (
        "Skerry Point was built in 1874.\nSkerry Point, the tower leans."
    )
