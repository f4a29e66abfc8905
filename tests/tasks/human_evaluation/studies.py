"""Small studies, and raters of known taste who fill in their forms."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from tasks.human_evaluation.questions import Question
from tasks.human_evaluation.sampling import SampledArticle
from tasks.human_evaluation.settings import StudySettings
from tasks.human_evaluation.study import RatingItem, Study, make_study

SYSTEMS = ("ht", "t-dmca", "ft", "lead")
Rater = Callable[[RatingItem], dict[str, Any]]


def study(
    task: str = "best-worst", *, systems: tuple[str, ...] = SYSTEMS, questions: int = 3, **settings: Any
) -> Study:
    """A study of articles 0000, 0001, ... whose texts say which article and system they are of."""
    chosen = StudySettings(task=task, systems=systems, **{"articles": 4, **settings})
    ids = [f"{number:04}" for number in range(chosen.articles)]
    articles = [
        SampledArticle(
            id_,
            f"Title {id_}",
            f"Lead of {id_}.",
            {system: f"Text {id_} <b>{index}</b>." for index, system in enumerate(systems)},
        )
        for id_ in ids
    ]
    asked = {id_: [Question(f"What is {n} of {id_}?", f"Answer {n}") for n in range(questions)] for id_ in ids}
    return make_study(
        chosen,
        name="tiny",
        build="20261122-000000-abc",
        systems=systems,
        articles=articles,
        questions=asked if task == "qa" else {},
    )


def filled(of: Study, number: int, rater: Rater) -> str:
    """A rater's file of answers, as the form writes it."""
    answers = [{"article": item.article.id, "texts": list(item.texts), **rater(item)} for item in of.items(number)]
    return json.dumps({"format": 1, "study": of.id, "rater": number, "answers": answers})


def all_filled(of: Study, rater: Rater) -> list[tuple[str, str]]:
    return [(f"answers-{number}.json", filled(of, number, rater)) for number in of.forms]


def chooser(quality: dict[str, float], noise: float, seed: int) -> Rater:
    """A rater who chooses best and worst by quality and noise (a logistic one: Bradley and Terry's model for two)."""
    random = np.random.default_rng(seed)

    def rate(item: RatingItem) -> dict[str, Any]:
        felt = [quality[system] + noise * random.gumbel() for system in item.systems]
        return {"choices": {"best": int(np.argmax(felt)), "worst": int(np.argmin(felt))}}

    return rate


def grader(quality: dict[str, float], noise: float, seed: int, severity: float = 0.0) -> Rater:
    """A rater who gives 1 to 5 for each of the four default criteria."""
    random = np.random.default_rng(seed)

    def rate(item: RatingItem) -> dict[str, Any]:
        return {
            "choices": {
                f"{place} {criterion}": int(np.clip(round(quality[system] - severity + noise * random.normal()), 1, 5))
                for place, system in enumerate(item.systems)
                for criterion in ("informativeness", "fluency", "conciseness", "consistency")
            }
        }

    return rate


def pupil(known: dict[str, float], seed: int) -> Rater:
    """A rater who finds an answer with the chance of the system."""
    random = np.random.default_rng(seed)

    def rate(item: RatingItem) -> dict[str, Any]:
        found = [random.random() < known[item.systems[0]] for _ in item.questions]
        return {
            "said": {
                str(n): one.answer if ok else None
                for n, (one, ok) in enumerate(zip(item.questions, found, strict=True))
            }
        }

    return rate
