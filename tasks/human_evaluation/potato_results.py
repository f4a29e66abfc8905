"""What Potato leaves in a project's folder, as a file of answers. Only files are exchanged.

A project is the folder of one form, as `prepare` wrote it. Potato keeps what an annotator said in a folder of that
person below `annotation_output`. Two layouts are read:

* `user_state.json` of Potato 2 (tried with 2.12.1): `instance_id_to_label_to_value` has of each item a list of pairs,
  `[{"schema": CHOICE, "name": LABEL}, VALUE]`; `instance_id_to_behavioral_data` names the items that were opened;
* `annotated_instances.jsonl` of Potato 1 (by the code of 1.2.2): a line an item, with its `id` and
  `"label_annotations": {CHOICE: {LABEL: VALUE}}`.

A chosen letter or level is a LABEL; a written answer is the VALUE of its only label. A form counts as one rater,
however many people shared its items.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.human_evaluation.platforms import OUTPUT, choices, item_name, potato_items, value_of
from tasks.human_evaluation.study import FORMAT, Item, Study

_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
Labels = Mapping[str, Mapping[str, Any]]  # choice -> label -> value


def answers_from_project(study: Study, project: Path) -> tuple[str, str]:
    """Return a project's answers as a file of answers, (name, content).

    They are checked when they are read (`tasks.human_evaluation.answers`).

    Raises:
        ValueError: the folder is no project of the study, its items were changed, nobody answered, two people answered
            the same item, or a file is not Potato's; the message names folder, person and item.
    """
    rater = _form_of(study, project)
    items = {item_name(study, rater, item): item for item in study.items(rater)}
    answers: dict[str, dict[str, Any]] = {}
    people: dict[str, str] = {}
    for file in _files(project):
        person = file.parent.name
        for name, labels in _labels(file).items():
            if name not in items:
                raise ValueError(f"{file} answers {name!r}: expected only items of form {rater}")
            if name in people:
                raise ValueError(
                    f"{project / OUTPUT}: {people[name]!r} and {person!r} both answered {items[name].article.title!r} "
                    f"({items[name].article.id}): expected one person for each item; move the folder of one away"
                )
            people[name] = person
            answers[name] = _answer(study, items[name], labels, f"{file}, {items[name].article.title!r}")
    if not answers:
        raise ValueError(
            f"{project / OUTPUT} has no answers: expected them in {_STATE} or {_LINES} of a person's folder"
        )
    content = {"format": FORMAT, "study": study.id, "rater": rater, "answers": list(answers.values())}
    return f"{project} (form {rater})", json.dumps(content)


def _form_of(study: Study, project: Path) -> int:
    """Return the form whose items the project shows, unchanged."""
    file = project / "items.json"
    try:
        shown = json.loads(file.read_text(encoding="utf-8"))
        names = {item["id"] for item in shown}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{project} is not a Potato project of a study: {type(error).__name__}: {error}") from error
    for rater in study.forms:
        expected = potato_items(study, rater)
        if names & {item["id"] for item in expected}:
            if shown != expected:
                raise ValueError(f"{file} was changed: expected the items of form {rater} as they were prepared")
            return rater
    raise ValueError(f"{file} shows no item of study {study.id}: expected a folder of its potato/")


def _files(project: Path) -> list[Path]:
    """Return the file of each person; of Potato 2 where both layouts are there, because it reads the older one too."""
    folders = sorted(folder for folder in (project / OUTPUT).glob("*") if folder.is_dir())
    found = [next((file for name in (_STATE, _LINES) if (file := folder / name).is_file()), None) for folder in folders]
    return [file for file in found if file is not None]


def _labels(file: Path) -> Mapping[str, Labels]:
    """Return the labels of each item that a person opened."""
    try:
        text = file.read_text(encoding="utf-8")
        if file.name == _LINES:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
            return {
                row["id"]: {choice: dict(given) for choice, given in row["label_annotations"].items()} for row in rows
            }
        state = json.loads(text)
        labels: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in state["instance_id_to_behavioral_data"]}
        for name, pairs in state["instance_id_to_label_to_value"].items():
            for label, value in pairs:
                labels.setdefault(name, {}).setdefault(label["schema"], {})[label["name"]] = value
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is not what Potato writes: {type(error).__name__}: {error}") from error
    return labels


def _answer(study: Study, item: Item, labels: Labels, where: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"article": item.article.id, "texts": item.texts}
    for choice, given in labels.items():
        if len(given) > 1:
            raise ValueError(f"{where}: {choice} is {', '.join(given)}: expected one answer")
    if item.questions:
        replies = {str(number): labels.get(f"said {number}", {}) for number in range(len(item.questions))}
        answer["said"] = {
            number: str(next(iter(given.values()), "")).strip() or None for number, given in replies.items()
        }
    else:
        offered = choices(study, item)
        answer["choices"] = {
            choice: value_of(next(iter(given)), offered[choice][1] if choice in offered else [])
            for choice, given in labels.items()
            if given
        }
    return answer
