"""Files of answers: what they say of each system, and those that are refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tasks.human_evaluation.answers import Judgement, judgements, read_answers, said
from tests.tasks.human_evaluation.studies import all_filled, chooser, filled, grader, pupil, study

TINY = study(articles=2, raters=2)
CHOOSER = chooser({"ht": 3, "t-dmca": 2, "ft": 1, "lead": 0}, 0, 1)


def edited(change: Callable[[Any], None], number: int = 1) -> str:
    file = json.loads(filled(TINY, number, CHOOSER))
    change(file)
    return json.dumps(file)


def test_the_best_is_1_the_worst_minus_1_and_the_others_are_0() -> None:
    found = judgements(read_answers(TINY, all_filled(TINY, CHOOSER)))
    assert len(found) == 2 * 2 * 3
    for rater in (1, 2):
        for item in TINY.items(rater):
            values = {one.system: one.value for one in found if (one.rater, one.article) == (rater, item.article.id)}
            assert [values[system] for system in TINY.systems if system in values] == [1, 0, -1]


def test_ratings_are_of_the_text_at_their_place() -> None:
    of = study("ratings", articles=1, raters=1, criteria=("informativeness", "fluency", "conciseness", "consistency"))
    found = judgements(read_answers(of, all_filled(of, grader({"ht": 5, "t-dmca": 4, "ft": 2, "lead": 1}, 0, 1))))
    quality = {"ht": 5, "t-dmca": 4, "ft": 2, "lead": 1}
    assert found == [
        Judgement(1, "0000", system, criterion, quality[system])
        for system in of.items(1)[0].systems
        for criterion in ("informativeness", "fluency", "conciseness", "consistency")
    ]


def test_what_was_said_goes_to_the_system_that_was_shown() -> None:
    of = study("qa", articles=4, raters=4, questions=2)
    replies = said(read_answers(of, all_filled(of, pupil({"ht": 1, "t-dmca": 0, "ft": 0, "lead": 0}, 1))))
    assert len(replies) == 4 * 4 * 2
    assert {one.system for one in replies if one.text is not None} == {"ht"}


def twice(file: Any) -> None:
    file["answers"].append(file["answers"][0])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda file: file.update(study="0123456789ab"), "f.json is of study '0123456789ab': expected "),
        (lambda file: file.update(format=2), "f.json is of format 2: expected 1"),
        (lambda file: file.update(rater=3), "f.json is of rater 3: expected one of 1 to 2"),
        (lambda file: file.pop("study"), "f.json is not a file of answers: KeyError: 'study'"),
        (lambda file: file["answers"][0].update(article="x"), "f.json judges 'x': expected only articles of form 1"),
        (lambda file: file["answers"].clear(), "f.json has no answers: expected some of form 1"),
        (twice, "f.json has 3 answers on 2 articles: expected one each"),
        (
            lambda file: file["answers"][0]["texts"].reverse(),
            r"f.json, .*: the texts judged are not those of the study",
        ),
        (
            lambda file: file["answers"][0]["choices"].pop("worst"),
            r"f.json, .*: worst is None: expected one of 0, 1, 2",
        ),
        (lambda file: file["answers"][0]["choices"].update(best=3), r"f.json, .*: best is 3: expected one of 0, 1, 2"),
        (lambda file: file["answers"][0]["choices"].update(best=True), r"f.json, .*: best is True: expected one of"),
        (lambda file: file["answers"][0]["choices"].update(best=1, worst=1), r"f.json, .*: best and worst are both"),
        (lambda file: file["answers"][0]["choices"].update(middle=1), r"f.json, .*: there is no choice 'middle'"),
    ],
)
def test_inconsistent_files_are_named(change: Callable[[Any], None], problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^{problem}"):
        read_answers(TINY, [("f.json", edited(change))])


def test_a_part_of_a_form_counts_with_what_it_has() -> None:
    (part,) = read_answers(TINY, [("f.json", edited(lambda file: file["answers"].pop(0)))])
    assert [item.article.id for item, _ in part.items] == [TINY.items(1)[1].article.id]
    assert {one.article for one in judgements([part])} == {TINY.items(1)[1].article.id}


def test_a_rater_counts_once() -> None:
    one = filled(TINY, 2, CHOOSER)
    with pytest.raises(ValueError, match=r"^b.json and a.json are both of rater 2: expected one file each"):
        read_answers(TINY, [("a.json", one), ("b.json", one)])
    with pytest.raises(ValueError, match=r"^no files of answers"):
        read_answers(TINY, [])


@pytest.mark.parametrize("reply", ["", "  ", 7, []])
def test_a_question_without_an_answer(reply: Any) -> None:
    of = study("qa", articles=1, raters=1, questions=2)
    file = json.loads(filled(of, 1, pupil({"ht": 1, "t-dmca": 1, "ft": 1, "lead": 1}, 1)))
    file["answers"][0]["said"]["1"] = reply
    with pytest.raises(ValueError, match=r"question 1 is answered .*: expected a text or null"):
        read_answers(of, [("f.json", json.dumps(file))])
