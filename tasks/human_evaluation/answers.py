"""Answers of raters: read, checked against the study, and turned into judgements of systems.

People give the marks for answers to questions: 1 for a right one, .5 for a partly right one, else 0 (Clarke & Lapata
2010, sec. 6). They mark each different answer to a question once, in a table, and do not see who answered or which
system wrote the text. Drafts fill the table, by the values and words that an answer shares with the lead's answer.
People correct it and mark in a column what they have checked, and the next scoring reads it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.values import ValueIndex, find_values
from tasks.human_evaluation.forms import fields
from tasks.human_evaluation.questions import csv_text, numbered_rows
from tasks.human_evaluation.study import FORMAT, RatingItem, Study
from tasks.text.content_words import content_words

OVERALL = "overall"  # the measure of best-worst scaling
QUESTIONS = "questions"  # that of answers to questions
BEST, NEITHER, WORST = 1.0, 0.0, -1.0
RIGHT, PARTLY, WRONG = 1.0, 0.5, 0.0
_COLUMNS = ("article", "number", "question", "right answer", "given answer", "mark", "checked")
Measure = str  # overall, a criterion, or questions
Marked = dict[tuple[str, int, str], tuple[float, str]]  # (article, question, answer) -> mark, checker


@dataclass(frozen=True)
class Judgement:
    """A rater's judgement of a system's text."""

    rater: int
    article: str
    system: str  # the system that wrote the text
    measure: Measure  # what was judged: overall, a criterion, or questions
    value: float  # 1, 0 or -1 for best, neither, worst; 1 to 5 for a criterion; 0, .5 or 1 for a question
    unit: str = ""  # which question; empty otherwise


@dataclass(frozen=True)
class RaterAnswer:
    """A rater's answer to question number `number` of an article; None = the text does not say."""

    rater: int
    article: str
    system: str
    number: int
    text: str | None


@dataclass(frozen=True)
class Answered:
    """The answers of one rater, item by item in the order of the form, each complete and of this study; fewer than in
    the form if the rater sent a part."""

    rater: int
    items: Sequence[tuple[RatingItem, Mapping[str, Any]]]


def read_answers(study: Study, files: Iterable[tuple[str, str]]) -> list[Answered]:
    """Read files of answers, (name, content) each, and check that they belong together. Raises ValueError: a file is of
    another study, is empty, has an incomplete answer, judges other texts or unknown articles, or has a rater who has
    another file; the message names file and place."""
    answered: dict[int, tuple[str, Answered]] = {}
    for name, text in files:
        item = _read(study, name, text)
        if item.rater in answered:
            raise ValueError(
                f"{name} and {answered[item.rater][0]} are both of rater {item.rater}: expected one file each"
            )
        answered[item.rater] = (name, item)
    if not answered:
        raise ValueError("no files of answers: expected one for each rater")
    return [item for _, (_, item) in sorted(answered.items())]


def judgements(answered: Iterable[Answered]) -> list[Judgement]:
    """Return the judgements of systems in best-worst answers and ratings."""
    results = []
    for one in answered:
        for item, answer in one.items:
            choices = answer["choices"]
            for index, system in enumerate(item.systems):
                if "best" in choices:
                    value = BEST if choices["best"] == index else WORST if choices["worst"] == index else NEITHER
                    results.append(Judgement(one.rater, item.article.id, system, OVERALL, value))
                else:
                    results += [
                        Judgement(one.rater, item.article.id, system, name.partition(" ")[2], float(value))
                        for name, value in choices.items()
                        if name.partition(" ")[0] == str(index)
                    ]
    return results


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
    judged = [(item, answers[item.article.id]) for item in items if item.article.id in answers]
    for item, answer in judged:
        where = f"{name}, {item.article.title!r} ({item.article.id})"
        if list(answer.get("texts") or ()) != list(item.texts):
            raise ValueError(f"{where}: the texts judged are not those of the study; the form was edited")
        _check(study, item, answer, where)
    return Answered(rater, judged)


def _check(study: Study, item: RatingItem, answer: Mapping[str, Any], where: str) -> None:
    """Check that an answer is complete and has only values that the form offers."""
    if study.settings.task == "qa":
        replies, numbers = answer.get("said") or {}, {str(number) for number in range(len(item.questions))}
        for number in sorted(numbers | set(replies)):
            reply = replies.get(number, "")
            if number not in numbers or not (reply is None or (isinstance(reply, str) and reply.strip())):
                raise ValueError(f"{where}: question {number} is answered {reply!r}: expected a text or null")
        return
    expected = {field.name: field.values.values() for field in fields(study, item)}
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


def draft_mark(right: str, given: str) -> float:
    """Return a mark by the values that the answers have in common, by content words if the right one has no value."""
    if _folded(right) == _folded(given):
        return RIGHT
    evidence = ValueIndex([given])
    values = find_values(right, ValueIndex([right, given]))
    held = [value in evidence for value in values]
    if not values:
        words = content_words(right)
        held = [word in content_words(given) for word in words]
    return RIGHT if held and all(held) else PARTLY if any(held) else WRONG


def draft_marks(study: Study, replies: Iterable[RaterAnswer]) -> Marked:
    """Return a mark for each different answer; "the text does not say" gets 0 and is not listed."""
    return {
        (reply.article, reply.number, reply.text): (
            draft_mark(study.questions[reply.article][reply.number].answer, reply.text),
            "",
        )
        for reply in replies
        if reply.text is not None
    }


def apply_marks(replies: Iterable[RaterAnswer], marked: Marked) -> list[Judgement]:
    """Return a judgement for each answer."""
    return [
        Judgement(
            reply.rater,
            reply.article,
            reply.system,
            QUESTIONS,
            WRONG if reply.text is None else marked[reply.article, reply.number, reply.text][0],
            str(reply.number),
        )
        for reply in replies
    ]


def marks_to_csv(study: Study, marked: Marked) -> str:
    """Return the table for people, in an order that does not show who answered."""
    rows = []
    for (article, number, given), (mark, checked) in sorted(marked.items()):
        asked = study.questions[article][number]
        rows.append((article, number, asked.question, asked.answer, given, f"{mark:g}", checked))
    return csv_text(_COLUMNS, rows)


def marks_from_csv(text: str, name: str) -> Marked:
    """Read corrected marks. Raises ValueError: a column is missing, a mark is not 0, .5 or 1, or one is twice."""
    marked: Marked = {}
    for number, row in numbered_rows(text, name, _COLUMNS):
        try:
            key, mark = (row["article"], int(row["number"]), row["given answer"]), float(row["mark"])
        except (TypeError, ValueError):
            key, mark = None, None
        if key is None or mark not in (RIGHT, PARTLY, WRONG):
            raise ValueError(f"{name}, line {number}: the mark is {row['mark']!r}: expected 1, 0.5 or 0")
        if key in marked:
            raise ValueError(f"{name}, line {number}: {key[2]!r} is marked twice: expected one line for each answer")
        marked[key] = (mark, (row["checked"] or "").strip())
    return marked


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(".,;:!?\"'“”‘’ ").casefold()
