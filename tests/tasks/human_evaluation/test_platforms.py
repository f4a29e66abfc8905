"""Files for platforms, and a crowd platform's results on the way back."""

import csv
import html
import io
import json
import re

import pytest
import yaml

from tasks.human_evaluation.answers import judgements, read_answers, said
from tasks.human_evaluation.forms import letter
from tasks.human_evaluation.platforms import answers_from_table, crowd_files, potato_files
from tasks.human_evaluation.study import Study
from tests.tasks.human_evaluation.studies import all_filled, chooser, grader, pupil, study

QUALITY = {"ht": 5.0, "t-dmca": 4.0, "ft": 2.0, "lead": 1.0}
RATERS = {
    "best-worst": chooser(QUALITY, 0, 1),
    "ratings": grader(QUALITY, 0, 1),
    "qa": pupil(dict.fromkeys(QUALITY, 0.5), 1),
}


def crowd_results(of: Study, task: str) -> str:
    """What Mechanical Turk returns: every column of the table and every input of the page, with a prefix."""
    files = crowd_files(of)
    names = list(dict.fromkeys(re.findall(r'name="([^"]+)"', files["crowd/task.html"])))
    rows = []
    for rater in of.forms:
        answers = {
            one["article"]: one
            for one in json.loads(dict(all_filled(of, RATERS[task]))[f"answers-{rater}.json"])["answers"]
        }
        for row in csv.DictReader(io.StringIO(files[f"crowd/rater-{rater:02}.csv"])):
            answer = answers[row["article"]]
            flat = {f"said {number}": reply or "" for number, reply in answer.get("said", {}).items()}
            for choice, value in answer.get("choices", {}).items():
                flat[choice] = letter(value) if task == "best-worst" else str(value)
            assert set(flat) == set(names)
            rows.append(
                {f"Input.{name}": value for name, value in row.items()} | {f"Answer.{n}": v for n, v in flat.items()}
            )
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows({"WorkerId": "W1", **row} if "WorkerId" in rows[0] else row for row in rows)
    return out.getvalue()


@pytest.mark.parametrize("task", ["best-worst", "ratings", "qa"])
def test_results_of_a_crowd_platform_are_those_of_the_forms(task: str) -> None:
    of = study(task, articles=3, raters=2)
    results = read_answers(of, answers_from_table(of, "batch.csv", crowd_results(of, task)))
    forms = read_answers(of, all_filled(of, RATERS[task]))
    if task == "qa":
        answered = {(one.article, one.number): one.text for one in said(results)}
        assert {text for text in answered.values() if text} <= {f"Answer {n}" for n in range(3)}
        assert None in answered.values()
    else:
        key = [(one.rater, one.article, one.system, one.measure) for one in judgements(results)]
        assert sorted(key) == sorted((one.rater, one.article, one.system, one.measure) for one in judgements(forms))
        assert sorted(map(str, judgements(results))) == sorted(map(str, judgements(forms)))


def test_texts_are_no_markup_in_a_page_that_takes_columns_as_they_are() -> None:
    of = study(articles=2, raters=1)
    table = crowd_files(of)["crowd/rater-01.csv"]
    assert all("<b>" in text for item in of.items(1) for text in item.texts)
    assert "<b>" not in table
    assert "&lt;b&gt;" in table


def test_lines_of_another_form_or_without_columns() -> None:
    of = study(articles=2, raters=1)
    table = crowd_results(of, "best-worst")
    with pytest.raises(
        ValueError, match=r"^b.csv has no column Input.study: expected the results of a table of crowd/"
    ):
        answers_from_table(of, "b.csv", table.replace("Input.study", "study"))
    with pytest.raises(ValueError, match=r"^b.csv, line 2: form '7' has no article '000"):
        answers_from_table(of, "b.csv", table.replace(f"{of.id},1,", f"{of.id},7,"))
    with pytest.raises(ValueError, match=r"b.csv \(form 1\) is of study 'other'"):
        read_answers(of, answers_from_table(of, "b.csv", table.replace(of.id, "other")))


@pytest.mark.parametrize("task", ["best-worst", "ratings", "qa"])
def test_a_potato_project_asks_the_same_and_names_no_system(task: str) -> None:
    of = study(task, articles=2, raters=2)
    files = {**crowd_files(of), **potato_files(of)}
    configuration = yaml.safe_load(files["potato/rater-02/config.yaml"])
    items = json.loads(files["potato/rater-02/items.json"])
    assert configuration["item_properties"] == {"id_key": "id", "text_key": "text"}
    assert [item["id"] for item in items] == [f"{of.id}-2-{item.article.id}" for item in of.items(2)]
    assert configuration["annotation_instructions"].startswith(("Choose", "Rate", "Read"))
    for shown, item in zip(items, of.items(2), strict=True):
        assert all(html.escape(text) in shown["text"] for text in item.texts), "texts are no markup"
    expected = {"best-worst": 2, "ratings": 2 * 4, "qa": 3}[task]
    assert len(configuration["annotation_schemes"]) == expected
    everything = "".join(text for name, text in files.items())
    assert [system for system in ("t-dmca",) if system in everything] == []
