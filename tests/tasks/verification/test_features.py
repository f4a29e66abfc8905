"""What the verifier measures, on sentences whose numbers are counted by hand."""

from typing import Any

import pytest

from tasks.verification.features import NAMES, features
from tasks.verification.words import WordKind, read

PASSAGE = (
    "Anna Berg designed the tower in 1901. It was painted red in 1950 by Otto Lund, who did not like blue. About 300 "
    "ships passed it each year before the war."
)


def measured(sentence: str, passage: str = PASSAGE) -> dict[str, Any]:
    return dict(zip(NAMES, features(read(sentence), read(passage), lambda word: 1.0), strict=True))


@pytest.mark.parametrize(
    ("sentence", "name", "number"),
    [
        ("Anna Berg designed the tower in 1901.", "one_covered", 1.0),
        ("Anna Berg designed the tower in 1901.", "one_in_order", 1.0),
        ("Anna Berg designed the bridge in 1901.", "one_covered", 4 / 5),
        ("About 300 vessels passed it.", "one_covered", 2.85 / 3),  # a synonym
        ("The old tower was designed by Anna Berg.", "one_subject_covered", 1 / 2),
        ("Anna Berg designed the bridge in 1901.", "one_uncovered", 1),
        ("Anna Berg designed the tower and did not like blue.", "one_joints_crossed", 0),
        ("Otto Lund did not like blue.", "one_joints_crossed", 1),
        ("Otto Lund designed the tower.", "one_leading_unsaid", 0.5),
        ("Anna Berg designed the tower.", "one_leading_unsaid", 0),
        ("Berg designed the tower.", "one_leading_said", 0.5),
        ("The tower was painted red.", "one_passives_changed", 0),
        ("The tower painted red.", "one_passives_changed", 2),
        ("It was painted red in May.", "one_bounds_added", 0),
        ("It may be painted red.", "one_bounds_added", 1),
        ("The tower was designed by Eva Berg in 1901.", "names_unseen", 1),
        ("Anna Berg designed the tower in 1910.", "numbers_unseen", 1),
        ("Anna Berg designed the tower in 1950.", "numbers_unseen", 0),
        ("Otto Lund did like blue.", "one_negators_dropped", 1),
        ("Otto Lund did not like blue.", "one_negators_dropped", 0),
        ("It was not painted red.", "one_negators_added", 1),
        ("About 300 ships passed it.", "one_bounds_dropped", 0),
        ("300 ships passed it.", "one_bounds_dropped", 1),
        ("Only about 300 ships passed it.", "one_bounds_added", 1),
        ("About 300 ships passed it after the war.", "one_opposites_in_place", 1),
        ("Otto Lund did not like red.", "one_opposites", 0),
        ("The tower was designed by Anna Berg.", "one_voice_conflict", 0),
        ("The tower designed Anna Berg.", "one_voice_conflict", 1),
        ("Anna Berg was designed by the tower.", "one_voice_conflict", 1),
        ("About 300 boats passed it.", "one_units_changed", 0),
        ("About 300 wars passed it.", "one_units_changed", 1),
        ("The tower was designed by Anna Berg.", "one_roles_turned", 0),
        ("The tower designed Anna Berg.", "one_roles_turned", 3),
        ("Anna Berg was designed by the tower.", "one_roles_turned", 3),
        ("Anna Berg designed the tower.", "one_roles_kept", 3),
        ("Some 300 ships passed it.", "one_limits_dropped", 0),
        ("300 ships passed it.", "one_limits_dropped", 1),
        ("Over 300 ships passed it.", "one_limits_turned", 0),
        ("About 300 ships passed it after the war.", "one_times_turned", 1),
        ("About 300 ships passed it before the war.", "one_times_turned", 0),
        ("Anna Berg painted the tower.", "one_verbs_unsaid", 1),
        ("Anna Berg designed the tower.", "one_contradictions", 0),
        ("Anna Berg was designed by the tower after the war.", "one_contradictions", 1),
    ],
)
def test_a_feature(sentence: str, name: str, number: float) -> None:
    assert measured(sentence)[name] == pytest.approx(number)


@pytest.mark.parametrize(
    ("sentence", "passage", "name", "number"),
    [
        ("At least 30 ships sank.", "Up to 30 ships sank.", "one_limits_turned", 1),
        ("No fewer than 30 ships sank.", "At least 30 ships sank.", "one_limits_turned", 0),
        ("No more than 30 ships sank.", "At least 30 ships sank.", "one_limits_turned", 1),
        ("The bridge opened.", "The bridge may open.", "one_maybe_lost", 1),
        ("The bridge may open.", "The bridge may open.", "one_maybe_lost", 0),
        ("Two died and nine were hurt.", "Two died, 30 were hurt and nine fled.", "one_counts_moved", 1),
        ("Two died and 30 were hurt.", "Two died, 30 were hurt and nine fled.", "one_counts_moved", 0),
        ("It was lit until 1950.", "It was lit from 1901 and since 1950.", "one_times_turned", 1),
    ],
)
def test_a_relation(sentence: str, passage: str, name: str, number: float) -> None:
    assert measured(sentence, passage)[name] == number


def test_the_pair_of_sentences_holds_what_one_lacks() -> None:
    found = measured("Anna Berg designed the tower, which was painted red in 1950.")
    assert found["two_covered"] == 1.0
    assert found["one_covered"] < 1.0
    assert found["pair_gains"] == pytest.approx(found["two_covered"] - found["one_covered"])
    assert found["second_points_back"] == 1.0


def test_a_comma_after_a_number_is_no_part_of_it() -> None:
    words = read("In 1829, and again in 1,830, it froze.").words
    assert [word.key for word in words if word.kind is WordKind.NUMBER] == ["1829", "1830"]


def test_words_and_numbers_are_read_by_what_they_mean() -> None:
    words = read("Two of the 1.5 million boats, built in the 19th century, aren't Anna's.").words
    assert [(word.key, word.kind) for word in words if word.kind] == [
        ("2", WordKind.NUMBER),
        ("1500000", WordKind.NUMBER),
        ("boat", WordKind.WORD),
        ("built", WordKind.WORD),
        ("19th", WordKind.NUMBER),
        ("centuri", WordKind.WORD),
        ("anna", WordKind.NAME),
    ]
    assert "n't" in [word.text for word in words]
