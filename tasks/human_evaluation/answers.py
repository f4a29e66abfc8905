"""Answers of raters: read, checked against the study, and turned into judgements of systems."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.human_evaluation.settings import Criterion
from tasks.human_evaluation.study import FORMAT, RatingItem, Study
from tasks.human_evaluation.wording import LEVELS

OVERALL = "overall"  # the measure of best-worst scaling
BEST, NEITHER, WORST = 1.0, 0.0, -1.0
Measure = Criterion | str


@dataclass(frozen=True)
class Judgement:
    """What a rater thought of a system's text."""

    rater: int
    article: str
    system: str  # the system that wrote the text
    measure: Measure  # what was judged: overall, a criterion, or questions
    value: float  # 1, 0 or -1 for best, neither, worst; 1 to 5 for a criterion; 0, .5 or 1 for a question
    unit: str = ""  # which question; empty otherwise


@dataclass(frozen=True)
class RaterAnswer:
    """What a rater answered to question number `number` of an article; None = the text does not say."""

    rater: int
    article: str
    system: str
    number: int
    text: str | None


@dataclass(frozen=True)
class Answered:
    """The answers of one rater, item by item in the order of the form, each complete and of this study; fewer than the
    form has where the rater handed in a part."""

    rater: int
    items: Sequence[tuple[RatingItem, Mapping[str, Any]]]


def read_answers(study: Study, files: Iterable[tuple[str, str]]) -> list[Answered]:
    """Read files of answers, (name, content) each, and check that they belong together. Raises ValueError: a file is of
    another study, is empty, has an incomplete answer, judges other texts or unknown articles, or has a rater who has
    another file; the message names file and place."""
    answered: dict[int, tuple[str, Answered]] = {}
    for name, text in files:
        one = _read(study, name, text)
        if one.rater in answered:
            raise ValueError(
                f"{name} and {answered[one.rater][0]} are both of rater {one.rater}: expected one file each"
            )
        answered[one.rater] = (name, one)
    if not answered:
        raise ValueError("no files of answers: expected one for each rater")
    return [one for _, (_, one) in sorted(answered.items())]


def judgements(answered: Iterable[Answered]) -> list[Judgement]:
    """Return what best-worst answers and ratings say of each system."""
    found = []
    for one in answered:
        for item, answer in one.items:
            choices = answer["choices"]
            for place, system in enumerate(item.systems):
                if "best" in choices:
                    value = BEST if choices["best"] == place else WORST if choices["worst"] == place else NEITHER
                    found.append(Judgement(one.rater, item.article.id, system, OVERALL, value))
                else:
                    found += [
                        Judgement(one.rater, item.article.id, system, name.partition(" ")[2], float(value))
                        for name, value in choices.items()
                        if name.partition(" ")[0] == str(place)
                    ]
    return found


def said(answered: Iterable[Answered]) -> list[RaterAnswer]:
    """Return the answers to questions."""
    return [
        RaterAnswer(one.rater, item.article.id, item.systems[0], number, answer["said"][str(number)])
        for one in answered
        for item, answer in one.items
        for number in range(len(item.questions))
    ]


def _read(study: Study, name: str, text: str) -> Answered:
    try:
        file = json.loads(text)
        given = {"format": file["format"], "study": file["study"], "rater": file["rater"]}
        answers = {answer["article"]: answer for answer in file["answers"]}
        count = len(file["answers"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{name} is not a file of answers: {type(error).__name__}: {error}") from error
    for field, expected in (("format", FORMAT), ("study", study.id)):
        if given[field] != expected:
            raise ValueError(f"{name} is of {field} {given[field]!r}: expected {expected!r}")
    rater = given["rater"]
    if not isinstance(rater, int) or rater not in study.forms:
        raise ValueError(f"{name} is of rater {rater!r}: expected one of 1 to {len(study.forms)}")
    items = study.items(rater)
    known = {item.article.id for item in items}
    if unknown := sorted(set(answers) - known):
        raise ValueError(f"{name} judges {unknown[0]!r}: expected only articles of form {rater}")
    if count != len(answers):
        raise ValueError(f"{name} has {count} answers on {len(answers)} articles: expected one each")
    if not answers:
        raise ValueError(f"{name} has no answers: expected some of form {rater}")
    given_items = [item for item in items if item.article.id in answers]
    for item in given_items:
        where = f"{name}, {item.article.title!r} ({item.article.id})"
        answer = answers[item.article.id]
        if list(answer.get("texts") or ()) != list(item.texts):
            raise ValueError(f"{where}: the texts judged are not those of the study; the form was edited")
        _check(study, item, answer, where)
    return Answered(rater, [(item, answers[item.article.id]) for item in given_items])


def _check(study: Study, item: RatingItem, answer: Mapping[str, Any], where: str) -> None:
    """Check that an answer is complete and has only values that the form offers."""
    places: Sequence[Any] = range(len(item.texts))
    expected: dict[str, Sequence[Any]] = {}
    match study.settings.task:
        case "qa":
            _check_replies(item, answer.get("said") or {}, where)
            return
        case "best-worst":
            expected = {"best": places, "worst": places}
        case "ratings":
            expected = {
                f"{place} {criterion}": tuple(LEVELS) for place in places for criterion in study.settings.criteria
            }
    choices = answer.get("choices") or {}
    if unknown := sorted(set(choices) - set(expected)):
        raise ValueError(f"{where}: there is no choice {unknown[0]!r}")
    for choice, values in expected.items():
        value = choices.get(choice)
        if type(value) is not int or value not in values:
            shown = ", ".join(map(str, values))
            raise ValueError(f"{where}: {choice} is {value!r}: expected one of {shown}")
    if choices.get("best") is not None and choices.get("best") == choices.get("worst"):
        raise ValueError(f"{where}: best and worst are both text {choices['best']}: expected two texts")


def _check_replies(item: RatingItem, replies: Mapping[str, Any], where: str) -> None:
    """Check that every question has a text or null, and that nothing else is answered."""
    numbers = {str(number) for number in range(len(item.questions))}
    for number in sorted(numbers | set(replies)):
        reply = replies.get(number, "")
        if number not in numbers or not (reply is None or (isinstance(reply, str) and reply.strip())):
            raise ValueError(f"{where}: question {number} is answered {reply!r}: expected a text or null")
