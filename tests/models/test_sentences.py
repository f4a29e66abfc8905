"""Sentence splitting: boundaries, abbreviations, and that no word is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.sentences import first_sentence, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("One river. Two rivers! Three rivers? Four.", ["One river.", "Two rivers!", "Three rivers?", "Four."]),
        ("Mr. Ash met Dr. J. R. Birch. They left.", ["Mr. Ash met Dr. J. R. Birch.", "They left."]),
        ("It rises 3.5 m. a year, i.e. slowly.", ["It rises 3.5 m. a year, i.e. slowly."]),
        ("He lived in the U.S. Army barracks.", ["He lived in the U.S. Army barracks."]),
        ('She said "No." Then she left.', ['She said "No."', "Then she left."]),
        ("A heading\nA line without a stop\n\nThe end.", ["A heading", "A line without a stop", "The end."]),
        ("Wait... Then it came.", ["Wait...", "Then it came."]),
        ("In 1990 it fell. 12 died.", ["In 1990 it fell.", "12 died."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected
    assert first_sentence(text) == (expected[0] if expected else "")


@given(st.text(alphabet="ab AB.!?\n\"'", max_size=60))
def test_no_word_is_lost_or_moved(text: str) -> None:
    assert " ".join(split_sentences(text)).split() == text.split()
