"""What every annotation platform is asked, and the file of answers that its results become. Only files are exchanged.

The layouts of the platforms are in `crowd.py` and `potato.py`. Each rater's form becomes one table or project, because
in `qa` nobody may see an article twice: publish one at a time, and keep its workers out of the next. A form counts as
one rater, however many people shared its items."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.human_evaluation.study import FORMAT, RatingItem, Study
from tasks.human_evaluation.wording import CRITERIA, LEVELS


@dataclass(frozen=True)
class Field:
    """What a rater fills in on an item."""

    name: str  # in the answers
    asked: str
    values: Sequence[str] = ()  # what can be chosen; none for a written answer


def fields(study: Study, item: RatingItem) -> list[Field]:
    """Return what a rater fills in on an item."""
    places = range(len(item.texts))
    if study.settings.task == "best-worst":
        letters = [letter(place) for place in places]
        return [Field("best", "The best text", letters), Field("worst", "The worst text", letters)]
    if study.settings.task == "qa":
        return [Field(f"said {number}", one.question) for number, one in enumerate(item.questions)]
    levels = [str(level) for level in LEVELS]
    return [
        Field(f"{place} {key}", f"Text {letter(place)}: {': '.join(CRITERIA[key])} (1 very poor, 5 very good)", levels)
        for place in places
        for key in study.settings.criteria
    ]


def longest(study: Study, raters: Iterable[int]) -> RatingItem:
    """Return the item with most questions in some forms."""
    return max((item for rater in raters for item in study.items(rater)), key=lambda item: len(item.questions))


def letter(place: int) -> str:
    """Return how raters call the text at a place."""
    return chr(ord("A") + place)


def answer_of(study: Study, item: RatingItem, given: Mapping[str, str], texts: Sequence[str]) -> dict[str, Any]:
    """Return an answer as a form of ours would have it; it is checked when it is read (`answers.py`). `given` has what
    was chosen or written in each field; `texts` are those that the rater saw."""
    answer: dict[str, Any] = {"article": item.article.id, "texts": texts}
    asked = {field.name: field.values for field in fields(study, item)}
    if item.questions:
        answer["said"] = {name.partition(" ")[2]: given.get(name, "").strip() or None for name in asked}
    else:
        answer["choices"] = {name: _value(value, asked.get(name, ())) for name, value in given.items()}
    return answer


def answers_file(place: str, study: str, rater: int, answers: Iterable[Mapping[str, Any]]) -> tuple[str, str]:
    """Return a file of answers, (name, content), of a form that was filled in at a place."""
    content = {"format": FORMAT, "study": study, "rater": rater, "answers": list(answers)}
    return f"{place} (form {rater})", json.dumps(content)


def _value(given: str, values: Sequence[str]) -> int | str:
    """Return the place of a letter or a level; anything else unchanged, for the error that follows."""
    if given not in values:
        return given
    return int(given) if given.isdigit() else values.index(given)
