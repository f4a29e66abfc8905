"""The layout of Potato (a program of its own, GPL): a project a form, and what annotators leave in its folder.

Potato keeps what an annotator said in a folder of that person below `annotation_output`. Two layouts are read:

* `user_state.json` of Potato 2 (tried with 2.12.1): `instance_id_to_label_to_value` has of each item a list of pairs,
  `[{"schema": FIELD, "name": LABEL}, VALUE]`; `instance_id_to_behavioral_data` names the items that were opened;
* `annotated_instances.jsonl` of Potato 1 (by the code of 1.2.2): a line an item, with its `id` and
  `"label_annotations": {FIELD: {LABEL: VALUE}}`.

A chosen letter or level is a LABEL; a written answer is the VALUE of its only label."""

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tasks.human_evaluation.forms import instructions
from tasks.human_evaluation.platforms import Field, answer_of, answers_file, fields, letter, longest
from tasks.human_evaluation.study import RatingItem, Study

_OUTPUT = "annotation_output"
_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
Labels = Mapping[str, Mapping[str, Any]]  # field -> label -> value


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
    items = {_name(study, rater, item): item for item in study.items(rater)}
    answers: dict[str, dict[str, Any]] = {}
    people: dict[str, str] = {}
    for file in _person_files(project):
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
        raise ValueError(
            f"{project / _OUTPUT} has no answers: expected them in {_STATE} or {_LINES} of a person's folder"
        )
    return answers_file(str(project), study.id, rater, answers.values())


def _configuration(study: Study, rater: int) -> str:
    configuration = {
        "annotation_task_name": f"Summaries: form {rater} of study {study.id}",
        "task_dir": ".",
        "data_files": ["items.json"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": _OUTPUT,
        "annotation_instructions": instructions(study),
        "annotation_schemes": [
            _scheme(number, field) for number, field in enumerate(fields(study, longest(study, [rater])), start=1)
        ],
        "user_config": {"allow_all_users": True, "users": []},
    }
    return yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True, width=120)


def _scheme(number: int, field: Field) -> dict[str, Any]:
    if not field.values:
        about = f"Answer to question {number}; empty if the text does not say it"
        return {"annotation_type": "text", "name": field.name, "description": about}
    return {
        "annotation_type": "radio",
        "name": field.name,
        "description": field.asked,
        "labels": [*field.values],  # a list of its own, or YAML would write a reference
        "label_requirement": {"required": True},
    }


def _items(study: Study, rater: int) -> list[dict[str, str]]:
    """Return the items that Potato shows for a form, as HTML."""
    return [{"id": _name(study, rater, item), "text": _shown(item)} for item in study.items(rater)]


def _name(study: Study, rater: int, item: RatingItem) -> str:
    """Return how Potato calls an item: all that its answers say of where they belong."""
    return f"{study.id}-{rater}-{item.article.id}"


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


def _person_files(project: Path) -> list[Path]:
    """Return the file of each person; of Potato 2 where both layouts are there, because it reads the older one too."""
    folders = sorted(folder for folder in (project / _OUTPUT).glob("*") if folder.is_dir())
    found = [next((file for name in (_STATE, _LINES) if (file := folder / name).is_file()), None) for folder in folders]
    return [file for file in found if file is not None]


def _labels(file: Path) -> Mapping[str, Labels]:
    """Return the labels of each item that a person opened."""
    try:
        text = file.read_text(encoding="utf-8")
        if file.name == _LINES:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
            return {row["id"]: {name: dict(given) for name, given in row["label_annotations"].items()} for row in rows}
        state = json.loads(text)
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
