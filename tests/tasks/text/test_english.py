"""Finite verbs by their forms."""

import pytest

from tasks.text.language import has_finite_verb


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The lock was closed.", True),
        ("Ystan couldn’t pay.", True),
        ("The keeper rang, and barges left.", True),
        ("The county closed the lock.", True),
        ("The lock, closed since June, near Ystan.", False),
        ("A lock closed by the county.", False),
        ("The United Bargemen of Ystan.", False),
        ("Top left: a bargeman.", False),
        ("The keepers may close the lock.", True),
        ("The lock on a morning in May.", False),
        ("The keeper (WAS) late.", True),
        ("The lock_is_open.", False),
        ("The lock, bottom left, and its keeper.", False),
        ("Barges can't.", True),
        ("The keeper – “was” he late?", True),
    ],
)
def test_verbs_make_a_sentence_and_participles_do_not(text: str, expected: bool) -> None:
    assert has_finite_verb(text) is expected
