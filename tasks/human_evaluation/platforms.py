"""What annotation platforms are asked, in their layouts, and the file of answers that their results become. Only files
are exchanged. Each rater's form becomes one table or project, because in `qa` nobody may see an article twice: publish
one at a time, and keep its workers out of the next. A form counts as one rater, however many people shared its items.

Crowd platforms get a table a form and a task page, which has places such as `${text_a}` for the columns of a table. The
columns of their results, a line a filled-in page, are those of Mechanical Turk: `Input.NAME` for what the task's table
had, `Answer.NAME` for what was answered; other platforms' tables need these two headings renamed.

Potato (a program of its own, GPL) gets a project a form, and keeps what an annotator said in a folder of that person
below `annotation_output`: in `user_state.json` (of Potato 2, tried with 2.12.1) `instance_id_to_label_to_value` has of
each item a list of pairs, `[{"schema": FIELD, "name": LABEL}, VALUE]`, and `instance_id_to_behavioral_data` names the
items that were opened. A chosen letter or level is a LABEL; a written answer is the VALUE of its only label."""

import html
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tasks.human_evaluation.forms import Field, fields, instructions, letter
from tasks.human_evaluation.questions import csv_text, numbered_rows
from tasks.human_evaluation.study import FORMAT, RatingItem, Study

_INPUTS = ("Input.study", "Input.rater", "Input.article")  # columns of a crowd platform's results
_OUTPUT, _STATE = "annotation_output", "user_state.json"  # of Potato's folders
Labels = Mapping[str, Mapping[str, Any]]  # field -> label -> value


def longest(study: Study, raters: Iterable[int]) -> RatingItem:
    """Return the item with most questions in some forms."""
    return max((item for rater in raters for item in study.items(rater)), key=lambda item: len(item.questions))


def answer_of(study: Study, item: RatingItem, given: Mapping[str, str], texts: Sequence[str]) -> dict[str, Any]:
    """Return an answer as a form of ours would have it; it is checked when it is read (`answers.py`). `given` has what
    was chosen or written in each field; `texts` are those that the rater saw."""
    answer: dict[str, Any] = {"article": item.article.id, "texts": texts}
    asked = {field.name: field.values for field in fields(study, item)}
    if item.questions:
        answer["said"] = {name.partition(" ")[2]: given.get(name, "").strip() or None for name in asked}
    else:
        # Anything else stands unchanged, for the error that follows.
        answer["choices"] = {name: asked.get(name, {}).get(value, value) for name, value in given.items()}
    return answer


def answers_file(place: str, study: str, rater: int, answers: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return a file of answers, (name, content), of a form that was filled in at a place."""
    content = {"format": FORMAT, "study": study, "rater": rater, "answers": list(answers)}
    return f"{place} (form {rater})", json.dumps(content)


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
    return csv_text(columns, rows)


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


def potato_files(study: Study) -> dict[str, str]:
    """Return the files: path -> content. They name no system."""
    files = {}
    for rater in study.forms:
        folder = f"potato/rater-{rater:02}"
        files[f"{folder}/config.yaml"] = _configuration(study, rater)
        files[f"{folder}/items.json"] = json.dumps(_items(study, rater), ensure_ascii=False, indent=1)
    return files


def answers_from_project(study: Study, project: Path) -> tuple[str, str]:
    """Return a project's answers as a file of answers, (name, content). Raises ValueError: the folder is no project of
    the study, its items were changed, nobody answered, two people answered the same item, or a file is not Potato's;
    the message names folder, person and item."""
    rater = _form_of(study, project)
    items = dict(zip((shown["id"] for shown in _items(study, rater)), study.items(rater), strict=True))
    answers: dict[str, dict[str, Any]] = {}
    people: dict[str, str] = {}
    for file in sorted((project / _OUTPUT).glob(f"*/{_STATE}")):
        person = file.parent.name
        for name, labels in _labels(file).items():
            if name not in items:
                raise ValueError(f"{file} answers {name!r}: expected only items of form {rater}")
            title = items[name].article.title
            if name in people:
                raise ValueError(
                    f"{project / _OUTPUT}: {people[name]!r} and {person!r} both answered {title!r} "
                    f"({items[name].article.id}): expected one person for each item; move the folder of one away"
                )
            people[name] = person
            answers[name] = _answer(study, items[name], labels, f"{file}, {title!r}")
    if not answers:
        raise ValueError(f"{project / _OUTPUT} has no answers: expected them in {_STATE} of a person's folder")
    return answers_file(str(project), study.id, rater, answers.values())


def _configuration(study: Study, rater: int) -> str:
    asked = enumerate(fields(study, longest(study, [rater])), start=1)
    configuration = {
        "annotation_task_name": f"Summaries: form {rater} of study {study.id}",
        "task_dir": ".",
        "data_files": ["items.json"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": _OUTPUT,
        "annotation_instructions": instructions(study),
        "annotation_schemes": [_scheme(number, field) for number, field in asked],
        "user_config": {"allow_all_users": True, "users": []},
    }
    return yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True, width=120)


def _scheme(number: int, field: Field) -> dict[str, Any]:
    if not field.values:
        about = f"Answer to question {number}; empty if the text does not say it"
        return {"annotation_type": "text", "name": field.name, "description": about}
    scheme = {"annotation_type": "radio", "name": field.name, "description": field.asked}
    # A list of labels of its own, or YAML would write a reference.
    return {**scheme, "labels": [*field.values], "label_requirement": {"required": True}}


def _items(study: Study, rater: int) -> list[dict[str, str]]:
    """Return the items that Potato shows for a form, as HTML; its answers say no more than their ids."""
    return [{"id": f"{study.id}-{rater}-{item.article.id}", "text": _shown(item)} for item in study.items(rater)]


def _shown(item: RatingItem) -> str:
    parts = [f"<h3>{html.escape(item.article.title)}</h3>"]
    named = [] if item.reference is None else [("Reference", item.reference)]
    named += [(f"Text {letter(place)}", text) for place, text in enumerate(item.texts)]
    named += [(f"Question {number}", one.question) for number, one in enumerate(item.questions, start=1)]
    parts += [f"<p><b>{name}</b> {html.escape(text)}</p>" for name, text in named]
    return "".join(parts)  # Potato shows an end of a line as an empty line


def _form_of(study: Study, project: Path) -> int:
    """Return the form whose items the project shows, unchanged."""
    file = project / "items.json"
    try:
        shown = json.loads(file.read_text(encoding="utf-8"))
        names = {item["id"] for item in shown}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{project} is not a Potato project of a study: {type(error).__name__}: {error}") from error
    for rater in study.forms:
        expected = _items(study, rater)
        if names & {item["id"] for item in expected}:
            if shown != expected:
                raise ValueError(f"{file} was changed: expected the items of form {rater} as they were prepared")
            return rater
    raise ValueError(f"{file} shows no item of study {study.id}: expected a folder of its potato/")


def _labels(file: Path) -> Mapping[str, Labels]:
    """Return the labels of each item that a person opened."""
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
        labels: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in state["instance_id_to_behavioral_data"]}
        for name, pairs in state["instance_id_to_label_to_value"].items():
            for label, value in pairs:
                labels.setdefault(name, {}).setdefault(label["schema"], {})[label["name"]] = value
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is not what Potato writes: {type(error).__name__}: {error}") from error
    return labels


def _answer(study: Study, item: RatingItem, labels: Labels, where: str) -> dict[str, Any]:
    for name, given in labels.items():
        if len(given) > 1:
            raise ValueError(f"{where}: {name} is {', '.join(given)}: expected one answer")
    chosen = {name: next(iter(given.items())) for name, given in labels.items() if given}
    written = bool(item.questions)
    given = {name: str(value) if written else label for name, (label, value) in chosen.items()}
    return answer_of(study, item, given, item.texts)
