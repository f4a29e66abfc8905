"""The questions to raters (`wording.toml`), and the form of each as one HTML file, which works from a disk and sends
nothing."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.engine.data_files import read_data
from tasks.human_evaluation.settings import Criterion
from tasks.human_evaluation.study import FORMAT, RatingItem, Study

WORDS = read_data("tasks.human_evaluation", "wording.toml")
CRITERIA: Mapping[str, Sequence[str]] = WORDS["criteria"]  # name and question
ON_SOURCES: frozenset[Criterion] = frozenset(WORDS["on_sources"])
LEVELS: Mapping[int, str] = dict(enumerate(WORDS["levels"], start=1))
_HERE = Path(__file__).parent
_TEMPLATE, _SCRIPT, _STYLE = "form.html.j2", "form.js", "form.css"
_KEYS = "Keys: n for the next article, p for the previous one"


def form_page(study: Study, rater: int) -> str:
    """Return a rater's form: no name of a system is in it."""
    script = (_HERE / _SCRIPT).read_text(encoding="utf-8")
    environment = Environment(loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined)
    return environment.get_template(_TEMPLATE).render(
        study=study.id,
        rater=rater,
        count=len(study.forms[rater]),
        instructions=instructions(study),
        keys=f"{_KEYS}, 1 to {study.settings.shown} for the best text, with Shift for the worst."
        if study.settings.task == "best-worst"
        else f"{_KEYS}.",
        # `<` is escaped, so that no text can end the script element.
        payload=Markup(json.dumps(_payload(study, rater), ensure_ascii=False).replace("<", "\\u003c")),
        script=Markup(script),
        script_digest=f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
        style=Markup((_HERE / _STYLE).read_text(encoding="utf-8")),
    )


def instructions(study: Study) -> str:
    """Return the instructions for raters."""
    compared = study.settings.task != "qa" and study.items(1)[0].reference is not None
    text: str = WORDS["instructions"][study.settings.task]
    return f"{text} {WORDS['compared']}" if compared else text


@dataclass(frozen=True)
class Field:
    """What a rater fills in on an item."""

    name: str  # in the answers
    asked: str
    values: Mapping[str, int]  # the choices, as they are shown and in the answers; none for a written answer


def fields(study: Study, item: RatingItem) -> list[Field]:
    """Return what a rater fills in on an item."""
    letters = {letter(place): place for place in range(len(item.texts))}
    if study.settings.task == "best-worst":
        return [Field("best", "The best text", letters), Field("worst", "The worst text", letters)]
    if study.settings.task == "qa":
        return [Field(f"said {number}", one.question, {}) for number, one in enumerate(item.questions)]
    levels = {str(level): level for level in LEVELS}
    return [
        Field(f"{place} {key}", f"Text {text}: {': '.join(CRITERIA[key])} (1 very poor, 5 very good)", levels)
        for text, place in letters.items()
        for key in study.settings.criteria
    ]


def letter(place: int) -> str:
    """Return the raters' name of the text at a place."""
    return chr(ord("A") + place)


def _payload(study: Study, rater: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "study": study.id,
        "rater": rater,
        "task": study.settings.task,
        "criteria": [
            {"key": key, "name": CRITERIA[key][0], "help": CRITERIA[key][1]} for key in study.settings.criteria
        ],
        "levels": [[level, f"{level} {name}" if level in (1, 5) else str(level)] for level, name in LEVELS.items()],
        "items": [
            {
                "id": item.article.id,
                "title": item.article.title,
                "reference": item.reference,
                "texts": item.texts,
                "questions": [question.question for question in item.questions],
                "sources": item.article.sources,
            }
            for item in study.items(rater)
        ],
    }
