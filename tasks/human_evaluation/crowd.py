"""The layout of crowd platforms: a table a form and a task page, and a table of results with a line a filled-in page.

A task page has places such as `${text_a}` for the columns of a table. The columns of results are those of Mechanical
Turk: `Input.NAME` for what the task's table had, `Answer.NAME` for what was answered; other platforms' tables need
these two headings renamed."""

import html
from collections import defaultdict
from typing import Any

from tasks.human_evaluation.forms import instructions
from tasks.human_evaluation.platforms import answer_of, answers_file, fields, letter, longest
from tasks.human_evaluation.study import Study
from tasks.human_evaluation.tables import numbered_rows, to_csv

_INPUTS = ("Input.study", "Input.rater", "Input.article")


def crowd_files(study: Study) -> dict[str, str]:
    """Return the files: path -> content. They name no system."""
    tables = {f"crowd/rater-{rater:02}.csv": _table(study, rater) for rater in study.forms}
    return {"crowd/task.html": _page(study), **tables}


def answers_from_table(study: Study, name: str, text: str) -> list[tuple[str, str]]:
    """Return a file of answers, (name, content), for each form in a table of results. Raises ValueError: a column is
    missing, or a line is not of a form of the study."""
    forms: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for number, row in numbered_rows(text, name):
        if missing := [column for column in _INPUTS if column not in row]:
            raise ValueError(f"{name} has no column {missing[0]}: expected the results of a table of crowd/")
        rater = int(row["Input.rater"]) if row["Input.rater"].isdigit() else 0
        items = {item.article.id: item for item in study.items(rater)} if rater in study.forms else {}
        item = items.get(row["Input.article"])
        if item is None:
            raise ValueError(
                f"{name}, line {number}: form {row['Input.rater']!r} has no article {row['Input.article']!r}"
            )
        places = range(len(item.texts))
        texts = [html.unescape(row.get(f"Input.text_{letter(place).lower()}", "")) for place in places]
        given = {field.name: row.get(f"Answer.{field.name}", "") for field in fields(study, item)}
        forms[row["Input.study"], rater].append(answer_of(study, item, given, texts))
    return [answers_file(name, of, rater, answers) for (of, rater), answers in forms.items()]


def _table(study: Study, rater: int) -> str:
    most = len(longest(study, [rater]).questions)
    columns = ["study", "rater", "article", "title", "reference"]
    columns += [f"text_{letter(place).lower()}" for place in range(study.settings.shown)]
    columns += [f"question_{number}" for number in range(most)]
    rows = []
    for item in study.items(rater):
        asked = [one.question for one in item.questions]
        # Escaped, because platforms put a column's text into the page as it is.
        shown = [item.article.title, item.reference or "", *item.texts, *asked, *[""] * (most - len(asked))]
        rows.append([study.id, rater, item.article.id, *map(html.escape, shown)])
    return to_csv(columns, rows)


def _page(study: Study) -> str:
    """Return the body of a task page; the names of its inputs are the columns of the platform's results."""
    item = longest(study, study.forms)
    parts = [f"<p>{html.escape(instructions(study))}</p>", "<h2>${title}</h2>"]
    if item.reference is not None:
        parts.append("<h3>Reference</h3><p>${reference}</p>")
    letters = [letter(place) for place in range(len(item.texts))]
    parts += [f"<h3>Text {one}</h3><p>${{text_{one.lower()}}}</p>" for one in letters]
    for number, field in enumerate(fields(study, item)):
        options = "".join(
            f'<label><input type="radio" name="{field.name}" value="{value}" required> {value}</label> '
            for value in field.values
        )
        parts.append(
            f"<fieldset><legend>{html.escape(field.asked)}</legend>{options}</fieldset>"
            if options
            else f'<p><label>${{question_{number}}}<br><input type="text" name="{field.name}"></label> '
            "(leave empty if the text does not say)</p>"
        )
    return "\n".join(parts) + "\n"
