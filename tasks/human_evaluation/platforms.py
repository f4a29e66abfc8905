"""The forms for annotation platforms: tables for crowd platforms, and projects for Potato. Only files are exchanged.

A crowd platform's task page has places such as `${text_a}` for the columns of a table; Potato (a program of its own,
GPL) reads a configuration and items. Each rater's form becomes one table or project, because in `qa` nobody may see an
article twice: publish one table at a time, and keep its workers out of the next.
"""

import csv
import html
import io
import json
from typing import Any

import yaml

from tasks.human_evaluation.forms import instructions
from tasks.human_evaluation.study import Item, Study
from tasks.human_evaluation.wording import CRITERIA, LEVELS

OUTPUT = "annotation_output"  # folder of a Potato project where the answers are


def platform_files(study: Study) -> dict[str, str]:
    """Return the files: path -> content. They name no system."""
    files = {"crowd/task.html": _crowd_page(study)}
    for rater in study.forms:
        items = study.items(rater)
        files[f"crowd/rater-{rater:02}.csv"] = _crowd_table(study, rater, items)
        folder = f"potato/rater-{rater:02}"
        files[f"{folder}/config.yaml"] = _potato_configuration(study, rater, items)
        files[f"{folder}/items.json"] = json.dumps(potato_items(study, rater), ensure_ascii=False, indent=1)
    return files


def potato_items(study: Study, rater: int) -> list[dict[str, str]]:
    """Return the items that Potato shows for a form."""
    return [{"id": item_name(study, rater, item), "text": _shown(item)} for item in study.items(rater)]


def item_name(study: Study, rater: int, item: Item) -> str:
    """Return how Potato calls an item: all that its answers say of where they belong."""
    return f"{study.id}-{rater}-{item.article.id}"


def letter(place: int) -> str:
    """Return how raters call the text at a place."""
    return chr(ord("A") + place)


def choices(study: Study, item: Item) -> dict[str, tuple[str, list[str]]]:
    """Return what a rater chooses on an item: name in the answers -> question and values."""
    places = range(len(item.texts))
    if study.settings.task == "best-worst":
        letters = [letter(place) for place in places]
        return {"best": ("The best text", letters), "worst": ("The worst text", letters)}
    if study.settings.task == "qa":
        return {}
    levels = [str(level) for level in LEVELS]
    return {
        f"{place} {key}": (f"Text {letter(place)}: {': '.join(CRITERIA[key])} (1 very poor, 5 very good)", levels)
        for place in places
        for key in study.settings.criteria
    }


def value_of(given: str, values: list[str]) -> int | str:
    """Return the place of a letter or a level; anything else unchanged, for the error that follows."""
    if given not in values:
        return given
    return int(given) if given.isdigit() else values.index(given)


def _crowd_table(study: Study, rater: int, items: list[Item]) -> str:
    most = max(len(item.questions) for item in items)
    columns = ["study", "rater", "article", "title", "reference"]
    columns += [f"text_{letter(place).lower()}" for place in range(study.settings.shown)]
    columns += [f"question_{number}" for number in range(most)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for item in items:
        asked = [one.question for one in item.questions]
        # Escaped, because platforms put a column's text into the page as it is.
        shown = [item.article.title, item.reference or "", *item.texts, *asked, *[""] * (most - len(asked))]
        writer.writerow([study.id, rater, item.article.id, *map(html.escape, shown)])
    return out.getvalue()


def _crowd_page(study: Study) -> str:
    """Return the body of a task page; the names of its inputs are the columns of the platform's results."""
    item = max((item for rater in study.forms for item in study.items(rater)), key=lambda item: len(item.questions))
    parts = [f"<p>{html.escape(instructions(study))}</p>", "<h2>${title}</h2>"]
    if item.reference is not None:
        parts.append("<h3>Reference</h3><p>${reference}</p>")
    parts += [
        f"<h3>Text {letter(place)}</h3><p>${{text_{letter(place).lower()}}}</p>" for place in range(len(item.texts))
    ]
    for name, (asked, values) in choices(study, item).items():
        options = "".join(
            f'<label><input type="radio" name="{name}" value="{value}" required> {value}</label> ' for value in values
        )
        parts.append(f"<fieldset><legend>{html.escape(asked)}</legend>{options}</fieldset>")
    parts += [
        f'<p><label>${{question_{number}}}<br><input type="text" name="said {number}"></label> '
        "(leave empty if the text does not say)</p>"
        for number in range(len(item.questions))
    ]
    return "\n".join(parts) + "\n"


def _potato_configuration(study: Study, rater: int, items: list[Item]) -> str:
    longest = max(items, key=lambda item: len(item.questions))
    schemes: list[dict[str, Any]] = [
        {
            "annotation_type": "radio",
            "name": name,
            "description": asked,
            "labels": [*values],  # a list of its own, or YAML would write a reference
            "label_requirement": {"required": True},
        }
        for name, (asked, values) in choices(study, longest).items()
    ]
    schemes += [
        {
            "annotation_type": "text",
            "name": f"said {number}",
            "description": f"Answer to question {number + 1}; empty if the text does not say it",
        }
        for number in range(len(longest.questions))
    ]
    configuration = {
        "annotation_task_name": f"Summaries: form {rater} of study {study.id}",
        "task_dir": ".",
        "data_files": ["items.json"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": OUTPUT,
        "annotation_instructions": instructions(study),
        "annotation_schemes": schemes,
        "user_config": {"allow_all_users": True, "users": []},
    }
    return yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True, width=120)


def _shown(item: Item) -> str:
    """Return an item as HTML, which Potato shows."""
    parts = [f"<h3>{html.escape(item.article.title)}</h3>"]
    if item.reference is not None:
        parts.append(f"<p><b>Reference</b> {html.escape(item.reference)}</p>")
    parts += [f"<p><b>Text {letter(place)}</b> {html.escape(text)}</p>" for place, text in enumerate(item.texts)]
    parts += [
        f"<p><b>Question {number}</b> {html.escape(one.question)}</p>"
        for number, one in enumerate(item.questions, start=1)
    ]
    return "".join(parts)  # Potato shows an end of a line as an empty line
