"""Marks of answers: drafts, and the table in which people correct them."""

import pytest

from tasks.human_evaluation.answers import (
    RaterAnswer,
    apply_marks,
    draft_mark,
    draft_marks,
    marks_from_csv,
    marks_to_csv,
    read_answers,
    said,
)
from tests.tasks.human_evaluation.studies import all_filled, pupil, study


@pytest.mark.parametrize(
    ("right", "given", "mark"),
    [
        ("Castine, Maine", "castine, maine.", 1),
        ("Castine, Maine", "It lies in Castine, Maine", 1),
        ("Castine, Maine", "in Castine", 0.5),
        ("Castine, Maine", "in Boston", 0),
        ("1.8 million", "1,800,000", 1),
        ("May 1921", "1921", 0),
        ("a trading center", "center of trading", 1),
        ("a trading center", "some center", 0.5),
        ("a trading center", "a fort", 0),
    ],
)
def test_a_draft_goes_by_values_or_words_in_common(right: str, given: str, mark: float) -> None:
    assert draft_mark(right, given) == mark


def test_each_answer_is_marked_once_whoever_gave_it() -> None:
    of = study("qa", articles=4, raters=4, questions=2)
    replies = said(read_answers(of, all_filled(of, pupil(dict.fromkeys(of.systems, 1.0), 1))))
    marked = draft_marks(of, replies)
    assert len(marked) == 4 * 2
    table = marks_to_csv(of, marked)
    assert "t-dmca" not in table
    assert marks_from_csv(table, "marks.csv") == marked
    corrected = {**marked, ("0000", 1, "Answer 1"): (0.5, "me")}
    assert marks_from_csv(marks_to_csv(of, corrected), "marks.csv") == corrected
    values = {(one.article, one.unit): one.value for one in apply_marks(replies, corrected)}
    assert values["0000", "1"] == 0.5
    assert values["0000", "0"] == 1


def test_that_the_text_does_not_say_is_wrong() -> None:
    (one,) = apply_marks([RaterAnswer(1, "0000", "ht", 0, None)], {})
    assert one.value == 0


HEAD = "article,number,question,right answer,given answer,mark,checked\n"


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("article,mark\n", "m.csv has the columns article, mark: expected article, number,"),
        (f"{HEAD}a,0,q,r,g,0.7,\n", "m.csv, line 2: the mark is '0.7': expected 1, 0.5 or 0"),
        (f"{HEAD}a,0,q,r,g,,\n", "m.csv, line 2: the mark is '': expected 1, 0.5 or 0"),
        (f"{HEAD}a,0,q,r,g,1,\na,0,q,r,g,0,\n", "m.csv, line 3: 'g' is marked twice"),
    ],
)
def test_a_table_that_cannot_be_used(table: str, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^{problem}"):
        marks_from_csv(table, "m.csv")
