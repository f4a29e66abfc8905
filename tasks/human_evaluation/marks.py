"""Marks for answers to questions: 1 for a right one, .5 for a partly right one, else 0 (Clarke & Lapata 2010, sec. 6).

People give the marks, without seeing who answered or which system wrote the text: each different answer to a question
is marked once, in a table. The table is filled with drafts, by the values and words that an answer shares with the
lead's answer; people correct it and say in a column what they have checked, and the next scoring reads it."""

from collections.abc import Iterable

from models.values import ValueIndex, find_values
from tasks.human_evaluation import tables
from tasks.human_evaluation.answers import Judgement, RaterAnswer
from tasks.human_evaluation.study import Study
from tasks.text.content_words import content_words

QUESTIONS = "questions"  # the measure
RIGHT, PARTLY, WRONG = 1.0, 0.5, 0.0
_COLUMNS = ("article", "number", "question", "right answer", "given answer", "mark", "checked")
Marked = dict[tuple[str, int, str], tuple[float, str]]  # (article, question, answer) -> mark, checker


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
    """Return a mark for each different answer; that the text does not say is marked with 0 and not listed."""
    return {
        (one.article, one.number, one.text): (draft_mark(study.questions[one.article][one.number].answer, one.text), "")
        for one in replies
        if one.text is not None
    }


def apply_marks(replies: Iterable[RaterAnswer], marked: Marked) -> list[Judgement]:
    """Return a judgement for each answer."""
    return [
        Judgement(
            one.rater,
            one.article,
            one.system,
            QUESTIONS,
            WRONG if one.text is None else marked[one.article, one.number, one.text][0],
            str(one.number),
        )
        for one in replies
    ]


def to_csv(study: Study, marked: Marked) -> str:
    """Return the table for people, in an order that does not show who answered."""
    rows = []
    for (article, number, given), (mark, checked) in sorted(marked.items()):
        asked = study.questions[article][number]
        rows.append((article, number, asked.question, asked.answer, given, f"{mark:g}", checked))
    return tables.to_csv(_COLUMNS, rows)


def from_csv(text: str, name: str) -> Marked:
    """Read corrected marks. Raises ValueError: columns are missing, a mark is not 0, .5 or 1, or an answer is marked
    twice."""
    marked: Marked = {}
    for number, row in tables.numbered_rows(text, name, _COLUMNS):
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
