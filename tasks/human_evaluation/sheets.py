"""A rater's form as a table (CSV), for spreadsheets and annotation platforms: a line an item, with the texts and an
empty column for each field. Filled in, it is read as that rater's answers. A line of choices without a choice is not
counted; an empty written answer means that the text does not say it."""

import json
from collections import defaultdict
from typing import Any

from tasks.human_evaluation.forms import fields, letter
from tasks.human_evaluation.questions import csv_text, numbered_rows
from tasks.human_evaluation.study import FORMAT, RatingItem, Study

_KEYS = ("study", "rater", "article")  # columns that say which item a line is


def sheet(study: Study, rater: int) -> str:
    """Return the table of a rater's form. It names no system."""
    items = study.items(rater)
    longest = max(items, key=lambda item: len(item.questions))
    shown = [*(f"text {letter(number)}" for number in range(study.settings.shown))]
    shown += [f"question {number}" for number in range(len(longest.questions))]
    filled_in = [field.name for field in fields(study, longest)]
    rows = []
    for item in items:
        asked = [question.question for question in item.questions]
        asked += [""] * (len(longest.questions) - len(asked))
        about = [study.id, rater, item.article.id, item.article.title, item.reference or ""]
        rows.append([*about, *item.texts, *asked, *[""] * len(filled_in)])
    return csv_text([*_KEYS, "title", "reference", *shown, *filled_in], rows)


def answers_from_sheet(study: Study, name: str, text: str) -> list[tuple[str, str]]:
    """Return a file of answers, (name, content), for each form in a filled-in table. Raises ValueError: a column is
    missing, or a line is not of a form of the study. Values are checked when the answers are read (`answers.py`)."""
    forms: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for number, row in numbered_rows(text, name, _KEYS):
        rater = int(row["rater"]) if (row["rater"] or "").isdigit() else 0
        items = study.items(rater) if rater in study.forms else []
        item = next((item for item in items if item.article.id == row["article"]), None)
        if item is None:
            raise ValueError(f"{name}, line {number}: form {row['rater']!r} has no article {row['article']!r}")
        if answer := _answer(study, item, {column: value or "" for column, value in row.items()}):
            forms[row["study"], rater].append(answer)
    return [
        (f"{name} (form {rater})", json.dumps({"format": FORMAT, "study": of, "rater": rater, "answers": answers}))
        for (of, rater), answers in forms.items()
    ]


def _answer(study: Study, item: RatingItem, row: dict[str, str]) -> dict[str, Any] | None:
    """Return a line's answer as the HTML form writes it; None if nothing was chosen."""
    texts = [row.get(f"text {letter(number)}", "") for number in range(len(item.texts))]
    asked = fields(study, item)
    given = {field.name: row.get(field.name, "").strip() for field in asked}
    answer = {"article": item.article.id, "texts": texts}
    if item.questions:
        return {**answer, "said": {name.partition(" ")[2]: written or None for name, written in given.items()}}
    if not any(given.values()):
        return None
    # A value that the form does not offer stays as it is, for the error that follows.
    return {
        **answer,
        "choices": {field.name: field.values.get(given[field.name], given[field.name]) for field in asked},
    }
