"""Results of a crowd platform, a table with a line for each filled-in page, as files of answers.

The columns are those of Mechanical Turk: `Input.NAME` for what the task's table had, `Answer.NAME` for what was
answered; other platforms' tables need these two headings renamed. A form counts as one rater, whoever filled in its
lines.
"""

import csv
import html
import io
import json
from collections import defaultdict
from typing import Any

from tasks.human_evaluation.platforms import choices, letter, value_of
from tasks.human_evaluation.study import FORMAT, Item, Study

_INPUTS = ("Input.study", "Input.rater", "Input.article")


def answers_from_table(study: Study, name: str, text: str) -> list[tuple[str, str]]:
    """Return a file of answers, (name, content), for each form in a table of results.

    They are checked when they are read (`tasks.human_evaluation.answers`).

    Raises:
        ValueError: a column is missing, or a line is not of a form of the study.
    """
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    columns = set(rows.fieldnames or ())
    forms: dict[int, list[dict[str, Any]]] = defaultdict(list)
    studies: dict[int, str] = {}
    for number, row in enumerate(rows, start=2):
        if missing := [column for column in _INPUTS if column not in columns]:
            raise ValueError(f"{name} has no column {missing[0]}: expected the results of a table of crowd/")
        where = f"{name}, line {number}"
        rater = int(row["Input.rater"]) if row["Input.rater"].isdigit() else 0
        items = {item.article.id: item for item in study.items(rater)} if rater in study.forms else {}
        if row["Input.article"] not in items:
            raise ValueError(f"{where}: form {row['Input.rater']!r} has no article {row['Input.article']!r}")
        forms[rater].append(_answer(study, items[row["Input.article"]], row))
        studies[rater] = row["Input.study"]
    return [
        (
            f"{name} (form {rater})",
            json.dumps({"format": FORMAT, "study": studies[rater], "rater": rater, "answers": answers}),
        )
        for rater, answers in forms.items()
    ]


def _answer(study: Study, item: Item, row: dict[str, str]) -> dict[str, Any]:
    texts = [html.unescape(row.get(f"Input.text_{letter(place).lower()}", "")) for place in range(len(item.texts))]
    answer: dict[str, Any] = {"article": item.article.id, "texts": texts}
    if item.questions:
        replies = {str(number): row.get(f"Answer.said {number}", "").strip() for number in range(len(item.questions))}
        answer["said"] = {number: reply or None for number, reply in replies.items()}
    else:
        answer["choices"] = {
            choice: value_of(row.get(f"Answer.{choice}", ""), values)
            for choice, (_, values) in choices(study, item).items()
        }
    return answer
