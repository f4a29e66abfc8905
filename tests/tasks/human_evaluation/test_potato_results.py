"""Projects as Potato leaves them, on the way back; the layouts are those that Potato 2.12.1 and 1.2.2 wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.human_evaluation.answers import judgements, said
from tasks.human_evaluation.platforms import potato_files
from tasks.human_evaluation.results import read_folder, score_study
from tasks.human_evaluation.study import Study
from tests.tasks.human_evaluation.studies import study

SYSTEMS = ("ht", "ft", "lead")
# What a rater chooses of systems, article by article: best, worst.
CHOSEN = {"0000": ("ht", "lead"), "0001": ("ht", "ft"), "0002": ("ft", "lead")}


def prepared(folder: Path, of: Study) -> Path:
    """Write a study's key and projects; return the folder of the first Potato project."""
    (folder / "key.json").write_text(of.to_json())
    for name, text in potato_files(of).items():
        file = folder / "platforms" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / "platforms/potato/rater-01"


def named(of: Study, article: str, rater: int = 1) -> str:
    return f"{of.id}-{rater}-{article}"


def chosen_labels(of: Study) -> dict[str, dict[str, dict[str, str]]]:
    """What Potato shows and keeps: letters of the texts in the order of the form."""
    labels = {}
    for item in of.items(1):
        letters = {system: "ABC"[place] for place, system in enumerate(item.systems)}
        best, worst = (letters[system] for system in CHOSEN[item.article.id])
        labels[named(of, item.article.id)] = {"best": {best: best}, "worst": {worst: worst}}
    return labels


def state(labels: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The file user_state.json of Potato 2, without the parts that are not read."""
    pairs = {
        item: [
            [{"schema": choice, "name": name}, value]
            for choice, given in choices.items()
            for name, value in given.items()
        ]
        for item, choices in labels.items()
    }
    behaviour = {item: {"instance_id": item, "total_time_ms": 5821} for item in labels}
    kept = {item: given for item, given in pairs.items() if given}  # an item without an answer is not there
    return json.dumps(
        {"user_id": "ann", "instance_id_to_label_to_value": kept, "instance_id_to_behavioral_data": behaviour}
    )


def write(project: Path, person: str, text: str) -> None:
    folder = project / "annotation_output" / person
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "user_state.json").write_text(text)


def test_answers_of_potato_are_scored(tmp_path: Path) -> None:
    of = study(articles=3, raters=1, systems=SYSTEMS)
    project = prepared(tmp_path, of)
    write(project, "ann", state(chosen_labels(of)))
    write(project, "looked-only", state({}))
    _, answered = read_folder(tmp_path, [project])
    values = {(one.article, one.system): one.value for one in judgements(answered)}
    assert values == {
        ("0000", "ht"): 1.0,
        ("0000", "ft"): 0.0,
        ("0000", "lead"): -1.0,
        ("0001", "ht"): 1.0,
        ("0001", "ft"): -1.0,
        ("0001", "lead"): 0.0,
        ("0002", "ht"): 0.0,
        ("0002", "ft"): 1.0,
        ("0002", "lead"): -1.0,
    }
    text, _ = score_study(tmp_path, of, answered)
    assert "ht is best with 0.667" in text  # (1 + 1 + 0) / 3


def test_written_answers_and_levels(tmp_path: Path) -> None:
    of = study("qa", articles=2, raters=1, questions=2)
    project = prepared(tmp_path, of)
    labels = {named(of, "0000"): {"said 1": {"text_box": " 1847 "}}, named(of, "0001"): {}}
    write(project, "ann", state(labels))
    _, answered = read_folder(tmp_path, [project])
    found = {(one.article, one.number): one.text for one in said(answered)}
    assert found == {("0000", 0): None, ("0000", 1): "1847", ("0001", 0): None, ("0001", 1): None}

    (tmp_path / "rated").mkdir()
    of = study("ratings", articles=1, raters=1, criteria=("fluency",))
    project = prepared(tmp_path / "rated", of)
    write(project, "ann", state({named(of, "0000"): {"0 fluency": {"5": "5"}, "1 fluency": {"2": "2"}}}))
    _, answered = read_folder(tmp_path / "rated", [project])
    assert [(one.measure, one.value) for one in judgements(answered)] == [("fluency", 5.0), ("fluency", 2.0)]


def test_two_people_share_a_form_but_no_item(tmp_path: Path) -> None:
    of = study(articles=3, raters=1, systems=SYSTEMS)
    project = prepared(tmp_path, of)
    labels = chosen_labels(of)
    first = {named(of, "0001"): labels[named(of, "0001")]}
    rest = {name: given for name, given in labels.items() if name not in first}
    write(project, "ann", state(first))
    write(project, "bob", state(rest))
    assert len(read_folder(tmp_path, [project])[1][0].items) == 3
    write(project, "bob", state(labels))
    with pytest.raises(ValueError, match=r"'ann' and 'bob' both answered 'Title 0001' \(0001\): expected one person"):
        read_folder(tmp_path, [project])


def test_what_does_not_belong_together_is_named(tmp_path: Path) -> None:
    of = study(articles=3, raters=2, systems=SYSTEMS)
    project = prepared(tmp_path, of)
    labels = chosen_labels(of)
    one = named(of, "0001")

    def problem(message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read_folder(tmp_path, [project])

    problem("annotation_output has no answers: expected them in user_state.json of a person's")
    write(project, "ann", state({**labels, one: {"best": {"A": "A"}}}))
    problem(r"'Title 0001' \(0001\): worst is None: expected one of 0, 1, 2")
    write(project, "ann", state({**labels, one: {"best": {"A": "A", "B": "B"}, "worst": {"C": "C"}}}))
    problem("user_state.json, 'Title 0001': best is A, B: expected one answer")
    write(project, "ann", state({**labels, one: {"best": {"A": "A"}, "worst": {"D": "D"}}}))
    problem("worst is 'D': expected one of 0, 1, 2")
    write(project, "ann", state({**labels, named(of, "0001", rater=2): {}}))
    problem(rf"user_state.json answers '{of.id}-2-0001': expected only items of form 1")
    write(project, "ann", "{}")
    problem("user_state.json is not what Potato writes: KeyError: 'instance_id_to_behavioral_data'")
    write(project, "ann", state(labels))
    assert len(read_folder(tmp_path, [project])[1]) == 1
    with pytest.raises(ValueError, match=r"are both of rater 1: expected one file each"):
        read_folder(tmp_path, [project, project])
    items = project / "items.json"
    items.write_text(items.read_text().replace("Text A", "Text a"))
    problem("items.json was changed: expected the items of form 1 as they were prepared")
    items.write_text(items.read_text().replace(of.id, "000000000000"))
    problem(f"items.json shows no item of study {of.id}: expected a folder of its potato/")
    items.unlink()
    problem("is not a Potato project of a study: FileNotFoundError")
