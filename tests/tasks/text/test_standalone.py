"""Sentences that can be read outside their page."""

import pytest

from tasks.text.standalone import defects


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened on 14 May 1931 by the governor.",
        "In 2010 the company (then a family firm) moved to Porto.",
        "We describe a parser that needs no grammar.",
        "Herons nest on the island.",  # begins with letters of a pronoun
        "“Nobody had asked,” the mayor said.",
    ],
)
def test_a_sentence_that_stands_alone(sentence: str) -> None:
    assert defects(sentence) == 0


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        ("It was opened in 1931.", 1),
        ("“They refused,” he said.", 1),
        ("For example, the second span is shorter.", 1),
        ("The editor told me about it.", 1),
        ("Would the river rise again?", 1),
        ("The pictures are on www.example.org for all.", 1),
        ("The span (of 40 metres was the longest.", 1),
        ('The guide says "nothing here is old.', 1),
        ("Rows 12 340 51 999 7 1931 and 44.", 1),
        ("The list " + "of things " * 30 + "ends.", 1),
        ("Reply * You should see it?", 4),
    ],
)
def test_signs_that_a_sentence_needs_its_page(sentence: str, number: int) -> None:
    assert defects(sentence) == number
