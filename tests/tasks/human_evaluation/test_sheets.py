"""Tables of forms, filled in as a person does in a spreadsheet."""

import csv
import io
import json

import pytest

from tasks.human_evaluation.answers import judgements, read_answers, said
from tasks.human_evaluation.forms import letter
from tasks.human_evaluation.sheets import answers_from_sheet, sheet
from tasks.human_evaluation.study import Study
from tests.tasks.human_evaluation.studies import all_filled, chooser, grader, pupil, study

QUALITY = {"ht": 5.0, "t-dmca": 4.0, "ft": 2.0, "lead": 1.0}
RATERS = {
    "best-worst": chooser(QUALITY, 0, 1),
    "ratings": grader(QUALITY, 0, 1),
    "qa": pupil(dict.fromkeys(QUALITY, 0.5), 1),
}


def filled_in(of: Study, task: str, rater: int, *, items: int | None = None) -> str:
    """A rater's table, of which the first lines are filled in."""
    answers = json.loads(dict(all_filled(of, RATERS[task]))[f"answers-{rater}.json"])["answers"]
    by_article = {answer["article"]: answer for answer in answers}
    table = csv.DictReader(io.StringIO(sheet(of, rater)))
    rows = list(table)
    for row in rows[:items]:
        answer = by_article[row["article"]]
        row.update({f"said {number}": reply or "" for number, reply in answer.get("said", {}).items()})
        for choice, value in answer.get("choices", {}).items():
            row[choice] = letter(value) if task == "best-worst" else str(value)
    out = io.StringIO()
    writer = csv.DictWriter(out, table.fieldnames or ())
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("task", ["best-worst", "ratings", "qa"])
def test_a_filled_in_table_is_read_like_a_form(task: str) -> None:
    of = study(task, articles=3, raters=2)
    tables = [file for rater in of.forms for file in answers_from_sheet(of, "t.csv", filled_in(of, task, rater))]
    assert [name for name, _ in tables] == ["t.csv (form 1)", "t.csv (form 2)"]
    results, forms = read_answers(of, tables), read_answers(of, all_filled(of, RATERS[task]))
    if task == "qa":
        texts = {answer.text for answer in said(results)}
        assert None in texts
        assert {text for text in texts if text} <= {f"Answer {number}" for number in range(3)}
    else:
        assert judgements(results) == judgements(forms)


def test_the_table_names_no_system_and_has_a_column_for_each_field() -> None:
    of = study(articles=1, raters=1)
    assert sheet(of, 1).splitlines()[0] == "study,rater,article,title,reference,text A,text B,text C,best,worst"
    assert all(sheet(study(task, articles=2, raters=1), 1).count("t-dmca") == 0 for task in RATERS)


def test_lines_without_a_choice_are_not_counted() -> None:
    of = study(articles=3, raters=1)
    [(_, content)] = answers_from_sheet(of, "t.csv", filled_in(of, "best-worst", 1, items=2))
    assert [answer["article"] for answer in json.loads(content)["answers"]] == [
        item.article.id for item in of.items(1)[:2]
    ]


def test_lines_of_another_form_or_without_columns() -> None:
    of = study(articles=2, raters=1)
    table = filled_in(of, "best-worst", 1)
    with pytest.raises(ValueError, match=r"^b.csv has the columns of, rater, .*: expected study, rater, article$"):
        answers_from_sheet(of, "b.csv", table.replace("study", "of", 1))
    with pytest.raises(ValueError, match=r"^b.csv, line 2: form '7' has no article '000"):
        answers_from_sheet(of, "b.csv", table.replace(f"{of.id},1,", f"{of.id},7,"))
    with pytest.raises(ValueError, match=r"b.csv \(form 1\) is of study 'other'"):
        read_answers(of, answers_from_sheet(of, "b.csv", table.replace(of.id, "other")))


def test_a_choice_that_the_form_does_not_offer_and_an_edited_text_are_errors() -> None:
    of = study(articles=1, raters=1)
    table = filled_in(of, "best-worst", 1)
    columns, line = table.splitlines()
    wrong = line.rsplit(",", 2)[0]
    with pytest.raises(ValueError, match="best is 'D': expected one of 0, 1, 2"):
        read_answers(of, answers_from_sheet(of, "b.csv", f"{columns}\n{wrong},D,A\n"))
    with pytest.raises(ValueError, match="the texts judged are not those of the study"):
        read_answers(of, answers_from_sheet(of, "b.csv", table.replace("<b>", "<i>", 1)))
